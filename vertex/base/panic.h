/*
 * The end of a kernel that finds itself broken.
 */
#ifndef VERTEX_PANIC_H
#define VERTEX_PANIC_H

/* Reports a broken invariant of the kernel: stops the whole machine with this text, which gives the wrong values. */
_Noreturn void panic(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
