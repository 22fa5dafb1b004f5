/* ncube ps: which machines are up, which programs run on them, and which machines do not answer. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <jansson.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/machine/booted.h"

TestSuite(ps, .timeout = 600);

static struct outcome run_ps(const char *option)
{
    char *ncube = build_path("bin/ncube");
    struct outcome o = command_run((char *[]){ncube, "ps", (char *)option, NULL}, NULL);

    free(ncube);
    return o;
}

/* What it prints when this machine has answered, which it need not do within ps's two seconds on a busy host. */
static struct outcome run_ps_of(const char *name)
{
    char *answers = format("%s: up, ", name);
    struct outcome o = run_ps(NULL);

    while (!strstr(o.out, answers)) {
        cr_assert_not_null(strstr(o.out, name), "%s", o.out);
        outcome_free(&o);
        o = run_ps(NULL);
    }
    free(answers);
    return o;
}

/* Returns ps's entry for the machine of that name, as others may be up on this host, too. The caller drops it. */
static json_t *ask_about(const char *name)
{
    struct outcome o = run_ps("--json");
    json_t *list = json_loads(o.out, 0, NULL), *machine;
    size_t i;

    cr_assert(json_is_array(list), "%s%s", o.out, o.err);
    outcome_free(&o);
    json_array_foreach(list, i, machine) if (strcmp(json_string_value(json_object_get(machine, "name")), name) == 0)
    {
        json_incref(machine);
        json_decref(list);
        return machine;
    }
    json_decref(list);
    return NULL;
}

static json_int_t number(const json_t *object, const char *key)
{
    cr_assert(json_is_integer(json_object_get(object, key)), "no number '%s'", key);
    return json_integer_value(json_object_get(object, key));
}

static const char *text(const json_t *object, const char *key)
{
    cr_assert(json_is_string(json_object_get(object, key)), "no text '%s'", key);
    return json_string_value(json_object_get(object, key));
}

/* Asks until `list` has so many entries, since programs begin when the machine has heard of them, and until virtual
 * time has begun, which it has not in a machine that has only just been given something to compute. */
static json_t *await_entries(const char *name, const char *list, size_t n)
{
    for (;;) {
        json_t *machine = ask_about(name);

        cr_assert_not_null(machine);
        if (json_array_size(json_object_get(machine, list)) == n &&
            json_real_value(json_object_get(machine, "virtual_time_s")) > 0)
            return machine;
        json_decref(machine);
    }
}

static const struct streams_of_test in_memory = {-1, -1};

Test(ps, lists_programs_and_who_waits)
{
    struct booted b = booted_up(WORDS("-d", "3"));
    struct command spins = xnc_start(&b, in_memory, WORDS("-d", "1", "guest/ends", "spins"));
    json_t *machine = await_entries(b.name, "programs", 1), *entry;

    entry = json_array_get(json_object_get(machine, "programs"), 0);
    cr_expect_str_eq(text(machine, "state"), "up");
    cr_expect_eq(number(machine, "pid"), b.command.pid);
    cr_expect(number(machine, "nodes") == 8 && number(machine, "free_nodes") == 6 && number(machine, "volumes") == 0);
    cr_expect(number(entry, "first_node") == 0 && number(entry, "nodes") == 2);
    cr_expect_eq(number(entry, "pid"), spins.pid);
    cr_expect_str_eq(text(entry, "state"), "runs");
    cr_expect_not_null(strstr(text(entry, "command"), "ends spins"));
    json_decref(machine);

    /* Command lines may hold anything. */
    struct command waits = xnc_start(&b, in_memory, WORDS("-d", "3", "--wait", "examples/hello", "a\nb\xff\x9b"));
    machine = await_entries(b.name, "waiting", 1);
    entry = json_array_get(json_object_get(machine, "waiting"), 0);
    cr_expect_eq(number(entry, "nodes"), 8);
    cr_expect_eq(number(entry, "pid"), waits.pid);
    cr_expect_not_null(strstr(text(entry, "command"), "hello a\nb\xef\xbf\xbd?"));
    json_decref(machine);

    struct outcome o = run_ps_of(b.name);
    const char *lines = strstr(o.out, b.name);
    cr_expect_not_null(strstr(lines, ": up, 8 nodes, 6 free, 0 volumes, virtual time "), "%s", o.out);
    cr_expect_not_null(strstr(lines, "nodes 0-1 "), "%s", o.out);
    cr_expect_not_null(strstr(lines, "hello a?b\xef\xbf\xbd?  (xnc "), "%s", o.out);
    outcome_free(&o);

    booted_down(&b);
    o = command_wait(&spins);
    outcome_free(&o);
    o = command_wait(&waits);
    outcome_free(&o);
    cr_expect_null(ask_about(b.name));
}

Test(ps, a_machine_that_is_stopped_does_not_hold_it_up)
{
    struct booted b = booted_up(WORDS("-d", "0"));

    kill(command_find_machine(&b.command), SIGSTOP);
    struct outcome o = run_ps("--json");
    cr_expect_eq(o.status, 1);
    outcome_free(&o);
    json_t *machine = ask_about(b.name);
    kill(command_find_machine(&b.command), SIGCONT);
    cr_assert_not_null(machine);
    cr_expect_str_eq(text(machine, "trouble"), "does not answer");
    cr_expect_eq(number(machine, "pid"), command_find_machine(&b.command));
    json_decref(machine);
    booted_down(&b);
}

/* ---- Other listeners under such a name ---- */

static int listen_as(unsigned user, const char *name, int backlog)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int n = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "ncube/%u/%s", user, name);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

    cr_assert_eq(bind(fd, (struct sockaddr *)&address, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n)), 0);
    cr_assert_eq(listen(fd, backlog), 0);
    return fd;
}

enum manner { SILENT, CLOSES, ANSWERS, OF_ANOTHER_USER, UNDER_MY_NAME };

static const struct peer {
    const char *name;
    enum manner manner;
    const char *answer; /* behind the head of a message */
    const char *trouble;
} peers[] = {
    {"says nothing", SILENT, NULL, "does not answer"},
    {"hangs up", CLOSES, NULL, "has just gone down"},
    {"sends no message of ours", ANSWERS, "x", "malformed report"},
    {"sends no JSON", ANSWERS, "BUCN\x06\0\0\0 so what", "malformed report"},
    {"sends JSON of something else", ANSWERS, "BUCN\x06\0\0\0[1, 2]", "malformed report"},
    {"sends half a report", ANSWERS, "BUCN\x06\0\0\0{\"name\": \"x\", \"programs\": []}", "malformed report"},
    {"is another user's", OF_ANOTHER_USER, NULL, "another user's"},
    {"is another user's under a name of mine", UNDER_MY_NAME, NULL, "another user's, under a name of yours"},
};

static size_t answer_bytes(const char *answer)
{
    return answer[0] == 'x' ? 1 : 8 + strlen(answer + 8);
}

/* Answers a client, in a process of its own that ends with the test. */
static pid_t serve(const struct peer *p, int listening)
{
    pid_t pid = fork();

    if (pid != 0)
        return pid;
    alarm(50);
    if (p->manner == UNDER_MY_NAME && setuid(65534) != 0)
        _exit(1);
    for (;;) {
        char request[256];
        int fd = accept(listening, NULL, NULL);

        if (p->manner == ANSWERS && recv(fd, request, sizeof request, 0) > 0)
            send(fd, p->answer, answer_bytes(p->answer), MSG_NOSIGNAL);
        if (p->manner == ANSWERS || p->manner == CLOSES)
            close(fd);
    }
}

RowTest(ps, a_strange_peer_is_one_entry, peers)
{
    const struct peer *p = &peers[*row];
    char name[64];
    unsigned user = (unsigned)geteuid();

    if (p->manner == UNDER_MY_NAME && user != 0)
        cr_skip_test("only root can make another user's socket");
    snprintf(name, sizeof name, "peer-%d", (int)getpid());
    if (p->manner == UNDER_MY_NAME) /* the kernel notes who has called listen() */
        cr_assert_eq(seteuid(65534), 0);
    int listening = listen_as(p->manner == OF_ANOTHER_USER ? user + 1 : user, name, 8);
    cr_assert_eq(seteuid(user), 0);
    pid_t server = serve(p, listening);

    struct outcome o = run_ps(NULL);
    if (p->manner != OF_ANOTHER_USER) /* others that are up now may not answer, either */
        cr_expect_eq(o.status, 1, "%s: status %d", p->name, o.status);
    char *line = strstr(o.out, name);
    cr_assert_not_null(line, "%s: %s%s", p->name, o.out, o.err);
    *strchrnul(line, '\n') = '\0';
    cr_expect_not_null(strstr(line, p->trouble), "%s: %s", p->name, line);
    cr_expect_str_empty(o.err, "%s: %s", p->name, o.err);
    outcome_free(&o);
    json_t *machine = ask_about(name);
    cr_assert_not_null(machine, "%s", p->name);
    cr_expect_not_null(strstr(text(machine, "trouble"), p->trouble), "%s", p->name);
    json_decref(machine);
    kill(server, SIGKILL);
    waitpid(server, NULL, 0);
    close(listening);
}

/* The machine accepts no connections, and its queue has no room for another. */
Test(ps, a_full_queue_does_not_hold_it_up)
{
    char name[64];

    snprintf(name, sizeof name, "full-%d", (int)getpid());
    int listening = listen_as((unsigned)geteuid(), name, 0);
    struct outcome o = run_ps(NULL);
    outcome_free(&o);
    o = run_ps(NULL);
    cr_expect_eq(o.status, 1);
    cr_expect_not_null(strstr(o.out, name));
    outcome_free(&o);
    close(listening);
}

/* A socket whose name only resembles a machine's is no machine. */
Test(ps, names_that_mislead_are_not_listed)
{
    int listening = listen_as((unsigned)geteuid(), "a b\nncube: up", 8);
    struct outcome o = run_ps(NULL);

    cr_expect_null(strstr(o.out, "a b"), "%s", o.out);
    outcome_free(&o);
    close(listening);
}
