/*
 * The servers of the CFS and of Clusterfile behind a loop with fake drives, for tests that are written straight down: a
 * script runs until it waits for a reply, and the loop until it has the next message.
 *
 *     script  -> lab_post -> lab_wait ---.      .-> reply -> lab_wait returns
 *     loop_run -> receive ---------------'-> ...'
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/nsdisk/drives.h"
#include "vertex/contract/cfs.h"

#define LAB_DISKS   3u
#define LAB_PENDING 64u
#define LAB_BYTES   (72u << 10) /* of the longest message */

struct lab {
    struct drives drives;
    struct server *server;
    void (*script)(struct lab *lab);
    /* Power cut: the drives do nothing of what they are told after so many writes; UINT32_MAX: never. */
    uint32_t writes_left;
    bool lost; /* a drive has done nothing of a write */
    uint32_t writes;
    bool held; /* no command ends, unless it is waited for */
    char log[2000];
    /* the last reply that lab_wait has taken */
    struct file_reply head;
    uint8_t payload[LAB_BYTES];
    size_t payload_bytes;
    uint64_t commands; /* that had been started when the server gave it */
    /* its own */
    struct {
        bool used, answered;
        uint32_t seq;
        int from, type;
        uint8_t reply[LAB_BYTES];
        size_t n;
        uint64_t commands;
    } pending[LAB_PENDING];
    uint32_t seq;
    const void *message;
    size_t message_bytes;
    int from, type;
    bool over;
};

/* Makes the volumes, of 4 KB blocks. */
void lab_make(struct lab *lab, uint32_t kilobytes, uint32_t cache_kb);
/* The drives do all that they are told. */
void lab_power(struct lab *lab);
/* Mounts them, runs the script, shuts down. False: the servers could not write everything back. */
bool lab_run(struct lab *lab, void (*script)(struct lab *lab));
/* e2fsck with these options on each; the highest exit status. */
int lab_fsck(struct lab *lab, const char *options);
void lab_free(struct lab *lab);

/* Sends a message, whatever it is, whose first four bytes are replaced by its number, which is returned. */
uint32_t lab_send(struct lab *lab, int from, int type, const void *bytes, size_t n);
uint32_t lab_post(struct lab *lab, int from, int type, struct cfs_request r, const void *data, size_t n);
/* Whether its reply is there. Lets the loop go on once. */
bool lab_answered(struct lab *lab, uint32_t number);
/* Waits for the reply. Its status. */
int32_t lab_wait(struct lab *lab, uint32_t number);
/* Both, from client 1. */
int32_t lab_ask(struct lab *lab, int type, struct cfs_request r, const void *data, size_t n);
/* N_FEXIT of a client. */
void lab_end_client(struct lab *lab, int from);
