/*
 * Takes causes from the NCU and passes each to the module that handles it, and each arrived message to its addressee.
 *
 * Like the table of system calls (syscall.h), event.c knows only the names of the functions below, each in the module
 * of its subject, so that it includes none of these modules.
 */
#pragma once

#include "vertex/base/ncu_calls.h"

struct message;

/* Messages for the kernel itself, by type. The function takes over the message. */
#define EVENT_MESSAGES(ENTRY)           \
    ENTRY(N_LOAD_BEGIN, load_message)   \
    ENTRY(N_LOAD_DATA, load_message)    \
    ENTRY(N_LOAD_START, load_message)   \
    ENTRY(N_KILL, load_kill)            \
    ENTRY(N_SIGNAL, signal_message)     \
    ENTRY(N_LOST, lost_arrived)         \
    ENTRY(N_PROBE, watch_probe_arrived) \
    ENTRY(N_PROGRESS, watch_answer_arrived)
#define EVENT_MESSAGE_DECLARE(type, function) void function(struct message *m);
EVENT_MESSAGES(EVENT_MESSAGE_DECLARE)

/* The kernel's own sends that have failed for good, by type. The caller keeps its hold. */
#define EVENT_FAILED_SENDS(ENTRY)           \
    ENTRY(N_LOAD_BEGIN, load_undeliverable) \
    ENTRY(N_LOAD_DATA, load_undeliverable)  \
    ENTRY(N_LOAD_START, load_undeliverable) \
    ENTRY(N_EXIT, report_failed)
#define EVENT_FAILED_DECLARE(type, function) void function(struct message *m, uint32_t node);
EVENT_FAILED_SENDS(EVENT_FAILED_DECLARE)

/* Causes that do not concern messages. */
#define EVENT_CAUSES(ENTRY)           \
    ENTRY(CAUSE_TIMER, timer_due)     \
    ENTRY(CAUSE_DISK_DONE, disk_done) \
    ENTRY(CAUSE_STARTED_DONE, disk_started_done)
#define EVENT_CAUSE_DECLARE(kind, function) void function(const struct ncu_cause *cause);
EVENT_CAUSES(EVENT_CAUSE_DECLARE)

/* Handles every cause that is due now. */
void event_fetch(void);
/* Handles the ends of sends that are not causes (vertex/message/buffers.h), and frees their messages. */
void event_reap(void);
/* Waits until a cause is due, and handles all that are. A deadlock report prints the arguments as the caller's
 * reason. */
void event_wait(enum ncu_wait why, uint64_t node, uint64_t type);
