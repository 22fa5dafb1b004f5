/*
 * The arithmetic of files with a view (viewed.h). setview.c makes views.
 */
#include "libpio/file/viewed.h"

#include <stdlib.h>

bool pio_uses_plans(const struct pio_file *file)
{
    return file->view || file->description.map.pattern;
}

int64_t pio_file_end(const struct pio_file *file, int64_t end)
{
    if (!file->view || end <= 0)
        return end;
    int64_t last = pattern_file(file->view->pattern, 0, end - 1);
    return last < 0 ? last : last + 1;
}

int64_t pio_own_bytes(const struct pio_file *file, int64_t end)
{
    return file->view ? plan_bytes(file->view->own, end) : end;
}

int64_t pio_part_bytes(const struct pio_file *file, int k, int64_t end)
{
    return file->view ? plan_bytes(file->subfile[k].plan, end) : pio_map_subfile_bytes(&file->description.map, k, end);
}

int64_t pio_part_logical(const struct pio_file *file, int k, int64_t offset)
{
    if (!file->view)
        return pio_map_logical(&file->description.map, k, offset);
    int64_t at = plan_file(file->subfile[k].plan, offset);
    return at >= 0 && at <= PIO_OFFSET_MAX ? at : PIO_OFFSET_MAX;
}

void pio_view_free(struct pio_view *view)
{
    if (!view)
        return;
    pattern_free(view->pattern);
    plan_free(view->own);
    free(view);
}
