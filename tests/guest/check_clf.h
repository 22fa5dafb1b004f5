/* For programs that try Clusterfile: a line for each check that fails, with clf_why's, and patterns of a text. */
#pragma once

#include <clf.h>
#include <errno.h>
#include <pattern.h>
#include <stdio.h>
#include <string.h>

static int failed, own, nodes;

#define CHECK(condition) check((condition), __LINE__, #condition)

static int check(int good, int line, const char *text)
{
    if (!good) {
        failed++;
        printf("node %d, line %d: %s (errno %d, %s; %s)\n", own, line, text, errno, strerror(errno), clf_why());
    }
    return good;
}

static struct pattern *parse(const char *text)
{
    struct pattern *p = NULL;
    char why[PATTERN_WHY_BYTES];

    if (pattern_parse(text, &p, why) < 0)
        printf("%s: %s\n", text, why);
    return p;
}
