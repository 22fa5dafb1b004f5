/*
 * A transport for libpio's tests: volumes in memory, I/O nodes that answer in the order a test chooses.
 *
 * Each I/O node keeps its requests in their order and serves them when libpio waits; the chooser decides which node
 * answers next. Counts and faults are per volume. There is only one machine, in static memory, which fake_reset
 * resets. Volumes are df00 .. df07, volume k on I/O node 0x4000 + k.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAKE_VOLUMES 8

void fake_reset(void);

/* Puts volume k on another I/O node. */
void fake_set_node(int volume, int node);
/* Bytes that all files of volume k may hold together. */
void fake_set_capacity(int volume, int64_t bytes);
/* Its file system has been marked with errors, or no longer. Files that are open for writing stay so. */
void fake_set_read_only(int volume, bool read_only);
/* The largest file of volume k. */
void fake_set_largest(int volume, int64_t bytes);
/* The nth (from 0) asynchronous request to volume k from now on is answered with `error`. */
void fake_fail_request(int volume, int nth, int error);
/* The nth request to volume k from now on is refused when it is issued. */
void fake_refuse_request(int volume, int nth, int error);
/* The nth wait from now on fails: acknowledgements are lost. */
void fake_lose_messages(int nth);
/* Other calls to volume k fail (0: work again). */
void fake_fail_calls(int volume, int error);
/* The servers refuse every view (0: no longer). */
void fake_refuse_views(int error);
/* Volume k vanishes from the machine. */
void fake_remove_volume(int volume);
/* Volumes a and b change places, as when drives are plugged in wrongly. */
void fake_exchange_volumes(int a, int b);

/* Chooses which of `options` I/O nodes that have an answer sends it next. The nodes are in order of their addresses. */
void fake_set_chooser(int (*choose)(int options));
/* They answer in a random order, drawn from this state (random_pattern.h). */
void fake_answer_randomly(uint64_t *state);
/* Runs action before the nth call (from 0) that is not an asynchronous transfer: what another node does meanwhile. */
void fake_at_call(int nth, void (*action)(void));

/* Whether the call under way has a lock: another node that wants one would wait for its end. */
bool fake_is_locked(void);
/* The process that has it has ended. */
void fake_unlock_all(void);

struct fake_counts {
    int calls;    /* that are not asynchronous transfers */
    int rounds;   /* of questions that were asked at the same time */
    int requests; /* asynchronous ones */
    int in_flight;
    int max_in_flight;
    int volume_requests[FAKE_VOLUMES];
    int volume_in_flight[FAKE_VOLUMES];
    int volume_max_in_flight[FAKE_VOLUMES];
    int waits_for_writes; /* that began while a read was under way, and no acknowledgement of a write was there */
    int open_files;
    int early;   /* volumes with names that were not durable when the record of a change was dropped */
    int bad_fds; /* calls for a file that is not open */
};
struct fake_counts *fake_counts(void);

/* Files by hand. Path as libpio gives it. */
void fake_put_file(const char *path, const void *bytes, size_t n);
int64_t fake_get_file(const char *path, void *bytes, size_t n); /* its size, -1: none */
void fake_remove_file(const char *path);
int fake_count_files(void); /* names on all volumes */
uint64_t fake_digest(void); /* of all names and contents: equal as long as nothing has changed */
