/*
 * Asynchronous file I/O: readstart, readend, writestart, writeend [P0 section 2], and replies taken by nread.
 *
 * A start sends one request and advances the file's offset by the whole length; a positioned one (preadstart,
 * pwritestart) names its place, appends nothing, and leaves the offset alone. Its record is freed when its reply is
 * received: readend and writeend receive that of the most recent start of their kind on the UFID, nread the first reply
 * that has arrived. If some starts transferred less than asked, the offset goes back to the lowest end when the file's
 * last start has ended.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "vertex/file/file.h"
#include "vertex/file/watch.h"
#include "vertex/message/queue.h"

/* Allocates a request with fields->bytes bytes of the program's memory from `from` on. -N_EFAULT, -N_ENOMEM, -N_EINTR.
 */
int async_request_with(struct proc *p, const struct file_request *fields, uint64_t from, struct message **m);
/* Allocates a write request with these flags and the program's data. Errors as async_request_with. */
int async_write_request(struct proc *p, const struct file *f, uint32_t flags, uint64_t from, uint64_t bytes,
                        uint64_t offset, struct message **m);

/* Returns the oldest arrived reply to a start that matches the pattern, or NULL. */
struct message *async_find_arrived(const struct proc *p, const struct message_pattern *pattern);
/* Returns a start under way that may still get a reply which matches the pattern, or NULL. */
const struct async *async_expected(const struct proc *p, const struct message_pattern *pattern);
/* Begins to watch its server. */
void async_watch(struct proc *p, const struct async *a, struct watch *w);
/* Returns true if the arrived message is the reply to a start under way; the same of one with that content. */
bool async_awaits(const struct proc *p, const struct message *m);
bool async_expects(const struct proc *p, uint32_t node, uint32_t tag, uint32_t sequence);
/* Called when nread has received m: if m is such a reply, ends its start. */
void async_taken(struct proc *p, const struct message *m);
/* Answers the oldest start of that kind at that server, of which there is one, with this error, as the server would:
 * the reply is in the inbox. -N_ENOMEM. */
int async_answer(struct proc *p, uint32_t node, uint32_t reply_type, int32_t error);
/* Drops the starts of a UFID, and their arrived replies. */
void async_drop(struct proc *p, uint64_t ufid);
