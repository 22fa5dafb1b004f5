/* Programs that run when an nsdisk ends. The second argument names a file. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

#define KEPT "//df01/kept"

static void put(const char *name)
{
    int fd = open(name, O_RDWR | O_CREAT, 0666);

    check(fd >= 0, "%s: errno %d", name, errno);
    check_equal(write(fd, "kept", 4), 4);
    check_equal(fsync(fd), 0);
}

/* Node 0 names the file, all others have files open on both volumes and wait. */
static void asks(void)
{
    int src = N_ANY, type = 1;
    struct stat st;

    put(KEPT);
    put("//df00/open");
    check_equal(nsync(2), 0);
    if (own_node() == 0)
        stat(test_argv[0], &st);
    else
        nread(NULL, 0, &src, &type, NULL);
}

/* The same, and the program goes on to its end. */
static void names_it(void)
{
    struct stat st;

    check(stat(test_argv[0], &st) == -1 && errno == ENOENT, "errno %d", errno);
}

static void waits(void)
{
    put("//df00/other");
    printf("waits\n");
    for (;;)
        usleep(1000);
}

static void finds_it_down(void)
{
    char text[4] = "";

    check(open("//df00/open", O_RDONLY) == -1 && errno == EHOSTDOWN, "errno %d", errno);
    check(unlink("//df00/open") == -1 && errno == EHOSTDOWN, "errno %d", errno);
    put("//df01/more");
    int fd = open(KEPT, O_RDONLY);
    check_equal(read(fd, text, 4), 4);
    check(memcmp(text, "kept", 4) == 0, "%.4s", text);
}

static const struct test_case cases[] = {
    {"asks", asks}, {"names it", names_it}, {"waits", waits}, {"finds it down", finds_it_down}, {NULL, NULL},
};

int main(int argc, char **argv)
{
    return run_case(cases, argc, argv);
}
