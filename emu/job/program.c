#include "emu/job/program.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>

#include "vertex/contract/system.h"

/* The arguments lie on the stack, and may take a quarter of it, with their pointers. */
static int check_arguments(const struct job_program *p, uint64_t stack_bytes, char *error, size_t error_bytes)
{
    uint64_t need = load_arg_bytes(p->argv, p->argc) + (p->argc + 1) * sizeof(uint64_t);

    if (need <= stack_bytes / 4)
        return 0;
    snprintf(error, error_bytes,
             "the arguments take %" PRIu64 " bytes; at most a quarter of the stack, %" PRIu64
             ", is for them; give a larger --stack",
             need, stack_bytes / 4);
    return -1;
}

/* The user's options count more than those of ncc. */
static void override_sizes(struct program_note *note, const struct job_options *o)
{
    if (o->heap_bytes)
        note->heap_bytes = o->heap_bytes;
    if (o->comm_bytes)
        note->comm_bytes = o->comm_bytes;
}

const char *program_file(const struct job_program *p)
{
    return p->file ? p->file : p->path;
}

int program_read(struct elf_image *image, const struct job_program *p, const struct job_options *o, uint64_t ram_bytes,
                 char *error, size_t error_bytes)
{
    if (p->image)
        *image = *p->image;
    else if (elf_image_read(image, program_file(p), error, error_bytes) < 0)
        return -1;
    override_sizes(&image->note, o);
    uint64_t stack_bytes = elf_stack_bytes(image, o->stack_bytes);
    if (load_check_program(image, p->path, ram_bytes, stack_bytes, error, error_bytes) == 0 &&
        check_arguments(p, stack_bytes, error, error_bytes) == 0)
        return 0;
    elf_image_free(image);
    return -1;
}

static void send_message(void *ctx, uint32_t to, uint32_t type, const void *bytes, size_t n)
{
    const struct job *j = ctx;

    j->ops->send(j->ctx, to, TAG(type, 0, 0), bytes, n);
}

int program_send(const struct load_program *p, struct job *j)
{
    return load_send_program(p, send_message, j);
}

int program_open(const char *path)
{
    return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}
