/* Power cuts (cuts.h) while files grow and are made. */
#include <criterion/criterion.h>

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

/* ---- Files that are made by one request ---- */

#define SMALL 1500u

static int32_t make_file(const char *name, const void *data, uint32_t bytes)
{
    return volume_request(&v, N_FMAKE, (struct file_request){.mode = 0644, .bytes = bytes}, name, NULL, data);
}

static void make_files(void)
{
    make_file("/a", old, SMALL);
    set_mark(0);
    make_file("/b", new, SMALL);
    set_mark(1);
    v_unlink(&v, "/a");
    make_file("/c", old, SMALL);
    set_mark(2);
    make_file("/a", new, SMALL);
    set_mark(3);
}

static bool is_there(const char *name)
{
    struct file_stat st;

    return v_stat(&v, name, &st) == 0;
}

/* Whole and durable, or not there. */
static void check_made(uint32_t cut)
{
    cr_assert(!was_durable(0, cut) || was_durable(2, cut) || !is_there("/a") || v_has(&v, "/a", old, SMALL) ||
                  v_has(&v, "/a", new, SMALL),
              "cut after %u: /a", cut);
    cr_assert(!was_durable(0, cut) || was_durable(1, cut) || v_has(&v, "/a", old, SMALL), "cut after %u: no /a", cut);
    cr_assert(is_there("/b") ? v_has(&v, "/b", new, SMALL) : !was_durable(1, cut), "cut after %u: /b", cut);
    cr_assert(is_there("/c") ? v_has(&v, "/c", old, SMALL) : !was_durable(2, cut), "cut after %u: /c", cut);
    cr_assert(!was_durable(3, cut) || v_has(&v, "/a", new, SMALL), "cut after %u: no new /a", cut);
}

Test(crash_files, leaves_a_made_file_whole_or_not_there)
{
    const struct scenario s = {"made", nothing, make_files, check_made, "-p", 0, NULL};

    run_scenario(&s, 1024);
    run_scenario(&s, 4096);
}
