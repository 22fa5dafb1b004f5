/*
 * The two ends of a parallel pipe, and what they do with a file in its place.
 *
 *   pipes write PLACE MAP SEED    every node writes a random number of bytes, in random chunks
 *   pipes read PLACE MAP SEED     every node reads all that is its own, in random chunks, and tells what it was
 *
 *   pipes exact SEED             a program of a pipeline: does what its ends are for, by mappings of the seed
 *   pipes CASE                   see the table
 *
 * PLACE: a file or a pipe's name, or "-" for the standard output or input. MAP: a pattern, or "-" for none.
 */
#include <fcntl.h>
#include <nself.h>
#include <pattern.h>
#include <signal.h>
#include <stdio.h>
#include <stropts.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sysn.h>
#include <unistd.h>

#include "check_files.h"

#define BYTES_MOST 20000 /* of a node */
#define CHUNK_MOST 5000
#define PAUSE_US   100000 /* in which all that was sent has come */

static int open_place(const char *place, bool writes)
{
    if (strcmp(place, "-") == 0)
        return writes ? STDOUT_FILENO : STDIN_FILENO;
    bool has_name = strncmp(place, "//pipe/", 7) == 0;
    int fd = open(place, has_name && writes ? O_WRONLY : writes ? O_RDWR | O_CREAT : O_RDONLY, 0666);
    check(fd >= 0, "open %s: %s", place, strerror(errno));
    return fd;
}

/* Returns whether the mapping gives this node any bytes. */
static bool map(int fd, const char *text)
{
    char why[PATTERN_WHY_BYTES];
    struct pattern *p;

    if (strcmp(text, "-") == 0)
        return true;
    check(pattern_parse(text, &p, why) == 0, "%s: %s", text, why);
    check_works(ioctl(fd, N_SETMAP, p));
    return p->element[own_node()].bytes > 0;
}

/* Bytes by which a byte of another node, or of another place, is told. */
static char content(long y)
{
    return (char)(own_node() * 53 + y * 7 + (y >> 8) * 3 + 1);
}

static void write_all(int fd, uint64_t *seed)
{
    static char buf[BYTES_MOST];
    long n = draw(seed) % 4 == 0 ? 0 : draw(seed) % BYTES_MOST;

    for (long y = 0; y < n;) {
        long piece = 1 + draw(seed) % CHUNK_MOST;

        piece = piece < n - y ? piece : n - y;
        for (long i = 0; i < piece; i++)
            buf[i] = content(y + i);
        check_equal(write(fd, buf, (size_t)piece), piece);
        y += piece;
    }
}

static void read_all(int fd, uint64_t *seed)
{
    static char buf[CHUNK_MOST];
    uint64_t hash = 14695981039346656037ull;
    long n = 0, got;

    while ((got = read(fd, buf, 1 + draw(seed) % CHUNK_MOST)) > 0) {
        for (long i = 0; i < got; i++)
            hash = (hash ^ (unsigned char)buf[i]) * 1099511628211ull;
        n += got;
    }
    check(got == 0, "read behind %ld: %s", n, strerror(errno));
    fprintf(stderr, "node %d read %ld bytes, hash %016llx\n", own_node(), n, (unsigned long long)hash);
}

/* ---- A pipeline that make exact repeats ---- */

static bool is_pipe(int fd)
{
    struct stat st;

    check_works(fstat(fd, &st));
    return S_ISFIFO(st.st_mode);
}

/* A mapping of all nodes of the program, drawn from the seed. */
static const char *draw_map(uint64_t *seed)
{
    static char text[64];
    uint32_t kind = draw(seed) % 3, block = 1 + draw(seed) % 2000;
    int nodes = node_count();

    if (kind == 0)
        snprintf(text, sizeof text, "cyclic %u %d +%u", block, nodes, draw(seed) % 50);
    else if (kind == 1)
        snprintf(text, sizeof text, "array 40x%dx%u *,cyclic on 1x%d", nodes * 4, 1 + block % 16, nodes);
    else
        snprintf(text, sizeof text, "array %dx40x%u block,* on %dx1", nodes * 4, 1 + block % 16, nodes);
    return text;
}

static void play(uint64_t seed)
{
    uint64_t own = seed * 1000 + (uint64_t)own_node(), common = seed + (uint64_t)node_count();

    if (is_pipe(STDIN_FILENO)) {
        map(STDIN_FILENO, draw_map(&common));
        read_all(STDIN_FILENO, &own);
    }
    if (is_pipe(STDOUT_FILENO)) {
        if (map(STDOUT_FILENO, draw_map(&common)))
            write_all(STDOUT_FILENO, &own);
    }
}

/* ---- Cases ---- */

static void writes_until_the_end(void)
{
    static char buf[5000];

    for (;;)
        check(write(STDOUT_FILENO, buf, sizeof buf) > 0, "write: %s", strerror(errno));
}

static volatile int pipe_signals;

static void note_signal(int number)
{
    pipe_signals += number == SIGPIPE;
}

static void sees_sigpipe(void)
{
    static char buf[5000];

    signal(SIGPIPE, note_signal);
    while (write(STDOUT_FILENO, buf, sizeof buf) > 0)
        ;
    check_equal(errno, EPIPE);
    check_equal(pipe_signals, 1);
    signal(SIGPIPE, SIG_IGN);
    check_fails(write(STDOUT_FILENO, buf, 1), EPIPE);
    exit(4);
}

static void reads_a_little(void)
{
    char buf[10];

    check_equal(read(STDIN_FILENO, buf, sizeof buf), (long)sizeof buf);
    check_works(close(STDIN_FILENO));
}

/* The reader takes 10 bytes and ends: the writer hears of it at the write that follows. */
static void hears_of_the_end(void)
{
    signal(SIGPIPE, note_signal);
    check_equal(write(STDOUT_FILENO, "0123456789", 10), 10);
    usleep(PAUSE_US);
    check_fails(write(STDOUT_FILENO, "x", 1), EPIPE);
    check_equal(pipe_signals, 1);
    exit(4);
}

/* The same with a mapping, and four readers. */
static void hears_of_all_ends(void)
{
    static char buf[40];

    signal(SIGPIPE, SIG_IGN);
    map(STDOUT_FILENO, "cyclic 10 1");
    check_equal(write(STDOUT_FILENO, buf, 40), 40);
    usleep(PAUSE_US);
    check_fails(write(STDOUT_FILENO, buf, 10), EPIPE);
    exit(4);
}

static void reads_its_ten(void)
{
    char buf[10];

    map(STDIN_FILENO, "cyclic 10 4");
    check_equal(read(STDIN_FILENO, buf, sizeof buf), (long)sizeof buf);
    exit(5);
}

/* One read gives all that has come. */
#define LINES 300

static void writes_lines(void)
{
    for (int i = 0; i < LINES; i++)
        check_equal(write(STDOUT_FILENO, "y\n", 2), 2);
}

static void writes_mapped_lines(void)
{
    map(STDOUT_FILENO, "cyclic 2 2");
    for (int i = 0; i < LINES / 2; i++)
        check_equal(write(STDOUT_FILENO, "y\n", 2), 2);
}

static void reads_what_has_come(void)
{
    static char buf[65536];
    int n;

    check_works(ioctl(STDIN_FILENO, N_PES, &n));
    check_equal(read(STDIN_FILENO, buf, 1), 1); /* sets the pipe up */
    usleep(PAUSE_US);
    check_equal(read(STDIN_FILENO, buf, sizeof buf), 2 * LINES - 1);
    for (int i = 0; i < 2 * LINES - 1; i++)
        check_equal(buf[i], i % 2 ? 'y' : '\n');
    check_equal(read(STDIN_FILENO, buf, sizeof buf), 0);
    exit(5);
}

/* Nor does a read give less because the bytes were written at once and are several messages. */
#define LONG_BYTES 40001 /* in one write of all writers together, and one byte in another */

static void writes_long(int writers)
{
    static char buf[LONG_BYTES];
    int own = LONG_BYTES / writers + (own_node() < LONG_BYTES % writers);

    memset(buf, 'a' + own_node(), sizeof buf);
    check_equal(write(STDOUT_FILENO, buf, (size_t)own), own);
}

static void writes_at_once(void)
{
    writes_long(1);
}

static void writes_mapped_at_once(void)
{
    map(STDOUT_FILENO, "cyclic 1 2");
    writes_long(2);
}

static void reads_long(void)
{
    static char buf[65536];
    int n;

    check_works(ioctl(STDIN_FILENO, N_PES, &n));
    check_equal(read(STDIN_FILENO, buf, 1), 1); /* sets the pipe up */
    usleep(10 * PAUSE_US);
    check_equal(read(STDIN_FILENO, buf, 20000), 20000);
    check_equal(read(STDIN_FILENO, buf + 20000, sizeof buf - 20000), LONG_BYTES - 20001);
    check_equal(buf[0], n == 1 ? 'a' : 'b');
    check_equal(buf[LONG_BYTES - 3], n == 1 ? 'a' : 'b');
    check_equal(buf[LONG_BYTES - 2], 'a');
    check_equal(read(STDIN_FILENO, buf, sizeof buf), 0);
    exit(5);
}

/* Node 1 takes nothing; the others get all that is theirs. */
static void one_reader_leaves(void)
{
    map(STDIN_FILENO, "cyclic 100 4");
    if (own_node() == 1)
        check_works(close(STDIN_FILENO));
    else
        read_all(STDIN_FILENO, &(uint64_t){1});
}

static void writes_40000(void)
{
    char buf[100] = "";

    for (int i = 0; i < 400; i++)
        check_equal(write(STDOUT_FILENO, buf, sizeof buf), (long)sizeof buf);
}

static void calls_that_fail(void)
{
    struct pattern *p, *wrong;
    int value;

    check_equal(pattern_stripe(4, node_count(), &p), 0);
    check_equal(pattern_stripe(4, 3, &wrong), 0);
    check_fails(lseek(STDOUT_FILENO, 0, SEEK_SET), ESPIPE);
    check_fails(pwrite(STDOUT_FILENO, "x", 1, 0), ENOTSUP);
    check_fails(read(STDOUT_FILENO, &value, 1), EBADF);
    check_fails(write(STDOUT_FILENO, "x", 1), EDESTADDRREQ);
    check_fails(ioctl(STDOUT_FILENO, N_SETMAP, wrong), EINVAL);
    check_fails(ioctl(STDOUT_FILENO, N_GETMAP, &wrong), EINVAL);
    check_fails(ioctl(STDOUT_FILENO, N_GETPLAN, &value), EAGAIN);
    check_works(ioctl(STDOUT_FILENO, N_PES, &value));
    check_equal(value, 1);
    check_fails(ioctl(STDOUT_FILENO, 17, &value), ENOTTY);
    check_works(ioctl(STDOUT_FILENO, N_SETMAP, p));
    check_fails(ioctl(STDOUT_FILENO, N_SETMAP, p), EBUSY);
    check_equal(write(STDOUT_FILENO, "own", 3), 3);
    check_works(ioctl(STDOUT_FILENO, N_GETPLAN, &value));
    check_equal(value, N_PLAN_MATCHED);
    check_equal(isatty(STDOUT_FILENO), 0);
}

/* Node 1 gives another mapping than node 0; a reader notices. */
static void disagrees(void)
{
    map(STDOUT_FILENO, own_node() == 1 ? "cyclic 5 2" : "cyclic 4 2");
    writes_40000();
}

static void sees_disagreement(void)
{
    char buf[100];
    ssize_t n;

    while ((n = read(STDIN_FILENO, buf, sizeof buf)) > 0)
        ;
    check_equal(n, -1);
    check_equal(errno, EINVAL);
}

/* dup makes a second descriptor of the end; the pipe ends when both are closed. */
static void dups(void)
{
    int copy = dup(STDOUT_FILENO);

    check_works(close(STDOUT_FILENO));
    check_equal(write(copy, "text\n", 5), 5);
}

static void copies(void)
{
    char buf[64];
    ssize_t n;

    while ((n = read(STDIN_FILENO, buf, sizeof buf)) > 0)
        check_equal(write(STDOUT_FILENO, buf, (size_t)n), n);
    check_equal(n, 0);
}

/* In global mode the end is the program's: what all nodes print appears once, and all read the same. */
static void prints_once(void)
{
    nglobal();
    printf("printed by %d nodes\n", node_count());
    fflush(stdout);
}

static void reads_once(void)
{
    char line[80] = "";

    nglobal();
    check(fgets(line, sizeof line, stdin) != NULL, "no line");
    fprintf(stderr, "node %d: %s", own_node(), line);
}

static void prints(void)
{
    printf("node %d\n", own_node());
}

static void waits_for_ever(void)
{
    nread(NULL, 0, &(int){-1}, &(int){-1}, NULL);
}

static void writes_a_little_and_waits(void)
{
    check_equal(write(STDOUT_FILENO, "some", 4), 4);
    waits_for_ever();
}

static void drops_all(void)
{
    char buf[64];

    while (read(STDIN_FILENO, buf, sizeof buf) > 0)
        ;
}

static void reads_a_little_and_waits(void)
{
    char buf[10];

    check_equal(read(STDIN_FILENO, buf, sizeof buf), (long)sizeof buf);
    waits_for_ever();
}

static void faults(void)
{
    volatile uintptr_t nowhere = 8;

    *(volatile int *)nowhere = 1;
}

static void maps_and_waits(void)
{
    map(STDIN_FILENO, "cyclic 10 2");
    read_all(STDIN_FILENO, &(uint64_t){1});
}

/* ---- Messages ---- */

static int state_of(int fd)
{
    int state = -1;

    check_works(ioctl(fd, N_STATE, &state));
    return state;
}

static void put(int fd, int pid, int type, const void *buf, int n)
{
    struct ncaddr to = {(short)pid, 0, (short)type};
    struct strbuf ctl = {.len = sizeof to, .buf = (char *)&to}, data = {.len = n, .buf = (char *)buf};

    check_works(putmsg(fd, &ctl, &data, 0));
}

/* Receives by a template. Returns the number of bytes; *from is the address. */
static int get(int fd, struct ncaddr *from, void *buf, int room)
{
    struct strbuf ctl = {.maxlen = sizeof *from, .buf = (char *)from}, data = {.maxlen = room, .buf = buf};
    int flags = 0, result = getmsg(fd, &ctl, &data, &flags);

    return result < 0 ? result : data.len;
}

#define BIG 30000

/* Every PE asks every PE of the other end, by its write end; the answers come back to it. */
static void asks(void)
{
    static char big[BIG];
    int pes, sum = 0;
    struct ncaddr any = {-1, -1, -1}, to = {1, 0, 9};

    check_equal(state_of(STDOUT_FILENO), N_BOUND);
    check_works(ioctl(STDOUT_FILENO, N_PES, &pes));
    check_fails(ioctl(STDOUT_FILENO, N_TEST, &any), EAGAIN);
    for (int pe = 0; pe < pes; pe++)
        put(STDOUT_FILENO, pe, 5, &(int){own_node() * 100 + pe}, sizeof(int));
    check_equal(state_of(STDOUT_FILENO), N_MESSAGE);
    check_fails(write(STDOUT_FILENO, "x", 1), EPROTO);
    for (int i = 0; i < pes; i++) {
        struct ncaddr from = {-1, -1, 6};
        int answer;

        check_equal(get(STDOUT_FILENO, &from, &answer, sizeof answer), (long)sizeof answer);
        check_equal(answer, own_node() * 100 + from.pid + 7);
        sum += from.pid;
    }
    check_equal(sum, pes * (pes - 1) / 2);
    memset(big, 'b', sizeof big);
    put(STDOUT_FILENO, -1, 8, big, own_node() == 0 ? BIG : 0); /* to all */
    check_works(ioctl(STDOUT_FILENO, N_CONNECT, &to));
    check_equal(write(STDOUT_FILENO, "connected", 9), 9);
    any = (struct ncaddr){-1, -1, -1};
    check_equal(get(STDOUT_FILENO, &any, big, BIG), -1); /* the others close their ends */
    check_equal(errno, EPIPE);
    check_equal(state_of(STDOUT_FILENO), N_CLOSED);
    struct strbuf ctl = {.len = sizeof to, .buf = (char *)&to};
    check_fails(putmsg(STDOUT_FILENO, &ctl, NULL, 0), EPIPE);
}

static void answers(void)
{
    static char big[BIG];
    int pes;
    struct ncaddr from = {-1, -1, 8};

    check_works(ioctl(STDIN_FILENO, N_PES, &pes));
    for (int i = 0; i < pes; i++) {
        int question;

        from = (struct ncaddr){-1, -1, 5};
        check_equal(get(STDIN_FILENO, &from, &question, sizeof question), (long)sizeof question);
        check_equal(question, from.pid * 100 + own_node());
        put(STDIN_FILENO, from.pid, 6, &(int){question + 7}, sizeof question);
    }
    check_equal(state_of(STDIN_FILENO), N_MESSAGE);
    check_fails(read(STDIN_FILENO, big, 1), EPROTO);
    struct strbuf ctl = {.maxlen = sizeof from, .buf = (char *)&from}, data = {.maxlen = 20000, .buf = big};
    from = (struct ncaddr){0, -1, 8};
    check_equal(getmsg(STDIN_FILENO, &ctl, &data, &(int){0}), MOREDATA);
    check_equal(data.len, 20000);
    check_equal(get(STDIN_FILENO, &from, big, BIG), BIG - 20000);
    for (int i = 1; i < pes; i++) {
        from = (struct ncaddr){(short)i, -1, 8};
        check_equal(get(STDIN_FILENO, &from, big, BIG), 0);
    }
    for (int i = 0; own_node() == 1 && i < pes; i++) {
        from = (struct ncaddr){-1, -1, 9};
        check_equal(get(STDIN_FILENO, &from, big, BIG), 9);
    }
}

/* An end that carries bytes takes no messages. */
static void sends_bytes(void)
{
    struct ncaddr to = {0, 0, 1};
    struct strbuf ctl = {.len = sizeof to, .buf = (char *)&to}, data = {.maxlen = 4, .buf = (char[4]){0}};

    check_equal(write(STDOUT_FILENO, "some", 4), 4);
    check_equal(state_of(STDOUT_FILENO), N_MAPPED);
    check_fails(putmsg(STDOUT_FILENO, &ctl, NULL, 0), EPROTO);
    check_fails(getmsg(STDOUT_FILENO, NULL, &data, &(int){0}), EPROTO);
    check_fails(ioctl(STDOUT_FILENO, N_CONNECT, &to), EPROTO);
}

/* A mapping takes the end out of global mode; before the first byte only. */
static void maps_after_nglobal(void)
{
    nglobal();
    map(STDOUT_FILENO, "cyclic 3 2");
    check_equal(write(STDOUT_FILENO, own_node() == 0 ? "abcABC" : "defDEF", 6), 6);
    check_works(close(STDOUT_FILENO));
}

static const struct end_case {
    const char *name;
    void (*run)(void);
} cases[] = {
    {"writes until the end", writes_until_the_end},
    {"sees SIGPIPE", sees_sigpipe},
    {"reads a little", reads_a_little},
    {"hears of the end", hears_of_the_end},
    {"hears of all ends", hears_of_all_ends},
    {"reads its ten", reads_its_ten},
    {"writes lines", writes_lines},
    {"writes mapped lines", writes_mapped_lines},
    {"reads what has come", reads_what_has_come},
    {"writes at once", writes_at_once},
    {"writes mapped at once", writes_mapped_at_once},
    {"reads long", reads_long},
    {"one reader leaves", one_reader_leaves},
    {"writes 40000", writes_40000},
    {"calls that fail", calls_that_fail},
    {"disagrees", disagrees},
    {"sees disagreement", sees_disagreement},
    {"dups", dups},
    {"copies", copies},
    {"prints", prints},
    {"prints once", prints_once},
    {"reads once", reads_once},
    {"waits for ever", waits_for_ever},
    {"writes a little and waits", writes_a_little_and_waits},
    {"drops all", drops_all},
    {"reads a little and waits", reads_a_little_and_waits},
    {"asks", asks},
    {"answers", answers},
    {"sends bytes", sends_bytes},
    {"maps after nglobal", maps_after_nglobal},
    {"faults", faults},
    {"maps and waits", maps_and_waits},
};

static void run_one(const char *name)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (strcmp(cases[i].name, name) == 0) {
            cases[i].run();
            return;
        }
    check(false, "no case '%s'", name);
}

static void run_end(char **argv)
{
    bool writes = strcmp(argv[1], "write") == 0;
    int fd = open_place(argv[2], writes);
    uint64_t seed = strtoull(argv[4], NULL, 10) * 1000 + (uint64_t)own_node() + (writes ? 0 : 500);

    bool any = map(fd, argv[3]);
    if (!writes)
        read_all(fd, &seed);
    else if (any)
        write_all(fd, &seed);
    check_works(close(fd));
}

int main(int argc, char **argv)
{
    if (argc == 5)
        run_end(argv);
    else if (argc >= 3 && strcmp(argv[1], "exact") == 0)
        play(strtoull(argv[2], NULL, 10));
    else
        run_one(argc == 2 ? argv[1] : "");
    return 0;
}
