/* Snapshots of a window of a memfd, without QEMU: which changes make two states differ. */
#define _GNU_SOURCE
#include "emu/qemu/snapshot.h"

#include <criterion/criterion.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define WINDOW_BYTES (1u << 20)
#define HART         1u

static struct cabinet cabinet;
static struct slot slot;

static void make_cabinet(void)
{
    cabinet = (struct cabinet){.bytes = CABINET_SHARED_BYTES + 3 * WINDOW_BYTES, .nodes = 2, .ram_bytes = WINDOW_BYTES};
    cabinet.ram_fd = memfd_create("test", 0);
    cr_assert_eq(ftruncate(cabinet.ram_fd, (off_t)cabinet.bytes), 0);
    cabinet.ram = mmap(NULL, cabinet.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, cabinet.ram_fd, 0);
    cr_assert_neq(cabinet.ram, MAP_FAILED);
    for (uint32_t page = 3; page < 200; page += 7)
        cabinet_window(&cabinet, HART)[page * NODE_PAGE_BYTES + page] = (uint8_t)page;
    for (uint32_t k = 0; k < SLOT_REGISTERS; k++)
        slot.registers[k] = k * k;
}

TestSuite(snapshot, .init = make_cabinet);

Test(snapshot, a_state_matches_itself_whatever_other_windows_hold)
{
    struct snapshot *s = snapshot_take(&cabinet, HART, &slot);

    cabinet_window(&cabinet, HART - 1)[WINDOW_BYTES - 1] = 1;
    cabinet_window(&cabinet, HART + 1)[0] = 1;
    cabinet_shared(&cabinet, CABINET_TEXT_BASE)[0] = 1;
    cr_expect(snapshot_matches(s, &slot));
    cr_expect(snapshot_matches(s, &slot), "a comparison changes nothing");
    snapshot_free(s);
    snapshot_free(NULL);
}

static void expect_difference(uint64_t at)
{
    struct snapshot *s = snapshot_take(&cabinet, HART, &slot);
    uint8_t *byte = cabinet_window(&cabinet, HART) + at;

    *byte ^= 1;
    cr_expect_not(snapshot_matches(s, &slot), "byte 0x%lx", at);
    *byte ^= 1;
    snapshot_free(s);
}

Test(snapshot, a_byte_anywhere_in_the_window_makes_a_difference)
{
    static const uint64_t at[] = {0,
                                  3 * NODE_PAGE_BYTES + 3, /* in a page that is there */
                                  3 * NODE_PAGE_BYTES,
                                  4 * NODE_PAGE_BYTES - 1,
                                  5 * NODE_PAGE_BYTES, /* in one that is not */
                                  WINDOW_BYTES - 1};

    for (size_t k = 0; k < sizeof at / sizeof *at; k++)
        expect_difference(at[k]);
}

Test(snapshot, a_register_makes_a_difference)
{
    struct snapshot *s = snapshot_take(&cabinet, HART, &slot);

    for (uint32_t k = 0; k < SLOT_REGISTERS; k++) {
        slot.registers[k]++;
        cr_expect_not(snapshot_matches(s, &slot), "register %u", k);
        slot.registers[k]--;
    }
    cr_expect(snapshot_matches(s, &slot));
    snapshot_free(s);
}

Test(snapshot, a_page_that_has_come_makes_a_difference_even_if_it_is_zero)
{
    struct snapshot *s = snapshot_take(&cabinet, HART, &slot);

    *(volatile uint8_t *)(cabinet_window(&cabinet, HART) + 100 * NODE_PAGE_BYTES) = 0;
    cr_expect_not(snapshot_matches(s, &slot));
    snapshot_free(s);
}

Test(snapshot, an_empty_window_matches)
{
    memset(&slot, 0, sizeof slot);
    struct snapshot *s = snapshot_take(&cabinet, HART - 1, &slot);

    cr_expect(snapshot_matches(s, &slot));
    snapshot_free(s);
}
