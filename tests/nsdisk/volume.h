/*
 * A volume for tests: an ext2 image made by mke2fs, a file in memory behind a struct blockdev that counts and cuts, a
 * server on it, and the requests of a client as functions. e2fsck judges the image, in its place.
 *
 * Every function fails the process with one line when the test's own machinery fails (mke2fs missing, no memory).
 * The client functions return the reply's status.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nsdisk/serve/serve.h"
#include "vertex/contract/errors.h"
#include "vertex/contract/proto.h"

#define VOLUME_NODE   0x4030u
#define VOLUME_CLIENT 3u /* node of the client that the functions speak for */

struct volume {
    uint8_t *bytes; /* of the image, mapped: commands that are run on it change them */
    size_t size;
    int image_fd;
    struct server *server; /* NULL: not mounted */
    uint64_t boot_number;
    size_t cache_bytes;
    struct drive_cache data_cache; /* kb = 0: none */
    uint32_t now_s;
    /* the disk */
    uint32_t reads, writes; /* commands */
    uint32_t block_bytes;
    uint32_t blocks_written;
    uint32_t blocks_allowed; /* after so many more, writes do nothing: a power cut; UINT32_MAX: never */
    bool writes_fail;
    uint32_t write_fails_at; /* so do writes of this sector; UINT32_MAX: none */
    bool starts; /* commands can be started: they are carried out when the next one is given or waited for */
    struct {
        struct blockdev_command *command;
        uint64_t sector;
        void *buf;
        uint32_t sectors;
        bool write;
    } started[8];
    uint32_t n_started;
    uint32_t read_fails_from; /* sectors at or beyond cannot be read; UINT32_MAX: all can */
    /* the log */
    char log[4096]; /* lines since volume_mount */
    /* the last reply */
    uint8_t *reply;
    size_t reply_bytes;
    uint32_t client; /* node */
    uint32_t procid;
};

#define VOLUME_CACHES 10u
/* Settings of the data cache under which tests run: the first is none, the last has no name. */
struct volume_cache {
    const char *name;
    struct drive_cache set;
    bool starts; /* the disk's commands run while the server goes on */
};
extern const struct volume_cache volume_caches[VOLUME_CACHES + 1];
/* From the next mount on. */
void volume_set_cache(struct volume *v, const struct volume_cache *cache);

/* options: more arguments for mke2fs, "" for none. */
void volume_make(struct volume *v, uint32_t block_bytes, uint32_t kilobytes, const char *options);
void volume_free(struct volume *v);
/* Returns server_mount's result; the text is in v->log on failure. */
int volume_try_mount(struct volume *v);
void volume_mount(struct volume *v);
int volume_unmount(struct volume *v);
/* Unmounts without writing anything back. */
void volume_crash(struct volume *v);

/* Runs e2fsck with these options on the image, which it may change. Returns its exit status. */
int volume_fsck(struct volume *v, const char *options);
/* Runs a command with the image's path for each %s (at most two), e.g. debugfs. */
int volume_run(struct volume *v, const char *command);

/* One request; a->name may be NULL. The reply is in v->reply. */
int32_t volume_request(struct volume *v, uint32_t type, struct file_request r, const char *name, const char *name2,
                       const void *data);

int32_t v_open(struct volume *v, const char *name, uint32_t flags, uint64_t *sfid);
int32_t v_close(struct volume *v, uint64_t sfid);
int32_t v_read(struct volume *v, uint64_t sfid, uint64_t offset, void *buf, uint32_t bytes);
int32_t v_write(struct volume *v, uint64_t sfid, uint64_t offset, const void *buf, uint32_t bytes);
int32_t v_append(struct volume *v, uint64_t sfid, const void *buf, uint32_t bytes);
int32_t v_truncate(struct volume *v, uint64_t sfid, uint64_t size);
int32_t v_fsync(struct volume *v, uint64_t sfid);
int32_t v_fstat(struct volume *v, uint64_t sfid, struct file_stat *st);
int32_t v_stat(struct volume *v, const char *name, struct file_stat *st);
int32_t v_unlink(struct volume *v, const char *name);
int32_t v_rename(struct volume *v, const char *from, const char *to);
int32_t v_link(struct volume *v, const char *from, const char *to);
int32_t v_mkdir(struct volume *v, const char *name);
int32_t v_rmdir(struct volume *v, const char *name);
int32_t v_readdir(struct volume *v, uint64_t sfid, uint64_t offset, uint32_t bytes);
int32_t v_statfs(struct volume *v, struct file_statfs *st);
int32_t v_exit(struct volume *v);

/* Whole files, for brevity: make or replace one; compare one, returning 1 if its contents are these. */
int32_t v_put(struct volume *v, const char *name, const void *bytes, uint32_t n);
int v_has(struct volume *v, const char *name, const void *bytes, uint32_t n);

/* Bytes that differ from place to place and from seed to seed. */
void fill_pattern(void *buf, size_t bytes, uint32_t seed);
/* A small generator of our own, so that a seed means the same everywhere. */
uint32_t random_next(uint64_t *state);
