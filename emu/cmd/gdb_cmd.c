/*
 * `ncube gdb`: asks a machine that is kept up with --gdb (boot.c) how gdb reaches a program on it, and prints that.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "emu/link/link.h"
#include "emu/base/options.h"
#include "emu/cmd/commands.h"
#include "emu/cmd/job_options.h"

struct arguments {
    const char *name, *node;
};

static const struct option_line lines[] = {OPTION_RUNNING(offsetof(struct arguments, name)),
                                           {"node", "N",
                                            "the program that has node N (default: the only one that runs)",
                                            OPTION_INTO(OPTION_TEXT, struct arguments, node)},
                                           {0}};

static const struct options options = {
    .command = "ncube gdb",
    .usage = "[OPTION...] [NAME]",
    .words = 1,
    .summary =
        "Lets gdb debug a program on the machine NAME that ncube boot --gdb keeps up, and prints the gdb command.\n"
        "gdb stops a running program. If none runs, the next one waits for gdb at its entry.",
    .line = lines,
};

static int take_answer(int fd)
{
    char text[LINK_TEXT_BYTES];
    int status = link_await_status(fd, "ncube", text);

    if (status != 0)
        return options_fail(&options, "%s", text), status;
    puts(text);
    return 0;
}

int gdb_command(int argc, char **argv)
{
    struct arguments a = {.node = ""};
    char error[256];
    char **word = options_parse(&options, &a, argc, argv);

    if (word[0] && a.name)
        options_refuse(&options, "unexpected word '%s'; the machine's name has been given already", word[0]);
    if (*a.node)
        options_number(&options, "node", a.node, 0, NODE_IO_BASE - 1);
    int fd = link_connect(options_machine_name(&options, word[0] ? word[0] : a.name), error, sizeof error);
    if (fd < 0)
        return options_fail(&options, "%s", error);
    link_send(fd, LINK_DEBUG, a.node, strlen(a.node), false); /* a machine that has hung up may have sent why */
    int status = take_answer(fd);
    close(fd);
    return status;
}
