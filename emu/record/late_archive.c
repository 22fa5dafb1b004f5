/*
 * libarchive, loaded when a recording is first written or read. Its libraries (libxml2, ICU, libstdc++) would take half
 * of the time in which ncube starts, 1.4 ms of processor time, in every command.
 *
 * The functions that container.c and unpack.c call have their names and do what they do. Without the library there are
 * no archives: the two that make one return NULL, and no other is called then.
 */
#include <archive.h>
#include <archive_entry.h>
#include <dlfcn.h>
#include <stddef.h>

#define LIBRARY "libarchive.so.13"
_Static_assert(ARCHIVE_VERSION_NUMBER / 1000000 == 3, "the functions of another library than that");

static void *find(const char *name)
{
    static void *library;

    if (!library)
        library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    return library ? dlsym(library, name) : NULL;
}

/* A function that calls the library's. */
#define LATE(type, name, parameters, ...)           \
    type name parameters                            \
    {                                               \
        static type(*call) parameters;              \
                                                    \
        if (!call)                                  \
            call = (type(*) parameters)find(#name); \
        return call(__VA_ARGS__);                   \
    }

/* Likewise; returns NULL without the library. */
#define LATE_NEW(type, name)                             \
    type name(void)                                      \
    {                                                    \
        type (*call)(void) = (type(*)(void))find(#name); \
                                                         \
        return call ? call() : NULL;                     \
    }

typedef struct archive archive;
typedef struct archive_entry entry;

LATE_NEW(archive *, archive_write_new)
LATE_NEW(archive *, archive_read_new)
LATE_NEW(entry *, archive_entry_new)

LATE(int, archive_errno, (archive * a), a)
LATE(const char *, archive_error_string, (archive * a), a)

LATE(int, archive_write_add_filter_zstd, (archive * a), a)
LATE(int, archive_write_set_filter_option, (archive * a, const char *m, const char *o, const char *v), a, m, o, v)
LATE(int, archive_write_set_format_pax_restricted, (archive * a), a)
LATE(int, archive_write_set_bytes_per_block, (archive * a, int bytes), a, bytes)
LATE(int, archive_write_set_bytes_in_last_block, (archive * a, int bytes), a, bytes)
LATE(int, archive_write_open_fd, (archive * a, int fd), a, fd)
LATE(int, archive_write_header, (archive * a, entry *e), a, e)
LATE(la_ssize_t, archive_write_data, (archive * a, const void *bytes, size_t n), a, bytes, n)
LATE(int, archive_write_close, (archive * a), a)
LATE(int, archive_write_fail, (archive * a), a)
LATE(int, archive_write_free, (archive * a), a)

LATE(int, archive_read_support_filter_zstd, (archive * a), a)
LATE(int, archive_read_support_format_tar, (archive * a), a)
LATE(int, archive_read_open_fd, (archive * a, int fd, size_t block), a, fd, block)
LATE(int, archive_read_next_header, (archive * a, entry **e), a, e)
LATE(int, archive_read_data_block, (archive * a, const void **bytes, size_t *n, la_int64_t *at), a, bytes, n, at)
LATE(int, archive_read_free, (archive * a), a)

LATE(void, archive_entry_set_pathname, (entry * e, const char *name), e, name)
LATE(void, archive_entry_set_size, (entry * e, la_int64_t bytes), e, bytes)
LATE(void, archive_entry_set_filetype, (entry * e, unsigned int type), e, type)
LATE(void, archive_entry_set_perm, (entry * e, __LA_MODE_T mode), e, mode)
LATE(void, archive_entry_sparse_add_entry, (entry * e, la_int64_t at, la_int64_t bytes), e, at, bytes)
LATE(void, archive_entry_free, (entry * e), e)
LATE(const char *, archive_entry_pathname, (entry * e), e)
LATE(la_int64_t, archive_entry_size, (entry * e), e)
