/* Executables: reading them with libelf, checking them, and the messages of a load. Bytes from libelf are copied, so
 * that an image outlives its file. The checks are in the order in which they help the user most. */
#include "emu/job/loader.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emu/base/order.h"
#include "vertex/contract/abi.h"
#include "vertex/contract/errors.h"

#define PAGE_BYTES UINT64_C(4096) /* Sv39 */

_Static_assert(ELF_SEGMENT_X == PF_X && ELF_SEGMENT_W == PF_W && ELF_SEGMENT_R == PF_R, "flags as in the file");

/* A file, and where a failed check writes its line. */
struct complaint {
    const char *path;
    char *error;
    size_t error_bytes;
};

__attribute__((format(printf, 2, 3))) static int complain(const struct complaint *c, const char *format, ...)
{
    char text[256];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    snprintf(c->error, c->error_bytes, "%s: %s", c->path, text);
    return -1;
}

/* ---- Reading ------------------------------------------------------------------------------- */

static int open_regular(const struct complaint *c)
{
    struct stat st;
    int fd = open(c->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

    if (fd < 0)
        return complain(c, "cannot be opened: %s; give the path of a program built with ncc", strerror(errno));
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
        return fd;
    close(fd);
    return complain(c, "not a regular file; give the path of a program built with ncc");
}

static int check_header(const struct complaint *c, Elf *elf, GElf_Ehdr *header)
{
    if (!elf || elf_kind(elf) != ELF_K_ELF)
        return complain(c, "not an ELF file; build the program with ncc");
    if (!gelf_getehdr(elf, header))
        return complain(c, "its ELF header is damaged or cut off; build the program again");
    if (header->e_machine != EM_RISCV || header->e_ident[EI_CLASS] != ELFCLASS64 ||
        header->e_ident[EI_DATA] != ELFDATA2LSB)
        return complain(c, "built for another machine, not RISC-V 64-bit little-endian; build the program with ncc");
    if (header->e_type != ET_EXEC)
        return complain(c, "not a static executable (an object, a library or position-independent); link it with ncc");
    return 0;
}

static int read_segment(const struct complaint *c, Elf *elf, const GElf_Phdr *h, struct elf_segment *s)
{
    *s = (struct elf_segment){
        .pa = h->p_paddr,
        .va = h->p_vaddr,
        .file_bytes = h->p_filesz,
        .mem_bytes = h->p_memsz,
        .flags = h->p_flags & (PF_R | PF_W | PF_X | PROGRAM_SEGMENT_DRIVERS),
    };
    if (s->file_bytes > s->mem_bytes || s->va + s->mem_bytes < s->va)
        return complain(c, "the segment at 0x%" PRIx64 " has impossible sizes; build the program again", s->va);
    if (s->file_bytes == 0)
        return 0;

    Elf_Data *chunk = elf_getdata_rawchunk(elf, h->p_offset, h->p_filesz, ELF_T_BYTE);
    if (!chunk || chunk->d_size != h->p_filesz)
        return complain(c, "cut off: the segment at 0x%" PRIx64 " reaches beyond the end; build the program again",
                        s->va);
    s->data = malloc(s->file_bytes);
    if (!s->data)
        return complain(c, "no memory for a segment of %" PRIu64 " bytes", s->file_bytes);
    memcpy(s->data, chunk->d_buf, s->file_bytes);
    return 0;
}

/* Reads the note of ncc; ignores all others. */
static int read_note(const struct complaint *c, Elf *elf, const GElf_Phdr *h, struct program_note *note)
{
    Elf_Data *data = elf_getdata_rawchunk(elf, h->p_offset, h->p_filesz, ELF_T_NHDR);
    size_t name_at, bytes_at, next = 0;
    GElf_Nhdr n;

    while (data && (next = gelf_getnote(data, next, &n, &name_at, &bytes_at)) > 0) {
        const char *name = (const char *)data->d_buf + name_at;

        if (n.n_namesz != sizeof PROGRAM_NOTE_NAME || memcmp(name, PROGRAM_NOTE_NAME, n.n_namesz) != 0)
            continue;
        if (n.n_type != PROGRAM_NOTE || n.n_descsz != sizeof *note)
            return complain(c, "its note of sizes was written by another version of ncc; build the program again");
        memcpy(note, (const char *)data->d_buf + bytes_at, sizeof *note);
    }
    return 0;
}

static int read_segments(const struct complaint *c, Elf *elf, struct elf_image *image)
{
    size_t headers;

    if (elf_getphdrnum(elf, &headers) < 0)
        return complain(c, "its program headers are damaged; build the program again");
    image->segment = calloc(headers + 1, sizeof *image->segment);
    if (!image->segment)
        return complain(c, "no memory for %zu segments", headers);

    for (size_t i = 0; i < headers; i++) {
        GElf_Phdr h;

        if (!gelf_getphdr(elf, i, &h))
            return complain(c, "program header %zu is damaged; build the program again", i);
        if (h.p_type == PT_INTERP || h.p_type == PT_DYNAMIC)
            return complain(c, "not a static executable: it needs a dynamic linker; link it with ncc");
        if (h.p_type == PT_NOTE && read_note(c, elf, &h, &image->note) < 0)
            return -1;
        if (h.p_type != PT_LOAD || h.p_memsz == 0)
            continue;
        if (read_segment(c, elf, &h, &image->segment[image->segments++]) < 0)
            return -1;
    }
    return image->segments ? 0 : complain(c, "it contains nothing to load; build the program with ncc");
}

static int compare_segments(const void *a, const void *b)
{
    return order(((const struct elf_segment *)a)->va, ((const struct elf_segment *)b)->va);
}

static int order_segments(const struct complaint *c, struct elf_image *image)
{
    qsort(image->segment, image->segments, sizeof *image->segment, compare_segments);
    for (uint32_t i = 1; i < image->segments; i++) {
        const struct elf_segment *low = &image->segment[i - 1], *high = &image->segment[i];

        if (low->va + low->mem_bytes > high->va)
            return complain(c, "the segments at 0x%" PRIx64 " and 0x%" PRIx64 " overlap; build the program again",
                            low->va, high->va);
    }
    return 0;
}

static int read_elf(const struct complaint *c, Elf *elf, struct elf_image *image)
{
    GElf_Ehdr header;

    if (check_header(c, elf, &header) < 0 || read_segments(c, elf, image) < 0)
        return -1;
    image->entry = header.e_entry;
    return order_segments(c, image);
}

int elf_image_read(struct elf_image *image, const char *path, char *error, size_t error_bytes)
{
    const struct complaint c = {path, error, error_bytes};

    *image = (struct elf_image){0};
    elf_version(EV_CURRENT);
    int fd = open_regular(&c);
    if (fd < 0)
        return -1;

    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    int result = read_elf(&c, elf, image);
    if (result < 0)
        elf_image_free(image);
    elf_end(elf);
    close(fd);
    return result;
}

uint32_t elf_default_dim(const struct elf_image *image)
{
    return image->note.dim_plus_1 ? image->note.dim_plus_1 - 1 : 0;
}

uint64_t elf_stack_bytes(const struct elf_image *image, uint64_t stack_bytes)
{
    if (stack_bytes)
        return stack_bytes;
    return image->note.stack_bytes ? image->note.stack_bytes : USER_STACK_DEFAULT_BYTES;
}

void elf_image_free(struct elf_image *image)
{
    for (uint32_t i = 0; i < image->segments; i++)
        free(image->segment[i].data);
    free(image->segment);
    *image = (struct elf_image){0};
}

/* ---- Checking a program --------------------------------------------------------------------- */

static uint64_t first_page(const struct elf_segment *s)
{
    return s->va / PAGE_BYTES;
}

static uint64_t last_page(const struct elf_segment *s)
{
    return (s->va + s->mem_bytes - 1) / PAGE_BYTES;
}

static int check_user_space(const struct complaint *c, const struct elf_image *image, uint64_t stack_bytes)
{
    uint64_t top = USER_STACK_TOP - stack_bytes;

    for (uint32_t i = 0; i < image->segments; i++) {
        const struct elf_segment *s = &image->segment[i];

        if (s->va < USER_TEXT_VA || s->va + s->mem_bytes > top)
            return complain(c,
                            "the segment 0x%" PRIx64 "-0x%" PRIx64 " lies outside user space 0x%" PRIx64 "-0x%" PRIx64
                            "; link the program with ncc",
                            s->va, s->va + s->mem_bytes, (uint64_t)USER_TEXT_VA, top);
    }
    return 0;
}

/* A page is either writable or shared text, so segments that differ in this cannot share one. */
static int check_pages(const struct complaint *c, const struct elf_image *image)
{
    for (uint32_t i = 1; i < image->segments; i++) {
        const struct elf_segment *low = &image->segment[i - 1], *high = &image->segment[i];

        if (((low->flags ^ high->flags) & ELF_SEGMENT_W) && last_page(low) == first_page(high))
            return complain(
                c, "writable and read-only segments share the page at 0x%" PRIx64 "; link the program with ncc",
                first_page(high) * PAGE_BYTES);
    }
    return 0;
}

static int check_entry(const struct complaint *c, const struct elf_image *image)
{
    for (uint32_t i = 0; i < image->segments; i++) {
        const struct elf_segment *s = &image->segment[i];

        if ((s->flags & ELF_SEGMENT_X) && image->entry >= s->va && image->entry - s->va < s->file_bytes)
            return 0;
    }
    return complain(c, "the entry point 0x%" PRIx64 " is not in its code; link the program with ncc", image->entry);
}

static int check_memory(const struct complaint *c, const struct elf_image *image, uint64_t ram_bytes,
                        uint64_t stack_bytes)
{
    uint64_t need = stack_bytes;

    for (uint32_t i = 0; i < image->segments; i++)
        need += (last_page(&image->segment[i]) - first_page(&image->segment[i]) + 1) * PAGE_BYTES;
    if (need <= ram_bytes)
        return 0;
    return complain(c,
                    "needs %" PRIu64 " KB with its stack, but a node has %" PRIu64
                    " KB; give the machine's nodes more memory or the program less",
                    need >> 10, ram_bytes >> 10);
}

int load_check_program(const struct elf_image *image, const char *path, uint64_t ram_bytes, uint64_t stack_bytes,
                       char *error, size_t error_bytes)
{
    const struct complaint c = {path, error, error_bytes};

    if (stack_bytes > ram_bytes)
        return complain(&c, "a stack of %" PRIu64 " KB does not fit: a node has %" PRIu64 " KB; give a smaller --stack",
                        stack_bytes >> 10, ram_bytes >> 10);
    if (check_user_space(&c, image, stack_bytes) < 0 || check_pages(&c, image) < 0 || check_entry(&c, image) < 0)
        return -1;
    if (image->note.procs > PROCS_MAX)
        return complain(&c, "needs %u processes on a node, which runs at most %u; build it with a smaller -Nprocs",
                        image->note.procs, PROCS_MAX);
    return check_memory(&c, image, ram_bytes, stack_bytes);
}

/* ---- Messages ------------------------------------------------------------------------------- */

bool load_names_pipes(const struct elf_image *image, char *const *argv, int argc)
{
    static const char prefix[] = "//pipe/";
    bool found = false;

    for (int i = 0; i < argc && !found; i++)
        found = strstr(argv[i], prefix);
    for (uint32_t k = 0; k < image->segments && !found; k++) {
        const struct elf_segment *s = &image->segment[k];

        found = s->file_bytes > 0 && !(s->flags & PROGRAM_SEGMENT_PIPES) &&
                memmem(s->data, s->file_bytes, prefix, sizeof prefix - 1);
    }
    return found;
}

size_t load_arg_bytes(char *const *argv, int argc)
{
    size_t bytes = 0;

    for (int i = 0; i < argc; i++)
        bytes += strlen(argv[i]) + 1;
    return bytes;
}

static size_t pipes_bytes(const struct load_part *part)
{
    return part->piped ? sizeof part->pipes + part->pipes.fds * sizeof *part->fd : 0;
}

static uint8_t *new_begin(const struct load_program *p, const struct load_part *part, size_t *bytes)
{
    size_t arg_bytes = load_arg_bytes(part->argv, part->argc);
    size_t volumes_at = sizeof(struct load_begin) + round_up(arg_bytes, 8);
    const struct load_begin begin = {
        .job = p->job,
        .base = p->base + part->base,
        .dim = (uint16_t)part->dim,
        .idle = (uint16_t)part->idle,
        .part_first = part->first - part->base,
        .part_nodes = part->nodes,
        .argc = part->argc,
        .arg_bytes = arg_bytes,
        .volumes = (uint16_t)p->volumes,
        .striped_bytes = (uint16_t)p->striped_bytes,
        .entry = part->image->entry,
        .stack_bytes = elf_stack_bytes(part->image, p->stack_bytes),
        .heap_bytes = part->image->note.heap_bytes,
        .comm_bytes = part->image->note.comm_bytes,
        .procs = (uint16_t)(part->image->note.procs ? part->image->note.procs : 1),
        .pipes_bytes = (uint16_t)pipes_bytes(part),
        .life = p->life,
    };

    size_t striped_at = volumes_at + p->volumes * sizeof *p->volume, pipes_at = striped_at + p->striped_bytes;
    if (part->piped)
        pipes_at = round_up(pipes_at, 8);
    *bytes = pipes_at + pipes_bytes(part);
    uint8_t *message = calloc(1, *bytes);
    if (!message)
        return NULL;
    memcpy(message, &begin, sizeof begin);
    char *arg = (char *)message + sizeof begin;
    for (int i = 0; i < part->argc; i++)
        arg = stpcpy(arg, part->argv[i]) + 1;
    if (p->volumes)
        memcpy(message + volumes_at, p->volume, p->volumes * sizeof *p->volume);
    if (p->striped_bytes)
        memcpy(message + striped_at, p->striped, p->striped_bytes);
    if (part->piped) {
        memcpy(message + pipes_at, &part->pipes, sizeof part->pipes);
        memcpy(message + pipes_at + sizeof part->pipes, part->fd, part->pipes.fds * sizeof *part->fd);
    }
    return message;
}

/* A load in progress: its messages, where they go, and room for a chunk. */
struct loading {
    const struct load_program *program;
    load_send_fn send;
    void *ctx;
    uint8_t *chunk;
    uint8_t **begin; /* of every part */
    size_t *begin_bytes;
    struct load_job *start;
};

static void send_to(const struct loading *l, const struct load_part *part, uint32_t type, const void *bytes, size_t n)
{
    l->send(l->ctx, l->program->base + part->first, type, bytes, n);
}

/* Sends one segment in ascending chunks; the last one has the number of zeros that follow. Returns the number of
 * messages. */
static uint32_t send_segment(const struct loading *l, const struct load_part *part, const struct elf_segment *s)
{
    uint64_t at = 0;
    uint32_t messages = 0;

    do {
        uint64_t left = s->file_bytes - at;
        uint64_t bytes = left < LOAD_CHUNK_BYTES ? left : LOAD_CHUNK_BYTES;
        const struct load_data data = {
            .job = l->program->job,
            .writable = (s->flags & ELF_SEGMENT_W) != 0,
            .va = s->va + at,
            .bytes = bytes,
            .zero_bytes = bytes == left ? s->mem_bytes - s->file_bytes : 0,
        };

        memcpy(l->chunk, &data, sizeof data);
        if (bytes)
            memcpy(l->chunk + sizeof data, s->data + at, bytes);
        send_to(l, part, N_LOAD_DATA, l->chunk, sizeof data + bytes);
        at += bytes;
        messages++;
    } while (at < s->file_bytes);
    return messages;
}

static bool make_room(struct loading *l)
{
    const struct load_program *p = l->program;
    bool ready;

    l->chunk = malloc(sizeof(struct load_data) + LOAD_CHUNK_BYTES);
    l->begin = calloc(p->parts, sizeof *l->begin);
    l->begin_bytes = calloc(p->parts, sizeof *l->begin_bytes);
    l->start = calloc(p->parts, sizeof *l->start);
    ready = l->chunk && l->begin && l->begin_bytes && l->start;
    for (uint32_t i = 0; ready && i < p->parts; i++)
        ready = (l->begin[i] = new_begin(p, &p->part[i], &l->begin_bytes[i])) != NULL;
    return ready;
}

static void free_room(struct loading *l)
{
    for (uint32_t i = 0; l->begin && i < l->program->parts; i++)
        free(l->begin[i]);
    free(l->begin);
    free(l->begin_bytes);
    free(l->start);
    free(l->chunk);
}

/* Drivers that a program may need are in segments of their own. */
static bool is_needed(const struct load_program *p, const struct load_part *part, uint32_t flags)
{
    const size_t n = strlen(LOAD_STRIPED_CFS);
    const bool cfs = p->striped_bytes > n && memcmp(p->striped, LOAD_STRIPED_CFS, n) == 0;
    uint32_t drivers = (p->striped_bytes > 0 ? PROGRAM_SEGMENT_STRIPED : 0) |
                       (part->piped ? PROGRAM_SEGMENT_PIPES : 0) | (cfs ? PROGRAM_SEGMENT_CFS : 0);

    return !(flags & PROGRAM_SEGMENT_DRIVERS) || (flags & drivers);
}

static uint32_t send_data(const struct loading *l, const struct load_part *part)
{
    uint32_t messages = 0;

    for (uint32_t k = 0; k < part->image->segments; k++)
        if (is_needed(l->program, part, part->image->segment[k].flags))
            messages += send_segment(l, part, &part->image->segment[k]);
    return messages;
}

static void send_all(const struct loading *l)
{
    const struct load_program *p = l->program;

    for (uint32_t i = 0; i < p->parts; i++)
        send_to(l, &p->part[i], N_LOAD_BEGIN, l->begin[i], l->begin_bytes[i]);
    for (uint32_t i = 0; i < p->parts; i++)
        l->start[i] = (struct load_job){.job = p->job, .life = p->life, .data_messages = send_data(l, &p->part[i])};
    for (uint32_t i = 0; i < p->parts; i++)
        send_to(l, &p->part[i], N_LOAD_START, &l->start[i], sizeof l->start[i]);
}

int load_send_program(const struct load_program *p, load_send_fn send, void *ctx)
{
    struct loading l = {.program = p, .send = send, .ctx = ctx};
    bool ready = make_room(&l);

    if (ready)
        send_all(&l);
    free_room(&l);
    return ready ? 0 : -N_ENOMEM;
}
