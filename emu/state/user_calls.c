/*
 * Calls of a program (user_calls.h). Frames come from the program's call frame information; what is known of an address
 * is kept, as a program makes the same calls again and again.
 */
#include "emu/state/user_calls.h"

#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/base/memory.h"
#include "emu/job/frames.h"

enum { REGISTER_RA = 1, REGISTER_SP = 2, REGISTER_FP = 8 };
#define CALLED_IN    ", called in "
#define FRAMES_MOST  32u
#define STACK_WORDS  512u /* in which addresses to return to are looked for, should a frame be unknown */
#define RETURNS_MOST 64u
#define TEXT_BYTES   (2 * WHERE_BYTES + 16)

/* An address in a program's code. */
struct code {
    uint64_t at;
    bool own;
    char *name; /* "main" */
    char *text; /* "main (x.c:20)" */
};

struct program {
    int fd;
    Elf *elf; /* for its code: rank 0 does not have the text of nodes on other hosts */
    struct frames *frames;
    uint64_t libraries; /* code below has no lines, and is the program's own */
    struct code *code;
    size_t codes, code_room;
};

struct user_calls {
    struct target target;
    uint32_t programs;
    char **text; /* of calls */
    size_t texts, text_room;
    struct program program[];
};

struct user_calls *user_calls_new(const struct target *t, const int *fd, uint32_t programs)
{
    struct user_calls *c = memory_new(1, sizeof *c + programs * sizeof *c->program);

    c->target = *t;
    c->programs = programs;
    elf_version(EV_CURRENT);
    for (uint32_t i = 0; i < programs; i++)
        c->program[i] = (struct program){.fd = fd[i],
                                         .elf = elf_begin(fd[i], ELF_C_READ_MMAP, NULL),
                                         .frames = frames_open(fd[i]),
                                         .libraries = where_libraries_begin(fd[i])};
    return c;
}

void user_calls_free(struct user_calls *c)
{
    for (uint32_t i = 0; c && i < c->programs; i++) {
        struct program *p = &c->program[i];

        for (size_t k = 0; k < p->codes; k++) {
            free(p->code[k].name);
            free(p->code[k].text);
        }
        free(p->code);
        elf_end(p->elf);
        frames_close(p->frames);
    }
    for (size_t i = 0; c && i < c->texts; i++)
        free(c->text[i]);
    if (c)
        free(c->text);
    free(c);
}

/* ---- Code ---- */

/* Under which names the macros of stdio and the linker's options have functions of the C library. */
static const char *name_for_users(const char *name)
{
    static const char *const other[][2] = {{"__swbuf_r", "putc"}, {"__srget_r", "getc"}, {"__swbuf", "putc"},
                                           {"__srget", "getc"},   {"eaccess", "access"}, {"euidaccess", "access"}};

    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        if (strcmp(name, other[i][0]) == 0)
            return other[i][1];
    return strncmp(name, "__wrap_", 7) == 0 ? name + 7 : strncmp(name, "PMPI_", 5) == 0 ? name + 1 : name;
}

static struct code code_new(const struct program *p, uint64_t at)
{
    char text[WHERE_BYTES], name[WHERE_BYTES];
    bool known = where_describe(p->fd, at, text), has_line = strchr(text, '(');

    snprintf(name, sizeof name, "%.*s", (int)strcspn(text, " "), known ? text : "");
    return (struct code){.at = at,
                         .own = has_line ? !where_is_library(p->fd, at) : known && at < p->libraries,
                         .name = memory_copy_text(name_for_users(name), SIZE_MAX),
                         .text = memory_copy_text(text, SIZE_MAX)};
}

static struct code code_at(struct program *p, uint64_t at)
{
    for (size_t i = 0; i < p->codes; i++)
        if (p->code[i].at == at)
            return p->code[i];
    p->code = memory_grow(p->code, &p->code_room, p->codes + 1, sizeof *p->code);
    return p->code[p->codes++] = code_new(p, at);
}

/* A node's program, as it can be read. */
struct reader {
    const struct target *target;
    uint32_t node;
    uint64_t satp;
};

static bool read_word(void *ctx, uint64_t va, uint64_t *word)
{
    const struct reader *r = ctx;

    return target_read_in(r->target, r->node, r->satp, va, word, sizeof *word) == sizeof *word;
}

static bool read_code(const struct program *p, uint64_t va, void *bytes, size_t n)
{
    size_t file_bytes = 0, headers = 0;
    const char *file = elf_rawfile(p->elf, &file_bytes);
    GElf_Phdr h;

    if (!file || elf_getphdrnum(p->elf, &headers) != 0)
        return false;
    for (size_t i = 0; i < headers; i++)
        if (gelf_getphdr(p->elf, (int)i, &h) && h.p_type == PT_LOAD && va >= h.p_vaddr && n <= h.p_filesz &&
            va - h.p_vaddr <= h.p_filesz - n && h.p_offset + h.p_filesz <= file_bytes) {
            memcpy(bytes, file + h.p_offset + (va - h.p_vaddr), n);
            return true;
        }
    return false;
}

/* Returns what the call before an address to return to calls: 0 if it is in a register, ~0 if there is no call. */
static uint64_t called_before(const struct program *p, uint64_t back)
{
    uint32_t code;
    uint16_t half;

    if (back < sizeof code || back % 2 != 0 || !read_code(p, back - sizeof code, &code, sizeof code))
        return ~0ull;
    if ((code & 0xfff) == 0x0ef) { /* jal ra */
        int64_t offset =
            (int64_t)(int32_t)(code & 0x80000000) >> 11 | (code & 0xff000) | (code >> 9 & 0x800) | (code >> 20 & 0x7fe);

        return back - sizeof code + (uint64_t)offset;
    }
    half = code >> 16;
    bool jalr = (code & 0xfff) == 0x0e7, short_jalr = (half & 0xf07f) == 0x9002 && half != 0x9002;
    return jalr || short_jalr ? 0 : ~0ull;
}

/* ---- Calls ---- */

static const char *keep_text(struct user_calls *c, const char *text)
{
    for (size_t i = 0; i < c->texts; i++)
        if (strcmp(c->text[i], text) == 0)
            return c->text[i];
    c->text = memory_grow(c->text, &c->text_room, c->texts + 1, sizeof *c->text);
    return c->text[c->texts++] = memory_copy_text(text, SIZE_MAX);
}

static struct user_call call_new(struct user_calls *c, const char *name, const struct code *caller, uint64_t sp)
{
    char text[TEXT_BYTES];

    snprintf(text, sizeof text, "%s" CALLED_IN "%s", name, caller->text);
    return (struct user_call){caller->at + 1, sp, keep_text(c, name), keep_text(c, text)};
}

/* The name that the program has called: what stands in its call, unless that is a register or a function of its own,
 * which has jumped on to `below`. */
static const char *called_name(struct program *p, const struct code *caller, const struct code *below)
{
    uint64_t target = called_before(p, caller->at + 1);
    struct code called = {.own = true};

    if (target != 0 && target != ~0ull)
        called = code_at(p, target);
    return called.own || !*called.name ? below->name : called.name;
}

static uint32_t find_returns(const struct program *p, const struct reader *r, uint64_t sp, struct exit_return *found)
{
    uint64_t word[STACK_WORDS];
    size_t words = target_read_in(r->target, r->node, r->satp, sp, word, sizeof word) / sizeof *word;
    uint32_t n = 0;

    for (size_t i = 0; i < words && n < RETURNS_MOST; i++)
        if (word[i] < sp && called_before(p, word[i]) != ~0ull)
            found[n++] = (struct exit_return){.at = sp + i * sizeof *word, .to = word[i]};
    return n;
}

struct user_call user_calls_find_at(struct user_calls *c, uint32_t node, uint32_t program,
                                    const struct user_place *place)
{
    struct program *p = &c->program[program];
    struct reader reader = {&c->target, node, place->satp};
    struct exit_return returns[RETURNS_MOST];
    struct frame_at frame[FRAMES_MOST];
    struct frames_from from = {.pc = place->pc,
                               .ra = place->ra,
                               .sp = place->sp,
                               .fp = place->fp,
                               .returns = returns,
                               .n = find_returns(p, &reader, place->sp, returns),
                               .read = read_word,
                               .ctx = &reader};
    unsigned n = frames_walk(p->frames, &from, frame, FRAMES_MOST);
    struct code below = code_at(p, frame[0].pc), at;

    for (unsigned i = 1; i < n; i++, below = at) {
        at = code_at(p, frame[i].pc);
        if (at.own)
            return call_new(c, called_name(p, &at, &below), &at, frame[i].sp);
        if (strcmp(at.name, "start_program") == 0 || !*at.name)
            break;
    }
    return (struct user_call){.name = keep_text(c, below.name),
                              .text = keep_text(c, *below.name ? below.name : "a call")};
}

struct user_call user_calls_find(struct user_calls *c, uint32_t node, uint32_t program)
{
    const struct debug_registers *r = target_program_registers(&c->target, node);

    return user_calls_find_at(
        c, node, program,
        &(struct user_place){r->x[0], r->x[REGISTER_RA], r->x[REGISTER_SP], r->x[REGISTER_FP], r->satp});
}

void user_calls_describe(struct user_calls *c, uint32_t node, uint32_t program, const struct user_place *place,
                         char *text)
{
    struct code here = code_at(&c->program[program], place->pc);
    struct user_call call = {0};

    if (!here.own && place->sp != 0)
        call = user_calls_find_at(c, node, program, place);
    if (call.back == 0) {
        snprintf(text, WHERE_BYTES, "%s", here.text);
        return;
    }
    const char *caller = strstr(call.text, CALLED_IN) + strlen(CALLED_IN);
    if (strcmp(call.name, here.name) == 0)
        snprintf(text, WHERE_BYTES, "%s, called from %s", here.name, caller);
    else
        snprintf(text, WHERE_BYTES, "%s, in %s called from %s", here.name, call.name, caller);
}

const char *user_calls_line(struct user_calls *c, uint32_t node, uint32_t program, const struct user_place *place)
{
    struct code here = code_at(&c->program[program], place->pc);

    if (here.own)
        return here.text;
    struct user_call call = user_calls_find_at(c, node, program, place);
    return call.back != 0 ? call.text : NULL;
}

bool user_calls_begin(struct user_calls *c, uint32_t node, uint32_t program, const char *name, struct user_call *call)
{
    const struct debug_registers *r = target_program_registers(&c->target, node);
    struct code caller = code_at(&c->program[program], r->x[REGISTER_RA] - 1);

    if (caller.own)
        *call = call_new(c, name, &caller, r->x[REGISTER_SP]);
    return caller.own;
}
