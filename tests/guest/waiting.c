/*
 * The requests of all nodes wait at one nsdisk: the arguments are a path of a volume, and how often each node opens
 * that file, writes, reads, asks for its state and closes it. The file does not grow with the nodes.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

enum { BARRIER = 4, PART_BYTES = 512, PARTS = 16 };

static void make(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT, 0644);

    check(fd >= 0, "make %s", path);
    check_equal(ftruncate(fd, PARTS * PART_BYTES), 0);
    check_equal(close(fd), 0);
}

static void one_round(const char *path)
{
    char part[PART_BYTES] = {0};
    off_t at = (off_t)(own_node() % PARTS) * PART_BYTES;
    struct stat st;
    int fd = open(path, O_RDWR);

    check(fd >= 0, "open %s", path);
    check_equal(pwrite(fd, part, sizeof part, at), PART_BYTES);
    check_equal(pread(fd, part, sizeof part, at), PART_BYTES);
    check_equal(fstat(fd, &st), 0);
    check_equal(st.st_size, PARTS * PART_BYTES);
    check_equal(close(fd), 0);
}

int main(int argc, char **argv)
{
    check_equal(argc, 3);
    if (own_node() == 0)
        make(argv[1]);
    check_equal(nsync(BARRIER), 0);
    for (int i = 0; i < atoi(argv[2]); i++)
        one_round(argv[1]);
    return 0;
}
