/*
 * Asynchronous file I/O: readstart, readend, writestart, writeend [P0 section 2], and replies taken by nread.
 *
 * A start sends one request and advances the file's offset by the whole length. Its record ends with the reply,
 * whoever takes it: readend and writeend take the most recent start of their kind on that UFID, nread the first
 * reply that has arrived. When the last start of a file has ended, and some came short, the offset goes back to
 * the lowest end.
 */
#ifndef VERTEX_ASYNC_H
#define VERTEX_ASYNC_H

#include <stdbool.h>
#include <stdint.h>

#include "vertex/file/file.h"
#include "vertex/message/queue.h"

/* A write request with those flags and the program's data in it. -N_EFAULT, -N_ENOMEM, -N_EINTR. */
int async_write_request(struct proc *p, const struct file *f, uint32_t flags, uint64_t from, uint64_t bytes,
                        uint64_t offset, struct message **m);

/* The oldest arrived reply to a start under way that fits the pattern, or NULL. */
struct message *async_find_arrived(const struct proc *p, const struct msg_pattern *pattern);
/* A start under way may still get a reply that fits the pattern. */
bool async_is_expected(const struct proc *p, const struct msg_pattern *pattern);
/* A message that arrived is the reply to a start under way. */
bool async_awaits(const struct proc *p, const struct message *m);
/* nread took a message: if it is such a reply, its start has ended. */
void async_taken(struct proc *p, const struct message *m);
/* Forgets the starts of a UFID, and their replies that have arrived. */
void async_drop(struct proc *p, uint64_t ufid);

#endif
