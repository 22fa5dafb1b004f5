/* The size of the standard buffers, and the memory that a node without a program takes with them. */
#include <criterion/criterion.h>
#include <elf.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "vertex/contract/proto.h"
#include "vertex/message/channels.h"

#define SLABS_BYTES  (3 * PAGE_BYTES) /* on a node that has booted, as measured */
#define AIM_BYTES    (256u << 10)     /* of a node's 1 MB at least */
#define HEADERS_MOST 8

Test(buffers, buffers_hold_a_block_of_16_kilobytes_and_its_request_up_to_nine_channels)
{
    static const uint32_t bytes[NCU_CHANNELS + 1] = {20480, 20480, 20480, 20480, 20480, 20480, 20480, 20480,
                                                     20480, 20480, 16384, 16384, 16384, 12288, 12288};

    for (uint32_t n = 0; n <= NCU_CHANNELS; n++)
        cr_expect_eq(channel_standard_bytes(n), bytes[n], "%u channels: %u bytes", n, channel_standard_bytes(n));
    cr_expect_geq(channel_standard_bytes(NCU_SI_CHANNELS), 16384 + sizeof(struct file_request));
}

static int open_kernel(void)
{
    char self[PATH_MAX] = "", path[PATH_MAX + 32];

    cr_assert_gt(readlink("/proc/self/exe", self, sizeof self - 1), 0);
    snprintf(path, sizeof path, "%s/../../lib/vertex.elf", dirname(self)); /* this is BUILD/tests/vertex/test_buffers */
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    cr_assert_geq(fd, 0, "no kernel: %s", path);
    return fd;
}

/* Mailbox, data, bss and boot stack of the kernel that has been built: up to the end of its segment in the window. */
static uint64_t kernel_bytes(void)
{
    Elf64_Ehdr elf;
    Elf64_Phdr header[HEADERS_MOST];
    uint64_t end = 0;
    int fd = open_kernel();

    cr_assert_eq(pread(fd, &elf, sizeof elf, 0), (ssize_t)sizeof elf);
    cr_assert_leq(elf.e_phnum, HEADERS_MOST);
    cr_assert_eq(pread(fd, header, elf.e_phnum * sizeof *header, (off_t)elf.e_phoff),
                 (ssize_t)(elf.e_phnum * sizeof *header));
    for (int i = 0; i < elf.e_phnum; i++)
        if (header[i].p_type == PT_LOAD && header[i].p_vaddr >= VERTEX_WINDOW_VA)
            end = header[i].p_vaddr + header[i].p_memsz - VERTEX_WINDOW_VA;
    close(fd);
    return end;
}

Test(buffers, a_node_without_a_program_takes_less_than_256_kilobytes_in_every_machine)
{
    uint64_t kernel = kernel_bytes();

    cr_expect_gt(kernel, 0);
    for (uint32_t n = 0; n <= NCU_CHANNELS; n++) {
        uint64_t bytes = kernel + SLABS_BYTES + n * channel_standard_bytes(n);

        cr_expect_lt(bytes, AIM_BYTES, "%u channels: %lu bytes", n, (unsigned long)bytes);
    }
}
