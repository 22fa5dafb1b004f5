/* Programs of the host. */
#pragma once

#include <stdbool.h>

enum { CHILD_NOT_FOUND = 127 };

/* Runs a program, found as a superuser would find it, and waits for its end; `quiet`: without its output. Returns its
 * exit status, CHILD_NOT_FOUND if it cannot be run, 128 and more if a signal has ended it; or -1 with errno. */
int child_run(char *const argv[], bool quiet);
