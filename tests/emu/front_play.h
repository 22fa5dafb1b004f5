/*
 * The front end against a machine that the test plays, of 2^3 nodes and two I/O nodes with three drives: it records the
 * messages of the front end and, unless a single test does so itself, answers them as Vertex and nsdisk would.
 */
#pragma once

#include "emu/front/front.h"
#include "tests/emu/tiny_elf.h"

#define NODES    8u
#define IO_0     NODE_IO(3, 0) /* df00 */
#define IO_1     NODE_IO(3, 1) /* df01, df02 */
#define MESSAGES 4096

extern struct sent {
    uint32_t to, type, procid;
    size_t n;
    uint8_t head[64]; /* the first bytes */
} sent[MESSAGES];
extern unsigned n_sent;
extern struct topo topo;
extern struct front *front;
extern struct front_options machine;
extern struct job_program program;
extern struct job_options options;
extern uint32_t job;
extern char error[400];
extern int in_end, out_end, err_end; /* the test's ends of the pipes of options */

/* Before and after each test. */
void set_up(void);
void tear_down(void);

void make_pipe(int *read_end, int *write_end);

/* Makes the front end with these options, of the machine and of the job. */
int make_front(void);
int status(void); /* of ncube run */
void start(void); /* both: it must work */
/* Returns the text written to standard error since the last call. */
const char *take_err(void);
unsigned count_lines(const char *text);
unsigned count_sent(uint32_t type, uint32_t to);
unsigned count_type(uint32_t type);

/* What nodes send. */
void arrive(uint32_t from, uint32_t type, const void *head, size_t head_bytes, const char *text);
void mounted(uint32_t node, uint32_t drive, int32_t status, const char *text);
void mount_all(void);
void exited(uint32_t node, int32_t status, uint32_t how, const char *text);
void shut_down(uint32_t node, int32_t status);

void run_until_loaded(void);
void shut_all_down(void);
void expect_wait(const char *expected);
