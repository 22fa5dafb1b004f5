/* Phases for the trace: the bounds of nmark, and a run of which a trace shows messages, files and phases. */
#include <fcntl.h>
#include <n_errno.h>
#include <nmon.h>
#include <unistd.h>

#include "check.h"

static void bounds(void)
{
    char name[NMARK_BYTES + 2];

    memset(name, 'x', sizeof name);
    name[NMARK_BYTES + 1] = '\0';
    check_equal(nmark(name), -N_EINVAL);
    name[NMARK_BYTES] = '\0';
    check_equal(nmark(name), 0);
    check_equal(nmark("a \"name\" of one\nline"), 0);
    check_equal(nmark(""), 0);
    check_equal(nmark(NULL), 0);
}

/* Each node exchanges messages with its neighbours, and node 0 writes what it is told to. */
static void work(void)
{
    static char buf[20000];
    int me = own_node(), nodes = node_count();

    check_equal(nmark("exchange"), 0);
    for (int bit = 1; bit < nodes; bit <<= 1)
        for (int bytes = 0; bytes < (int)sizeof buf; bytes += 6000) {
            int partner = me ^ bit, type = 7;

            check_equal(nwrite(buf, bytes, partner, type, NULL), 0);
            check_equal(nread(buf, sizeof buf, &partner, &type, NULL), bytes);
        }
    check_equal(nmark("files"), 0);
    for (int i = 0; me == 0 && i < test_argc; i++) {
        int fd = open(test_argv[i], O_RDWR | O_CREAT, 0644);

        check(fd >= 0, "cannot open %s", test_argv[i]);
        check_equal(write(fd, buf, sizeof buf), sizeof buf);
        check_equal(fsync(fd), 0);
        check_equal(close(fd), 0);
    }
    check_equal(nsync(9), 0);
    check_equal(nmark(NULL), 0);
}

static const struct test_case cases[] = {{"bounds", bounds}, {"work", work}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return run_case(cases, argc, argv);
}
