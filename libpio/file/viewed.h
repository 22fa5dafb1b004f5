/*
 * Views of PIO files: an element of a pattern over the file, as if it were a file of its own, whose bytes go straight
 * to the volumes [P1 section 1.2, Figure 5: M, "the mapping from processors to disks, without reference to the file"].
 *
 *   element      y ------------ plan of element and subfile ------------.
 *                                                                        v
 *   subfile k    view of it: the subfile's bytes that the element has, without gaps      v = 0, 1, ...
 *
 * A transfer's offsets are in the element; a request's are in a view, which the volume's server knows (N_FVIEW).
 * Without a view the two are the file itself and the subfile, and the functions below say so: rw.c has one way for
 * both.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "libpio/file/file.h"
#include "libpio/map/window.h"

/* The plans of element and subfiles hold for a window of the file, from .. to-1: for all of it, unless their periods do
 * not divide (libpio/map/window.h). passes.h moves it. */
struct pio_view {
    struct pattern *pattern; /* of one element */
    struct plan *own;        /* of the whole file and the element */
    struct plan_range range; /* none, after an error */
};

/* Makes the window of the file's view that has file byte x. No request of the file may be under way. On failure the
 * view has no window, and *volume is whose server has refused. */
int pio_view_move(struct pio_file *file, int64_t x, int *volume);

/* True if requests are gathered and scattered by plans: the file has a map of another kind than stripes, or a view. */
bool pio_uses_plans(const struct pio_file *file);

/* The file's byte behind the element's byte end - 1. Negative beyond PATTERN_OFFSET_MAX: pio_transfer_check refuses
 * such a transfer, so that no other caller gets that. */
int64_t pio_file_end(const struct pio_file *file, int64_t end);
/* How many of the element's bytes are below the file's byte `end`. */
int64_t pio_own_bytes(const struct pio_file *file, int64_t end);

/* How many bytes requests to volume k can name below the file's byte `end`. */
int64_t pio_part_bytes(const struct pio_file *file, int k, int64_t end);
/* The file's byte that requests to volume k name by `offset`. */
int64_t pio_part_logical(const struct pio_file *file, int k, int64_t offset);

/* NULL is allowed. The servers drop theirs with the subfiles. */
void pio_view_free(struct pio_view *view);
