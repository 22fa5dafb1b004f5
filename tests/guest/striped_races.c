/*
 * Every pair of calls that change a name of a striped volume, made by all nodes at about the same time: the even ones
 * make one, the odd ones the other. Arguments: prefix "//big/", which race is the first, each how many-th follows, and
 * a seed.
 *
 * What the calls return and what is there afterwards must be what some order of the calls, one after the other, gives.
 * So of those that take a name away, or make it, exactly one wins for each time that it was there, or was not; and no
 * call that fails has changed anything: the folder can be removed when what the winners have made is.
 */
#include <nself.h>
#include <sys/stat.h>

#include "check_files.h"
#include "check_messages.h"

#define DELAY_US 20000 /* most by which a node comes later */

enum state { NONE, FILE_THERE, FOLDER_THERE, STATES };

static const char *const state_names[STATES] = {"nothing", "a file", "a folder"};

/* ---- The calls ---- */

/* The name for which all contend, and one of the node's own. */
static char path[64], own[80];

static int open_with(int flags)
{
    int fd = open(path, O_RDWR | flags, 0644);

    return fd < 0 ? -1 : close(fd);
}

static int create(void)
{
    return open_with(O_CREAT);
}

static int create_new(void)
{
    return open_with(O_CREAT | O_EXCL);
}

static int cut(void)
{
    return open_with(O_TRUNC);
}

static int take_away(void)
{
    return unlink(path);
}

static int move_away(void)
{
    return rename(path, own);
}

static int move_here(void)
{
    return rename(own, path);
}

static int make_folder(void)
{
    return mkdir(path, 0755);
}

static int remove_folder(void)
{
    return rmdir(path);
}

#define FAILS(error)  \
    {                 \
        error, STATES \
    }
#define LEAVES(state) \
    {                 \
        0, state      \
    }

/* For each state, in which the call finds the name: the error, or 0 and the state in which it leaves it. */
static const struct call {
    const char *name;
    int (*make)(void);
    enum state own_before; /* of the node's own name */
    struct {
        int error;
        enum state next;
    } on[STATES];
} calls[] = {
    {"open to create", create, NONE, {LEAVES(FILE_THERE), LEAVES(FILE_THERE), FAILS(EISDIR)}},
    {"open to create a new one", create_new, NONE, {LEAVES(FILE_THERE), FAILS(EEXIST), FAILS(EEXIST)}},
    {"open to truncate", cut, NONE, {FAILS(ENOENT), LEAVES(FILE_THERE), FAILS(EISDIR)}},
    {"unlink", take_away, NONE, {FAILS(ENOENT), LEAVES(NONE), FAILS(EISDIR)}},
    {"rename away", move_away, NONE, {FAILS(ENOENT), LEAVES(NONE), LEAVES(NONE)}},
    {"rename a file onto it", move_here, FILE_THERE, {LEAVES(FILE_THERE), LEAVES(FILE_THERE), FAILS(EISDIR)}},
    {"rename a folder onto it", move_here, FOLDER_THERE, {LEAVES(FOLDER_THERE), FAILS(ENOTDIR), LEAVES(FOLDER_THERE)}},
    {"mkdir", make_folder, NONE, {LEAVES(FOLDER_THERE), FAILS(EEXIST), FAILS(EEXIST)}},
    {"rmdir", remove_folder, NONE, {FAILS(ENOENT), FAILS(ENOTDIR), LEAVES(NONE)}},
};

#define CALLS ((int)(sizeof calls / sizeof *calls))
#define PAIRS (CALLS * (CALLS + 1) / 2)

struct race {
    enum state before;
    const struct call *call[2]; /* of the even nodes and of the odd ones */
};

static struct race race_of(int number)
{
    int pair = number % PAIRS, first = 0;

    while (pair >= CALLS - first)
        pair -= CALLS - first++;
    return (struct race){.before = number / PAIRS, .call = {&calls[first], &calls[first + pair]}};
}

static void make(enum state state, const char *name)
{
    if (state == FILE_THERE)
        make_text_file(name, "text");
    else if (state == FOLDER_THERE)
        check_works(mkdir(name, 0755));
}

static enum state state_of(const char *name)
{
    struct stat st;

    if (stat(name, &st) != 0) {
        check_equal(errno, ENOENT);
        return NONE;
    }
    return S_ISDIR(st.st_mode) ? FOLDER_THERE : FILE_THERE;
}

static void clear(const char *name)
{
    enum state state = state_of(name);

    if (state != NONE)
        check_works(state == FOLDER_THERE ? rmdir(name) : unlink(name));
}

/* ---- Is there an order that explains what came of it? ---- */

struct outcome { /* of one node */
    int error;   /* 0: the call worked */
    enum state own;
};

#define NODES_MAX 64
static struct outcome outcome[NODES_MAX];

/* How many calls of each kind, by the state that they leave, changed the state; and which states there were. */
struct order {
    enum state now;
    int left[2]; /* calls that worked */
    int met;     /* a bit for each state */
};

/* Calls that failed, or worked and changed nothing, fit wherever a state that lets them was met. */
static int explains(const struct race *r, int met)
{
    for (int i = 0; i < node_count(); i++) {
        const struct call *c = r->call[i % 2];
        int fits = 0;

        for (int s = 0; s < STATES; s++)
            fits |= (met >> s & 1) && c->on[s].error == outcome[i].error;
        if (!fits)
            return 0;
    }
    return 1;
}

static char tried[STATES][NODES_MAX / 2 + 1][NODES_MAX / 2 + 1][1 << STATES];

static int has_order(const struct race *r, const struct order *o, enum state after)
{
    char *seen = &tried[o->now][o->left[0]][o->left[1]][o->met];

    if (*seen)
        return 0;
    *seen = 1;
    if (o->left[0] + o->left[1] == 0 && o->now == after && explains(r, o->met))
        return 1;
    for (int k = 0; k < 2; k++) {
        const struct call *c = r->call[k];
        struct order next = *o;

        if (o->left[k] == 0 || c->on[o->now].error)
            continue;
        next.left[k]--;
        next.now = c->on[o->now].next;
        next.met |= 1 << next.now;
        if (has_order(r, &next, after))
            return 1;
    }
    return 0;
}

/* A name of its own is there before a call that moves it away, or after one that moves the other here. */
static int own_fits(const struct call *c, const struct outcome *o)
{
    if (c->make == move_away)
        return (o->own != NONE) == (o->error == 0);
    return o->own == (o->error == 0 ? NONE : c->own_before);
}

static int unexplained;

static void judge(int number, const struct race *r, enum state after)
{
    struct order o = {.now = r->before, .met = 1 << r->before};
    int fits = 1;

    for (int i = 0; i < node_count(); i++) {
        o.left[i % 2] += outcome[i].error == 0;
        fits &= own_fits(r->call[i % 2], &outcome[i]);
    }
    memset(tried, 0, sizeof tried);
    if (fits && has_order(r, &o, after))
        return;
    fprintf(stderr, "race %d, %s: %s and %s: %d and %d have worked, and there is %s\n", number, state_names[r->before],
            r->call[0]->name, r->call[1]->name, o.left[0], o.left[1], state_names[after]);
    for (int i = 0; i < node_count(); i++)
        fprintf(stderr, "  node %d: %s%s\n", i, outcome[i].error ? strerror(outcome[i].error) : "worked",
                outcome[i].own == NONE ? "" : ", and its own name is there");
    unexplained++;
}

/* ---- Racing ---- */

static uint64_t random_state;

static void gather(const struct outcome *mine)
{
    if (own_node() > 0) {
        check_equal(nwrite((char *)mine, sizeof *mine, 0, 5, NULL), 0);
        return;
    }
    outcome[0] = *mine;
    for (int i = 1; i < node_count(); i++) {
        int from = i, type = 5;

        check_equal(nread((char *)&outcome[i], sizeof *outcome, &from, &type, NULL), (long)sizeof *outcome);
    }
}

static void run(int number)
{
    const struct race r = race_of(number);
    const struct call *mine = r.call[own_node() % 2];
    struct outcome o;

    snprintf(path, sizeof path, "%s", name_of("race/it"));
    snprintf(own, sizeof own, "%s.%d", path, own_node());
    if (own_node() == 0) {
        check_works(mkdir(name_of("race"), 0755));
        make(r.before, path);
    }
    check_equal(nsync(1), 0);
    make(mine->own_before, own);
    uint32_t delay_us = draw(&random_state) % DELAY_US;
    check_equal(nsync(2), 0);
    if (draw(&random_state) % 2)
        usleep(delay_us);
    errno = 0;
    o.error = mine->make() == 0 ? 0 : errno;
    check_equal(nsync(3), 0);
    o.own = state_of(own);
    gather(&o);
    clear(own);
    check_equal(nsync(4), 0);
    if (own_node() > 0)
        return;
    judge(number, &r, state_of(path));
    clear(path);
    check_works(rmdir(name_of("race")));
}

int main(int argc, char **argv)
{
    check(argc == 5, "%d arguments", argc);
    test_argc = argc - 1;
    test_argv = argv + 1;
    random_state = strtoull(argv[4], NULL, 10) + 77u * (unsigned)own_node();
    for (int i = atoi(argv[2]); i < STATES * PAIRS; i += atoi(argv[3])) {
        run(i);
        check_equal(nsync(5), 0);
    }
    check_equal(unexplained, 0);
    if (own_node() == 0)
        puts("passed");
    return 0;
}
