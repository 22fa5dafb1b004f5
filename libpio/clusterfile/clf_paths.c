/* Names: questions to the metadata manager (clf_client.h). */
#include <stdlib.h>
#include <string.h>

#include "libpio/clusterfile/clf_client.h"
#include "vertex/contract/errors.h"

/* Asks about a name. named and out may be NULL; *out is made where the answer is about a file. */
static int ask(enum clf_name_op op, const char *name, const char *second, uint64_t arg, struct clf_named *named,
               struct clf_layout **out)
{
    const size_t n = strlen(name), n2 = strlen(second);
    const struct clf_request r = {.op = (uint16_t)op, .bytes = (uint32_t)n, .second = (uint16_t)n2, .offset = arg};
    char *text = malloc(n + n2 + CLF_TEXT_BYTES + 1), *layout = text ? text + n + n2 : NULL;
    long got = !text ? -N_ENOMEM : clf_machine()->n == 0 ? -N_ENODEV : n > FILE_NAME_MAX_BYTES ? -N_ENAMETOOLONG : 0;

    if (got == 0) {
        memcpy(text, name, n);
        memcpy(text + n, second, n2);
        memset(layout, 0, CLF_TEXT_BYTES + 1);
        got = clf_end(clf_start(clf_machine()->number, N_CLF_NAME, r, text, n + n2), named, named ? sizeof *named : 0,
                      named ? layout : NULL, named ? CLF_TEXT_BYTES : 0);
    }
    if (got >= 0 && out && named->handle != 0)
        got = clf_layout_parse(layout, strlen(layout), out);
    free(text);
    return got < 0 ? (int)got : 0;
}

int clf_name_open(const char *name, uint64_t flags_and_mode, const char *layout, struct clf_named *named,
                  struct clf_layout **out)
{
    return ask(CLF_NAME_OPEN, name, layout, flags_and_mode, named, out);
}

int clf_name_stat(const char *name, struct clf_named *named, struct clf_layout **out)
{
    return ask(CLF_NAME_STAT, name, "", 0, named, out);
}

/* The file has no name any more: its parts go. */
static int remove_parts(uint64_t handle, const struct clf_layout *l)
{
    struct clf_question *q = calloc(l->volumes, sizeof *q);

    if (!q)
        return -N_ENOMEM;
    for (uint32_t i = 0; i < l->volumes; i++)
        q[i] = (struct clf_question){.volume = l->volume[i], .type = N_CLF_FREE, .r = {.handle = handle}};
    int error = clf_ask(q, l->volumes);
    free(q);
    return error;
}

static int ask_and_remove(enum clf_name_op op, const char *name, const char *second)
{
    struct clf_named named = {.handle = 0};
    struct clf_layout *l = NULL;
    int error = ask(op, name, second, 0, &named, &l);

    if (error == 0 && named.handle != 0)
        error = remove_parts(named.handle, l);
    clf_layout_free(l);
    return error;
}

int clf_name_unlink(const char *name)
{
    return ask_and_remove(CLF_NAME_UNLINK, name, "");
}

int clf_name_rename(const char *from, const char *to)
{
    return strlen(to) > FILE_NAME_MAX_BYTES ? -N_ENAMETOOLONG : ask_and_remove(CLF_NAME_RENAME, from, to);
}

int clf_name_mkdir(const char *name, uint32_t mode)
{
    return ask(CLF_NAME_MKDIR, name, "", mode, NULL, NULL);
}

int clf_name_rmdir(const char *name)
{
    return ask(CLF_NAME_RMDIR, name, "", 0, NULL, NULL);
}

int clf_name_list(const char *folder, uint64_t *at, struct file_dirent *entry, char name[256])
{
    uint8_t records[CLF_LIST_BYTES];
    const size_t n = strlen(folder);
    const struct clf_request r = {.op = CLF_NAME_LIST, .bytes = (uint32_t)n, .offset = *at};
    long bytes = clf_end(clf_start(clf_machine()->number, N_CLF_NAME, r, folder, n), NULL, 0, records, sizeof records);

    return server_folder_next(records, bytes, at, entry, name);
}
