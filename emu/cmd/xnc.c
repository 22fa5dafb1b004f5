/* xnc: runs a parallel program on a machine that is kept up (ncube boot), with the standard streams of this process,
 * and ends with the program's status. The machine does all the work; xnc takes the command line and waits. */
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "emu/link/launch.h"
#include "emu/link/link.h"
#include "emu/cmd/job_options.h"

#define KILL_MS 1500 /* in which the machine must end the program after a signal */

enum { STATUS_SIGNAL = 128 };

struct command_line {
    struct job_words words;
    const char *name;
};

static const struct option_line lines[] = {{OPTION_TABLE(job_lines, offsetof(struct command_line, words))},
                                           {"wait", NULL, "wait until a subcube is free; first come, first served",
                                            OPTION_INTO(OPTION_FLAG, struct command_line, words.job.waits)},
                                           OPTION_RUNNING(offsetof(struct command_line, name)),
                                           {0}};

static const struct options options = {
    .command = "xnc",
    .usage = "[OPTION...] PROG [ARG...] [{: | '|'} [-d DIM] [-n NODES] PROG [ARG...]]...",
    .summary = "Runs PROG on a subcube of a machine that ncube boot keeps up, and exits with its status.",
    .line = lines,
    .end = "Exit statuses of xnc itself: 1 failure, or a fault in the program; 2 usage; 123 a node of\n"
           "the program is dead; 125 deadlock; 128 + n ended by signal n.",
    .takes_program = true,
};

/* ---- Signals ------------------------------------------------------------------------------------ */

static const int caught[] = {SIGINT, SIGTERM, SIGHUP};
static volatile sig_atomic_t end_signal;

static void note(int signal_number)
{
    end_signal = signal_number;
}

/* Catches the signals, and blocks them from here on except during the wait. */
static void catch_signals(sigset_t *unblocked)
{
    struct sigaction action = {.sa_handler = note};
    sigset_t ends;

    sigemptyset(&ends);
    for (size_t i = 0; i < sizeof caught / sizeof *caught; i++) {
        sigaddset(&ends, caught[i]);
        sigaction(caught[i], &action, NULL);
    }
    sigprocmask(SIG_BLOCK, &ends, unblocked);
    for (size_t i = 0; i < sizeof caught / sizeof *caught; i++)
        sigdelset(unblocked, caught[i]);
}

/* ---- The machine's answer ------------------------------------------------------------------------- */

static int take_status(int fd)
{
    char text[LINK_TEXT_BYTES];
    int status = link_await_status(fd, "xnc", text);

    if (*text)
        options_fail(&options, "%s", text);
    return status;
}

/* A signal ends the program. Its nodes have KILL_MS to end before the link is closed, which would kill them, too. */
static int wait_for_end(int fd, const sigset_t *unblocked)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};

    while (ppoll(&p, 1, NULL, unblocked) <= 0) {
        if (end_signal == 0)
            continue;
        const struct link_kill kill = {.signal = end_signal};

        link_send(fd, LINK_KILL, &kill, sizeof kill, false);
        poll(&p, 1, KILL_MS);
        return STATUS_SIGNAL + end_signal;
    }
    return take_status(fd);
}

/* ---- Asking ------------------------------------------------------------------------------------- */

static int launch(int fd, const struct job_options *job)
{
    char folder[PATH_MAX];
    size_t n;

    if (!getcwd(folder, sizeof folder))
        return options_fail(&options, "the current folder no longer exists");
    uint8_t *content = launch_pack(job, folder, &n);
    if (!content)
        return options_fail(&options, "the command line is too long for the machine");
    link_send(fd, LINK_RUN, content, n,
              true); /* if the machine has hung up, it may have sent why; wait_for_end reads that */
    free(content);
    return 0;
}

int main(int argc, char **argv)
{
    struct command_line c = {.name = NULL};
    char error[256];
    sigset_t unblocked;

    options_hold_streams();
    options_take_programs(&options, &c.words, options_parse(&options, &c, argc, argv));
    catch_signals(&unblocked);
    int fd = link_connect(options_machine_name(&options, c.name), error, sizeof error);
    if (fd < 0)
        return options_fail(&options, "%s", error);
    int status = launch(fd, &c.words.job);
    if (status == 0)
        status = wait_for_end(fd, &unblocked);
    close(fd);
    return status;
}
