/* The drives that a machine file can name. docs/timing.md explains how the default's constants were chosen. */
#include "emu/model/disk.h"

#include <string.h>

#include "vertex/contract/machine.h"

/*
 * scsi-1990: a 5 1/4 inch SCSI drive of 300 MB, as in servers of around 1990. No publication names Sandia's drives;
 * this is a drive of their class.
 *   rpm                3600, as nearly all drives of the time
 *   geometry           UNIX systems of the time knew three drives of this class by name: 965 cylinders, 9 heads and 35
 *                      sectors (155 MB); 1515, 9 and 43 (300 MB); 1547, 9 and 46 (327 MB). With the middle
 *                      one, nsdisk takes the 17.3, 19.5 and 20.5 ms of [P0 section 3] to write 4, 8 and 16 KB
 *   seeks              3 ms to the next cylinder, 16 ms on average and 35 ms at most: usual values of data sheets
 *   head_switch_us     1 ms, a usual value of data sheets
 *   overhead_us        1 ms from command to seek: Ruemmler and Wilkes, "An Introduction to Disk Drive Modeling",
 *                      IEEE Computer, March 1994, give 1.1 and 2.2 ms for the reads of two such drives
 *   bus_bytes_per_s    4 MB/s, synchronous SCSI of the first generation
 *   read_ahead_sectors a 32 KB buffer
 *
 * hp97560: for comparison, a drive of 1.3 GB that is a little younger and that Ruemmler and Wilkes describe there.
 * Their seek curve gives 3.24 + 0.4 = 3.64 ms for 1 cylinder, 8.00 + 0.008 * 654 = 13.2 ms for a third of them, 23.7 ms
 * for all.
 *
 * xt-8760s: the drive of the iPSC/860's Concurrent File System, a Maxtor XT-8760S of 760 MB [P2 Table 1].
 *   geometry           a driver for the iPSC/2's SCSI board gives 1632 cylinders, 15 heads and 54 sectors; a system's
 *                      table of drives 1,293,465 sectors, which are 1627 x 15 x 53: a track keeps a spare sector, the
 *                      drive some cylinders
 *   rpm, seeks         3600, as nearly all drives of the time; 16.5 ms on average, as lists of drives have it; 3 and
 *                      35 ms, usual values of data sheets
 *   head_switch_us, overhead_us   as scsi-1990
 *   bus_bytes_per_s    4 MB/s [P2 Table 1]
 *   read_ahead_sectors none: a drive that reads ahead gives a stream of reads the rate of its medium; [P2 Table 2] has
 *                      half of that, 0.82 MB/s, read and written. By a missed revolution for each command of 32 KB
 *                      ours gives 0.81, to which nothing is fitted
 */
static const struct disk_model models[] = {
    {
        .name = "scsi-1990",
        .rpm = 3600,
        .cylinders = 1515,
        .heads = 9,
        .sectors_per_track = 43,
        .overhead_us = 1000,
        .seek_track_us = 3000,
        .seek_average_us = 16000,
        .seek_full_us = 35000,
        .head_switch_us = 1000,
        .bus_bytes_per_s = 4000000,
        .read_ahead_sectors = 64,
    },
    {
        .name = "hp97560",
        .rpm = 4002,
        .cylinders = 1962,
        .heads = 19,
        .sectors_per_track = 72,
        .overhead_us = 2200,
        .seek_track_us = 3640,
        .seek_average_us = 13230,
        .seek_full_us = 23690,
        .head_switch_us = 1600,
        .bus_bytes_per_s = 10000000,
        .read_ahead_sectors = 256,
    },
    {
        .name = "xt-8760s",
        .rpm = 3600,
        .cylinders = 1627,
        .heads = 15,
        .sectors_per_track = 53,
        .overhead_us = 1000,
        .seek_track_us = 3000,
        .seek_average_us = 16500,
        .seek_full_us = 35000,
        .head_switch_us = 1000,
        .bus_bytes_per_s = 4000000,
        .read_ahead_sectors = 0,
    },
};

const char *const disk_model_names[] = {"scsi-1990", "hp97560", "xt-8760s", NULL};

uint32_t disk_model_most_rpm(const struct disk_model *model)
{
    return (uint32_t)(60ull * model->bus_bytes_per_s / (model->sectors_per_track * SECTOR_BYTES));
}

const struct disk_model *disk_model_find(const char *name)
{
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++)
        if (strcmp(models[i].name, name) == 0)
            return &models[i];
    return NULL;
}
