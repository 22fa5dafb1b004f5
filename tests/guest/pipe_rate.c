/*
 * Times of a pipe, for images/measure/paper_001.py:
 *
 *     pipe_rate write MAP BYTES CALL      BYTES in all, in calls of CALL bytes
 *     pipe_rate read MAP CALL             to the end, in calls of CALL bytes
 *
 * Every node prints a line, on standard error or output: what it is, its node, the times in microseconds at which it
 * set its mapping, ended its first call and its last one, its bytes, and how many microseconds N_SETMAP took.
 */
#include <nself.h>
#include <ntime.h>
#include <pattern.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define CALL_MOST (1 << 20)

static int node;
static int64_t setmap_us;

static int64_t now_us(void)
{
    int us;
    int64_t s = n_time(&us);

    return s * 1000000 + us;
}

/* Maps the descriptor, "-": not. Returns the node's bytes of the first `bytes`. */
static int64_t set_map(int fd, const char *text, int64_t bytes)
{
    char why[PATTERN_WHY_BYTES];
    struct pattern *p;
    struct plan *plan;

    if (strcmp(text, "-") == 0)
        return bytes;
    int parsed = pattern_parse(text, &p, why);
    int64_t from = now_us();
    if (parsed != 0 || ioctl(fd, N_SETMAP, p) != 0) {
        fprintf(stderr, "%s: cannot be set\n", text);
        exit(2);
    }
    setmap_us = now_us() - from;
    if (plan_make_file(p, node, &plan) != 0) {
        fprintf(stderr, "%s: no plan\n", text);
        exit(2);
    }
    bytes = plan_bytes(plan, bytes);
    plan_free(plan);
    return bytes;
}

int main(int argc, char **argv)
{
    static char buf[CALL_MOST];
    int writes = argc == 5 && strcmp(argv[1], "write") == 0;
    int64_t call = argc > 1 ? atoll(argv[argc - 1]) : 0;

    if ((!writes && argc != 4) || call < 1 || call > CALL_MOST)
        return 2;
    whoami(&node, NULL, NULL, NULL);
    int64_t left = set_map(writes, argv[2], writes ? atoll(argv[3]) : 0), set = now_us(), bytes = 0, first = 0;
    ssize_t n = 1;

    while (n > 0 && (!writes || left > 0)) {
        if (writes)
            n = write(STDOUT_FILENO, buf, (size_t)(left < call ? left : call));
        else
            n = read(STDIN_FILENO, buf, (size_t)call);
        if (n < 0) {
            perror("pipe_rate");
            return 1;
        }
        left -= n;
        bytes += n;
        first = first ? first : now_us();
    }
    fprintf(writes ? stderr : stdout, "%s %d %lld %lld %lld %lld %lld\n", argv[1], node, (long long)set,
            (long long)first, (long long)now_us(), (long long)bytes, (long long)setmap_us);
    return 0;
}
