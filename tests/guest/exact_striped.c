/*
 * Random calls on files of a striped volume: every node has a file of its own and one in common with the others, which
 * it reads, writes and cuts, opens and looks up, and notes results and times. Each node's last line is the sum of all
 * that, so that a single cycle's difference between two runs shows.
 *
 *   exact_striped MIX SEED     MIX: not used; make exact names one
 */
#include <fcntl.h>
#include <ntime.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

enum { TURNS = 12, BYTES_MAX = 9000 };

static uint64_t choice, seen;
static char buf[BYTES_MAX];

static void note(int64_t value)
{
    seen = (seen ^ (uint64_t)value) * 0x100000001b3ull;
    seen = (seen ^ (uint64_t)(amicclk() * 20 + 0.5)) * 0x100000001b3ull;
}

static void compute(void)
{
    uint64_t x = choice;

    for (uint32_t i = draw(&choice) % 3000; i > 0; i--)
        x = x * 6364136223846793005ull + i;
    note((int64_t)x);
}

static void note_bytes(int64_t n)
{
    note(n);
    for (int64_t i = 0; i < n; i++)
        seen = (seen ^ (uint64_t)(unsigned char)buf[i]) * 0x100000001b3ull;
}

static void look_up(const char *name)
{
    struct stat st;

    note(stat(name, &st));
    int fd = open(name, O_RDONLY);
    note(fd);
    note_bytes(read(fd, buf, draw(&choice) % BYTES_MAX));
    note(close(fd));
}

static void use(int fd, const char *name)
{
    size_t n = draw(&choice) % BYTES_MAX;
    off_t at = (off_t)(draw(&choice) % 20000);

    switch (draw(&choice) % 6) {
    case 0:
    case 1:
        fill_pattern(buf, n, draw(&choice));
        note(pwrite(fd, buf, n, at));
        break;
    case 2:
    case 3:
        note_bytes(pread(fd, buf, n, at));
        break;
    case 4:
        note(ftruncate(fd, at));
        break;
    default:
        look_up(name);
    }
}

int main(int argc, char **argv)
{
    char own[40];
    static const char shared[] = "//big/shared";
    int fd[2];

    choice = strtoull(argc > 2 ? argv[2] : "1", NULL, 10) * 1000003 + (uint64_t)own_node();
    snprintf(own, sizeof own, "//big/own%d", own_node());
    fd[0] = open(own, O_RDWR | O_CREAT, 0644);
    fd[1] = open(shared, O_RDWR | O_CREAT, 0644);
    check(fd[0] >= 0 && fd[1] >= 0, "the files cannot be made");
    for (int i = 0; i < TURNS; i++) {
        int which = (int)(draw(&choice) % 2);

        compute();
        use(fd[which], which ? shared : own);
    }
    note(close(fd[0]));
    note(close(fd[1]));
    printf("node %d: %016lx\n", own_node(), (unsigned long)seen);
    return 0;
}
