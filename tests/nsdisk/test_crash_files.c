/* Power cuts (cuts.h) while files grow and are made. */
#include <criterion/criterion.h>
#include <string.h>

#include "tests/nsdisk/cuts.h"

/* ---- Appends ---- */

#define PIECE 1000u

static void nothing(void)
{
}

/* Bytes that are synced stay, whatever the writes behind them in the same block do. */
static void append_pieces(void)
{
    uint64_t sfid = open_new("/f");

    for (uint32_t at = 0; at + PIECE <= BIG; at += PIECE) {
        v_write(&v, sfid, at, old + at, PIECE);
        if (at == 4 * PIECE || at == 17 * PIECE) {
            v_fsync(&v, sfid);
            set_mark(at == 4 * PIECE ? 0 : 1);
        }
    }
}

static void check_pieces(uint32_t cut)
{
    static uint8_t in[BIG];
    uint64_t sfid;
    uint32_t durable = was_durable(1, cut) ? 18 * PIECE : was_durable(0, cut) ? 5 * PIECE : 0;

    if (durable == 0)
        return;
    cr_assert_eq(v_open(&v, "/f", N_O_RDONLY, &sfid), 0, "cut after %u", cut);
    int32_t n = v_read(&v, sfid, 0, in, BIG);
    cr_assert_geq(n, (int32_t)durable, "cut after %u", cut);
    cr_assert_arr_eq(in, old, (size_t)n, "cut after %u", cut);
}

Test(crash_files, keeps_what_was_fsynced_while_a_file_grows_by_pieces)
{
    const struct scenario s = {"pieces", nothing, append_pieces, check_pieces, "-p", 0, NULL};

    run_scenario(&s, 1024);
    run_scenario(&s, 4096);
}
