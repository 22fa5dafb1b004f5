/*
 * nsh: the shell of [P1 2.4], of one node, which runs parallel programs on the other nodes of its job.
 *
 *     nsh [-i] [-c LINE | FILE]
 *
 * It runs the commands of LINE, of FILE, or of its standard input; -i: after a prompt. Its other nodes end at once,
 * which frees them for programs. parse.h has the language, programs.h what runs it, nodes.h on which nodes.
 */
#include <errno.h>
#include <fcntl.h>
#include <nself.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "images/nsh/nodes.h"
#include "images/nsh/parse.h"
#include "images/nsh/programs.h"

enum { USAGE = 2, LINE_BYTES = 4096 };

static int usage(const char *text)
{
    fprintf(stderr, "nsh: %s; usage: nsh [-i] [-c LINE | FILE]\n", text);
    return USAGE;
}

static int run_line(const char *line, int status)
{
    struct parser parser;
    struct pipeline pipeline;
    int more;

    parse_begin(&parser, line);
    while (!run_exits && (more = parse_next(&parser, &pipeline, status)) > 0)
        if (pipeline.link == LINK_ALWAYS || (pipeline.link == LINK_IF_OK) == (status == 0))
            status = run_pipeline(&pipeline, status);
    if (!run_exits && more < 0) {
        fprintf(stderr, "nsh: %s\n", parser.why);
        status = USAGE;
    }
    parse_end(&parser);
    return status;
}

/* Reads a line without its newline. Byte by byte: what follows may be for a program. 1; 0: no more; -1: too long. */
static int read_line(int fd, char *line)
{
    size_t n = 0;
    ssize_t got;
    char c;

    while ((got = read(fd, &c, 1)) == 1 && c != '\n') {
        if (n < LINE_BYTES)
            line[n] = c;
        n++;
    }
    line[n < LINE_BYTES ? n : LINE_BYTES - 1] = '\0';
    if (n >= LINE_BYTES)
        return -1;
    return n > 0 || got == 1;
}

static int run_lines(int fd, bool prompts)
{
    char line[LINE_BYTES];
    int status = 0, more = 1;

    while (!run_exits && more != 0) {
        if (prompts)
            fputs("nsh> ", stderr);
        more = read_line(fd, line);
        if (more < 0) {
            fprintf(stderr, "nsh: a line of more than %d characters\n", LINE_BYTES - 1);
            status = USAGE;
        } else if (more > 0)
            status = run_line(line, status);
    }
    if (prompts && more == 0)
        fputc('\n', stderr);
    return status;
}

static int run_file(const char *path)
{
    int fd = open(path, O_RDONLY);

    if (fd < 0) {
        fprintf(stderr, "nsh: %s: %s\n", path, strerror(errno));
        return 127;
    }
    int status = run_lines(fd, false);
    close(fd);
    return status;
}

int main(int argc, char **argv)
{
    int node, option;
    bool prompts = false;
    const char *line = NULL;

    whoami(&node, NULL, NULL, NULL);
    if (node > 0)
        return 0;
    opterr = 0;
    while ((option = getopt(argc, argv, "+ic:")) != -1) {
        if (option == '?')
            return usage(optopt == 'c' ? "-c needs a line" : "unknown option");
        prompts = prompts || option == 'i';
        line = option == 'c' ? optarg : line;
    }
    if (argc - optind > (line ? 0 : 1))
        return usage("too many words");
    if (!nodes_begin()) {
        fprintf(stderr, "nsh: no memory\n");
        return 1;
    }
    if (line)
        return run_line(line, 0);
    return optind < argc ? run_file(argv[optind]) : run_lines(STDIN_FILENO, prompts);
}
