/*
 * Programs that a program loads: on other nodes of its subcube, whose program has ended, or in its own place. The
 * messages are those of every load (vertex/contract/system.h); here they are made from the caller's memory.
 *
 * The front end decides whether the nodes are free (N_RCLAIM), so that two callers cannot both get the same node,
 * and hears from each whether it could load the program (N_RBEGUN). Everything that can be wrong with the program is
 * found before that: a claim that is granted is followed by a whole load, or, without memory for it, by one that its
 * nodes refuse.
 */
#include <stddef.h>

#include "vertex/contract/errors.h"
#include "vertex/file/request.h"
#include "vertex/memory/copy.h"
#include "vertex/message/buffers.h"
#include "vertex/message/sends.h"
#include "vertex/process/exec.h"
#include "vertex/process/load.h"
#include "vertex/process/proc.h"
#include "vertex/trap/syscall.h"

struct rexec { /* one call */
    struct proc *p;
    uint32_t first, nodes;
    bool here;          /* the program takes the caller's place */
    bool is_separate;   /* the program has a subcube of its own, at `first` */
    uint64_t fds;       /* address of what the caller gives of struct load_pipes, */
    uint32_t fds_bytes; /* with what follows it; 0: nothing */
    struct exec_program image;
    struct message *begin;
    struct message_queue messages; /* those of the load, if `here` */
    uint32_t data_messages;
};

/* ---- Checking ---- */

static bool segment_is_sound(const struct abi_program *program, const struct abi_segment *s)
{
    uint64_t stack_low = USER_STACK_TOP - PAGE_ROUND_UP(program->stack_bytes);

    return s->file_bytes <= s->mem_bytes &&
           load_place_is_sound(stack_low, s->va, s->file_bytes, s->mem_bytes - s->file_bytes);
}

static bool program_is_sound(const struct abi_program *a)
{
    return a->segments >= 1 && a->segments <= ABI_SEGMENTS_MAX && a->entry < USER_STACK_TOP && a->procs >= 1 &&
           a->procs <= PROCS_MAX && a->stack_bytes >= PAGE_BYTES && a->stack_bytes <= NODE_RAM_MAX_BYTES;
}

static int check_segments(struct proc *p, struct exec_program *e)
{
    int error = vm_copy_in(&p->vm, e->segment, e->program.segment, e->program.segments * sizeof *e->segment);

    for (uint32_t i = 0; i < e->program.segments && !error; i++) {
        const struct abi_segment *s = &e->segment[i];

        if (!segment_is_sound(&e->program, s) || (i > 0 && s->va < s[-1].va + s[-1].mem_bytes))
            return -N_ENOEXEC;
        error = vm_check(&p->vm, s->data, s->file_bytes, PTE_R);
    }
    return error;
}

int exec_read_program(struct proc *p, uint64_t address, struct exec_program *e)
{
    if (p->builtin)
        return -N_EPERM;
    int error = vm_copy_in(&p->vm, &e->program, address, sizeof e->program);
    if (error)
        return error;
    if (e->program.arg_bytes > ABI_ARGUMENTS_MAX_BYTES)
        return -N_E2BIG;
    return program_is_sound(&e->program) ? check_segments(p, e) : -N_ENOEXEC;
}

static uint32_t dim_of(uint32_t nodes)
{
    uint32_t dim = 0;

    while (1u << dim < nodes)
        dim++;
    return dim;
}

static int check_nodes(struct rexec *r, const uint64_t *arg)
{
    uint64_t nodes = r->p->nodes;

    if (arg[0] >= nodes || arg[1] == 0 || arg[1] > nodes - arg[0])
        return -N_EINVAL;
    r->first = arg[0];
    r->nodes = arg[1];
    if (r->is_separate && (r->first & ((1u << dim_of(r->nodes)) - 1)))
        return -N_EINVAL;
    if (r->is_separate)
        return r->p->logical - r->first < r->nodes ? -N_EBUSY : 0;
    r->here = r->nodes == 1 && r->first == r->p->logical;
    if (r->here && r->p->pipes && r->p->pipes->fds > 0)
        return -N_ENOTSUP;
    return r->here && (proc_count() > 1 || r->p->procid != 0) ? -N_EBUSY : 0;
}

static int check(struct rexec *r, const uint64_t *arg)
{
    if (r->p->builtin)
        return -N_EPERM;
    int error = check_nodes(r, arg);
    return error ? error : exec_read_program(r->p, arg[2], &r->image);
}

/* ---- Messages ---- */

/* Sends the message to the first node that gets the program. If that is this node, keeps it until this process has
 * ended. */
static void send(struct rexec *r, struct message *m, uint32_t type)
{
    m->tag = TAG(type, 0, 0);
    if (r->here)
        queue_add(&r->messages, m);
    else
        message_post(m, r->p->base + r->first, m->tag);
}

/* A program in the caller's subcube belongs to the caller's program: it has the same numbers of nodes. */
static struct load_begin begin_of(const struct rexec *r)
{
    const struct abi_program *a = &r->image.program;
    const struct proc *p = r->p;
    uint32_t dim = r->is_separate ? dim_of(r->nodes) : p->dim;

    return (struct load_begin){.job = p->job,
                               .base = p->base + (r->is_separate ? r->first : 0),
                               .dim = dim,
                               .idle = (1u << dim) - (r->is_separate ? r->nodes : p->nodes),
                               .part_first = r->is_separate ? 0 : r->first,
                               .part_nodes = r->nodes,
                               .argc = a->argc,
                               .arg_bytes = a->arg_bytes,
                               .volumes = p->volumes,
                               .striped_bytes = p->striped_bytes,
                               .entry = a->entry,
                               .stack_bytes = a->stack_bytes,
                               .heap_bytes = a->heap_bytes,
                               .comm_bytes = a->comm_bytes,
                               .procs = a->procs,
                               .pipes_bytes = r->is_separate ? r->fds_bytes
                                              : p->pipes     ? sizeof(struct load_pipes)
                                                             : 0};
}

/* Writes struct load_pipes and what the caller gives behind it. */
static int add_pipes(struct rexec *r, const struct load_begin *b, struct load_pipes *pipes)
{
    struct load_pipes given = {.fds = 0};
    int error = r->is_separate ? vm_copy_in(&r->p->vm, pipes, r->fds, r->fds_bytes) : 0;

    if (error)
        return error;
    if (r->is_separate)
        given = *pipes;
    *pipes = (struct load_pipes){.job_base = proc_job_base(r->p),
                                 .job_dim = proc_job_dim(r->p),
                                 .first = b->base - proc_job_base(r->p),
                                 .nodes = (1u << b->dim) - b->idle,
                                 .has_driver = given.has_driver,
                                 .fds = given.fds,
                                 .path_bytes = given.path_bytes};
    return load_pipes_are_sound(b, pipes) ? 0 : -N_EINVAL;
}

/* Makes N_LOAD_BEGIN with the caller's arguments, volumes and striped volumes. Its life is not known before the
 * claim. */
static int make_begin(struct rexec *r)
{
    struct proc *p = r->p;
    const struct load_begin b = begin_of(r);
    uint64_t at = sizeof b + round_up(b.arg_bytes, 8),
             volumes_bytes = (uint64_t)p->volumes * sizeof *p->volume + p->striped_bytes, bytes = at + volumes_bytes,
             pipes_at = b.pipes_bytes ? round_up(bytes, 8) : bytes;
    int error = proc_new_message(p, pipes_at + b.pipes_bytes, false, &r->begin);

    if (error)
        return error;
    char *to = (char *)r->begin->payload;
    r->begin->bytes = pipes_at + b.pipes_bytes;
    copy_zero(to, at);
    copy_bytes(to, &b, sizeof b);
    copy_bytes(to + at, p->volume, volumes_bytes);
    copy_zero(to + bytes, pipes_at - bytes);
    error = vm_copy_in(&p->vm, to + sizeof b, r->image.program.arguments, b.arg_bytes);
    if (!error && !proc_arguments_are_sound(to + sizeof b, b.arg_bytes, b.argc))
        error = -N_EINVAL;
    if (!error && b.pipes_bytes)
        error = add_pipes(r, &b, (struct load_pipes *)(to + pipes_at));
    return error;
}

static int send_chunk(struct rexec *r, const struct abi_segment *s, uint64_t at, uint64_t bytes)
{
    const struct load_data d = {.job = r->p->job,
                                .writable = s->writable != 0,
                                .va = s->va + at,
                                .bytes = bytes,
                                .zero_bytes = at + bytes == s->file_bytes ? s->mem_bytes - s->file_bytes : 0};
    struct message *m;
    int error = proc_new_message(r->p, sizeof d + bytes, false, &m);

    if (error)
        return error;
    m->bytes = sizeof d + bytes;
    copy_bytes(m->payload, &d, sizeof d);
    error = proc_copy_in(r->p, (char *)m->payload + sizeof d, s->data + at, bytes);
    if (error) {
        message_release(m);
        return error;
    }
    send(r, m, N_LOAD_DATA);
    r->data_messages++;
    return 0;
}

static int send_segment(struct rexec *r, const struct abi_segment *s)
{
    uint64_t at = 0, n;
    int error;

    do {
        n = s->file_bytes - at < LOAD_CHUNK_BYTES ? s->file_bytes - at : LOAD_CHUNK_BYTES;
        error = send_chunk(r, s, at, n);
        at += n;
    } while (at < s->file_bytes && !error);
    return error;
}

/* If the load broke off, N_LOAD_START names more N_LOAD_DATA than were sent, so the nodes refuse the load. */
static int send_start(struct rexec *r, int broken)
{
    const struct load_job start = {.job = r->p->job,
                                   .base = r->p->base + (r->is_separate ? r->first : 0),
                                   .data_messages = r->data_messages + (broken ? 1 : 0)};
    struct message *m;
    int error = proc_new_message(r->p, sizeof start, false, &m);

    if (error)
        return error;
    m->bytes = sizeof start;
    copy_bytes(m->payload, &start, sizeof start);
    send(r, m, N_LOAD_START);
    return broken;
}

static int send_load(struct rexec *r)
{
    struct message *begin = r->begin;
    int error = 0;

    r->begin = NULL;
    send(r, begin, N_LOAD_BEGIN);
    for (uint32_t i = 0; i < r->image.program.segments && !error; i++)
        error = send_segment(r, &r->image.segment[i]);
    return send_start(r, error);
}

/* ---- The front end ---- */

static int64_t ask(struct proc *p, uint32_t type, uint64_t sfid)
{
    return request_ask(p, &(struct file_request){.sfid = sfid}, NODE_HOST, type, NULL);
}

/* The number that the caller's node 0 has in the job's subcube. */
static uint32_t job_offset(const struct proc *p)
{
    return p->base - proc_job_base(p);
}

static int64_t claim(struct rexec *r)
{
    const struct file_request fields = {
        .sfid = r->first + job_offset(r->p), .offset = r->nodes, .bytes = r->is_separate ? 1 : 0};

    return request_ask_by_name(r->p, fields, r->image.program.name, N_RCLAIM, NULL);
}

/* ---- Calls ---- */

static int64_t load_nodes(struct rexec *r)
{
    int64_t life = claim(r);

    if (life < 0)
        return life;
    ((struct load_begin *)r->begin->payload)->life = life;
    int error = send_load(r);
    int64_t begun = ask(r->p, N_RBEGUN, life);
    return error ? error : begun;
}

/* After the claim nothing may fail: all messages are made before. */
static int64_t replace_program(struct rexec *r)
{
    struct load_begin *begin = (struct load_begin *)r->begin->payload;
    int64_t result = send_load(r);

    if (!result)
        result = claim(r);
    if (result > 0) {
        begin->life = result;
        proc_become(r->p, &r->messages);
    }
    message_release_all(&r->messages);
    return result;
}

static int64_t run(struct rexec *r, const uint64_t *arg)
{
    int64_t result = check(r, arg);

    if (!result)
        result = make_begin(r);
    if (!result)
        result = r->here ? replace_program(r) : load_nodes(r);
    if (r->begin)
        message_release(r->begin);
    return result;
}

int64_t sys_rexec(struct proc *p, const uint64_t *arg)
{
    struct rexec r = {.p = p};

    return run(&r, arg);
}

int64_t sys_rexecf(struct proc *p, const uint64_t *arg)
{
    struct rexec r = {.p = p, .is_separate = true, .fds = arg[3], .fds_bytes = arg[4]};

    if (arg[4] < sizeof(struct load_pipes) || arg[4] > UINT16_MAX)
        return -N_E2BIG;
    return run(&r, arg);
}

int64_t sys_rwait(struct proc *p, const uint64_t *arg)
{
    if (p->builtin)
        return -N_EPERM;
    if (arg[0] >= p->nodes || arg[0] == p->logical)
        return -N_EINVAL;
    return ask(p, N_RWAIT, arg[0] + job_offset(p));
}
