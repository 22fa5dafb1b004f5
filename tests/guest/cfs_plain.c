/* A program that names no call of <cfs.h>: on a machine with a CFS its plain calls work on /cfs/. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int fail(const char *what)
{
    perror(what);
    return 1;
}

int main(void)
{
    char line[100] = "";
    struct stat st;
    int found = 0;

    FILE *f = fopen("/cfs/text", "w");
    if (!f || fprintf(f, "a line\n") != 7 || fclose(f) != 0)
        return fail("writing");
    f = fopen("/cfs/text", "r");
    if (!f || !fgets(line, sizeof line, f) || strcmp(line, "a line\n") != 0 || fclose(f) != 0)
        return fail("reading");
    int fd = open("/cfs/text", O_WRONLY | O_APPEND);
    if (fd < 0 || write(fd, "more\n", 5) != 5 || dup(fd) < 0 || close(fd) != 0)
        return fail("appending");
    if (stat("/cfs/text", &st) < 0 || st.st_size != 12 || open("/cfs/none", O_RDONLY) >= 0 || errno != ENOENT)
        return fail("stat");
    DIR *dir = opendir("/cfs");
    for (struct dirent *e; dir && (e = readdir(dir));)
        found += strcmp(e->d_name, "text") == 0;
    if (found != 1 || closedir(dir) < 0)
        return fail("listing");
    if (unlink("/cfs/text") < 0 || stat("/cfs/text", &st) == 0)
        return fail("removing");
    puts("passed");
    return 0;
}
