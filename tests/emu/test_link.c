/* The link between a machine and its clients: names, messages, descriptors, and peers that are no clients. */
#include "emu/link/link.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static char name[LINK_NAME_MAX], error[300];

static int listen_here(void)
{
    snprintf(name, sizeof name, "link-%d", (int)getpid());
    int fd = link_listen(name, error, sizeof error);

    cr_assert_geq(fd, 0, "%s", error);
    return fd;
}

Test(link, names_are_of_letters_that_cannot_mislead)
{
    static const struct {
        const char *name;
        bool sound;
    } cases[] = {{"ncube", true},
                 {"a-b_c.9", true},
                 {"", false},
                 {"a/b", false},
                 {"a b", false},
                 {"1234567890123456789012345678901234567890123456789012345678901234", true},
                 {"12345678901234567890123456789012345678901234567890123456789012345", false}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect_eq(link_name_is_sound(cases[i].name), cases[i].sound, "'%s'", cases[i].name);
}

Test(link, carries_messages_and_descriptors_both_ways)
{
    int listening = listen_here(), client = link_connect(name, error, sizeof error);
    struct link_message m;

    cr_assert_geq(client, 0, "%s", error);
    int server = link_accept(listening);
    cr_assert_geq(server, 0);
    cr_expect_eq(link_accept(listening), -1, "there is no other");
    cr_expect(link_receive(server, &m) == -1 && errno == EAGAIN);

    cr_assert_eq(link_send(client, LINK_RUN, "content", 7, true), 0);
    cr_assert_eq(link_receive(server, &m), 1);
    cr_expect(m.kind == LINK_RUN && m.bytes == 7 && memcmp(m.content, "content", 7) == 0);
    cr_assert_eq(m.fds, 3);
    for (int i = 0; i < 3; i++)
        cr_expect(m.fd[i] > 2 && fcntl(m.fd[i], F_GETFD) == FD_CLOEXEC);
    int kept = m.fd[0];
    link_message_free(&m);
    cr_expect(fcntl(kept, F_GETFD) == -1, "freed with the message");

    cr_assert_eq(link_send(server, LINK_STATUS, NULL, 0, false), 0);
    close(server);
    cr_expect(link_receive(client, &m) == 1 && m.kind == LINK_STATUS && m.bytes == 0 && m.fds == 0);
    link_message_free(&m);
    cr_expect_eq(link_receive(client, &m), 0, "the end");
    close(client);
    close(listening);
}

Test(link, refuses_what_is_no_message)
{
    int listening = listen_here(), client = link_connect(name, error, sizeof error), server = link_accept(listening);
    static char bytes[LINK_MESSAGE_MAX_BYTES + 100];
    struct link_message m;

    cr_assert_eq(send(client, "no", 2, 0), 2);
    cr_expect(link_receive(server, &m) == -1 && errno == EPROTO);
    cr_assert_eq(send(client, "0123456789abcdef", 16, 0), 16);
    cr_expect(link_receive(server, &m) == -1 && errno == EPROTO);
    cr_assert_eq(send(client, bytes, sizeof bytes, 0), (ssize_t)sizeof bytes);
    cr_expect(link_receive(server, &m) == -1 && errno == EPROTO);
    close(client);
    close(server);
    close(listening);
}

Test(link, a_name_is_free_again_when_its_machine_is_gone)
{
    int listening = listen_here();

    cr_expect_eq(link_listen(name, error, sizeof error), -1);
    cr_expect_not_null(strstr(error, "is already up"), "%s", error);
    close(listening);
    cr_expect_eq(link_connect(name, error, sizeof error), -1);
    cr_expect_not_null(strstr(error, "no machine called"), "%s", error);
    close(listen_here());
}

#define NOBODY 65534

/* As another user, straight to the socket. Its exit status: 0 if it could connect, and was hung up on. */
static _Noreturn void try_as_nobody(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int n = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "ncube/0/%s", name);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    char byte;

    if (setuid(NOBODY) != 0 || connect(fd, (struct sockaddr *)&address, (socklen_t)(sizeof(sa_family_t) + 1 + n)) != 0)
        _exit(2);
    _exit(recv(fd, &byte, 1, 0) == 0 ? 0 : 3);
}

/* Only root can play another user. */
Test(link, another_user_is_hung_up_on)
{
    if (geteuid() != 0)
        cr_skip_test("not root");
    int listening = listen_here(), status;
    pid_t child = fork();

    if (child == 0)
        try_as_nobody();
    struct pollfd p = {.fd = listening, .events = POLLIN};
    cr_assert_eq(poll(&p, 1, 5000), 1);
    cr_expect_eq(link_accept(listening), -1);
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%d", status);
    close(listening);
}

Test(link, without_a_descriptor_the_reason_is_told)
{
    int listening = listen_here(), full = fcntl(listening, F_DUPFD, 0);
    struct rlimit limit;

    cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = full + 1;
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    cr_expect_eq(link_connect(name, error, sizeof error), -1, "it is up");
    cr_expect_not_null(strstr(error, strerror(EMFILE)), "%s", error);
    cr_expect_eq(link_listen(name, error, sizeof error), -1);
    cr_expect_not_null(strstr(error, strerror(EMFILE)), "%s", error);
    close(full);
    close(listening);
}

/* ---- Which there are ---- */

static void count_own(void *ctx, uid_t user, const char *found)
{
    if (user == geteuid() && strcmp(found, name) == 0)
        ++*(int *)ctx;
}

Test(link, machines_that_listen_are_listed_once_whoever_is_connected)
{
    int n = 0;

    int listening = listen_here(), client = link_try_connect(name);
    cr_assert_geq(client, 0);
    int server = link_accept(listening);
    cr_assert_geq(server, 0);
    cr_expect_eq(link_peer(server), getpid());
    cr_expect_eq(link_peer(client), getpid());
    cr_expect_eq(link_list(count_own, &n), 0);
    cr_expect_eq(n, 1);
    close(listening);
    n = 0;
    cr_expect_eq(link_list(count_own, &n), 0);
    cr_expect_eq(n, 0, "it listens no longer");
    cr_expect(link_try_connect(name) == -1 && errno == ECONNREFUSED);
    close(client);
    close(server);
}
