/*
 * Memory that runs out while a request is served: it is answered ENOMEM, nothing has changed, and
 * the same request succeeds when there is memory again. The allocations of serve_request are
 * counted, and one of them fails.
 */
#include <criterion/criterion.h>
#include <limits.h>
#include <stdlib.h>

#include "tests/nsdisk/volume.h"

void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__real_calloc(size_t n, size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);
size_t __real_serve_request(struct server *s, uint32_t from, uint32_t tag, const void *request, size_t n, void *reply,
                            size_t reply_max);
size_t __wrap_serve_request(struct server *s, uint32_t from, uint32_t tag, const void *request, size_t n, void *reply,
                            size_t reply_max);

static bool serving;
static int left = INT_MAX; /* allocations that succeed before one fails */
static bool failed;

static bool fails(void)
{
    bool now = serving && left-- == 0;

    failed = failed || now;
    return now;
}

void *__wrap_malloc(size_t bytes)
{
    return fails() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t n, size_t bytes)
{
    return fails() ? NULL : __real_calloc(n, bytes);
}

void *__wrap_realloc(void *old, size_t bytes)
{
    return fails() ? NULL : __real_realloc(old, bytes);
}

size_t __wrap_serve_request(struct server *s, uint32_t from, uint32_t tag, const void *request, size_t n, void *reply,
                            size_t reply_max)
{
    serving = true;
    n = __real_serve_request(s, from, tag, request, n, reply, reply_max);
    serving = false;
    return n;
}

static struct volume v;
static uint64_t file;
static const struct volume_cache *cache; /* takes its memory at the mount */

static int32_t opens_a_new_file(void)
{
    uint64_t sfid;

    return v_open(&v, "/new", N_O_RDWR | N_O_CREAT, &sfid);
}

static int32_t opens_an_old_file(void)
{
    uint64_t sfid;

    return v_open(&v, "/d/old", N_O_RDWR | N_O_TRUNC, &sfid);
}

static int32_t looks_at_a_name(void)
{
    struct file_stat st;

    return v_stat(&v, "/d/e/f", &st);
}

static int32_t makes_a_folder(void)
{
    return v_mkdir(&v, "/d/folder");
}

static int32_t removes_a_folder(void)
{
    return v_rmdir(&v, "/d/empty");
}

static int32_t removes_a_name(void)
{
    return v_unlink(&v, "/d/e/f");
}

static int32_t links(void)
{
    return v_link(&v, "/d/old", "/d/e/link");
}

static int32_t renames(void)
{
    return v_rename(&v, "/d/old", "/d/e/f");
}

static int32_t renames_a_folder(void)
{
    return v_rename(&v, "/d/e", "/e");
}

static int32_t writes(void)
{
    static char bytes[100000];

    return v_write(&v, file, 5000, bytes, sizeof bytes) == sizeof bytes ? 0 : -N_ENOMEM;
}

static const struct request {
    const char *name;
    int32_t (*make)(void);
    bool allocates;    /* else it must not */
    bool does_without; /* of some memory: it may succeed all the same */
} requests[] = {
    {"a new file", opens_a_new_file, true, false},
    {"an old file", opens_an_old_file, true, false},
    {"a name", looks_at_a_name, true, false},
    {"a new folder", makes_a_folder, true, false},
    {"no folder", removes_a_folder, true, false},
    {"no name", removes_a_name, true, false},
    {"a link", links, true, false},
    {"another name", renames, true, true}, /* without a place in lost+found */
    {"another folder", renames_a_folder, true, false},
    {"data", writes, false, false},
};

/* Mounted anew, so that nothing is in memory but one open file. */
static void begin(void)
{
    uint64_t sfid;

    volume_make(&v, 1024, 2048, "");
    volume_set_cache(&v, cache);
    volume_mount(&v);
    cr_assert(v_mkdir(&v, "/d") == 0 && v_mkdir(&v, "/d/e") == 0 && v_mkdir(&v, "/d/empty") == 0);
    cr_assert(v_put(&v, "/d/old", "old", 3) == 3 && v_put(&v, "/d/e/f", "f", 1) == 1 && v_put(&v, "/open", "", 0) == 0);
    cr_assert_eq(volume_unmount(&v), 0);
    volume_mount(&v);
    cr_assert_eq(v_open(&v, "/open", N_O_RDWR, &sfid), 0);
    file = sfid;
}

static void end(const struct request *r, int k)
{
    cr_assert_eq(volume_unmount(&v), 0);
    cr_expect_eq(volume_fsck(&v, "-fn"), 0, "%s, allocation %d: %s", r->name, k, v.log);
    volume_free(&v);
}

/* The k-th allocation fails. False: there is none. */
static bool fail_one(const struct request *r, int k)
{
    begin();
    failed = false;
    left = k;
    int32_t status = r->make();
    left = INT_MAX;
    bool succeeds = status == 0 && (!failed || r->does_without);
    cr_expect(succeeds || (failed && status == -N_ENOMEM), "%s, allocation %d: status %d", r->name, k, status);
    if (!succeeds)
        cr_expect_eq(r->make(), 0, "%s, again after allocation %d", r->name, k);
    end(r, k);
    return failed;
}

Test(memory, that_runs_out_is_told_and_changes_nothing)
{
    const size_t all = sizeof requests / sizeof *requests;

    for (size_t i = 0; i < all * VOLUME_CACHES; i++) {
        const struct request *r = &requests[i % all];
        int k = 0;

        cache = &volume_caches[i / all];
        while (fail_one(r, k))
            k++;
        cr_expect_eq(k > 0, r->allocates, "%s, data cache '%s': %d allocations", r->name, cache->name, k);
    }
}

Test(memory, that_a_data_cache_does_not_get_refuses_the_mount)
{
    int k = 1; /* the first is the server's own */

    volume_make(&v, 1024, 2048, "");
    volume_set_cache(&v, &volume_caches[1]);
    for (failed = true; failed; k++) {
        failed = false;
        left = k;
        serving = true;
        int status = volume_try_mount(&v);
        serving = false;
        left = INT_MAX;
        cr_expect_eq(status, failed ? -N_ENOMEM : 0, "allocation %d: status %d, %s", k, status, v.log);
    }
    cr_expect_gt(k, 12, "only %d allocations", k);
    cr_assert_eq(volume_unmount(&v), 0);
    volume_free(&v);
}
