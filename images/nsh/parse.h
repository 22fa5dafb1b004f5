/*
 * A line of nsh as programs to run.
 *
 *     list      and_or { ";" and_or }                  "#" begins a comment
 *     and_or    pipeline { ("&&" | "||") pipeline }
 *     pipeline  command { "|" command }
 *     command   ["@" dimension | "@n" nodes] word { word | redirection }
 *     redirection   ("<" | ">" | ">>" | "2>" | "2>>") word
 *
 * Words are quoted as in sh: 'as it is', "as it is but for \" \\ and $?", \c. Outside of '' the text $? becomes the
 * last exit status.
 */
#pragma once

#include <stdbool.h>

enum { PARSE_WORDS = 64, PARSE_COMMANDS = 16, PARSE_WHY_BYTES = 200 };

struct redirection {
    const char *path; /* NULL: none */
    bool appends;
};

struct command {
    int nodes;                   /* how many it wants; 0: one, which a builtin does not need */
    char *argv[PARSE_WORDS + 1]; /* ends with NULL */
    int argc;
    struct redirection to[3]; /* of descriptors 0, 1 and 2 */
};

struct pipeline {
    struct command command[PARSE_COMMANDS];
    int commands;                                          /* 0: there was none */
    enum { LINK_ALWAYS, LINK_IF_OK, LINK_IF_FAILED } link; /* when it runs, by the status of the one before */
};

struct parser {
    const char *at; /* the rest of the line */
    int status;     /* the text of $? */
    int link;       /* to the next pipeline */
    bool follows;   /* a pipeline must come: the line ended with && or || */
    char *room;     /* of the words of the current pipeline; NULL: none yet */
    char why[PARSE_WHY_BYTES];
};

/* Begins a line, which stays the caller's. */
void parse_begin(struct parser *p, const char *line);
/* Reads the next pipeline, whose words are good until the next call. `status`: of the program that ran last. 1; 0: the
 * line has no more; -1: it is wrong, and p->why says how. */
int parse_next(struct parser *p, struct pipeline *pipeline, int status);
void parse_end(struct parser *p);
