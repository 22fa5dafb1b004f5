#include "libpio/star/star_behind.h"

int star_behind_start(struct star_behind *b, const struct star_store *store, int handle, const char *from,
                      int64_t bytes, int64_t at)
{
    int number = store->write_start ? store->write_start(handle, from, bytes, at) : -1;

    *b = (struct star_behind){.is_under_way = number >= 0, .number = number, .from = from, .bytes = bytes, .at = at};
    if (number >= 0)
        return 0;
    int64_t written = store->write(handle, from, bytes, at); /* no room for one more, say */
    return written < 0 ? (int)written : 0;
}

int star_behind_end(struct star_behind *b, const struct star_store *store, int handle)
{
    if (!b->is_under_way)
        return 0;
    b->is_under_way = false;
    int64_t written = store->write_end(b->number);
    if (written >= 0 && written < b->bytes) /* says why it came short */
        written = store->write(handle, b->from + written, b->bytes - written, b->at + written);
    return written < 0 ? (int)written : 0;
}
