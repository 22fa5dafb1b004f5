/*
 * The transfers of NB and CB mode, once the nodes have agreed on one, and the collective buffer.
 */
#pragma once

#include "libpio/star/star_file.h"

/* Writes the collective buffer if there is something new in it. Collective. 0, or a negative errno, which the file
 * keeps, too. */
int star_flush(struct cs_file *f);

/* Writes all that is in buffers, when all nodes have come: `slowest` is the slowest mode of them. If one is in IB, the
 * others write their part of the row alone, as it has done. */
int star_flush_all(struct cs_file *f, enum cs_mode slowest);

/* Writes the collective buffer, which is full, and goes on before that has ended; it holds no row then. Errors are the
 * file's, then or later. */
void star_flush_behind(struct cs_file *f);

/* Ends what star_flush_behind has started. */
void star_settle(struct cs_file *f);

/* The buffer is no longer that of a row. Flush first. */
void star_drop(struct cs_file *f);

/* Makes the buffer, which is large enough for rows of both segments. 0 or -ENOMEM. */
int star_make_buffer(struct cs_file *f);

/* Keeps an error: what this node has not written of a row that begins at a VP's offset. */
void star_note(struct cs_file *f, int error, int64_t at);
