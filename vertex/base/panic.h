/*
 * What Vertex says on its own account.
 */
#ifndef VERTEX_PANIC_H
#define VERTEX_PANIC_H

/* A broken invariant of the kernel: stops the machine with this text. */
_Noreturn void panic(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A line for the front end's standard error (N_CONSOLE), the node's address in front and a newline behind.
 * Lost if there is no memory for it. */
void console_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
