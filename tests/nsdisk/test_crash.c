/* Power cuts (cuts.h): what each kind of change leaves, wherever it is cut. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/nsdisk/cuts.h"
#include "tests/nsdisk/model.h"

#define FREE_BLOCKS    41u    /* the least with which a directory is moved by a journal */
#define JOURNAL_VOLUME 10000u /* blocks of a volume that has a journal of its own */

static struct model m;

/* ---- Writing and fsync ---- */

static void nothing(void)
{
}

static void write_and_sync(void)
{
    v_mkdir(&v, "/d");
    uint64_t sfid = open_new("/d/f");
    v_write(&v, sfid, 0, old, BIG / 2);
    v_fsync(&v, sfid);
    set_mark(0);
    v_write(&v, sfid, BIG / 2, old + BIG / 2, BIG / 2);
    v_fsync(&v, sfid);
    set_mark(1);
    v_put(&v, "/d/g", new, BIG);
}

static void check_prefix(uint32_t cut)
{
    static uint8_t in[BIG];
    uint64_t sfid;
    uint32_t durable = was_durable(1, cut) ? BIG : was_durable(0, cut) ? BIG / 2 : 0;

    if (durable == 0)
        return;
    cr_assert_eq(v_open(&v, "/d/f", N_O_RDONLY, &sfid), 0, "cut after %u", cut);
    cr_assert_geq(v_read(&v, sfid, 0, in, BIG), (int32_t)durable, "cut after %u", cut);
    cr_assert_arr_eq(in, old, durable, "cut after %u", cut);
}

/* ---- Replacing a file by renaming ---- */

static void put_old(void)
{
    v_put(&v, "/f", old, BIG);
    v_mkdir(&v, "/d");
}

static void replace(void)
{
    uint64_t sfid = open_new("/d/tmp");

    v_write(&v, sfid, 0, new, BIG);
    v_fsync(&v, sfid);
    set_mark(0);
    v_rename(&v, "/d/tmp", "/f");
    v_fsync(&v, sfid);
    set_mark(1);
    v_put(&v, "/more", old, BIG);
}

static void check_old_or_new(uint32_t cut)
{
    bool is_old = v_has(&v, "/f", old, BIG), is_new = v_has(&v, "/f", new, BIG);

    cr_assert(is_old || is_new, "cut after %u: /f is neither the old file nor the new one", cut);
    cr_assert(!was_durable(1, cut) || is_new, "cut after %u: /f is old again", cut);
    cr_assert(!was_durable(0, cut) || is_new || v_has(&v, "/d/tmp", new, BIG), "cut after %u: the new file is gone",
              cut);
}

/* ---- Space that is freed and used again ---- */

static void put_two(void)
{
    v_put(&v, "/keep", old, BIG);
    v_put(&v, "/victim", old, BIG);
}

static void reuse(void)
{
    for (int i = 0; i < 6; i++) {
        v_unlink(&v, i % 2 ? "/second" : "/victim");
        uint64_t sfid = open_new(i % 2 ? "/victim" : "/second");
        v_write(&v, sfid, 0, new, BIG);
        if (i == 3) {
            v_fsync(&v, sfid);
            set_mark(0);
        }
        v_truncate(&v, sfid, BIG / 3);
        v_write(&v, sfid, BIG / 3, new + BIG / 3, BIG - BIG / 3);
        v_close(&v, sfid);
    }
    v_exit(&v);
    set_mark(1);
}

static void check_kept(uint32_t cut)
{
    cr_assert(v_has(&v, "/keep", old, BIG), "cut after %u", cut);
    cr_assert(!was_durable(1, cut) || v_has(&v, "/victim", new, BIG), "cut after %u", cut);
}

/* ---- Old bytes ---- */

#define SECRET 'S'

/* All the space that the files below will get was another file's. */
static void put_secrets(void)
{
    static uint8_t secret[400000];

    memset(secret, SECRET, sizeof secret);
    v_put(&v, "/secret", secret, sizeof secret);
    v_exit(&v);
    v_unlink(&v, "/secret");
    v_exit(&v);
}

/* Without a sync for most of it: what is written back for room, or because metadata is, goes before its pointers. */
static void write_over_secrets(void)
{
    static uint8_t bytes[100000];
    char name[8] = "/f0";

    memset(bytes, 'n', sizeof bytes);
    for (int i = 0; i < 4; i++) {
        name[2] = (char)('0' + i);
        uint64_t sfid = open_new(name);
        for (uint32_t at = 0; at < 60000; at += 7000)
            v_write(&v, sfid, at, bytes, i % 2 ? 7000 : 6500);
        if (i == 1)
            v_mkdir(&v, "/d"); /* which syncs */
        v_truncate(&v, sfid, 30000);
        v_truncate(&v, sfid, 50000);
    }
    v_exit(&v);
}

static void check_no_secrets(uint32_t cut)
{
    static uint8_t in[100000];
    char name[8] = "/f0";
    uint64_t sfid;

    for (int i = 0; i < 4; i++) {
        name[2] = (char)('0' + i);
        if (v_open(&v, name, N_O_RDONLY, &sfid) != 0)
            continue;
        int32_t n = v_read(&v, sfid, 0, in, sizeof in);
        cr_assert_geq(n, 0);
        cr_assert_null(memchr(in, SECRET, (size_t)n), "%s: cut after %u: %s has another file's old bytes", cache->name,
                       cut, name);
        v_close(&v, sfid);
    }
}

/* ---- A name that moves ---- */

static void fill_directories(void)
{
    char name[16] = "/d/file-number-x";

    v_mkdir(&v, "/d");
    v_mkdir(&v, "/e");
    for (char c = 'a'; c <= 'z'; c++) {
        name[15] = '\0';
        name[14] = c;
        v_put(&v, name, "x", 1);
    }
    v_put(&v, "/d/f", old, BIG);
    v_mkdir(&v, "/d/sub");
    v_put(&v, "/d/sub/f", new, BIG);
}

static void move_file(void)
{
    v_rename(&v, "/d/f", "/e/f");
    v_rename(&v, "/e/f", "/f");
    v_exit(&v);
    set_mark(0);
}

static void check_some_name(uint32_t cut)
{
    cr_assert(v_has(&v, "/d/f", old, BIG) || v_has(&v, "/e/f", old, BIG) || v_has(&v, "/f", old, BIG),
              "cut after %u: no name is left", cut);
    cr_assert(!was_durable(0, cut) || !v_has(&v, "/d/f", old, BIG), "cut after %u: the first name is back", cut);
}

static void exchange_names(void)
{
    v_link(&v, "/d/f", "/e/f");
    v_unlink(&v, "/d/f");
    v_exit(&v);
    set_mark(0);
    v_link(&v, "/e/f", "/f");
    v_unlink(&v, "/e/f");
    v_exit(&v);
}

/* /new is so full that /new/sub goes to an earlier group, and their inodes are in several blocks. */
static void make_and_remove_directories(void)
{
    static const char *const names[] = {"/new/a", "/new/b", "/new/c", "/new/d", "/new/e", "/new/sub/f", "/new/sub/g"};

    v_mkdir(&v, "/new");
    for (int i = 0; i < 5; i++)
        v_put(&v, names[i], new, BIG);
    v_mkdir(&v, "/new/sub");
    for (int i = 5; i < 7; i++)
        v_put(&v, names[i], new, 1000);
    v_exit(&v);
    for (int i = 0; i < 7; i++)
        v_unlink(&v, names[i]);
    v_rmdir(&v, "/new/sub");
    v_rmdir(&v, "/new");
    v_exit(&v);
    set_mark(0);
}

/* A text in a block of its own, and one in the inode. */
static void make_links(void)
{
    static char text[501];
    struct file_request r = {.bytes = 500}, shorter = {.bytes = 2};

    memset(text, '/', 499);
    text[499] = 'd';
    volume_request(&v, N_FSYMLINK, r, "/long", NULL, text);
    volume_request(&v, N_FSYMLINK, shorter, "/short", NULL, "/d");
    v_exit(&v);
    set_mark(0);
    v_unlink(&v, "/long");
    volume_request(&v, N_FSYMLINK, shorter, "/long", NULL, "/d");
    v_exit(&v);
}

/* A link that is there says all that it should. */
static void check_links(uint32_t cut)
{
    static const char *const names[] = {"/long", "/short"};
    struct file_stat st;

    for (int i = 0; i < 2; i++) {
        int32_t there = v_stat(&v, names[i], &st);

        cr_assert(there == 0 || there == -N_ENOENT, "%s: %d, cut after %u", names[i], there, cut);
        cr_assert(i == 0 || !was_durable(0, cut) || there == 0, "%s, cut after %u", names[i], cut);
    }
}

static void check_directories(uint32_t cut)
{
    struct file_stat st;

    cr_assert(v_has(&v, "/d/sub/f", new, BIG), "cut after %u", cut);
    cr_assert(!was_durable(0, cut) || v_stat(&v, "/new", &st) == -N_ENOENT, "cut after %u", cut);
}

static void move_directory(void)
{
    v_rename(&v, "/d/sub", "/e/sub");
    v_exit(&v);
    set_mark(0);
}

static void rename_directory(void)
{
    v_rename(&v, "/d", "/renamed");
    v_exit(&v);
    set_mark(0);
}

static void check_renamed_directory(uint32_t cut)
{
    cr_assert(v_has(&v, "/d/sub/f", new, BIG) != v_has(&v, "/renamed/sub/f", new, BIG), "cut after %u", cut);
    cr_assert(!was_durable(0, cut) || v_has(&v, "/renamed/f", old, BIG), "cut after %u", cut);
}

static void check_some_directory(uint32_t cut)
{
    cr_assert(v_has(&v, "/d/sub/f", new, BIG) != v_has(&v, "/e/sub/f", new, BIG), "cut after %u: not one name", cut);
    cr_assert(!was_durable(0, cut) || v_has(&v, "/e/sub/f", new, BIG), "cut after %u", cut);
}

/* ---- Directories that move: all the forms ---- */

/* /d/sub, with a file and a directory, and where it can go. */
static void make_places(void)
{
    char name[160];

    fill_directories();
    v_mkdir(&v, "/d/sub/below");
    v_put(&v, "/d/sub/below/g", old, 1000);
    v_mkdir(&v, "/e/empty");
    v_mkdir(&v, "/d/empty");
    v_mkdir(&v, "/d/a-deep");
    v_mkdir(&v, "/d/a-deep/er");
    v_mkdir(&v, "/full");
    struct file_stat st;
    uint32_t record = v.block_bytes == 1024 ? 76 : 116; /* they fill a block exactly, behind ".", ".." and "x" */
    v_mkdir(&v, "/full/x");
    for (uint32_t i = 0; i < (v.block_bytes - 36) / record; i++) {
        snprintf(name, sizeof name, "/full/%0*u", (int)record - 8, i);
        v_put(&v, name, "", 0);
    }
    cr_assert(v_stat(&v, "/full", &st) == 0 && st.size_bytes == v.block_bytes);
}

static const struct move {
    const char *name, *from, *to;
} moves[] = {
    {"to another parent", "/d/sub", "/e/sub"},
    {"to the root", "/d/sub", "/moved"},
    {"from the root", "/e", "/d/e"},
    {"deeper", "/d/sub", "/d/a-deep/er/sub"},
    {"higher", "/d/a-deep/er", "/er"},
    {"over an empty one, another parent's", "/d/sub", "/e/empty"},
    {"over an empty one, its own parent's", "/d/sub", "/d/empty"},
    {"into one that must grow", "/d/sub", "/full/a-name-for-which-the-last-block-has-no-room"},
    {"within one that must grow", "/full/x", "/full/a-name-for-which-the-last-block-has-no-room"},
};

static const struct move *moving;

static void move_it(void)
{
    cr_assert_eq(v_rename(&v, moving->from, moving->to), 0, "%s", moving->name);
    v_put(&v, "/after", old, 3000);
    v_exit(&v);
    set_mark(0);
}

static void check_moved(uint32_t cut)
{
    struct file_stat from, to;
    bool is_there = v_stat(&v, moving->from, &from) == 0;
    bool has_come = v_stat(&v, moving->to, &to) == 0 && (!is_there || to.ino == from.ino);
    bool replaces = strstr(moving->to, "empty") != NULL;

    if (replaces)
        cr_assert_eq(v_stat(&v, moving->to, &to), 0, "%s: cut after %u: no target", moving->name, cut);
    else
        cr_assert_neq(is_there, has_come, "%s: cut after %u: %d and %d", moving->name, cut, is_there, has_come);
    cr_assert(!was_durable(0, cut) || !is_there, "%s: cut after %u: it is back", moving->name, cut);
    char file[160];
    if (strcmp(moving->from, "/d/sub") == 0) {
        snprintf(file, sizeof file, "%s/below/g", is_there ? moving->from : moving->to);
        cr_assert(v_has(&v, file, old, 1000), "%s: cut after %u: what was below is gone", moving->name, cut);
    }
}

/* The same on a volume that a file fills up to so many blocks. */
static void make_places_and_leave(uint32_t blocks)
{
    struct file_statfs st;

    make_places();
    uint64_t filler = open_new("/filler");
    for (uint64_t at = 0; v_statfs(&v, &st) == 0 && st.blocks_free > blocks; at += v.block_bytes)
        cr_assert_eq(v_write(&v, filler, at, old, v.block_bytes), (int32_t)v.block_bytes);
    v_close(&v, filler);
    v_exit(&v);
    cr_assert(v_statfs(&v, &st) == 0 && st.blocks_free <= blocks && st.blocks_free + 2 >= blocks, "%lu blocks are free",
              (unsigned long)st.blocks_free);
}

static void make_places_on_a_nearly_full_volume(void)
{
    make_places_and_leave(FREE_BLOCKS + 2);
}

static void make_places_without_room_for_a_journal(void)
{
    make_places_and_leave(FREE_BLOCKS - 1);
}

/* ---- Anything ---- */

static void put_kept(void)
{
    v_mkdir(&v, "/kept");
    v_put(&v, "/kept/f", old, BIG);
    v_put(&v, "/kept/g", new, BIG);
}

static void random_steps(void)
{
    uint64_t sfid = open_new("/kept/f");

    model_free(&m);
    model_init(&m, 77);
    m.directories_stay = true;
    for (int i = 0; i < 150; i++) {
        model_step(&m, &v);
        if (i % 40 == 39)
            v_fsync(&v, sfid);
    }
}

static void check_kept_directory(uint32_t cut)
{
    cr_assert(v_has(&v, "/kept/f", old, BIG), "cut after %u", cut);
    cr_assert(v_has(&v, "/kept/g", new, BIG), "cut after %u", cut);
}

static const struct scenario scenarios[] = {
    {"write and fsync", nothing, write_and_sync, check_prefix, "-p", 0, NULL},
    {"replace by rename", put_old, replace, check_old_or_new, "-p", 0, NULL},
    {"free and use again", put_two, reuse, check_kept, "-p", 0, NULL},
    {"move a file", fill_directories, move_file, check_some_name, "-p", 0, NULL},
    {"move a directory", fill_directories, move_directory, check_some_directory, "-p", 0, NULL},
    {"rename a directory", fill_directories, rename_directory, check_renamed_directory, "-p", 0, NULL},
    {"exchange names", fill_directories, exchange_names, check_some_name, "-p", 0, NULL},
    {"make and remove directories", fill_directories, make_and_remove_directories, check_directories, "-p", 0, NULL},
    {"random steps", put_kept, random_steps, check_kept_directory, "-p", 0, NULL},
    {"make symbolic links", fill_directories, make_links, check_links, "-p", 0, NULL},
    {"old bytes", put_secrets, write_over_secrets, check_no_secrets, "-p", 0, NULL},
};

static void run_named(size_t i)
{
    run_scenario(&scenarios[i], 1024);
    run_scenario(&scenarios[i], 4096);
}

Test(crash, keeps_what_was_fsynced)
{
    run_named(0);
}

Test(crash, replaces_a_file_wholly_or_not_at_all)
{
    run_named(1);
}

Test(crash, never_gives_a_block_to_two_files)
{
    run_named(2);
}

Test(crash, leaves_a_moved_file_a_name)
{
    run_named(3);
}

Test(crash, leaves_a_moved_directory_a_name)
{
    run_named(4);
}

Test(crash, renames_a_directory_wholly_or_not_at_all)
{
    run_named(5);
}

Test(crash, leaves_a_linked_file_a_name)
{
    run_named(6);
}

Test(crash, during_mkdir_and_rmdir_leaves_a_whole_tree)
{
    run_named(7);
}

Test(crash, during_anything_harms_no_other_file)
{
    run_named(8);
}

Test(crash, leaves_symbolic_links_whole_or_not_there)
{
    run_named(9);
}

Test(crash, never_shows_another_files_old_bytes)
{
    run_named(10);
}

static void move_everywhere(void (*before)(void))
{
    for (size_t i = 0; i < sizeof moves / sizeof moves[0]; i++) {
        const struct scenario s = {moves[i].name, before, move_it, check_moved, "-p", 0, NULL};

        moving = &moves[i];
        run_scenario(&s, i % 2 ? 4096 : 1024);
        if (i >= 5)
            run_scenario(&s, i % 2 ? 1024 : 4096);
    }
}

/* e2fsck -p is the judge of each prefix: a change of three blocks and more is there or it is not. */
Test(crash, moves_a_directory_wholly_or_not_at_all)
{
    move_everywhere(make_places);
}

Test(crash, moves_a_directory_wholly_or_not_at_all_on_a_nearly_full_volume)
{
    move_everywhere(make_places_on_a_nearly_full_volume);
}

/* The volume's own journal is used, and stays. */
Test(crash, moves_a_directory_on_a_volume_with_a_journal)
{
    const struct scenario s = {
        "journal", make_places, move_it, check_moved, "-p", JOURNAL_VOLUME, "-O has_journal -J size=4"};

    moving = &moves[0];
    run_scenario(&s, 1024);
}

static void check_either_directory(uint32_t cut)
{
    cr_assert(v_has(&v, "/d/sub/f", new, BIG) || v_has(&v, "/e/sub/f", new, BIG), "cut after %u: it is gone", cut);
}

/* Within one block of a directory it needs no journal, nor does a file. */
static void move_directory_where_there_is_no_room(void)
{
    cr_assert_eq(v_rename(&v, "/d/sub", "/e/sub"), -N_ENOSPC);
    cr_assert(v_has(&v, "/d/sub/f", new, BIG));
    cr_assert_eq(v_rename(&v, "/d/sub/f", "/e/f"), 0);
    cr_assert_eq(v_rename(&v, "/e/f", "/d/sub/f"), 0);
    cr_assert_eq(v_rename(&v, "/d/sub", "/d/bus"), 0);
    cr_assert_eq(v_rename(&v, "/d/bus", "/d/sub"), 0);
    cr_assert_eq(v_unlink(&v, "/filler"), 0);
    cr_assert_eq(v_rename(&v, "/d/sub", "/e/sub"), 0);
    v_exit(&v);
}

static void check_any_directory(uint32_t cut)
{
    static const char *const names[] = {"/d/sub/f", "/d/bus/f", "/e/sub/f", "/e/f"};
    int found = 0;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        found += v_has(&v, names[i], new, BIG);
    cr_assert_geq(found, 1, "cut after %u: it is gone", cut);
}

/* So e2fsck -p is enough, wherever it is cut. */
Test(crash, refuses_to_move_a_directory_without_room_for_a_journal)
{
    const struct scenario s = {"full",
                               make_places_without_room_for_a_journal,
                               move_directory_where_there_is_no_room,
                               check_any_directory,
                               "-p",
                               0,
                               NULL};

    run_scenario(&s, 4096);
}

static void make_places_of_revision_0(void)
{
    make_places();
    volume_unmount(&v);
    v.bytes[1024 + 76] = 0;
    volume_mount(&v);
}

/* A volume that cannot have a journal has a moment with both names, which e2fsck -p leaves to a human; nothing is
 * lost. */
Test(crash, moves_a_directory_of_a_volume_of_revision_0_and_loses_nothing)
{
    const struct scenario s = {
        "revision 0", make_places_of_revision_0, move_directory, check_either_directory, "-fy", 0, "-O none -I 128"};

    run_scenario(&s, 4096);
}
