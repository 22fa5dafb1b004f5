/*
 * The client of Clusterfile against servers in this process (tests/nsdisk/cfs_lab.h): a node is a number, of which one
 * is at work at a time.
 */
#pragma once

#include <stdint.h>

#include "libpio/clusterfile/clf_client.h"
#include "tests/nsdisk/cfs_lab.h"

/* The servers' lab, and which node asks. */
extern struct lab clf_lab;
extern int clf_node;
/* Requests that were sent to volumes, by type - N_CLF_NAME. */
extern uint32_t clf_sent[16];

/* ---- Matrices, as High Performance Fortran defines their distributions, without the engine ---- */

struct clf_dimension {
    int size;
    char kind; /* '*', 'b', 'c' */
    int k;     /* of BLOCK(k) and CYCLIC(k) */
    int procs;
};

struct clf_matrix {
    struct clf_dimension row, column;
    int item; /* bytes */
};

/* The text that pattern_parse makes it of. */
void clf_matrix_text(const struct clf_matrix *m, char text[128]);
int clf_matrix_bytes(const struct clf_matrix *m);
int clf_matrix_elements(const struct clf_matrix *m);
/* The element that has a byte. */
int clf_matrix_owner(const struct clf_matrix *m, int byte);
/* The element's bytes of `file` in order. Returns how many they are. */
int clf_matrix_part(const struct clf_matrix *m, int element, const uint8_t *file, uint8_t *part);
/* Draws one of kinds "bb", "*c" and so on for about as many processes, with sizes that do not divide. */
struct clf_matrix clf_matrix_draw(uint64_t *random, const char *kinds, int procs, int rows, int columns, int item);
