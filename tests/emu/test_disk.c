/* The drive: mechanics and buffer from tables, the service times of [P0], the image file. */
#include "emu/model/disk.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

#include "tests/emu/image.h"
#include "vertex/contract/machine.h"

/*
 * A drive with round numbers, in cycles: revolution 200000; 20 slots of 10000; overhead 2000; bus 5000 per sector;
 * head switch 8000, so 1 slot of skew; seek to the next cylinder 20000, so 3 slots.
 * A cylinder has 40 sectors: track c * 2 + h, skewed by 4 c + h slots.
 */
static const struct disk_model round_model = {
    .name = "round",
    .rpm = 6000,
    .cylinders = 100,
    .heads = 2,
    .sectors_per_track = 20,
    .overhead_us = 100,
    .seek_track_us = 1000,
    .seek_average_us = 5000,
    .seek_full_us = 11000,
    .head_switch_us = 400,
    .bus_bytes_per_s = 2048000,
    .read_ahead_sectors = 40,
};

#define ROUND_SECTORS (100u * 2 * 20)

static char image[IMAGE_PATH_BYTES];
static char error[256];

static struct disk *open_disk(const struct disk_model *model, uint64_t sectors)
{
    struct disk *d = NULL;

    image_make(image, sectors * SECTOR_BYTES);
    cr_assert_eq(disk_open(&d, image, model, error, sizeof error), 0, "%s", error);
    return d;
}

static void close_disk(struct disk *d)
{
    disk_close(d);
    unlink(image);
}

struct command {
    const char *name;
    uint64_t now_cycles;
    bool write;
    uint64_t sector;
    uint32_t sectors;
    uint64_t done_cycles;
};

#define END                     \
    {                           \
        NULL, 0, false, 0, 0, 0 \
    }

/* Runs a NULL-terminated series of commands on a fresh drive, the heads over track 0. */
static void check_series(const struct disk_model *model, const struct command *c)
{
    struct disk *d = open_disk(model, ROUND_SECTORS);

    for (; c->name; c++) {
        uint64_t done = disk_service(d, c->now_cycles, c->write, c->sector, c->sectors);

        cr_expect_eq(done, c->done_cycles, "%s: done at %lu", c->name, (unsigned long)done);
    }
    close_disk(d);
}

Test(disk, rotation_and_head_movement_of_single_writes)
{
    static const struct command c[] = {
        {"just missed: a revolution", 0, true, 0, 1, 210000},
        {"slot 1 comes after the data", 0, true, 1, 1, 20000},
        {"the last slot of the track", 0, true, 19, 1, 200000},
        {"a whole track from its slot 0", 0, true, 0, 20, 400000},
        {"the other head: switch, skew 1", 0, true, 20, 1, 20000},
        {"the other head, too late for slot 1", 1000, true, 20, 1, 220000},
        {"next cylinder: 20000, skew 4", 0, true, 40, 1, 50000},
        {"a third of the cylinders: 100000, skew 12", 0, true, 33 * 40, 1, 130000},
        {"all cylinders: 220000, skew 16", 0, true, 99 * 40, 1, 370000},
        {"all cylinders: 220000, in time for slot 3", 8000, true, 99 * 40 + 7, 1, 240000},
        {"all cylinders, too late for slot 3", 9000, true, 99 * 40 + 7, 1, 440000},
        {"9 cylinders: 53720 by the square root, in time for slot 6", 0, true, 9 * 40 + 10, 1, 70000},
        {"9 cylinders, too late for slot 5", 0, true, 9 * 40 + 9, 1, 260000},
        {"66 cylinders: 160000 by the line, in time for slot 17", 0, true, 66 * 40 + 13, 1, 180000},
        {"66 cylinders, too late for slot 16", 0, true, 66 * 40 + 12, 1, 370000},
    };

    for (size_t i = 0; i < sizeof c / sizeof c[0]; i++) {
        const struct command alone[] = {c[i], END};

        check_series(&round_model, alone);
    }
}

Test(disk, transfers_across_tracks_and_cylinders_lose_only_the_skew)
{
    static const struct command read_60[] = {{"two tracks and the next cylinder", 0, false, 0, 60, 845000}, END};
    static const struct command write_60[] = {{"two tracks and the next cylinder", 0, true, 0, 60, 840000}, END};

    check_series(&round_model, read_60);
    check_series(&round_model, write_60);
}

Test(disk, sequential_write_through_misses_a_revolution_each_time)
{
    static const struct command c[] = {
        {"first", 0, true, 1, 2, 30000},
        {"at once", 30000, true, 3, 2, 30000 + 220000},
        {"after some thinking: the same", 250000 + 150000, true, 5, 2, 250000 + 220000},
        {"after too much thinking: two", 470000 + 195000, true, 7, 2, 470000 + 420000},
        END,
    };

    check_series(&round_model, c);
}

Test(disk, read_ahead_serves_sequential_reads_as_they_arrive)
{
    static const struct command c[] = {
        {"seeks", 0, false, 0, 1, 215000},
        {"is being read", 215000, false, 1, 1, 225000},
        {"skips what is still to come", 225000, false, 5, 1, 265000},
        {"backwards, in the buffer: overhead and bus", 265000, false, 2, 2, 265000 + 2000 + 10000},
        {"long after: all in the buffer", 2000000, false, 6, 10, 2000000 + 2000 + 50000},
        END,
    };

    check_series(&round_model, c);
}

Test(disk, read_ahead_stops_when_the_buffer_is_full)
{
    static const struct command c[] = {
        {"fills the buffer up to sector 40 by 610000", 0, false, 0, 1, 215000},
        {"in the buffer; reads on from 702000, seek 20000", 700000, false, 20, 2, 712000},
        {"40 lies in slot 4: from 840000", 712000, false, 40, 1, 855000},
        {"79 is the last that the buffer has room for: from 1240000", 855000, false, 79, 1, 1255000},
        {"80 is now being read", 1255000, false, 80, 1, 1295000},
        {"40 has been overwritten", 1295000, false, 40, 1, 1455000},
        END,
    };

    check_series(&round_model, c);
}

Test(disk, without_a_buffer_sequential_reads_miss_a_revolution)
{
    struct disk_model model = round_model;

    model.read_ahead_sectors = 0;
    static const struct command c[] = {
        {"first", 0, false, 1, 1, 25000},
        {"next", 25000, false, 2, 1, 235000},
        {"again the same", 235000, false, 2, 1, 435000},
        END,
    };
    check_series(&model, c);
}

Test(disk, a_write_empties_the_buffer_where_it_overlaps)
{
    static const struct command overlapping[] = {
        {"fill", 0, false, 0, 1, 215000},
        {"write sector 30, in the buffer", 1000000, true, 30, 1, 1120000},
        {"sector 0 must come from the medium", 1200000, false, 0, 1, 1415000},
        END,
    };
    static const struct command elsewhere[] = {
        {"fill", 0, false, 0, 1, 215000},
        {"write sector 45", 1000000, true, 45, 1, 1100000},
        {"sector 0 is still in the buffer", 1200000, false, 0, 1, 1207000},
        END,
    };

    static const struct command behind[] = {
        {"fill up to sector 39", 0, false, 0, 1, 215000},
        {"write sector 40", 1000000, true, 40, 1, 1050000},
        {"sector 0 is still in the buffer", 1200000, false, 0, 1, 1207000},
        END,
    };
    static const struct command before[] = {
        {"fill from sector 10", 0, false, 10, 1, 115000},
        {"write sector 9", 1000000, true, 9, 1, 1100000},
        {"sector 10 is still in the buffer", 1200000, false, 10, 1, 1207000},
        END,
    };

    check_series(&round_model, overlapping);
    check_series(&round_model, elsewhere);
    check_series(&round_model, behind);
    check_series(&round_model, before);
}

Test(disk, a_write_ends_read_ahead)
{
    static const struct command c[] = {
        {"read-ahead from 210000", 0, false, 0, 1, 215000},
        {"write on another cylinder, at 232000 sectors 1 and 2 are read", 230000, true, 50, 1, 350000},
        {"long after, sector 3 is not in the buffer: seek back", 1000000, false, 3, 1, 1045000},
        {"sector 2 is", 1045000, false, 2, 1, 1052000},
        END,
    };

    check_series(&round_model, c);
}

Test(disk, commands_are_counted_with_what_they_moved)
{
    struct disk *d = open_disk(&round_model, ROUND_SECTORS);

    disk_service(d, 0, false, 0, 1);               /* there already */
    disk_service(d, 230000, true, 50, 3);          /* another cylinder */
    disk_service(d, 1000000, true, 79, 1);         /* the same one, another track */
    disk_service(d, 2000000, false, 3, 2);         /* back */
    disk_service(d, 3000000, false, 5, 4);         /* read ahead */
    disk_service(d, 4000000, true, UINT64_MAX, 1); /* refused */
    const struct disk_statistics s = disk_statistics(d);
    cr_expect(s.reads == 3 && s.writes == 2, "%lu reads, %lu writes", s.reads, s.writes);
    cr_expect(s.sectors_read == 7 && s.sectors_written == 4, "%lu, %lu sectors", s.sectors_read, s.sectors_written);
    cr_expect(s.seeks == 2 && s.buffer_hits == 1, "%lu seeks, %lu hits", s.seeks, s.buffer_hits);
    close_disk(d);
}

Test(disk, a_read_of_the_sector_that_is_being_read_ahead_is_a_hit)
{
    struct disk *d = open_disk(&round_model, ROUND_SECTORS);

    uint64_t done = disk_service(d, 0, false, 0, 1);
    disk_service(d, done, false, 1, 1);
    const struct disk_statistics s = disk_statistics(d);
    cr_expect(s.seeks == 0 && s.buffer_hits == 1, "%lu seeks, %lu hits", s.seeks, s.buffer_hits);
    close_disk(d);
}

Test(disk, read_ahead_stops_at_the_last_sector)
{
    struct disk *d = open_disk(&round_model, ROUND_SECTORS);

    disk_service(d, 0, false, ROUND_SECTORS - 1, 1);
    disk_service(d, 10000000, true, ROUND_SECTORS - 20, 1);
    cr_expect_eq(disk_statistics(d).seeks, 1, "the heads have stayed on the last cylinder");
    close_disk(d);
}

/* On a drive that turns at half the speed, the same transfer takes twice the time on the medium. */
Test(disk, another_speed_replaces_the_models)
{
    struct disk *d = open_disk(&round_model, ROUND_SECTORS);
    uint64_t model_cycles = disk_service(d, 0, true, 0, 20);

    close_disk(d);
    d = open_disk(&round_model, ROUND_SECTORS);
    disk_set_rpm(d, 3000);
    uint64_t slow_cycles = disk_service(d, 0, true, 0, 20);
    cr_expect_geq(slow_cycles, model_cycles + CLOCK_HZ / 100); /* a revolution of 20 ms instead of 10 ms */
    close_disk(d);
    for (const char *const *name = disk_model_names; *name; name++) {
        const struct disk_model *m = disk_model_find(*name);

        cr_expect_geq(disk_model_most_rpm(m), m->rpm);
        d = open_disk(m, ROUND_SECTORS);
        disk_set_rpm(d, disk_model_most_rpm(m)); /* asserts that the bus keeps up */
        close_disk(d);
    }
}

Test(disk, a_revolution_is_rounded_to_the_nearest_cycle)
{
    struct disk_model model = round_model;

    model.rpm = 7200; /* 166666.67 cycles */
    static const struct command c[] = {{"just missed slot 0", 0, true, 0, 1, 166667 + 8333}, END};
    check_series(&model, c);
}

Test(disk, sectors_that_do_not_exist_are_refused)
{
    static const struct {
        const char *name;
        uint64_t sector;
        uint32_t sectors;
    } c[] = {{"none", 0, 0},
             {"beyond the end", ROUND_SECTORS, 1},
             {"across the end", ROUND_SECTORS - 1, 2},
             {"far away", UINT64_MAX, 1},
             {"more than all", 0, UINT32_MAX}};
    struct disk *d = open_disk(&round_model, ROUND_SECTORS);
    cr_expect_eq(disk_sectors(d), ROUND_SECTORS);
    for (size_t i = 0; i < sizeof c / sizeof c[0]; i++) {
        char byte = 0;
        uint64_t now = 10000 * i;

        cr_expect_eq(disk_service(d, now, true, c[i].sector, c[i].sectors), now + 2000, "%s", c[i].name);
        cr_expect_eq(disk_transfer(d, true, c[i].sector, c[i].sectors, &byte), NCU_EDRIVE, "%s", c[i].name);
    }
    close_disk(d);
}

Test(disk, a_command_before_the_end_of_the_last_is_refused, .signal = SIGABRT)
{
    struct disk *d = open_disk(&round_model, ROUND_SECTORS);

    unlink(image);
    uint64_t done = disk_service(d, 0, true, 0, 1);
    fclose(stderr);
    disk_service(d, done - 1, true, 0, 1);
}

/* ---- The default drive -------------------------------------------------------------------- */

static uint32_t next_random(uint32_t *state)
{
    return *state = *state * 1103515245u + 12345u;
}

/* Mean service time in ms; step_sectors 0: random places. */
static double mean_ms(const struct disk_model *model, bool write, uint32_t sectors, bool random, double think_ms)
{
    enum { REQUESTS = 400 };
    struct disk *d = open_disk(model, (uint64_t)model->cylinders * model->heads * model->sectors_per_track);
    uint64_t now = 0, busy = 0, at = 2000;
    uint32_t state = 1;
    for (int i = 0; i < REQUESTS; i++) {
        if (random)
            at = ((uint64_t)next_random(&state) << 8) % (disk_sectors(d) - sectors);
        uint64_t done = disk_service(d, now, write, at, sectors);
        busy += i ? done - now : 0;
        now = done + (uint64_t)(think_ms * 1000 * CYCLES_PER_US);
        at += sectors;
    }
    close_disk(d);
    return (double)busy / (REQUESTS - 1) / (1000 * CYCLES_PER_US);
}

Test(disk, the_default_drive_gives_an_nsdisk_the_published_service_times)
{
    static const struct {
        uint32_t sectors;
        double published_ms;
        double think_ms; /* network, reply and client CPU [P0 section 3] */
    } c[] = {{8, 17.3, 1.854 + 0.015 + 0.800}, {16, 19.5, 3.697 + 0.015 + 1.065}, {32, 20.5, 7.384 + 0.015 + 1.820}};
    for (size_t i = 0; i < sizeof c / sizeof c[0]; i++) {
        double ms = mean_ms(disk_model_find("scsi-1990"), true, c[i].sectors, false, c[i].think_ms);

        cr_expect(ms > 0.95 * c[i].published_ms && ms < 1.05 * c[i].published_ms, "%u sectors: %.2f ms, published %.1f",
                  c[i].sectors, ms, c[i].published_ms);
    }
}

Test(disk, random_requests_take_overhead_average_seek_and_half_a_revolution)
{
    for (const char *const *name = disk_model_names; *name; name++) {
        const struct disk_model *m = disk_model_find(*name);
        double rev_ms = 60000.0 / m->rpm, passage_ms = rev_ms * 8 / m->sectors_per_track;
        double expected = (m->overhead_us + m->seek_average_us) / 1000.0 + rev_ms / 2 + passage_ms;
        double ms = mean_ms(m, false, 8, true, 1.7);

        cr_expect(ms > 0.93 * expected && ms < 1.07 * expected, "%s: %.2f ms, expected about %.2f", *name, ms,
                  expected);
    }
}

Test(disk, a_sequential_read_stream_without_thinking_runs_at_the_mediums_rate)
{
    const struct disk_model *m = disk_model_find("scsi-1990");
    double rev_ms = 60000.0 / m->rpm, ms = mean_ms(m, false, 32, false, 0);
    double track = rev_ms * 32 / m->sectors_per_track;

    cr_expect(ms > track && ms < 1.12 * track, "%.2f ms per 16 KB, %.2f on the track", ms, track);
}

/* Of the Concurrent File System [P2 3.0, Table 2]: 0.82 MB (2^20 bytes) a second, read and written, in commands of 32
 * KB; a third or less of that in commands of 4 KB. */
Test(disk, the_xt_8760s_gives_the_published_rate_in_large_commands_only)
{
    const struct disk_model *m = disk_model_find("xt-8760s");

    for (int write = 0; write < 2; write++) {
        double rate[2];

        for (int i = 0; i < 2; i++)
            rate[i] = (i ? 64 : 8) / 2048.0 / (mean_ms(m, write, i ? 64 : 8, false, 0) / 1000);
        cr_expect(rate[1] > 0.98 * 0.82 && rate[1] < 1.02 * 0.82, "write %d: %.3f MB/s", write, rate[1]);
        cr_expect(rate[0] < rate[1] / 3, "write %d: 4 KB: %.3f MB/s", write, rate[0]);
    }
    cr_expect_eq((uint64_t)m->cylinders * m->heads * m->sectors_per_track, 1293465);
}

Test(disk, the_same_commands_take_the_same_time_twice)
{
    const struct disk_model *m = disk_model_find("scsi-1990");

    cr_expect_eq(mean_ms(m, false, 8, true, 0.3), mean_ms(m, false, 8, true, 0.3));
}

Test(disk, models_are_found_by_name)
{
    cr_expect_str_eq(disk_model_names[0], "scsi-1990");
    for (const char *const *name = disk_model_names; *name; name++)
        cr_expect_str_eq(disk_model_find(*name)->name, *name);
    cr_expect_null(disk_model_find("ramdisk"));
}

/* ---- The image ---------------------------------------------------------------------------- */

Test(disk, bytes_written_are_read_back)
{
    static uint8_t out[3 * SECTOR_BYTES], in[3 * SECTOR_BYTES];
    struct disk *d = open_disk(&round_model, ROUND_SECTORS);

    for (size_t i = 0; i < sizeof out; i++)
        out[i] = (uint8_t)(i * 7 + i / 251);
    cr_expect_eq(disk_transfer(d, true, ROUND_SECTORS - 3, 3, out), NCU_OK);
    cr_expect_eq(disk_transfer(d, false, ROUND_SECTORS - 3, 3, in), NCU_OK);
    cr_expect_arr_eq(in, out, sizeof out);
    close_disk(d);
}

Test(disk, an_image_that_shrinks_is_a_media_error)
{
    static uint8_t in[SECTOR_BYTES];
    struct disk *d = open_disk(&round_model, ROUND_SECTORS);

    cr_assert_eq(truncate(image, 4096), 0);
    cr_expect_eq(disk_transfer(d, false, 7, 1, in), NCU_OK);
    cr_expect_eq(disk_transfer(d, false, 8, 1, in), NCU_EMEDIA);
    close_disk(d);
}

static void expect_refused(const char *path, const char *text)
{
    struct disk *d = NULL;
    char expected[256];

    snprintf(expected, sizeof expected, "%s: %s", path, text);
    cr_expect_eq(disk_open(&d, path, &round_model, error, sizeof error), -1, "%s", path);
    cr_expect_str_eq(error, expected);
    cr_expect_null(d);
}

/* ---- Where gdb goes back ---- */

static uint8_t first_byte(struct disk *d, uint64_t sector)
{
    uint8_t bytes[SECTOR_BYTES];

    cr_assert_eq(disk_transfer(d, false, sector, 1, bytes), NCU_OK);
    return bytes[0];
}

static void write_bytes(struct disk *d, uint64_t sector, uint32_t sectors, int value)
{
    uint8_t bytes[4 * SECTOR_BYTES];

    memset(bytes, value, sizeof bytes);
    cr_assert_eq(disk_transfer(d, true, sector, sectors, bytes), NCU_OK);
}

static uint8_t in_image(uint64_t sector)
{
    uint8_t byte = 0;
    int fd = open(image, O_RDONLY | O_CLOEXEC);

    cr_assert_eq(pread(fd, &byte, 1, (off_t)(sector * SECTOR_BYTES)), 1);
    close(fd);
    return byte;
}

/* A machine writes 1 and 2; one that begins again reads what was there before, writes the same, and goes on. */
Test(disk, an_image_is_as_it_was_for_a_machine_that_begins_again)
{
    struct recording *r = recording_new_kept(1 << 20);
    struct recorded_calls *c = recording_calls(r, "drive");
    struct disk *d = open_disk(&round_model, ROUND_SECTORS), *other;

    write_bytes(d, 100, 4, 9);
    disk_record(d, c);
    cr_expect_eq(first_byte(d, 101), 9);
    write_bytes(d, 101, 2, 1);
    cr_expect_eq(first_byte(d, 101), 1);
    write_bytes(d, 102, 2, 2);
    disk_close(d);
    cr_expect_eq(disk_open(&other, image, &round_model, error, sizeof error), -1, "the image is locked");

    recording_repeat(r, 0);
    d = disk_open_held(c, &round_model);
    cr_assert_not_null(d);
    cr_expect_eq(disk_sectors(d), ROUND_SECTORS);
    disk_record(d, c);
    cr_expect_eq(first_byte(d, 101), 9);
    write_bytes(d, 101, 2, 1);
    cr_expect(in_image(101) == 1 && in_image(102) == 2 && in_image(103) == 2, "the image is left alone");
    disk_close(d);

    recording_repeat(r, 0);
    d = disk_open_held(c, &round_model);
    disk_record(d, c);
    cr_expect_eq(first_byte(d, 101), 9, "each machine has an image of its own");
    write_bytes(d, 101, 2, 1);
    cr_expect_eq(first_byte(d, 101), 1);
    write_bytes(d, 102, 2, 2);
    cr_expect(first_byte(d, 101) == 1 && first_byte(d, 102) == 2 && first_byte(d, 100) == 9);
    write_bytes(d, 100, 1, 3);
    cr_expect_eq(in_image(100), 3, "it goes on");
    disk_close(d);
    cr_expect_null(recording_loss(r));
    cr_expect_null(disk_open_held(recording_calls(r, "another drive"), &round_model));
    recording_free(r);
    cr_expect_eq(disk_open(&other, image, &round_model, error, sizeof error), 0, "%s", error);
    close_disk(other);
}

Test(disk, an_image_that_cannot_be_written_leaves_no_way_back)
{
    struct recording *r = recording_new_kept(1 << 20);
    struct disk *d = open_disk(&round_model, ROUND_SECTORS);
    uint8_t bytes[SECTOR_BYTES] = {0};

    disk_record(d, recording_calls(r, "drive"));
    cr_assert_eq(truncate(image, 3000), 0);
    cr_expect_eq(disk_transfer(d, false, 100, 1, bytes), NCU_EMEDIA);
    cr_expect_null(recording_loss(r));
    disk_transfer(d, true, 100, 1, bytes);
    cr_expect_not_null(recording_loss(r));
    close_disk(d);
    recording_free(r);
}

Test(disk, a_missing_image_is_named)
{
    expect_refused("/tmp/ncube-no-such-folder/df00.img",
                   "No such file or directory; --images names the folder of the images, "
                   "\"ncube disk create -m MACHINE --images DIR 32M\" makes those that a machine lacks");
}

Test(disk, an_image_in_use_is_refused_until_it_is_closed)
{
    struct disk *d = open_disk(&round_model, ROUND_SECTORS), *second = NULL;

    expect_refused(image, "in use by another ncube");
    disk_close(d);
    cr_expect_eq(disk_open(&second, image, &round_model, error, sizeof error), 0);
    close_disk(second);
}

Test(disk, what_is_not_an_ext2_image_is_refused)
{
    char fifo[IMAGE_PATH_BYTES];

    image_make(image, 64 * 1024);
    int fd = open(image, O_WRONLY);
    cr_assert_eq(pwrite(fd, "\x53\x00", 2, 1080), 2);
    close(fd);
    expect_refused(image,
                   "not an ext2 file system; if it was one, e2fsck may repair it; \"ncube disk create\" makes one "
                   "in a new file");
    cr_assert_eq(truncate(image, 0), 0);
    expect_refused(image,
                   "not an ext2 file system; if it was one, e2fsck may repair it; \"ncube disk create\" makes one "
                   "in a new file");
    unlink(image);
    expect_refused("/tmp", "Is a directory");
    snprintf(fifo, sizeof fifo, "/tmp/ncube-test-%d", (int)getpid());
    cr_assert_eq(mkfifo(fifo, 0600), 0);
    expect_refused(fifo,
                   "not a regular file; a drive needs an ext2 image, which \"ncube disk create\" makes in a new file");
    unlink(fifo);
}

Test(disk, an_image_larger_than_the_drive_is_refused)
{
    image_make(image, 3ull << 20);
    expect_refused(image, "3 MB do not fit on a drive of model 'round', which has 1 MB");
    unlink(image);
}
