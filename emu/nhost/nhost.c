/* The host library: one link to the machine for each cube. What the machine sends is taken in its order; messages of
 * nodes that nobody has read yet are kept here. */
#include "emu/nhost/nhost.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <unistd.h>

#include "emu/link/launch.h"
#include "emu/link/link.h"
#include "vertex/contract/errors.h"

#define CUBES_MAX       64
#define ARGUMENTS_MAX   4096
#define NAME_OF_DEFAULT "ncube"
#define MESSAGE_MOST    (64 << 20)

struct mail {
    STAILQ_ENTRY(mail) entry;
    int node, type;
    size_t bytes;
    uint8_t content[];
};

struct cube {
    bool open;
    int fd;
    int nodes;
    bool asked, idle;          /* the machine is to say when no program runs any longer; it has, since the last load */
    bool ended;                /* the machine has hung up, */
    bool busy;                 /* because its nodes are in use */
    char why[256];             /* and why */
    STAILQ_HEAD(, mail) mails; /* oldest first */
    uint8_t *part;             /* of a message that has not arrived in full, */
    size_t part_bytes;
};

struct set {
    int cube, first, nodes;
};

static struct cube cube_of[CUBES_MAX];
static struct set *set_of;
static int sets;
static char failed[512];

const char *nfailed(void)
{
    return failed;
}

__attribute__((format(printf, 2, 3))) static int fail(int reason, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(failed, sizeof failed, format, arguments);
    va_end(arguments);
    errno = reason;
    return -1;
}

static struct cube *find_cube(int cube)
{
    if (cube >= 0 && cube < CUBES_MAX && cube_of[cube].open)
        return &cube_of[cube];
    fail(EBADF, "no cube %d is open", cube);
    return NULL;
}

/* ---- What the machine sends ------------------------------------------------------------------------- */

static void hang_up(struct cube *c, const char *why)
{
    snprintf(c->why, sizeof c->why, "%s", why);
    c->ended = true;
}

static int fail_ended(const struct cube *c)
{
    return fail(EPIPE, "%s", c->why);
}

/* Takes a message, or a part of one. False: it is malformed, or there is no memory. */
static bool take_mail(struct cube *c, const struct link_message *m)
{
    struct link_mail head;

    if (m->bytes < sizeof head)
        return false;
    memcpy(&head, m->content, sizeof head);
    size_t n = m->bytes - sizeof head;
    uint8_t *part = realloc(c->part, c->part_bytes + n + 1);
    if (!part)
        return false;
    memcpy(part + c->part_bytes, m->content + sizeof head, n);
    c->part = part;
    c->part_bytes += n;
    if (head.left > 0)
        return true;
    struct mail *mail = malloc(sizeof *mail + c->part_bytes);
    if (!mail)
        return false;
    *mail = (struct mail){.node = (int)head.node, .type = (int)head.type, .bytes = c->part_bytes};
    memcpy(mail->content, c->part, c->part_bytes);
    STAILQ_INSERT_TAIL(&c->mails, mail, entry);
    c->part_bytes = 0;
    return true;
}

/* Takes the status with which the machine hangs up. */
static void take_end(struct cube *c, const struct link_message *m)
{
    char why[sizeof c->why];
    struct link_status s = {0};

    memcpy(&s, m->content, m->bytes < sizeof s ? m->bytes : sizeof s);
    c->busy = s.busy;
    if (m->bytes > sizeof(struct link_status))
        snprintf(why, sizeof why, "%s", (const char *)m->content + sizeof(struct link_status));
    else
        snprintf(why, sizeof why, "the programs of the cube have been ended");
    hang_up(c, why);
}

/* Waits for something from the machine. Returns its kind, with the status and text of an answer in *status and text;
 * 0 if the cube has ended. */
static int take(struct cube *c, int32_t *status, char *text, size_t text_bytes)
{
    struct link_message m;
    int got;

    while ((got = link_receive(c->fd, &m)) < 0 && errno == EINTR)
        ;
    if (got <= 0) {
        hang_up(c, "the machine has gone down");
        return 0;
    }
    int kind = (int)m.kind;
    if (kind == LINK_IDLE) {
        c->asked = false;
        c->idle = true;
    }
    if (kind == LINK_STATUS)
        take_end(c, &m);
    else if (kind == LINK_MAIL && !take_mail(c, &m))
        hang_up(c, "a message of the machine is malformed, or there is no memory for it");
    else if (kind != LINK_MAIL && m.bytes >= sizeof(struct link_status)) {
        memcpy(status, m.content, sizeof *status);
        snprintf(text, text_bytes, "%s", (const char *)m.content + sizeof(struct link_status));
    }
    link_message_free(&m);
    return c->ended ? 0 : kind;
}

/* Waits for an answer of that kind. False if the cube has ended. */
static bool await(struct cube *c, int kind, int32_t *status, char *text, size_t text_bytes)
{
    int got = 0;

    while (!c->ended && got != kind)
        got = take(c, status, text, text_bytes);
    return got == kind && !c->ended;
}

/* ---- Cubes ------------------------------------------------------------------------------------------ */

static int free_cube(void)
{
    for (int i = 0; i < CUBES_MAX; i++)
        if (!cube_of[i].open)
            return i;
    return fail(EMFILE, "%d cubes are already open, which is the maximum", CUBES_MAX);
}

static const char *machine_name(void)
{
    const char *name = getenv("NCUBE_NAME");

    return name && *name ? name : NAME_OF_DEFAULT;
}

int nopen(int dim)
{
    char error[256], text[256];
    const struct link_open open = {.dim = (uint32_t)dim};
    int number = free_cube();
    int32_t status;

    if (number < 0)
        return -1;
    if (dim < 0 || dim > 30)
        return fail(EINVAL, "a cube of dimension %d does not exist", dim);
    if (!link_name_is_sound(machine_name()))
        return fail(EINVAL, "NCUBE_NAME: '%s' cannot be the name of a machine", machine_name());
    int fd = link_connect(machine_name(), error, sizeof error);
    if (fd < 0)
        return fail(ENXIO, "%s", error);
    struct cube *c = &cube_of[number];
    *c = (struct cube){.open = true, .fd = fd, .nodes = 1 << dim};
    STAILQ_INIT(&c->mails);
    fflush(NULL);
    link_send(fd, LINK_OPEN, &open, sizeof open, true);
    if (await(c, LINK_OPENED, &status, text, sizeof text))
        return number;
    close(fd);
    c->open = false;
    return fail(c->busy ? EBUSY : EINVAL, "%s", c->why);
}

static void drop_mails(struct cube *c)
{
    while (!STAILQ_EMPTY(&c->mails)) {
        struct mail *m = STAILQ_FIRST(&c->mails);

        STAILQ_REMOVE_HEAD(&c->mails, entry);
        free(m);
    }
    free(c->part);
}

/* Tells the machine to end the programs, and waits until it has. */
int nclose(int cube)
{
    struct cube *c = find_cube(cube);
    int32_t status;
    char text[8];

    if (!c)
        return -1;
    if (!c->ended)
        link_send(c->fd, LINK_KILL, NULL, 0, false);
    while (!c->ended)
        take(c, &status, text, sizeof text);
    close(c->fd);
    drop_mails(c);
    *c = (struct cube){0};
    for (int i = 0; i < sets; i++)
        if (set_of[i].cube == cube)
            set_of[i].cube = -1;
    return 0;
}

/* ---- Sets of nodes ---------------------------------------------------------------------------------- */

static bool read_number(const char **text, int *number)
{
    char *end;

    errno = 0;
    long value = **text >= '0' && **text <= '9' ? strtol(*text, &end, 10) : -1;
    if (value < 0 || value > INT_MAX || errno)
        return false;
    *text = end;
    *number = (int)value;
    return true;
}

static bool read_nodes(const char *text, int nodes, struct set *s)
{
    int last;

    if (strcmp(text, "all") == 0) {
        s->first = 0;
        s->nodes = nodes;
        return true;
    }
    if (!read_number(&text, &s->first))
        return false;
    last = s->first;
    if (*text == '-') {
        text++;
        if (!read_number(&text, &last))
            return false;
    }
    s->nodes = last - s->first + 1;
    return *text == '\0' && last >= s->first && last < nodes;
}

static int add_set(const struct set *s)
{
    struct set *grown = realloc(set_of, ((size_t)sets + 1) * sizeof *set_of);

    if (!grown)
        return fail(ENOMEM, "no memory for a set of nodes");
    set_of = grown;
    set_of[sets] = *s;
    return sets++;
}

int nodeset(int cube, const char *nodes)
{
    const struct cube *c = find_cube(cube);
    struct set s = {.cube = cube};

    if (!c)
        return -1;
    if (!read_nodes(nodes, c->nodes, &s))
        return fail(EINVAL, "'%s' names no nodes of a cube of %d: give all, 5 or 0-3", nodes, c->nodes);
    for (int i = 0; i < sets; i++)
        if (set_of[i].cube == cube && set_of[i].first == s.first && set_of[i].nodes == s.nodes)
            return i;
    return add_set(&s);
}

/* ---- Loading ---------------------------------------------------------------------------------------- */

static uint8_t *pack_load(const struct set *s, const char *path, char *const argv[], int argc, size_t *n)
{
    const struct link_part part = {.first = (uint32_t)s->first, .nodes = (uint32_t)s->nodes};
    const struct job_program program = {.path = path, .argv = argv, .argc = argc};
    const struct job_options job = {.program = &program, .programs = 1};
    char folder[PATH_MAX];
    size_t launch_bytes;
    uint8_t *launch = getcwd(folder, sizeof folder) ? launch_pack(&job, folder, &launch_bytes) : NULL;
    uint8_t *content = launch ? malloc(sizeof part + launch_bytes) : NULL;

    if (content) {
        memcpy(content, &part, sizeof part);
        memcpy(content + sizeof part, launch, launch_bytes);
        *n = sizeof part + launch_bytes;
    }
    free(launch);
    return content;
}

static int load(const struct set *s, const char *path, char *const argv[], int argc)
{
    struct cube *c = &cube_of[s->cube];
    char text[512] = "";
    int32_t status;
    size_t n;
    uint8_t *content = pack_load(s, path, argv, argc, &n);

    if (!content)
        return fail(E2BIG, "%s: the arguments are too long", path);
    fflush(NULL);
    int sent = link_send(c->fd, LINK_LOAD, content, n, false);
    free(content);
    if (sent != 0 && errno == EMSGSIZE)
        return fail(E2BIG, "%s: the arguments are too long", path);
    if (!await(c, LINK_LOADED, &status, text, sizeof text))
        return fail_ended(c);
    if (status <= 0)
        return fail(status == -N_ENOMEM ? ENOMEM : EINVAL, "%s", text);
    c->idle = false;
    return status;
}

static const struct set *find_set(int set)
{
    if (set >= 0 && set < sets && set_of[set].cube >= 0)
        return &set_of[set];
    fail(EBADF, "no set of nodes has the number %d", set);
    return NULL;
}

struct nprogram rexecv(int set, const char *path, char *const argv[])
{
    const struct set *s = find_set(set);
    int argc = 0;

    if (!s)
        return (struct nprogram){-1};
    while (argv[argc])
        argc++;
    if (argc == 0)
        return (struct nprogram){fail(EINVAL, "%s: there is no argv[0]", path)};
    if (cube_of[s->cube].ended)
        return (struct nprogram){fail_ended(&cube_of[s->cube])};
    return (struct nprogram){load(s, path, argv, argc)};
}

struct nprogram rexecl(int set, const char *path, const char *arg0, ...)
{
    char *argv[ARGUMENTS_MAX];
    int argc = 0;
    va_list more;

    va_start(more, arg0);
    for (const char *arg = arg0; arg && argc < ARGUMENTS_MAX - 1; arg = va_arg(more, const char *))
        argv[argc++] = (char *)arg;
    va_end(more);
    argv[argc] = NULL;
    return rexecv(set, path, argv);
}

int nload(int cube, const char *path, int node)
{
    char text[16] = "all", *argv[] = {(char *)path, NULL};

    if (node != -1)
        snprintf(text, sizeof text, "%d", node);
    int set = nodeset(cube, text);
    return set < 0 || rexecv(set, path, argv).np_pid == -1 ? -1 : 0;
}

/* ---- Messages --------------------------------------------------------------------------------------- */

static int check_write(const struct cube *c, int n, int node, int type)
{
    if ((node < 0 || node >= c->nodes) && node != NHOST_ALL_NODES)
        return fail(EINVAL, "the cube has %d nodes, no node %d", c->nodes, node);
    if (type < 0 || type > 0xffff)
        return fail(EINVAL, "type %d is not 0 to 65535", type);
    if (n < 0 || n > MESSAGE_MOST)
        return fail(n < 0 ? EINVAL : EMSGSIZE, "a message of %d bytes cannot be sent", n);
    return 0;
}

static bool send_part(const struct cube *c, const struct link_mail *head, const void *bytes, size_t n)
{
    uint8_t *content = malloc(sizeof *head + n);

    if (!content)
        return false;
    memcpy(content, head, sizeof *head);
    memcpy(content + sizeof *head, bytes, n);
    int sent;
    while ((sent = link_send(c->fd, LINK_MAIL, content, sizeof *head + n, false)) < 0 && errno == EINTR)
        ;
    free(content);
    return sent == 0;
}

int nwrite(int cube, const void *buf, int n, int node, int type)
{
    struct cube *c = find_cube(cube);
    size_t at = 0;

    if (!c || check_write(c, n, node, type) < 0)
        return -1;
    if (c->ended)
        return fail_ended(c);
    do {
        size_t left = (size_t)n - at, part = left < LINK_MAIL_BYTES ? left : LINK_MAIL_BYTES;
        const struct link_mail head = {.node = (uint32_t)node, .type = (uint32_t)type, .left = (uint32_t)(left - part)};

        if (!send_part(c, &head, (const uint8_t *)buf + at, part))
            return fail(EPIPE, "the machine accepts no message: %s", strerror(errno));
        at += part;
    } while (at < (size_t)n);
    return 0;
}

static struct mail *find_mail(struct cube *c, int node, int type)
{
    struct mail *m;

    STAILQ_FOREACH(m, &c->mails, entry)
        if ((node == -1 || m->node == node) && (type == -1 || m->type == type))
            return m;
    return NULL;
}

/* Lets the machine say when no program runs on the cube any longer. All messages of the programs come before that. */
static void ask_for_idle(struct cube *c)
{
    if (!c->asked && !c->idle && !c->ended)
        c->asked = link_send(c->fd, LINK_WAIT, NULL, 0, false) == 0;
}

/* Takes what has come from the machine, and waits for nothing. */
static void take_ready(struct cube *c)
{
    struct pollfd p = {.fd = c->fd, .events = POLLIN};
    int32_t status;
    char text[8];

    while (!c->ended && poll(&p, 1, 0) > 0)
        take(c, &status, text, sizeof text);
}

/* Says why a message that has not come cannot come. */
static int fail_lonely(const struct cube *c)
{
    return c->ended ? fail_ended(c) : fail(ESRCH, "no such message has arrived, and no program runs on the cube");
}

int nread(int cube, void *buf, int n, int *node, int *type)
{
    struct cube *c = find_cube(cube);
    struct mail *m;
    int32_t status;
    char text[8];

    if (!c)
        return -1;
    if (c->idle)
        take_ready(c);
    while (!(m = find_mail(c, *node, *type))) {
        if (c->ended || c->idle)
            return fail_lonely(c);
        ask_for_idle(c);
        take(c, &status, text, sizeof text);
    }
    *node = m->node;
    *type = m->type;
    if (n < 0 || m->bytes > (size_t)n)
        return fail(EMSGSIZE, "the message has %zu bytes, more than %d", m->bytes, n);
    memcpy(buf, m->content, m->bytes);
    int bytes = (int)m->bytes;
    STAILQ_REMOVE(&c->mails, m, mail, entry);
    free(m);
    return bytes;
}

int ntest(int cube, int *node, int *type)
{
    struct cube *c = find_cube(cube);

    if (!c)
        return -1;
    ask_for_idle(c);
    take_ready(c);
    const struct mail *m = find_mail(c, *node, *type);
    if (!m)
        return c->ended || c->idle ? fail_lonely(c) : fail(EAGAIN, "no such message has arrived");
    *node = m->node;
    *type = m->type;
    return (int)m->bytes;
}

int nwait(int cube)
{
    struct cube *c = find_cube(cube);
    int32_t status = 0;
    char text[8];

    if (!c)
        return -1;
    if (c->ended)
        return fail_ended(c);
    link_send(c->fd, LINK_WAIT, NULL, 0, false);
    return await(c, LINK_IDLE, &status, text, sizeof text) ? status : fail_ended(c);
}
