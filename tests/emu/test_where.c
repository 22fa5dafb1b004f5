#include "emu/job/where.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "scratch.h"

/* The test program describes itself: an ELF with symbols and lines, of this machine. */
static int open_self(void)
{
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

    cr_assert_geq(fd, 0);
    return fd;
}

enum { LANDMARK_LINE = __LINE__ + 2 }; /* of the next function's head */

static __attribute__((noinline)) int landmark(int x)
{
    return x * 3 + 1;
}

/* Code as an assembler makes it, in a section of its own: two labels without type or size, and one that is no
 * code's. */
__asm__(".pushsection .bare,\"ax\",@progbits\n"
        ".globl bare_first, bare_second\n"
        "bare_first: .skip 16, 0x90\n"
        "local_label: .skip 16, 0x90\n"
        "bare_second: .skip 16, 0x90\n"
        ".popsection\n"
        ".pushsection .bare_data,\"a\",@progbits\n"
        ".globl bare_constant\n"
        "bare_constant: .skip 16\n"
        ".popsection\n");
extern const char bare_first[], bare_second[], bare_constant[];

/* Returns the difference between this program's addresses in memory and those in its file. */
extern const char __ehdr_start[];

Test(where, an_address_in_a_function_gives_its_name_file_and_line)
{
    char text[WHERE_BYTES];
    int fd = open_self(), line;

    cr_expect_eq(landmark(1), 4);
    cr_expect(where_describe(fd, (uint64_t)((uintptr_t)landmark - (uintptr_t)__ehdr_start), text));
    cr_expect_eq(sscanf(text, "landmark (test_where.c:%d)", &line), 1, "%s", text);
    cr_expect(line >= LANDMARK_LINE && line <= LANDMARK_LINE + 2, "%s", text);
    close(fd);
}

Test(where, every_unit_of_the_program_is_looked_through)
{
    char text[WHERE_BYTES];
    int fd = open_self(), line;

    cr_expect(where_describe(fd, (uint64_t)((uintptr_t)where_describe - (uintptr_t)__ehdr_start), text));
    cr_expect_eq(sscanf(text, "where_describe (where.c:%d)", &line), 1, "%s", text);
    close(fd);
}

Test(where, code_without_functions_has_the_last_label_before_it)
{
    static const struct {
        const char *from;
        int plus;
        const char *expected; /* NULL: nothing */
    } cases[] = {{bare_first, 0, "bare_first"},   {bare_first, 1, "bare_first"},    {bare_first, 31, "bare_first"},
                 {bare_second, 0, "bare_second"}, {bare_second, 15, "bare_second"}, {bare_constant, 0, NULL},
                 {bare_constant, 8, NULL}};
    char text[WHERE_BYTES];
    int fd = open_self();

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t address = (uint64_t)((uintptr_t)cases[i].from + (uintptr_t)cases[i].plus - (uintptr_t)__ehdr_start);

        cr_expect_eq(where_describe(fd, address, text), cases[i].expected != NULL, "case %zu: %s", i, text);
        cr_expect_str_eq(text, cases[i].expected ? cases[i].expected : "", "case %zu", i);
    }
    close(fd);
}

Test(where, an_address_outside_all_code_gives_nothing)
{
    static const uint64_t addresses[] = {0, 1, 0x7fffffffffff, UINT64_MAX};
    char text[WHERE_BYTES];
    int fd = open_self();

    for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++) {
        cr_expect_not(where_describe(fd, addresses[i], text), "%#lx", (unsigned long)addresses[i]);
        cr_expect_str_empty(text);
    }
    close(fd);
}

Test(where, a_file_that_is_no_elf_gives_nothing)
{
    struct scratch dir;
    char text[WHERE_BYTES];

    scratch_make(&dir);
    int fd = open(scratch_path(&dir, "text"), O_RDWR | O_CREAT, 0600);
    cr_assert_eq(write(fd, "not an ELF file", 15), 15);
    cr_expect_not(where_describe(fd, 0x1000, text));
    close(fd);
    cr_expect_not(where_describe(-1, 0x1000, text), "not even a file");
    scratch_remove(&dir);
}
