/*
 * Moves rows of blocks between all nodes and a file: the one place where data pass [P4 1, 4.1].
 *
 * Directly: each node reads or writes its part, where all these are one run of at least a striping unit. Else in two
 * phases (del Rosario, Bordawekar, Choudhary 1993): the nodes exchange parts, so that each reads or writes whole
 * striping units, unit u node u mod P. The bytes in the file are the same.
 */
#pragma once

#include "libpio/star/star_file.h"

/* Moves the row that begins at file byte `at`, of blocks of `block` bytes; `part` has those of this node's VPs, one
 * after the other. Collective. What is not in the file reads as zeros. 0, or a negative errno of this node's; then
 * others may have moved theirs. */
int star_move_row(struct cs_file *f, bool writes, int64_t at, int64_t block, char *part);

/* Whether rows of such blocks go directly. */
bool star_moves_directly(const struct cs_file *f, int64_t block);

/* Frees what two phases have of the file. */
void star_exchange_free(struct cs_file *f);
