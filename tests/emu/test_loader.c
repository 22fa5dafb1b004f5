/* Programs read from ELF files, made here byte by byte, and the messages of their loads. */
#include "emu/job/loader.h"

#include <criterion/criterion.h>
#include <sys/stat.h>

#include "tiny_elf.h"
#include "vertex/contract/abi.h"

#define RAM_BYTES   (16ull << 20)
#define STACK_BYTES (256ull << 10)

static struct scratch dir;

static void set_up(void)
{
    scratch_make(&dir);
}

static void tear_down(void)
{
    scratch_remove(&dir);
}

TestSuite(loader, .init = set_up, .fini = tear_down);

static int read_and_check(const char *path, struct elf_image *image, char *error, size_t error_bytes)
{
    if (elf_image_read(image, path, error, error_bytes) < 0)
        return -1;
    return load_check_program(image, path, RAM_BYTES, STACK_BYTES, error, error_bytes);
}

Test(loader, an_executable_is_read_segment_by_segment)
{
    struct tiny_elf e = tiny_elf_program();
    struct elf_image image;
    char error[300] = "";

    tiny_elf_write(&dir, "prog", &e);
    cr_assert_eq(read_and_check(scratch_path(&dir, "prog"), &image, error, sizeof error), 0, "%s", error);
    cr_expect_eq(image.entry, 0x10100);
    cr_assert_eq(image.segments, 2);
    const struct elf_segment *text = &image.segment[0], *data = &image.segment[1];
    cr_expect_eq(text->pa, 0x80000000);
    cr_expect_eq(text->va, 0x10000);
    cr_expect_eq(text->file_bytes, 20000);
    cr_expect_eq(text->flags, ELF_SEGMENT_R | ELF_SEGMENT_X);
    cr_expect_eq(text->data[500], 500 % 251);
    cr_expect_eq(data->va, 0x16004);
    cr_expect_eq(data->file_bytes, 100);
    cr_expect_eq(data->mem_bytes, 5100);
    cr_expect_eq(data->flags, ELF_SEGMENT_R | ELF_SEGMENT_W);
    cr_expect_eq(data->data[99], 99);
    elf_image_free(&image);
}

Test(loader, segments_come_in_ascending_order_and_empty_ones_not_at_all)
{
    struct tiny_elf e = tiny_elf_program();
    struct elf_image image;
    char error[300] = "";
    Elf64_Phdr text = e.segment[0];

    e.segment[0] = e.segment[1];
    e.segment[1] = text;
    e.segment[2] = (Elf64_Phdr){.p_type = PT_LOAD, .p_vaddr = 0x900000};
    e.segment[3] = (Elf64_Phdr){.p_type = PT_NOTE, .p_vaddr = 0x900000, .p_memsz = 4};
    e.header.e_phnum = 4;
    tiny_elf_write(&dir, "prog", &e);
    cr_assert_eq(read_and_check(scratch_path(&dir, "prog"), &image, error, sizeof error), 0, "%s", error);
    cr_assert_eq(image.segments, 2);
    cr_expect_eq(image.segment[0].va, 0x10000);
    elf_image_free(&image);
}

/* ---- Refused programs: a good one spoiled in one way each ---- */

static void other_machine(struct tiny_elf *e)
{
    e->header.e_machine = EM_X86_64;
}
static void class_32(struct tiny_elf *e)
{
    e->header.e_ident[EI_CLASS] = ELFCLASS32;
}
static void not_elf(struct tiny_elf *e)
{
    e->header.e_ident[0] = '#';
}
static void object(struct tiny_elf *e)
{
    e->header.e_type = ET_REL;
}
static void pie(struct tiny_elf *e)
{
    e->header.e_type = ET_DYN;
}
static void cut_header(struct tiny_elf *e)
{
    e->cut_to = 40;
}
static void empty(struct tiny_elf *e)
{
    e->cut_to = 1;
}
static void cut_segment(struct tiny_elf *e)
{
    e->cut_to = 10000;
}
static void no_segments(struct tiny_elf *e)
{
    e->header.e_phnum = 0;
}
static void too_many_headers(struct tiny_elf *e)
{
    e->header.e_phoff = 1ull << 60;
}
static void below(struct tiny_elf *e)
{
    e->segment[0].p_vaddr = 0x1000;
}
static void above(struct tiny_elf *e)
{
    e->segment[1].p_vaddr = USER_STACK_TOP - STACK_BYTES - 5000;
}
static void around(struct tiny_elf *e)
{
    e->segment[1].p_vaddr = UINT64_MAX - 50;
}
static void overlap(struct tiny_elf *e)
{
    e->segment[1].p_vaddr = 0x10000 + 19999;
}
static void shared_page(struct tiny_elf *e)
{
    e->segment[1].p_vaddr = 0x10000 + 20000;
}
static void more_file_than_memory(struct tiny_elf *e)
{
    e->segment[1].p_memsz = 99;
}
static void entry_outside(struct tiny_elf *e)
{
    e->header.e_entry = 0x16004;
}
static void too_big(struct tiny_elf *e)
{
    e->segment[1].p_memsz = RAM_BYTES;
}

static void big_endian(struct tiny_elf *e)
{
    e->header.e_ident[EI_DATA] = ELFDATA2MSB;
    e->header.e_machine = __builtin_bswap16(EM_RISCV);
}

static void dynamic(struct tiny_elf *e)
{
    e->segment[2] = (Elf64_Phdr){.p_type = PT_INTERP, .p_filesz = 8, .p_memsz = 8};
    e->header.e_phnum = 3;
}

Test(loader, a_file_that_is_no_program_for_a_node_is_refused_in_one_line)
{
    static const struct {
        const char *name;
        void (*spoil)(struct tiny_elf *e);
        const char *expected; /* part of the line */
    } cases[] = {
        {"x86", other_machine, "not RISC-V 64-bit little-endian"},
        {"32 bits", class_32, "not RISC-V 64-bit little-endian"},
        {"big-endian", big_endian, "not RISC-V 64-bit little-endian"},
        {"a script", not_elf, "not an ELF file"},
        {"one byte", empty, "not an ELF file"},
        {"half a header", cut_header, "not an ELF file"},
        {"object file", object, "not a static executable"},
        {"position-independent", pie, "not a static executable"},
        {"dynamic", dynamic, "dynamic linker"},
        {"cut in its text", cut_segment, "cut off: the segment at 0x10000"},
        {"no segments", no_segments, "nothing to load"},
        {"headers nowhere", too_many_headers, "damaged"},
        {"below user space", below, "segment 0x1000-0x5e20 lies outside user space 0x10000-0x6ffc0000"},
        {"in the stack", above, "lies outside user space"},
        {"around the end", around, "impossible sizes"},
        {"overlap", overlap, "0x10000 and 0x14e1f overlap"},
        {"one page, two rights", shared_page, "share the page at 0x14000"},
        {"file larger than memory", more_file_than_memory, "impossible sizes"},
        {"entry in data", entry_outside, "entry point 0x16004 is not in its code"},
        {"larger than a node", too_big, "needs 16664 KB with its stack, but a node has 16384 KB"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tiny_elf e = tiny_elf_program();
        struct elf_image image;
        char error[400] = "";

        cases[i].spoil(&e);
        tiny_elf_write(&dir, "prog", &e);
        const char *path = scratch_path(&dir, "prog");
        cr_expect_eq(read_and_check(path, &image, error, sizeof error), -1, "%s", cases[i].name);
        cr_expect_not_null(strstr(error, cases[i].expected), "%s: %s", cases[i].name, error);
        cr_expect_eq(strncmp(error, path, strlen(path)), 0, "%s names the file: %s", cases[i].name, error);
        cr_expect_null(strchr(error, '\n'), "%s: one line", cases[i].name);
        elf_image_free(&image);
    }
}

Test(loader, a_path_that_is_no_regular_file_is_refused)
{
    struct elf_image image;
    char error[300];

    cr_expect_eq(elf_image_read(&image, scratch_path(&dir, "none"), error, sizeof error), -1);
    cr_expect_not_null(strstr(error, "No such file"), "%s", error);
    cr_expect_eq(elf_image_read(&image, dir.path, error, sizeof error), -1);
    cr_expect_not_null(strstr(error, "not a regular file"), "%s", error);
    cr_assert_eq(mkfifo(scratch_path(&dir, "fifo"), 0600), 0);
    cr_expect_eq(elf_image_read(&image, scratch_path(&dir, "fifo"), error, sizeof error), -1);
    cr_expect_not_null(strstr(error, "not a regular file"), "%s", error);
}

Test(loader, a_stack_larger_than_a_node_is_refused)
{
    struct tiny_elf e = tiny_elf_program();
    struct elf_image image;
    char error[300];

    tiny_elf_write(&dir, "prog", &e);
    cr_assert_eq(elf_image_read(&image, scratch_path(&dir, "prog"), error, sizeof error), 0);
    cr_expect_eq(load_check_program(&image, "prog", RAM_BYTES, UINT64_MAX, error, sizeof error), -1);
    cr_expect_not_null(strstr(error, "stack"), "%s", error);
    elf_image_free(&image);
}

/* ---- Messages ---- */

/* Puts a load together as a node would. */
struct loaded {
    unsigned begins, starts, chunks;
    size_t begin_bytes;
    unsigned char begin[1024];
    unsigned char memory[0x20000]; /* from USER_TEXT_VA; 0xee where nothing was loaded */
    uint64_t next_va;
    unsigned writable_chunks;
};

static void take_data(struct loaded *l, const unsigned char *bytes, size_t n)
{
    struct load_data d;

    memcpy(&d, bytes, sizeof d);
    cr_assert_eq(n, sizeof d + d.bytes);
    cr_assert_leq(d.bytes, LOAD_CHUNK_BYTES);
    cr_assert_geq(d.va, l->next_va, "ascending");
    cr_assert_eq(d.job, 7);
    memcpy(l->memory + d.va - USER_TEXT_VA, bytes + sizeof d, d.bytes);
    memset(l->memory + d.va - USER_TEXT_VA + d.bytes, 0, d.zero_bytes);
    l->next_va = d.va + d.bytes + d.zero_bytes;
    l->writable_chunks += d.writable;
    l->chunks++;
}

static void take_message(void *ctx, uint32_t to, uint32_t type, const void *bytes, size_t n)
{
    struct loaded *l = ctx;

    cr_assert_eq(to, 0);
    cr_assert_eq(l->starts, 0, "nothing follows N_LOAD_START");
    if (type == N_LOAD_BEGIN) {
        l->begins++;
        l->begin_bytes = n;
        memcpy(l->begin, bytes, n);
    } else if (type == N_LOAD_DATA) {
        cr_assert_eq(l->begins, 1);
        take_data(l, bytes, n);
    } else {
        cr_assert_eq(type, N_LOAD_START);
        cr_assert_eq(n, sizeof(struct load_job));
        cr_assert_eq(((const struct load_job *)bytes)->job, 7);
        cr_assert_eq(((const struct load_job *)bytes)->data_messages, l->chunks);
        l->starts++;
    }
}

/* A part of a job whose whole subcube, of that dimension, is the program's. */
static struct load_part part_of(const struct elf_image *image, char *const *argv, int argc, uint32_t first,
                                uint32_t nodes, uint32_t dim)
{
    return (struct load_part){.image = image, .argv = argv, .argc = argc, .first = first, .nodes = nodes, .dim = dim};
}

Test(loader, the_messages_of_a_load_rebuild_the_program)
{
    static struct loaded l;
    struct tiny_elf e = tiny_elf_program();
    struct elf_image image;
    char error[300], *argv[] = {"prog", "", "two words"};
    const struct load_volume volumes[] = {{"df00", 0x4030, 0}, {"df01", 0x4031, 1}};
    struct load_begin begin;

    e.segment[0].p_memsz = 20050;
    tiny_elf_write(&dir, "prog", &e);
    cr_assert_eq(read_and_check(scratch_path(&dir, "prog"), &image, error, sizeof error), 0);
    image.note = (struct program_note){.heap_bytes = 1 << 20, .comm_bytes = 64 << 10, .procs = 2};
    const struct load_part all = part_of(&image, argv, 3, 0, 8, 3);
    const struct load_program p = {7, 0, STACK_BYTES, &all, 1, volumes, 2, "big df00: cyclic 1 1\n", 21, 0};
    memset(l.memory, 0xee, sizeof l.memory);
    cr_assert_eq(load_send_program(&p, take_message, &l), 0);

    cr_expect_eq(l.begins, 1);
    cr_expect_eq(l.starts, 1);
    cr_expect_eq(l.chunks, 3, "16384 + 3616 bytes of text, one chunk of data");
    cr_expect_eq(l.writable_chunks, 1);
    memcpy(&begin, l.begin, sizeof begin);
    cr_expect_eq(begin.dim, 3);
    cr_expect_eq(begin.part_nodes, 8);
    cr_expect_eq(begin.entry, 0x10100);
    cr_expect_eq(begin.stack_bytes, STACK_BYTES);
    cr_expect_eq(begin.heap_bytes, 1 << 20);
    cr_expect_eq(begin.comm_bytes, 64 << 10);
    cr_expect_eq(begin.procs, 2);
    cr_expect_eq(begin.argc, 3);
    cr_expect_eq(begin.arg_bytes, 16);
    cr_expect_eq(begin.volumes, 2);
    cr_expect_eq(memcmp(l.begin + 72, "prog\0\0two words", 16), 0);
    cr_expect_eq(memcmp(l.begin + 88, volumes, sizeof volumes), 0);
    cr_expect_eq(begin.striped_bytes, 21);
    cr_expect_eq(memcmp(l.begin + 88 + sizeof volumes, "big df00: cyclic 1 1\n", 21), 0);
    cr_expect_eq(l.begin_bytes, 88 + sizeof volumes + 21);
    for (size_t i = 0; i < 20050; i++)
        cr_assert_eq(l.memory[i], i < 20000 ? i % 251 : 0, "text byte %zu", i);
    cr_expect_eq(l.memory[20050], 0xee);
    for (size_t i = 0; i < 5100; i++)
        cr_assert_eq(l.memory[0x6004 + i], i < 100 ? i : 0, "data byte %zu", i);
    cr_expect_eq(l.memory[0x6004 + 5100], 0xee);
    elf_image_free(&image);
}

Test(loader, the_driver_of_striped_files_is_sent_only_where_there_are_striped_volumes)
{
    static struct loaded without, with;
    struct tiny_elf e = tiny_elf_program();
    struct elf_image image;
    char error[300], *argv[] = {"prog"};

    tiny_elf_write(&dir, "prog", &e);
    cr_assert_eq(read_and_check(scratch_path(&dir, "prog"), &image, error, sizeof error), 0);
    image.segment[0].flags |= PROGRAM_SEGMENT_STRIPED;
    const struct load_part all = part_of(&image, argv, 1, 0, 1, 0);
    struct load_program p = {7, 0, STACK_BYTES, &all, 1, NULL, 0, NULL, 0, 0};
    cr_assert_eq(load_send_program(&p, take_message, &without), 0);
    cr_expect_eq(without.chunks, 1, "data only");
    cr_expect_eq(without.writable_chunks, 1);
    p.striped = "big df00: cyclic 1 1\n";
    p.striped_bytes = 21;
    cr_assert_eq(load_send_program(&p, take_message, &with), 0);
    cr_expect_eq(with.chunks, 3);
    elf_image_free(&image);
}

/* By the drivers that its flags name, a segment is sent where one of them is. */
Test(loader, a_segment_for_several_drivers_is_sent_where_one_of_them_is)
{
    static const struct {
        uint32_t flags;
        bool striped, piped, sent, cfs;
    } c[] = {
        {0, false, false, true, false},
        {PROGRAM_SEGMENT_STRIPED, false, false, false, false},
        {PROGRAM_SEGMENT_STRIPED, false, true, false, false},
        {PROGRAM_SEGMENT_STRIPED, true, false, true, false},
        {PROGRAM_SEGMENT_PIPES, true, false, false, false},
        {PROGRAM_SEGMENT_PIPES, false, true, true, false},
        {PROGRAM_SEGMENT_DRIVERS, false, false, false, false},
        {PROGRAM_SEGMENT_DRIVERS, true, false, true, false},
        {PROGRAM_SEGMENT_DRIVERS, false, true, true, false},
        {PROGRAM_SEGMENT_DRIVERS, true, true, true, false},
        {PROGRAM_SEGMENT_CFS, true, true, false, false},
        {PROGRAM_SEGMENT_CFS, false, false, true, true},
    };
    struct tiny_elf e = tiny_elf_program();
    struct elf_image image;
    char error[300], *argv[] = {"prog"};

    tiny_elf_write(&dir, "prog", &e);
    cr_assert_eq(read_and_check(scratch_path(&dir, "prog"), &image, error, sizeof error), 0);
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        static struct loaded l;
        struct load_part all = part_of(&image, argv, 1, 0, 1, 0);
        struct load_program p = {7, 0, STACK_BYTES, &all, 1, NULL, 0, NULL, 0, 0};

        l = (struct loaded){0};
        image.segment[0].flags = ELF_SEGMENT_X | c[i].flags;
        all.piped = c[i].piped;
        p.striped = c[i].cfs ? "/cfs df00: 2 16384.0\n" : c[i].striped ? "big df00: cyclic 1 1\n" : NULL;
        p.striped_bytes = p.striped ? 21 : 0;
        cr_assert_eq(load_send_program(&p, take_message, &l), 0);
        cr_expect_eq(l.chunks, c[i].sent ? 3 : 1, "case %zu: %u chunks", i, l.chunks);
    }
    elf_image_free(&image);
}

Test(loader, a_segment_of_zeros_only_is_one_message)
{
    static struct loaded l;
    struct tiny_elf e = tiny_elf_program();
    struct elf_image image;
    char error[300], *argv[] = {"prog"};

    e.segment[1].p_filesz = 0;
    tiny_elf_write(&dir, "prog", &e);
    cr_assert_eq(read_and_check(scratch_path(&dir, "prog"), &image, error, sizeof error), 0);
    const struct load_part all = part_of(&image, argv, 1, 0, 1, 0);
    const struct load_program p = {7, 0, STACK_BYTES, &all, 1, NULL, 0, NULL, 0, 0};
    memset(l.memory, 0xee, sizeof l.memory);
    cr_assert_eq(load_send_program(&p, take_message, &l), 0);
    cr_expect_eq(l.chunks, 3);
    cr_expect_eq(l.memory[0x6004], 0);
    cr_expect_eq(l.memory[0x6004 + 5099], 0);
    cr_expect_eq(l.begin_bytes, 80, "five bytes of arguments, to the next multiple of 8");
    elf_image_free(&image);
}

/* ---- Several programs ---- */

struct order {
    uint32_t to[16], type[16], first[16], nodes[16];
    unsigned n;
};

static void note_order(void *ctx, uint32_t to, uint32_t type, const void *bytes, size_t n)
{
    struct order *o = ctx;
    struct load_begin b = {0};

    cr_assert_lt(o->n, 16);
    o->to[o->n] = to;
    o->type[o->n] = type;
    if (type == N_LOAD_BEGIN) {
        cr_assert_geq(n, sizeof b);
        memcpy(&b, bytes, sizeof b);
        cr_expect(b.base == 8 && b.dim == 2, "every program sees the whole subcube");
    }
    o->first[o->n] = b.part_first;
    o->nodes[o->n++] = b.part_nodes;
}

Test(loader, parts_begin_before_any_gets_data_and_have_data_before_any_starts)
{
    static const uint32_t types[] = {N_LOAD_BEGIN, N_LOAD_BEGIN, N_LOAD_DATA, N_LOAD_DATA,  N_LOAD_DATA,
                                     N_LOAD_DATA,  N_LOAD_DATA,  N_LOAD_DATA, N_LOAD_START, N_LOAD_START};
    static const uint32_t to[] = {8, 9, 8, 8, 8, 9, 9, 9, 8, 9};
    struct tiny_elf e = tiny_elf_program();
    struct elf_image image;
    struct order o = {.n = 0};
    char error[300], *argv[] = {"prog"};

    tiny_elf_write(&dir, "prog", &e);
    cr_assert_eq(read_and_check(scratch_path(&dir, "prog"), &image, error, sizeof error), 0);
    const struct load_part parts[] = {part_of(&image, argv, 1, 0, 1, 2), part_of(&image, argv, 1, 1, 3, 2)};
    const struct load_program p = {7, 8, STACK_BYTES, parts, 2, NULL, 0, NULL, 0, 0};
    cr_assert_eq(load_send_program(&p, note_order, &o), 0);
    cr_assert_eq(o.n, 10);
    for (unsigned i = 0; i < 10; i++)
        cr_expect(o.type[i] == types[i] && o.to[i] == to[i], "message %u: type %x to %u", i, o.type[i], o.to[i]);
    cr_expect(o.first[0] == 0 && o.nodes[0] == 1 && o.first[1] == 1 && o.nodes[1] == 3);
    elf_image_free(&image);
}
