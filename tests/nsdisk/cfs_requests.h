/*
 * A lab (cfs_lab.h) with three disks, and client 1's requests to the servers of the Concurrent File System, one
 * function each. Those that return an int32_t give the reply's status; its payload is in the lab.
 */
#pragma once

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/nsdisk/cfs_lab.h"
#include "vertex/contract/machine.h"

#define BLOCK      CFS_BLOCK_BYTES
#define DISK_NAMES "df00 df01 df02"
#define KILOBYTES  2000u
#define CACHE_KB   256u

static struct lab lab;

static inline void finish(void)
{
    cr_expect_eq(lab_fsck(&lab, "-fn"), 0, "e2fsck: %s", lab.log);
    cr_expect_eq(lab.log[0], '\0', "%s", lab.log);
    lab_free(&lab);
}

static inline void run(void (*script)(struct lab *))
{
    lab_make(&lab, KILOBYTES, CACHE_KB);
    cr_assert(lab_run(&lab, script));
    finish();
}

/* ---- A client's calls ---- */

struct file {
    uint64_t handle;
    uint16_t home;
};

static inline int32_t name_op(enum cfs_name_op op, const char *name, const char *second, uint64_t arg)
{
    char text[2100];
    size_t n = (size_t)snprintf(text, sizeof text, "%s%s", name, second);
    struct cfs_request r = {
        .op = (uint16_t)op, .bytes = (uint16_t)strlen(name), .offset = (uint16_t)strlen(second), .arg = arg};

    return lab_ask(&lab, N_CNAME, r, text, n);
}

static inline struct cfs_named named(void)
{
    struct cfs_named n;

    memcpy(&n, lab.payload, sizeof n);
    return n;
}

static inline struct cfs_header header(void)
{
    struct cfs_header h;

    cr_assert_eq(lab.payload_bytes, sizeof h);
    memcpy(&h, lab.payload, sizeof h);
    return h;
}

static inline struct file open_file(const char *name)
{
    cr_assert_eq(name_op(CFS_NAME_OPEN, name, DISK_NAMES, N_O_CREAT | 0640ull << 32), 0, "%s", name);
    const struct cfs_named n = named();
    const struct file f = {CFS_HANDLE(n.number, n.age), n.home};
    const struct cfs_request r = {.disk = n.home, .op = 1, .handle = f.handle};
    cr_assert_eq(lab_ask(&lab, N_CHEADER, r, NULL, 0), 0);
    return f;
}

static struct cfs_run given[CFS_ALLOC_RUNS_MAX]; /* by the last N_CALLOC that gave any */

static inline int32_t alloc(struct file f, uint16_t disk, uint32_t blocks, struct cfs_run *first)
{
    const struct cfs_request r = {.disk = disk, .handle = f.handle, .arg = blocks};
    int32_t n = lab_ask(&lab, N_CALLOC, r, NULL, 0);

    if (n > 0)
        memcpy(first, lab.payload, sizeof *first);
    if (n > 0)
        memcpy(given, lab.payload, lab.payload_bytes);
    return n;
}

/* Block i of those. */
static inline uint32_t block_at(uint32_t i)
{
    const struct cfs_run *run = given;

    for (; i >= run->count; run++)
        i -= run->count;
    return run->first + i;
}

static inline int32_t put(struct file f, uint16_t disk, uint32_t block, uint16_t offset, const void *data, uint16_t n)
{
    const struct cfs_request r = {.disk = disk, .handle = f.handle, .block = block, .offset = offset, .bytes = n};

    return lab_ask(&lab, N_CWRITE, r, data, n);
}

static inline int32_t get(struct file f, uint16_t disk, uint32_t block, uint16_t offset, uint16_t n)
{
    const struct cfs_request r = {.disk = disk, .handle = f.handle, .block = block, .offset = offset, .bytes = n};

    return lab_ask(&lab, N_CREAD, r, NULL, 0);
}

static inline int32_t ask(int type, struct file f, uint16_t disk, uint16_t op, uint64_t arg)
{
    const struct cfs_request r = {.disk = disk, .handle = f.handle, .op = op, .arg = arg};

    return lab_ask(&lab, type, r, NULL, 0);
}

static inline bool all_are(const uint8_t *bytes, size_t n, uint8_t value)
{
    for (size_t i = 0; i < n; i++)
        if (bytes[i] != value)
            return false;
    return true;
}
