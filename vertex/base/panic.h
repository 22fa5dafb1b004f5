/*
 * The end of a kernel that finds itself broken.
 */
#pragma once

/* Reports a broken invariant of the kernel: stops the whole machine with this text, which gives the wrong values. */
_Noreturn void panic(const char *format, ...) __attribute__((format(printf, 1, 2)));
