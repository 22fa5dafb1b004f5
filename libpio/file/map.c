#include "libpio/file/map.h"

struct pio_place pio_map_locate(const struct pio_map *map, int64_t offset)
{
    int64_t block = offset / map->block_bytes;
    int within = offset % map->block_bytes;

    return (struct pio_place){
        .volume = block % map->disks,
        .subfile_offset = block / map->disks * map->block_bytes + within,
        .block_left_bytes = map->block_bytes - within,
    };
}

int64_t pio_map_logical(const struct pio_map *map, int volume, int64_t subfile_offset)
{
    if (map->pattern) {
        int64_t logical = pattern_file(map->pattern, volume, subfile_offset);

        return logical >= 0 && logical <= PIO_OFFSET_MAX ? logical : PIO_OFFSET_MAX;
    }
    int64_t row = subfile_offset / map->block_bytes;
    int64_t within = subfile_offset % map->block_bytes;
    int64_t offset;

    if (__builtin_mul_overflow(row * map->block_bytes, map->disks, &offset) ||
        __builtin_add_overflow(offset, (int64_t)volume * map->block_bytes + within, &offset) || offset > PIO_OFFSET_MAX)
        return PIO_OFFSET_MAX;
    return offset;
}

int64_t pio_map_subfile_bytes(const struct pio_map *map, int volume, int64_t logical_bytes)
{
    if (map->pattern) {
        const struct falls_set *set = &map->pattern->element[volume];

        return logical_bytes / map->pattern->period * set->bytes +
               falls_rank(set, logical_bytes % map->pattern->period);
    }
    struct pio_place end = pio_map_locate(map, logical_bytes);
    int64_t row_start = end.subfile_offset / map->block_bytes * map->block_bytes;

    if (volume < end.volume)
        return row_start + map->block_bytes;
    return volume == end.volume ? end.subfile_offset : row_start;
}

int64_t pio_map_logical_end(const struct pio_map *map, int volume, int64_t subfile_bytes)
{
    return subfile_bytes == 0 || (map->pattern && map->pattern->element[volume].bytes == 0)
               ? 0
               : pio_map_logical(map, volume, subfile_bytes - 1) + 1;
}

int64_t pio_map_logical_bytes(const struct pio_map *map, const int64_t *subfile_bytes)
{
    int64_t logical_bytes = 0;

    for (int k = 0; k < map->disks; k++) {
        int64_t end = pio_map_logical_end(map, k, subfile_bytes[k]);

        if (end > logical_bytes)
            logical_bytes = end;
    }
    return logical_bytes;
}
