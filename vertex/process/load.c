/*
 * Loads a program from the messages of a load, or the built-in one from the shared region (load.h).
 */
#include "vertex/process/load.h"

#include <stdbool.h>
#include <stddef.h>

#include "vertex/base/ncu_calls.h"
#include "vertex/base/panic.h"
#include "vertex/contract/errors.h"
#include "vertex/contract/machine.h"
#include "vertex/contract/system.h"
#include "vertex/memory/copy.h"
#include "vertex/message/buffers.h"
#include "vertex/message/channels.h"
#include "vertex/message/console_line.h"
#include "vertex/message/sends.h"
#include "vertex/process/proc.h"
#include "vertex/process/report.h"
#include "vertex/process/tree.h"
#include "vertex/shared/text.h"
#include "vertex/trap/event.h"

static struct {
    bool active; /* N_LOAD_BEGIN has arrived, N_LOAD_START not yet */
    uint32_t job, life, base;
    uint32_t root, nodes;   /* of the part: address of the first node, how many */
    int error;              /* for which the load has failed; 0: none */
    uint32_t data_messages; /* N_LOAD_DATA received */
    bool cut_off;           /* a node could not be reached, and `error` says so */
    char text[64];          /* of the error, for the user; "": none */
} load;

/* While a load is active, forwarded messages are freed at once: the messages that follow need the memory. */
static void set_active(bool active)
{
    if (active && !load.active)
        channels_want_ends();
    else if (!active && load.active)
        channels_want_ends_no_more();
    load.active = active;
}

/* ---- Passing on ---- */

/* Returns the dimension of the part if it is itself a subcube, else -1. */
static int dimension_of_part(void)
{
    int dim = 0;

    while (1u << dim < load.nodes)
        dim++;
    return 1u << dim == load.nodes && load.root % load.nodes == 0 ? dim : -1;
}

/* The first node broadcasts to all others if the NCU can; otherwise each node sends to its children in a tree. */
static void forward(struct message *m)
{
    uint32_t child[NODE_MAX_DIM];
    int dim = dimension_of_part();

    if (MAILBOX->broadcasts && dim >= 0) {
        if (MAILBOX->node == load.root && dim > 0)
            message_send_others(m, load.root, dim, load.nodes, m->tag);
        return;
    }
    uint32_t n = tree_children(MAILBOX->node - load.root, load.nodes, child);

    for (uint32_t i = 0; i < n; i++)
        message_send(m, load.root + child[i], m->tag);
}

/* ---- A job ---- */

/* The part lies in the subcube, and this node in the part. */
static bool part_is_sound(const struct load_begin *b)
{
    uint32_t nodes = (1u << b->dim) - b->idle, node = MAILBOX->node - b->base;

    return (b->idle == 0 || b->idle < 1u << (b->dim - 1)) && b->part_nodes <= nodes &&
           b->part_first <= nodes - b->part_nodes && node >= b->part_first && node - b->part_first < b->part_nodes;
}

/* ---- Descriptors ---- */

static bool fd_is_sound(const struct load_fd *f, uint32_t job_nodes)
{
    if (f->fd >= PROC_FILES_MAX || f->kind > LOAD_FD_PATH)
        return false;
    return f->kind == LOAD_FD_PATH ||
           (f->number < PIPE_NUMBERS && f->peer.nodes <= job_nodes && f->peer.first <= job_nodes - f->peer.nodes);
}

/* The descriptors' kinds, and as many paths as have to be there. */
static bool fds_are_sound(const struct load_pipes *pipes, uint32_t job_nodes)
{
    const struct load_fd *f = (const struct load_fd *)(pipes + 1);
    const char *path = (const char *)(f + pipes->fds);
    uint32_t paths = 0;

    for (uint32_t i = 0; i < pipes->fds; i++) {
        if (!fd_is_sound(&f[i], job_nodes))
            return false;
        paths += f[i].kind == LOAD_FD_PATH;
    }
    return proc_arguments_are_sound(path, pipes->path_bytes, paths);
}

/* The other ends lie in the job's subcube, as the program does. */
bool load_pipes_are_sound(const struct load_begin *b, const struct load_pipes *pipes)
{
    if (b->pipes_bytes < sizeof *pipes || pipes->job_dim > NODE_MAX_DIM || b->base < pipes->job_base)
        return false;
    uint32_t nodes = 1u << pipes->job_dim;
    return pipes->nodes == (1u << b->dim) - b->idle && pipes->nodes <= nodes &&
           pipes->first == b->base - pipes->job_base && pipes->first <= nodes - pipes->nodes &&
           pipes->fds <= PROC_FILES_MAX && (b->procs == 1 || pipes->fds == 0) &&
           sizeof *pipes + pipes->fds * sizeof(struct load_fd) + (uint64_t)pipes->path_bytes == b->pipes_bytes &&
           fds_are_sound(pipes, nodes);
}

static bool lengths_are_sound(const struct message *m, const struct load_begin *b)
{
    uint64_t bytes =
        sizeof *b + round_up(b->arg_bytes, 8) + (uint64_t)b->volumes * sizeof(struct load_volume) + b->striped_bytes;

    if (b->pipes_bytes) {
        bytes = round_up(bytes, 8);
        return m->bytes == bytes + b->pipes_bytes &&
               load_pipes_are_sound(b, (const struct load_pipes *)((const char *)b + bytes));
    }
    return m->bytes == bytes || (b->volumes == 0 && b->striped_bytes == 0 && m->bytes == sizeof *b + b->arg_bytes);
}

static bool begin_is_sound(const struct message *m, const struct load_begin *b)
{
    return b->dim <= NODE_MAX_DIM && part_is_sound(b) && lengths_are_sound(m, b) && b->entry < USER_STACK_TOP &&
           b->procs >= 1 && b->procs <= PROCS_MAX && b->stack_bytes >= PAGE_BYTES &&
           b->stack_bytes <= NODE_RAM_MAX_BYTES;
}

/* Reports the end of a load for which no process was made. */
static void report_end(uint32_t how, int32_t status)
{
    struct job_exit exit = {.job = load.job, .node = MAILBOX->node - load.base, .status = status, .how = how};

    set_active(false);
    report_exit(&exit, NULL, how == EXIT_LOAD ? load.text : "");
}

static const char *arguments_of(const struct load_begin *b)
{
    return (const char *)(b + 1);
}

static struct proc_sizes sizes_of(const struct load_begin *b)
{
    return (struct proc_sizes){b->stack_bytes, b->heap_bytes, b->comm_bytes};
}

/* The process keeps the message, which contains its arguments and volumes. */
static int make_process(struct message *m)
{
    const struct load_begin *b = (const struct load_begin *)m->payload;
    const struct proc_sizes sizes = sizes_of(b);

    if (proc_count() > 0)
        return -N_EBUSY;
    const struct proc_place place = {b->base, b->dim, b->idle};
    struct proc *p = proc_new(0, b->job, &place, &sizes);
    if (!p)
        return -N_ENOMEM;
    p->procs = b->procs;
    p->begin = m;
    m->holds++;
    p->volume = (const struct load_volume *)(arguments_of(b) + round_up(b->arg_bytes, 8));
    p->volumes = b->volumes;
    p->striped_bytes = b->striped_bytes;
    if (b->pipes_bytes) {
        p->pipes = (const struct load_pipes *)((const char *)b + m->bytes - b->pipes_bytes);
        message_fill_spares(); /* the first short messages of a pipe take the fast path, too */
    }
    return 0;
}

static void begin(struct message *m)
{
    const struct load_begin *b = (const struct load_begin *)m->payload;

    if (m->bytes < sizeof *b || !begin_is_sound(m, b)) {
        console_line("malformed N_LOAD_BEGIN of %u bytes ignored", m->bytes);
        return;
    }
    if (load.job == b->job && load.life == b->life)
        return; /* N_KILL overtook it, and the end is reported */
    set_active(true);
    load.data_messages = 0;
    load.cut_off = false;
    load.text[0] = '\0';
    load.job = b->job;
    load.life = b->life;
    load.base = b->base;
    load.root = b->base + b->part_first;
    load.nodes = b->part_nodes;
    forward(m);
    load.error = make_process(m);
}

bool load_place_is_sound(uint64_t stack_low, uint64_t va, uint64_t bytes, uint64_t zero_bytes)
{
    uint64_t high = stack_low - VM_GUARD_BYTES;

    return va >= USER_TEXT_VA && va <= high && bytes <= high - va && zero_bytes <= high - va - bytes;
}

static bool data_is_sound(const struct proc *p, const struct message *m, const struct load_data *d)
{
    return m->bytes == sizeof *d + d->bytes && load_place_is_sound(p->vm.stack_low, d->va, d->bytes, d->zero_bytes);
}

void load_extend_break(struct vm *vm, uint64_t end)
{
    if (end > vm->break_now)
        vm->break_low = vm->break_now = (end + 15) & ~15ull;
}

static int place(struct proc *p, const struct load_data *d)
{
    uint64_t end = d->va + d->bytes + d->zero_bytes;
    pte_t rights = d->writable ? PTE_R | PTE_W : PTE_R | PTE_X;
    int error = vm_load(&p->vm, d->va, d + 1, d->bytes, rights);

    if (!error && d->zero_bytes)
        error = vm_add_zero(&p->vm, d->va + d->bytes, end, rights);
    if (!error)
        load_extend_break(&p->vm, end);
    return error;
}

static void data(struct message *m)
{
    const struct load_data *d = (const struct load_data *)m->payload;
    struct proc *p = proc_find(0);

    if (m->bytes < sizeof *d || !load.active || d->job != load.job)
        return;
    forward(m);
    load.data_messages++;
    if (load.error)
        return;
    load.error = data_is_sound(p, m, d) ? place(p, d) : -N_ENOEXEC;
}

static int start(struct proc *p)
{
    const struct load_begin *b = (const struct load_begin *)p->begin->payload;

    const struct proc_sizes sizes = sizes_of(b);
    const struct proc_start start = {
        .entry = b->entry, .argc = b->argc, .bytes = b->arg_bytes, .arguments = arguments_of(b)};
    int error = proc_start(p, &start);

    for (uint32_t i = 1; i < b->procs && !error; i++)
        error = proc_clone(p, i, &sizes);
    for (uint32_t i = 0; i < b->procs && !error; i++)
        vm_move_text(&proc_find(i)->vm);
    return error;
}

/* The process that loaded the program waits for this report. The programs that a job starts with (life 0) send none. */
static void report_start(void)
{
    const struct job_exit started = {.job = load.job, .node = MAILBOX->node - load.base, .status = load.life};

    if (load.life > 0)
        report_started(&started);
}

static void fail_process(struct proc *p)
{
    copy_bytes(p->exit_text, load.text, sizeof load.text);
    proc_kill(p, EXIT_LOAD, load.error);
}

static void finish(struct message *m)
{
    const struct load_job *j = (const struct load_job *)m->payload;
    struct proc *p = proc_find(0);
    bool mine = p && p->state == PROC_LOADING && p->job == load.job;

    if (m->bytes < sizeof *j || !load.active || j->job != load.job)
        return;
    forward(m);
    set_active(false);
    if (!load.error && load.data_messages != j->data_messages)
        load.error = -N_EIO;
    if (!load.error)
        load.error = start(p);
    if (!load.error)
        report_start();
    else if (mine)
        fail_process(p);
    else
        report_end(EXIT_LOAD, load.error);
}

void load_message(struct message *m)
{
    if (NODE_IS_COMPUTE(MAILBOX->node)) {
        switch (TAG_TYPE(m->tag)) {
        case N_LOAD_BEGIN:
            begin(m);
            break;
        case N_LOAD_DATA:
            data(m);
            break;
        case N_LOAD_START:
            finish(m);
            break;
        }
    }
    message_release(m);
}

void load_here(struct message_queue *messages)
{
    struct message *m;

    while ((m = queue_take_first(messages)))
        load_message(m);
}

static void kill_all(void)
{
    set_active(false);
    for (uint32_t i = 0; i < PROCS_MAX; i++)
        if (proc_find(i))
            proc_kill(proc_find(i), EXIT_KILLED, 0);
}

/* A kill that comes before the job's N_LOAD_BEGIN is answered at once, and the job is noted, so that `begin` then drops
 * its load. One that comes in the midst of the load answers for it. */
void load_kill(struct message *m)
{
    const struct load_job *j = (const struct load_job *)m->payload;

    if (m->bytes >= sizeof *j && NODE_IS_COMPUTE(MAILBOX->node)) {
        if (proc_has_job(j->job)) {
            kill_all();
        } else if (load.job != j->job || load.life != j->life || load.active) {
            load.job = j->job;
            load.life = j->life;
            load.base = j->base;
            report_end(EXIT_KILLED, 0);
        }
    }
    message_release(m);
}

/* A message of a load could not be forwarded to that node, which cuts off its subtree, too. The first failure fails the
 * load here, and thereby the job; if the program has started already, it ends. */
void load_undeliverable(struct message *m, uint32_t node)
{
    (void)m;
    if (load.cut_off)
        return;
    load.cut_off = true;
    load.error = -N_EHOSTUNREACH;
    text_print(load.text, sizeof load.text, "node %u has no working route to node %u", MAILBOX->node - load.base,
               node - load.base);
    if (load.active)
        return;
    if (!proc_has_job(load.job))
        console_line("%s", load.text);
    for (uint32_t i = 0; i < PROCS_MAX; i++)
        if (proc_find(i))
            fail_process(proc_find(i));
}

/* ---- The built-in program ---- */

static int place_segment(struct proc *p, const struct boot_segment *s)
{
    uint64_t end = s->va + s->mem_bytes;

    load_extend_break(&p->vm, end);
    if (!s->writable)
        return vm_map_shared(&p->vm, s->va, s->pa, s->mem_bytes);
    int error = vm_load(&p->vm, s->va, (const void *)s->pa, s->file_bytes, PTE_R | PTE_W);
    return error ? error : vm_add_zero(&p->vm, s->va, end, PTE_R | PTE_W);
}

static int place_builtin(struct proc *p, const struct boot_info *info)
{
    static const char name[] = "nsdisk";

    for (uint32_t i = 0; i < info->segments; i++) {
        int error = place_segment(p, &info->segment[i]);

        if (error)
            return error;
    }
    const struct proc_start start = {.entry = info->builtin_entry, .argc = 1, .bytes = sizeof name, .arguments = name};
    return proc_start(p, &start);
}

void load_builtin(void)
{
    const struct boot_info *info = (const struct boot_info *)CABINET_BOOT_INFO;
    const uint32_t no_job = 0;
    const struct proc_place whole = {.dim = MAILBOX->dim};

    if (info->segments == 0)
        return;
    const struct proc_sizes sizes = {.stack_bytes = USER_STACK_DEFAULT_BYTES};
    struct proc *p = proc_new(0, no_job, &whole, &sizes);
    if (!p)
        panic("no memory for the built-in program: %u pages free", page_free_count());
    p->builtin = true;
    p->range_high = 0xffff;
    if (!message_reserve(sizeof(struct file_reply) + file_io_bytes(MAILBOX->ram_bytes)))
        panic("no memory for answers of the built-in program: %u pages free", page_free_count());
    int error = place_builtin(p, info);
    if (error)
        panic("the built-in program can't be placed: error %d", -error);
}
