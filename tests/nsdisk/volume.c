/* A volume for tests: see volume.h. */
#define _GNU_SOURCE
#include "tests/nsdisk/volume.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "vertex/contract/system.h"

#define REPLY_BYTES (sizeof(struct file_reply) + FILE_IO_MAX_BYTES)
#define START_S     820454400u

#define CACHE(kb, block, group, ahead, write, evict, commands, fill)                                            \
    {                                                                                                           \
        kb, block, group, ahead, DRIVE_CACHE_##write, DRIVE_CACHE_##evict, commands, DRIVE_CACHE_FILL_##fill, 0 \
    }
const struct volume_cache volume_caches[VOLUME_CACHES + 1] = {
    {"none", {0}, false},
    {"through", CACHE(64, 4096, 4, 1, THROUGH, LRU, 4, FIRST), false},
    {"groups", CACHE(64, 4096, 2, 1, GROUPS, LRU, 4, FIRST), true},
    {"back", CACHE(64, 4096, 4, 1, BACK, LRU, 4, FIRST), true},
    {"back, two groups", CACHE(8, 1024, 4, 2, BACK, FIFO, 4, FIRST), false},
    {"groups of one block", CACHE(32, 8192, 1, 0, GROUPS, FIFO, 4, FIRST), true},
    {"through, large blocks", CACHE(128, 32768, 2, 2, THROUGH, FIFO, 4, FIRST), true},
    {"back, all fits", CACHE(4096, 4096, 8, 1, BACK, LRU, 4, FIRST), true},
    {"groups, filled later", CACHE(64, 4096, 2, 1, GROUPS, USED_FIRST, 64, LATER), true},
    {"back, filled later", CACHE(16, 4096, 2, 1, BACK, LRU, 4, LATER), false},
    {NULL, {0}, false},
};

void volume_set_cache(struct volume *v, const struct volume_cache *cache)
{
    v->data_cache = cache->set;
    v->starts = cache->starts;
}

static void die(const char *what)
{
    perror(what);
    exit(99);
}

/* ---- The disk ---- */

static int ram_read_now(void *ctx, uint64_t sector, void *buf, uint32_t sectors)
{
    struct volume *v = ctx;

    if ((sector + sectors) * BLOCKDEV_SECTOR_BYTES > v->size)
        die("read beyond the disk");
    v->reads++;
    if (sector + sectors > v->read_fails_from)
        return -N_EIO;
    memcpy(buf, v->bytes + sector * BLOCKDEV_SECTOR_BYTES, (size_t)sectors * BLOCKDEV_SECTOR_BYTES);
    return 0;
}

/* How many of the sectors a power cut lets through: whole blocks, even in the midst of a command. */
static uint32_t sectors_before_cut(struct volume *v, uint32_t sectors)
{
    uint32_t per_block = v->block_bytes / BLOCKDEV_SECTOR_BYTES;
    uint32_t blocks = (sectors + per_block - 1) / per_block;

    v->blocks_written += blocks;
    if (v->blocks_allowed == UINT32_MAX)
        return sectors;
    if (blocks > v->blocks_allowed) {
        sectors = v->blocks_allowed * per_block;
        blocks = v->blocks_allowed;
    }
    v->blocks_allowed -= blocks;
    return sectors;
}

static int ram_write_now(void *ctx, uint64_t sector, const void *buf, uint32_t sectors)
{
    struct volume *v = ctx;

    if ((sector + sectors) * BLOCKDEV_SECTOR_BYTES > v->size)
        die("write beyond the disk");
    v->writes++;
    if (v->writes_fail || (v->write_fails_at >= sector && v->write_fails_at < sector + sectors))
        return -N_EIO;
    sectors = sectors_before_cut(v, sectors);
    memcpy(v->bytes + sector * BLOCKDEV_SECTOR_BYTES, buf, (size_t)sectors * BLOCKDEV_SECTOR_BYTES);
    return 0;
}

static void carry_out(struct volume *v)
{
    for (uint32_t i = 0; i < v->n_started; i++) {
        struct blockdev_command *c = v->started[i].command;

        c->status = v->started[i].write
                        ? ram_write_now(v, v->started[i].sector, v->started[i].buf, v->started[i].sectors)
                        : ram_read_now(v, v->started[i].sector, v->started[i].buf, v->started[i].sectors);
        c->done = true;
    }
    v->n_started = 0;
}

static int ram_read(void *ctx, uint64_t sector, void *buf, uint32_t sectors)
{
    carry_out(ctx);
    return ram_read_now(ctx, sector, buf, sectors);
}

static int ram_write(void *ctx, uint64_t sector, const void *buf, uint32_t sectors)
{
    carry_out(ctx);
    return ram_write_now(ctx, sector, buf, sectors);
}

static void ram_start(void *ctx, bool write, uint64_t sector, void *buf, uint32_t sectors, struct blockdev_command *c)
{
    struct volume *v = ctx;

    if (v->n_started == sizeof v->started / sizeof v->started[0])
        carry_out(v);
    v->started[v->n_started].command = c;
    v->started[v->n_started].write = write;
    v->started[v->n_started].sector = sector;
    v->started[v->n_started].buf = buf;
    v->started[v->n_started++].sectors = sectors;
}

static void ram_wait(void *ctx, struct blockdev_command *c)
{
    (void)c;
    carry_out(ctx);
}

static void log_append(void *ctx, const char *text)
{
    struct volume *v = ctx;
    size_t used = strlen(v->log);

    snprintf(v->log + used, sizeof v->log - used, "%s\n", text);
}

static uint32_t clock_now(void *ctx)
{
    return ((struct volume *)ctx)->now_s++;
}

/* ---- Images ---- */

/* Where a command finds the image. */
static void image_path(const struct volume *v, char path[64])
{
    snprintf(path, 64, "/proc/%d/fd/%d", (int)getpid(), v->image_fd);
}

static void image_new(struct volume *v, size_t bytes)
{
    v->size = bytes;
    v->image_fd = memfd_create("volume", MFD_CLOEXEC);
    if (v->image_fd < 0 || ftruncate(v->image_fd, (off_t)bytes) < 0)
        die("memfd_create");
    v->bytes = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, v->image_fd, 0);
    if (v->bytes == MAP_FAILED)
        die("mmap");
}

static int run(const char *command)
{
    char line[1024];

    snprintf(line, sizeof line, "PATH=$PATH:/sbin:/usr/sbin; %s", command);
    int status = system(line);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

void volume_make(struct volume *v, uint32_t block_bytes, uint32_t kilobytes, const char *options)
{
    char path[64], command[512];

    memset(v, 0, sizeof *v);
    v->block_bytes = block_bytes;
    v->boot_number = 1;
    v->cache_bytes = 256 << 10;
    v->now_s = START_S;
    v->client = VOLUME_CLIENT;
    v->procid = 0;
    v->reply = malloc(REPLY_BYTES);
    image_new(v, (size_t)kilobytes << 10);
    image_path(v, path);
    snprintf(command, sizeof command, "mke2fs -q -t ext2 -F -b %u %s %s %uk >/dev/null 2>&1", block_bytes, options,
             path, kilobytes);
    if (run(command) != 0)
        die(command);
}

void volume_free(struct volume *v)
{
    if (v->server != NULL)
        volume_crash(v);
    munmap(v->bytes, v->size);
    close(v->image_fd);
    free(v->reply);
}

int volume_run(struct volume *v, const char *command)
{
    char path[64], line[512];

    image_path(v, path);
    snprintf(line, sizeof line, command, path, path);
    return run(line);
}

/* Without a shell, as test_crash.c does it some thousand times. */
int volume_fsck(struct volume *v, const char *options)
{
    char path[64], *const argv[] = {"e2fsck", (char *)options, path, NULL};
    posix_spawn_file_actions_t actions;
    pid_t pid;
    int status;

    image_path(v, path);
    posix_spawn_file_actions_init(&actions);
    if (getenv("NSDISK_FSCK_VERBOSE") == NULL)
        for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
            posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_WRONLY, 0);
    if (posix_spawn(&pid, "/sbin/e2fsck", &actions, NULL, argv, environ) != 0 || waitpid(pid, &status, 0) < 0)
        die("/sbin/e2fsck");
    posix_spawn_file_actions_destroy(&actions);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

int volume_try_mount(struct volume *v)
{
    struct ext2_env env = {.log = {log_append, v}, .now_s = clock_now, .ctx = v};
    struct blockdev dev = {.read = ram_read, .write = ram_write, .sectors = v->size / BLOCKDEV_SECTOR_BYTES, .ctx = v};
    char text[256];

    if (v->starts) {
        dev.start = ram_start;
        dev.wait = ram_wait;
    }
    v->write_fails_at = UINT32_MAX;
    v->log[0] = '\0';
    v->blocks_allowed = UINT32_MAX;
    v->read_fails_from = UINT32_MAX;
    v->server = server_new(VOLUME_NODE, v->boot_number++, &env);
    int error = server_mount(v->server, 0, &dev, "df00", v->cache_bytes, &v->data_cache, text, sizeof text);
    if (error < 0) {
        log_append(v, text);
        volume_crash(v);
    }
    return error;
}

void volume_mount(struct volume *v)
{
    if (volume_try_mount(v) < 0) {
        fprintf(stderr, "mount: %s", v->log);
        exit(99);
    }
}

int volume_unmount(struct volume *v)
{
    int error = server_shutdown(v->server);

    volume_crash(v);
    return error;
}

void volume_crash(struct volume *v)
{
    server_free(v->server);
    v->server = NULL;
}

/* ---- The client ---- */

int32_t volume_request(struct volume *v, uint32_t type, struct file_request r, const char *name, const char *name2,
                       const void *data)
{
    static uint32_t seq;
    struct file_reply reply;

    r.seq = ++seq;
    r.name_bytes = name == NULL ? 0 : (uint16_t)strlen(name);
    r.name2_bytes = name2 == NULL ? 0 : (uint16_t)strlen(name2);
    size_t n = sizeof r + r.name_bytes + r.name2_bytes + (data == NULL ? 0 : r.bytes);
    uint8_t *message = malloc(n); /* of its exact size, so that reading beyond it is caught */
    memcpy(message, &r, sizeof r);
    if (name != NULL)
        memcpy(message + sizeof r, name, r.name_bytes);
    if (name2 != NULL)
        memcpy(message + sizeof r + r.name_bytes, name2, r.name2_bytes);
    if (data != NULL)
        memcpy(message + sizeof r + r.name_bytes + r.name2_bytes, data, r.bytes);
    v->reply_bytes = serve_request(v->server, v->client, TAG(type, v->procid, 0), message, n, v->reply, REPLY_BYTES);
    free(message);
    memcpy(&reply, v->reply, sizeof reply);
    if (reply.seq != seq)
        die("a reply has another request's number");
    return reply.status;
}

static void payload(const struct volume *v, void *to, size_t bytes)
{
    memcpy(to, v->reply + sizeof(struct file_reply), bytes);
}

int32_t v_open(struct volume *v, const char *name, uint32_t flags, uint64_t *sfid)
{
    struct file_opened opened;
    int32_t status = volume_request(v, N_FOPEN, (struct file_request){.flags = flags, .mode = 0644}, name, NULL, NULL);

    if (status == 0) {
        payload(v, &opened, sizeof opened);
        *sfid = opened.sfid;
    }
    return status;
}

int32_t v_close(struct volume *v, uint64_t sfid)
{
    return volume_request(v, N_FCLOSE, (struct file_request){.sfid = sfid}, NULL, NULL, NULL);
}

int32_t v_read(struct volume *v, uint64_t sfid, uint64_t offset, void *buf, uint32_t bytes)
{
    struct file_request r = {.sfid = sfid, .offset = offset, .bytes = bytes};
    int32_t n = volume_request(v, N_FREAD, r, NULL, NULL, NULL);

    if (n > 0)
        payload(v, buf, (size_t)n);
    return n;
}

int32_t v_write(struct volume *v, uint64_t sfid, uint64_t offset, const void *buf, uint32_t bytes)
{
    struct file_request r = {.sfid = sfid, .offset = offset, .bytes = bytes};

    return volume_request(v, N_FWRITE, r, NULL, NULL, buf);
}

int32_t v_append(struct volume *v, uint64_t sfid, const void *buf, uint32_t bytes)
{
    struct file_request r = {.sfid = sfid, .offset = 12345, .bytes = bytes, .flags = N_O_APPEND};

    return volume_request(v, N_FWRITE, r, NULL, NULL, buf);
}

int32_t v_truncate(struct volume *v, uint64_t sfid, uint64_t size)
{
    return volume_request(v, N_FTRUNCATE, (struct file_request){.sfid = sfid, .offset = size}, NULL, NULL, NULL);
}

int32_t v_fsync(struct volume *v, uint64_t sfid)
{
    return volume_request(v, N_FSYNC, (struct file_request){.sfid = sfid}, NULL, NULL, NULL);
}

int32_t v_fstat(struct volume *v, uint64_t sfid, struct file_stat *st)
{
    int32_t status = volume_request(v, N_FSTAT, (struct file_request){.sfid = sfid}, NULL, NULL, NULL);

    if (status == 0)
        payload(v, st, sizeof *st);
    return status;
}

static int32_t with_names(struct volume *v, uint32_t type, const char *name, const char *name2)
{
    return volume_request(v, type, (struct file_request){.mode = 0755}, name, name2, NULL);
}

int32_t v_stat(struct volume *v, const char *name, struct file_stat *st)
{
    int32_t status = with_names(v, N_FSTATNAME, name, NULL);

    if (status == 0)
        payload(v, st, sizeof *st);
    return status;
}

int32_t v_unlink(struct volume *v, const char *name)
{
    return volume_request(v, N_FUNLINK, (struct file_request){.mode = 0}, name, NULL, NULL);
}

int32_t v_rename(struct volume *v, const char *from, const char *to)
{
    return with_names(v, N_FRENAME, from, to);
}

int32_t v_link(struct volume *v, const char *from, const char *to)
{
    return with_names(v, N_FLINK, from, to);
}

int32_t v_mkdir(struct volume *v, const char *name)
{
    return with_names(v, N_FMKDIR, name, NULL);
}

int32_t v_rmdir(struct volume *v, const char *name)
{
    return with_names(v, N_FRMDIR, name, NULL);
}

int32_t v_readdir(struct volume *v, uint64_t sfid, uint64_t offset, uint32_t bytes)
{
    struct file_request r = {.sfid = sfid, .offset = offset, .bytes = bytes};

    return volume_request(v, N_FREADDIR, r, NULL, NULL, NULL);
}

int32_t v_statfs(struct volume *v, struct file_statfs *st)
{
    int32_t status = with_names(v, N_FSTATFS, NULL, NULL);

    if (status == 0)
        payload(v, st, sizeof *st);
    return status;
}

int32_t v_exit(struct volume *v)
{
    return with_names(v, N_FEXIT, NULL, NULL);
}

int32_t v_put(struct volume *v, const char *name, const void *bytes, uint32_t n)
{
    uint64_t sfid;
    int32_t status = v_open(v, name, N_O_RDWR | N_O_CREAT | N_O_TRUNC, &sfid);

    if (status < 0)
        return status;
    status = v_write(v, sfid, 0, bytes, n);
    int32_t closed = v_close(v, sfid);
    return status < 0 ? status : closed < 0 ? closed : status;
}

int v_has(struct volume *v, const char *name, const void *bytes, uint32_t n)
{
    uint64_t sfid;
    uint8_t *buf = malloc(n + 1u);
    int has = v_open(v, name, N_O_RDONLY, &sfid) == 0;

    if (has) {
        has = v_read(v, sfid, 0, buf, n + 1) == (int32_t)n && memcmp(buf, bytes, n) == 0;
        v_close(v, sfid);
    }
    free(buf);
    return has;
}

void fill_pattern(void *buf, size_t bytes, uint32_t seed)
{
    uint64_t state = seed;
    uint8_t *at = buf;

    for (size_t i = 0; i < bytes; i++)
        at[i] = (uint8_t)random_next(&state);
}

uint32_t random_next(uint64_t *state)
{
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(*state >> 33);
}
