/*
 * A recording: all that the host has put into a run (docs/record.md). One that is written notes it; one that is
 * replayed gives it again, and nothing of the host is asked.
 *
 *   run      recording_new   -> recording_open -> recording_add...  -> note... -> recording_close
 *   replay   recording_read  -> recording_about, recording_path     -> take...
 *   both     recording_new_kept -> note... -> recording_repeat      -> take... -> note...
 *
 * A machine that is kept up has moments in addition, in which its clients act. A kept recording is for a run in which
 * gdb goes back: it is in no file, and each of its lists is given again, up to where the run has come; from there on,
 * it is noted. So the calls below say for each list which of the two it is at.
 *
 * Those who ask the host have a pointer to the run's recording, NULL if there is none, and call recording_is_written
 * and recording_is_replayed. What is noted is kept in memory, and written in pieces; the first failure of writing ends
 * the recording, not the run: recording_close tells it.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "emu/base/error_line.h"
#include "emu/record/container.h"

/* The version of the file's format, and of the machine's timing: to be raised when a machine with equal kernels, images
 * and programs takes other virtual times than before, as by a change of the network's, the drives' or an instruction's
 * model. A recording is replayed by the same versions only. */
#define RECORDING_FORMAT         1
#define RECORDING_FORMAT_KEPT_UP 2 /* of a machine that was kept up */
#define RECORDING_TIMING         2

struct recording;

/* ---- Writing ---- */

/* Makes one that is to be written to `path`, which outlives it. Never NULL; the caller frees it. */
struct recording *recording_new(const char *path);
/* Opens the file, which gets its name at the end. Returns 0, or -1 with one line that names it. */
int recording_open(struct recording *r, char *error);
const char *recording_file(const struct recording *r);
/* Add an entry. */
void recording_add_json(struct recording *r, const char *name, json_t *json); /* takes the JSON */
void recording_add_text(struct recording *r, const char *name, const char *text);
void recording_add_file(struct recording *r, const char *name, int fd, uint64_t bytes, const struct file_extent *extent,
                        size_t extents);
/* Adds what was noted, and what `end` says of the run's end, which it takes; closes the file and names it. Returns 0,
 * or -1 with one line if there is no recording now. An older file of that name is then as it was. */
int recording_close(struct recording *r, json_t *end, char *error);

/* ---- Reading ---- */

/* Reads and checks all of a file. Returns 0, and the caller frees it; or -1 with one line that names the file: missing,
 * no recording, cut, damaged, of another version. */
int recording_read(struct recording **r, const char *path, char *error);
/* Likewise, for another run of one that has been read: everything is as in its file, but output that `before` has shown
 * is not shown again. */
int recording_read_again(struct recording **r, struct recording *before, char *error);
/* Write for a copy of this process what has been shown and noted meanwhile, and read it there: it is not shown again,
 * and given again. Return false if that fails. The descriptors that it needs for that go another way. */
bool recording_give(const struct recording *r, FILE *to);
bool recording_take(struct recording *r, FILE *from);
/* Returns how many there are; -1 among them: none. The copy takes each of them. */
size_t recording_descriptors(const struct recording *r, const int **list);
void recording_take_descriptor(struct recording *r, size_t i, int fd);
/* What the first and the last entry say. */
const json_t *recording_about(const struct recording *r);
const json_t *recording_end(const struct recording *r);
/* The entries, for those who list them. */
const struct unpacked *recording_entries(const struct recording *r);
/* Writes a path by which an entry can be opened as a file while the recording lasts. False: there is none. */
#define RECORDING_PATH_BYTES 40
bool recording_path(const struct recording *r, const char *name, char path[RECORDING_PATH_BYTES]);

void recording_free(struct recording *r); /* or NULL */

bool recording_is_written(const struct recording *r); /* also one that is kept */
bool recording_is_replayed(const struct recording *r);

/* ---- Keeping one in memory ---- */

/* Makes one that takes at most so much memory. Never NULL; the caller frees it. */
struct recording *recording_new_kept(uint64_t most_bytes);
bool recording_is_kept(const struct recording *r); /* or NULL */
/* Another machine begins the same run: it gets what was noted. `cycles`: the virtual time to which the last one has
 * come. */
void recording_repeat(struct recording *r, uint64_t cycles);
/* The last one waits at that time. */
void recording_reach(struct recording *r, uint64_t cycles);
/* Returns true if some of what was noted has not been given again, and stores the latest time that a machine has come
 * to before. */
bool recording_is_behind(const struct recording *r, uint64_t *cycles);
/* Copies a file, which may be changed later, to memory. Returns a descriptor, which the caller closes; -1: there is no
 * memory, so it can be repeated no more. */
int recording_keep_copy(struct recording *r, int fd);
/* Counts memory that others keep for it. False: it is too much; then it can be repeated no more. */
bool recording_count(struct recording *r, uint64_t bytes);
/* It can be repeated no more, for a reason that is a sentence. Only the first one counts; recording_loss returns it, or
 * NULL. */
void recording_lose(struct recording *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *recording_loss(const struct recording *r);

/* A replay whose program does something else than was recorded cannot go on. recording_depart notes why, once;
 * recording_departure returns it, or NULL. */
void recording_depart(struct recording *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *recording_departure(const struct recording *r);

/* A replay whose user ends it, or its program, leaves the recording without a word. */
void recording_let_go(struct recording *r); /* or NULL */
bool recording_was_let_go(const struct recording *r);

/* ---- Bytes that come in: standard input, messages of host programs ---- */

struct recorded_input;

#define RECORDING_INPUT "input" /* of a run's program */

/* The input of that name. It is the recording's; NULL if that is NULL. */
struct recorded_input *recording_input(struct recording *r, const char *name);
void recorded_input_note(struct recorded_input *in, const void *bytes, size_t n);
/* Returns the number of bytes, 0 at the end. */
size_t recorded_input_take(struct recorded_input *in, void *bytes, size_t room);
/* Note in a kept one what has come from the host, whether the program has read it or not, and that there is no more:
 * `error` is 0, or why. recorded_input_has_ended returns that after the last byte. */
void recorded_input_keep(struct recorded_input *in, const void *bytes, size_t n);
void recorded_input_end(struct recorded_input *in, int32_t error);
bool recorded_input_has_ended(const struct recorded_input *in, int32_t *error);

/* ---- Calls whose result is the usual one unless the host interferes ---- */

struct recorded_calls;

/* The calls of that name, which both runs make in the same order. They are the recording's; NULL if that is NULL. */
struct recorded_calls *recording_calls(struct recording *r, const char *name);
/* Note the result of the next call. With `reason`, an errno, it is unusual, too. Returns `result`. */
int64_t recorded_calls_note(struct recorded_calls *c, int64_t usual, int64_t result, int reason);
/* Returns the result of the next call, and its reason: `usual` and 0, unless another one was recorded. */
int64_t recorded_calls_take(struct recorded_calls *c, int64_t usual, int *reason);
/* In a replay, so many bytes of output are about to be shown by these calls. Returns how many of them, from the first
 * on, a run before recording_read_again has shown. */
size_t recorded_calls_pass(struct recorded_calls *c, size_t bytes);
bool recorded_calls_are_written(const struct recorded_calls *c);  /* or NULL: the next call is noted, */
bool recorded_calls_are_replayed(const struct recorded_calls *c); /* or its result is given */
struct recording *recorded_calls_of(const struct recorded_calls *c);

/* In a kept one, what makes these calls on the host outlives a machine. It is handed over, to be released with the
 * recording. recorded_calls_held returns it; NULL: there is none. */
void recorded_calls_hold(struct recorded_calls *c, void *what, void (*release)(void *what));
void *recorded_calls_held(const struct recorded_calls *c); /* or NULL */

/* ---- Replies to requests for the host's files ---- */

struct recorded_request {
    uint32_t node, procid, type;
    uint32_t check; /* of its bytes */
};

/* Whether the next reply, or program, is one that was recorded. */
bool recording_gives_reply(const struct recording *r);
bool recording_gives_program(const struct recording *r); /* or NULL */

/* `payload` may be as long as the protocol allows. */
void recording_note_reply(struct recording *r, const struct recorded_request *q, int32_t status, const void *payload,
                          size_t bytes);
/* Returns the status of the next reply, and its payload of at most `room` bytes. If the request is another one than was
 * recorded, the replay departs: -N_EIO. */
int32_t recording_take_reply(struct recording *r, const struct recorded_request *q, void *payload, size_t room,
                             size_t *bytes);

/* Programs that programs load from the served folder. fd: -1 if it could not be opened. The one that is taken is
 * another descriptor of the recorded file, which the caller closes; or -1. */
void recording_note_program(struct recording *r, int fd);
int recording_take_program(struct recording *r);

/* ---- Signals ---- */

struct recorded_signal {
    uint32_t round; /* of the run: how often its machine had come to an end before */
    uint64_t cycles;
    int signal;
    bool at_once; /* it has ended ncube without an orderly end */
};

void recording_note_signal(struct recording *r, const struct recorded_signal *s);
/* Returns the next signal that has not been dropped, or NULL. */
const struct recorded_signal *recording_next_signal(const struct recording *r);
void recording_drop_signal(struct recording *r);

/* ---- Acts of the host on a machine that is kept up ---- */

/* The machine stands at that virtual time, and acts that are noted from now on are of this moment. */
void recording_begin_moment(struct recording *r, uint64_t cycles);
/* Notes an act, which is taken: an array. */
void recording_note_act(struct recording *r, json_t *act);
/* Returns the acts of the next moment that has not been dropped, and its time; NULL if there is none. */
const json_t *recording_next_moment(const struct recording *r, uint64_t *cycles);
void recording_drop_moment(struct recording *r);

/* Adds a file of that name, unless there is one. */
void recording_keep_file(struct recording *r, const char *name, int fd, uint64_t bytes);
