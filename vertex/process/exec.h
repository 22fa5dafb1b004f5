/*
 * What the two ways of loading a program from a program's memory share: exec.c loads other nodes, exec_here.c the
 * caller's place.
 */
#pragma once

#include "vertex/contract/abi.h"

struct proc;

struct exec_program {
    struct abi_program program;
    struct abi_segment segment[ABI_SEGMENTS_MAX];
};

/* Reads the program that the caller describes at `address`, and checks it. -N_EPERM, -N_EFAULT, -N_E2BIG,
 * -N_ENOEXEC. */
int exec_read_program(struct proc *p, uint64_t address, struct exec_program *e);
