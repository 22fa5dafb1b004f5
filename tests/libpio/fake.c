/* Volumes in memory behind libpio's transport (fake.h): what tests do to them, and ask of them. */
#include "tests/libpio/fake_state.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "tests/libpio/random_pattern.h"

static int choose_first(int options)
{
    (void)options;
    return 0;
}

void fake_reset(void)
{
    for (int i = 0; i < INODES; i++)
        free(inodes[i].data);
    memset(inodes, 0, sizeof inodes);
    memset(names, 0, sizeof names);
    memset(fds, 0, sizeof fds);
    for (int i = 0; i < n_requests; i++)
        free(requests[i].data);
    n_requests = 0;
    counts = (struct fake_counts){0};
    choose_node = choose_first;
    lose_in = at_call_in = -1;
    locked = false;
    for (int k = 0; k < FAKE_VOLUMES; k++)
        volumes[k] = (struct volume){.present = true,
                                     .node = 0x4000 + k,
                                     .capacity = INT64_MAX / 4,
                                     .largest = INT64_MAX / 4,
                                     .fail_in = -1,
                                     .refuse_in = -1};
}

void fake_set_node(int volume, int node)
{
    volumes[volume].node = node;
}

void fake_set_capacity(int volume, int64_t bytes)
{
    volumes[volume].capacity = bytes;
}

void fake_set_largest(int volume, int64_t bytes)
{
    volumes[volume].largest = bytes;
}

void fake_fail_request(int volume, int nth, int error)
{
    volumes[volume].fail_in = nth;
    volumes[volume].fail_error = error;
}

void fake_refuse_request(int volume, int nth, int error)
{
    volumes[volume].refuse_in = nth;
    volumes[volume].refuse_error = error;
}

void fake_lose_messages(int nth)
{
    lose_in = nth;
}

void fake_set_read_only(int volume, bool read_only)
{
    volumes[volume].read_only = read_only;
}

void fake_fail_calls(int volume, int error)
{
    volumes[volume].calls_error = error;
}

void fake_refuse_views(int error)
{
    view_error = error;
}

void fake_remove_volume(int volume)
{
    volumes[volume].present = false;
}

void fake_exchange_volumes(int a, int b)
{
    for (int i = 0; i < NAMES; i++)
        if (names[i].path[0] && (names[i].volume == a || names[i].volume == b))
            names[i].volume = a + b - names[i].volume;
    for (int i = 0; i < INODES; i++)
        if (inodes[i].data && (inodes[i].volume == a || inodes[i].volume == b))
            inodes[i].volume = a + b - inodes[i].volume;
}

void fake_set_chooser(int (*choose)(int options))
{
    choose_node = choose;
}

static uint64_t *random_state;

static int choose_randomly(int options)
{
    return (int)random_below(random_state, (uint32_t)options);
}

void fake_answer_randomly(uint64_t *state)
{
    random_state = state;
    choose_node = choose_randomly;
}

void fake_at_call(int nth, void (*action)(void))
{
    at_call_in = nth;
    at_call_action = action;
}

struct fake_counts *fake_counts(void)
{
    return &counts;
}

void fake_put_file(const char *path, const void *bytes, size_t n)
{
    int fd = fake_open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

    fake_write_bytes(&inodes[fds[fd].inode], 0, bytes, n);
    fake_close(fd);
}

int64_t fake_get_file(const char *path, void *bytes, size_t n)
{
    const char *name;
    int volume = fake_split(path, &name);
    struct name *found = volume < 0 ? NULL : fake_find_name(volume, name);

    if (!found)
        return -1;
    fake_read_bytes(&inodes[found->inode], 0, bytes, n);
    return inodes[found->inode].size;
}

void fake_remove_file(const char *path)
{
    fake_unlink(path);
}

int fake_count_files(void)
{
    int n = 0;

    for (int i = 0; i < NAMES; i++)
        n += names[i].path[0] != '\0';
    return n;
}

static uint64_t mix(uint64_t hash, const void *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ ((const uint8_t *)bytes)[i]) * 1099511628211u;
    return hash;
}

uint64_t fake_digest(void)
{
    uint64_t sum = 0;

    for (int i = 0; i < NAMES; i++) {
        const struct name *name = &names[i];
        uint64_t hash = mix(14695981039346656037u, name->path, strlen(name->path));

        if (!name->path[0])
            continue;
        hash = mix(hash, &name->volume, sizeof name->volume);
        if (name->inode != FOLDER)
            hash = mix(hash, inodes[name->inode].data, (size_t)inodes[name->inode].size);
        sum += hash;
    }
    return sum;
}
