/* See request_node.h. */
#include "tests/vertex/request_node.h"

#include <criterion/criterion.h>
#include <sanitizer/asan_interface.h>
#include <stdlib.h>
#include <string.h>

#include "vertex/base/panic.h"
#include "vertex/contract/errors.h"
#include "vertex/file/async.h"
#include "vertex/file/file.h"
#include "vertex/file/request.h"
#include "vertex/message/buffers.h"
#include "vertex/message/channels.h"
#include "vertex/message/lost.h"
#include "vertex/message/sends.h"
#include "vertex/process/dispatch.h"
#include "vertex/trap/event.h"
#include "vertex/trap/syscall.h"
#include "vertex/trap/timer.h"

/* The kernel's spares would hide what happens to a released message. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "detect_leaks=0"; /* leaks are counted below, case by case */
}

struct proc p;
enum answer answer;
int allocations_left, copies_left;
int live;
struct request requests[REQUESTS_MAX];
int request_count;

/* ---- The node ---- */

struct ncu_mailbox host_mailbox = {.ram_bytes = NODE_RAM_DEFAULT_BYTES, .server_limit_s = 60};
struct proc *proc_table[PROCS_MAX] = {&p};
uint64_t now_cycles;
static uint64_t timer_cycles;
uint32_t probes;
bool trap_attention;
const pte_t *vm_active_root = (const pte_t *)&p;

void panic(const char *format, ...)
{
    cr_assert_fail("panic: %s", format);
    abort();
}

static bool runs_out(int *left)
{
    return *left != NEVER && (*left)-- == 0;
}

/* A node's memory: what is free, and a gap behind each object, may not be touched. Links of queues reach 2 GB only, and
 * malloc's areas under the sanitizer are farther apart. */
#define MEMORY_BYTES (256u << 20) /* given out once: spare messages outlive a try */
#define GAP_BYTES    32u

static _Alignas(PAGE_BYTES) uint8_t memory[MEMORY_BYTES];
static size_t memory_used;

static void *take_memory(size_t bytes)
{
    void *object = memory + memory_used;

    if (memory_used == 0)
        ASAN_POISON_MEMORY_REGION(memory, MEMORY_BYTES);
    cr_assert_leq(memory_used + bytes + GAP_BYTES, MEMORY_BYTES);
    ASAN_UNPOISON_MEMORY_REGION(object, bytes);
    memory_used += (bytes + GAP_BYTES + 15) / 16 * 16;
    return object;
}

static void give_memory(void *object, size_t bytes)
{
    ASAN_POISON_MEMORY_REGION(object, bytes);
}

void *kmem_alloc(enum mem_owner owner, size_t bytes)
{
    if (runs_out(&allocations_left))
        return NULL;
    live += owner == MEM_PROCESS;
    return take_memory(bytes);
}

void kmem_free(enum mem_owner owner, void *object, size_t bytes)
{
    live -= owner == MEM_PROCESS;
    give_memory(object, bytes);
}

void *page_alloc(enum mem_owner owner, uint32_t pages)
{
    (void)owner;
    return runs_out(&allocations_left) ? NULL : take_memory((size_t)pages * PAGE_BYTES);
}

void page_free(enum mem_owner owner, void *run, uint32_t pages)
{
    (void)owner;
    give_memory(run, (size_t)pages * PAGE_BYTES);
}

static int copy(void *to, const void *from, uint64_t bytes)
{
    if (runs_out(&copies_left))
        return -N_EFAULT;
    memcpy(to, from, bytes);
    return 0;
}

bool vm_touch_user(void *to, const void *from, uint64_t bytes)
{
    return copy(to, from, bytes) == 0;
}

int vm_copy_by_pages(struct vm *vm, void *kernel, uint64_t va, uint64_t bytes, pte_t right)
{
    (void)vm;
    return right == PTE_W ? copy((void *)va, kernel, bytes) : copy(kernel, (const void *)va, bytes);
}

int proc_copy_pieces(struct proc *proc, void *kernel, uint64_t va, uint64_t bytes, pte_t right)
{
    return vm_copy_by_pages(&proc->vm, kernel, va, bytes, right);
}

int vm_check(struct vm *vm, uint64_t va, uint64_t bytes, pte_t right)
{
    (void)vm;
    (void)va;
    (void)bytes;
    (void)right;
    return runs_out(&copies_left) ? -N_EFAULT : 0;
}

int64_t vm_copy_string(struct vm *vm, char *to, uint64_t from, uint64_t size)
{
    size_t n = strlen((const char *)from);

    (void)vm;
    cr_assert_lt(n, size);
    return copy(to, (const void *)from, n + 1) < 0 ? -N_EFAULT : (int64_t)n;
}

int proc_new_message_late(struct proc *proc, uint64_t capacity, bool pages, struct message **m)
{
    (void)proc;
    (void)capacity;
    (void)pages;
    *m = NULL;
    return -N_ENOMEM;
}

void delivery_receive(struct proc *proc, struct message *m)
{
    cr_assert_gt(m->holds, 0);
    queue_remove(&proc->inbox, m);
}

void stated_request(struct proc *proc, uint32_t node, uint32_t type, uint64_t bytes)
{
    (void)proc, (void)node, (void)type, (void)bytes;
}

void stated_return(const struct proc *proc)
{
    (void)proc;
}

void stated_return_is_free(void)
{
}

void *kept;

/* Its record is memory as well. */
void **lost_owe_end(struct proc *proc, uint32_t node)
{
    (void)proc, (void)node;
    return runs_out(&allocations_left) ? NULL : &kept;
}

void signal_broken_pipe(struct proc *proc)
{
    (void)proc;
}

void timer_set(struct proc *proc, uint64_t at_cycles)
{
    timer_cycles = at_cycles;
    proc->timed_out = false;
}

void timer_clear(struct proc *proc)
{
    proc->timed_out = false;
}

uint64_t ncu_time(void)
{
    return now_cycles;
}

uint64_t disk_commands_ended(void)
{
    return 0;
}

void ncu_reap(int wanted)
{
    (void)wanted;
}

void sched_wake(struct proc *proc)
{
    proc->waiting = false;
}

void sched_wait_for_sends(void)
{
    event_reap();
}

/* ---- The network and the server ---- */

void host_ncu_execute(uint32_t op)
{
    struct request *r = &requests[request_count++];

    cr_assert_eq(op, NCU_SEND);
    cr_assert_leq(request_count, REQUESTS_MAX);
    *r = (struct request){.node = host_mailbox.arg[0],
                          .type = TAG_TYPE(host_mailbox.arg[3]),
                          .sending = (struct message *)host_mailbox.arg[4]};
    if (r->type == N_PROBE) {
        cr_assert_eq(r->sending->bytes, sizeof(struct server_count));
        r->answered = true;
        return;
    }
    cr_assert_geq(r->sending->bytes, sizeof r->head);
    memcpy(&r->head, r->sending->payload, sizeof r->head);
}

static void answer_probe(void)
{
    probes++;
    if (answer == SILENT || (answer == DYING && probes > SLOW_PROBES))
        return;
    int left = allocations_left;
    allocations_left = NEVER;
    struct message *m = message_new(sizeof(struct server_count));
    allocations_left = left;
    *(struct server_count *)m->payload = (struct server_count){.count = answer == HUNG ? 1 : probes};
    m->bytes = sizeof(struct server_count);
    m->node = IO_NODE;
    watch_answer_arrived(m);
}

static void end_send(struct request *r)
{
    struct ncu_cause cause = {.kind = CAUSE_SEND_DONE, .cookie = (uint64_t)r->sending};

    if (!r->sending)
        return;
    struct message *m = message_sent(&cause);
    if (answer == UNDELIVERABLE) {
        request_failed(&p, m, -N_EHOSTUNREACH);
        r->answered = true;
    }
    message_release(m);
    r->sending = NULL;
    if (r->type == N_PROBE)
        answer_probe();
}

void event_reap(void)
{
    for (int i = 0; i < request_count; i++)
        end_send(&requests[i]);
}

static uint32_t payload_of(const struct request *r, char *to, int64_t *status)
{
    struct file_opened opened = {.sfid = 77, .stat.mode = 0100644};
    struct file_dirent record = {.next = 24, .record_bytes = sizeof record};

    *status = 0;
    switch (r->type) {
    case N_FOPEN:
        memcpy(to, &opened, sizeof opened);
        return sizeof opened;
    case N_FSTAT:
    case N_FSTATNAME:
    case N_FSTATFS:
        return sizeof(struct file_stat);
    case N_FREADDIR:
        memcpy(to, &record, sizeof record);
        return *status = sizeof record;
    case N_FREAD:
    case N_FREADNAME:
        return *status = r->head.bytes;
    case N_FOPENREAD:
        memcpy(to, &opened, sizeof opened);
        *status = r->head.bytes;
        return sizeof opened + r->head.bytes;
    case N_FWRITE:
        *status = r->head.bytes;
        return 0;
    case TYPES_CFS:
        *status = 5;
        return 8 + BYTES;
    default:
        return 0;
    }
}

static void reply_to(const struct request *r)
{
    static char payload[FILE_IO_BYTES];
    int64_t status;
    uint32_t bytes = payload_of(r, payload, &status);

    if (answer == FAILED)
        status = -N_EIO;
    if (answer == TOO_LONG)
        status = INT32_MAX;
    if (answer == FAILED || answer == EMPTY)
        bytes = 0;
    int left = allocations_left;
    allocations_left = NEVER;
    struct message *m = message_new(sizeof(struct file_reply) + bytes);
    allocations_left = left;
    struct file_reply head = {r->head.seq, (int32_t)status};
    memcpy(m->payload, &head, sizeof head);
    memcpy((char *)m->payload + sizeof head, payload, bytes);
    m->bytes = answer == CUT ? sizeof head.seq : sizeof head + bytes;
    m->node = r->node;
    m->tag = TAG(N_REPLY(r->type), 0, 0);
    queue_add(&p.inbox, m);
}

int proc_wait(struct proc *proc, enum ncu_wait why, uint64_t node, uint64_t type)
{
    (void)why;
    (void)node;
    event_reap();
    bool silent = answer == SILENT || answer == HUNG || answer == DYING || (answer == SLOW && probes < SLOW_PROBES) ||
                  type == N_PROGRESS; /* a probe's answer ends its wait by the timer */
    for (int i = 0; i < request_count && !silent && answer != KILLED; i++) {
        if (!requests[i].answered)
            reply_to(&requests[i]);
        requests[i].answered = true;
    }
    proc->timed_out = silent;
    if (silent)
        now_cycles = timer_cycles;
    proc->killed = answer == KILLED || answer == KILLED_AFTER;
    return proc->killed ? -N_EINTR : 0;
}
