/*
 * A folder of the host that is served, and a client's requests for it, for the tests of emu/hostfs.
 *
 * The scratch folder contains files outside the served folder, which is its folder "in":
 *
 *    secret           in/file  "hello"            in/sub/deep "deep"
 *    outside/         in/good -> sub/deep         in/bad -> ../secret       in/abs -> (scratch)/secret
 *                     in/up -> ..                 in/subin -> sub           in/fifo
 */
#pragma once

#include "emu/hostfs/hostfs_calls.h"
#include "tests/emu/scratch.h"
#include "vertex/contract/proto.h"

extern struct scratch dir;
extern struct streams streams; /* the test's ends of two of them: */
extern int in_end, out_end;
extern struct lines lines;
extern struct hostfs *host;

void set_up(void);
void tear_down(void);
#define HOSTFS_SUITE TestSuite(hostfs, .init = set_up, .fini = tear_down)

void start_serving(const char *folder);

/* Called at the end of a test: Criterion does not count what fails in a suite's fini. */
void expect_all_closed(void);

/* ---- Asking ---- */

struct ask {
    uint32_t type;
    const char *name, *name2;
    uint32_t flags, mode, bytes;
    uint64_t sfid, offset;
    const void *data; /* `bytes` of it */
    uint32_t node, procid;
    uint16_t drive;
};

extern struct file_reply head; /* of the last reply, and its payload */
extern const uint8_t *payload;
extern size_t payload_bytes;

int32_t take_reply(const void *reply, size_t n);
int32_t ask(struct ask a);
uint64_t open_name(const char *name, uint32_t flags);
bool exists(const char *name);
