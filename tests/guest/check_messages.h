/* For programs that check which message they receive: messages that contain one number. */
#pragma once

#include "check.h"

static inline void send(int dest, int type, long value)
{
    check_equal(nwrite(&value, sizeof value, dest, type, NULL), 0);
}

/* Reads a message, which must be as expected. Source and type may be wildcards. */
static inline void take(int src, int type, int want_src, int want_type, long want)
{
    long value = -1;

    check_equal(nread(&value, sizeof value, &src, &type, NULL), sizeof value);
    check_equal(src, want_src);
    check_equal(type, want_type);
    check_equal(value, want);
}
