/*
 * Moves rows of blocks between all nodes and a file: the one place where data pass [P4 1, 4.1]. In one of three ways,
 * which the shape decides; the bytes in the file are the same:
 *
 *   directly        the VPs of a node follow each other: a request of each node
 *   in two phases   else (del Rosario, Bordawekar, Choudhary 1993): the nodes exchange parts, so that each reads or
 *                   writes whole striping units, unit u node u mod P
 *   viewed          to measure it: pio_setview, a request of each node for all its runs
 */
#pragma once

#include "libpio/star/star_file.h"

/* Moves the row that begins at file byte `at`, of blocks of `block` bytes; `part` has those of this node's VPs, one
 * after the other. Collective. What is not in the file reads as zeros. 0, or a negative errno of this node's; then
 * others may have moved theirs. */
int star_move_row(struct cs_file *f, bool writes, int64_t at, int64_t block, char *part);

/* Makes ready to move such rows: patterns, plans and memory, so that star_move_row lacks none. Collective. 0, or the
 * negative errno of a node, on all; nothing has moved. */
int star_prepare_row(struct cs_file *f, int64_t at, int64_t block);

/* As star_move_row, of this node's part alone, directly, run by run. Not collective. */
int star_move_own(struct cs_file *f, bool writes, int64_t at, int64_t block, char *part);

/* The way that rows of the file go. */
enum cs_way star_way_of(const struct cs_file *f);

/* Frees what views and two phases have of the file. In local mode. */
void star_exchange_free(struct cs_file *f);
