#include "emu/state/outputs.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define READER_MS      2000 /* for the reader of a pipe to come */
#define READER_STEP_MS 10

void machine_reads(struct machine *m, const char *path, const char *what)
{
    inputs_add(&m->inputs, path, "%s", what);
}

int machine_check_output(struct machine *m, const char *option, const char *path)
{
    const char *what = inputs_find(&m->inputs, path);

    if (what)
        return machine_complain(m, "%s: this is %s, which %s would overwrite; give another file", path, what, option);
    return 0;
}

static bool is_pipe(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISFIFO(st.st_mode);
}

/* Opens a file to write to, whose opening does not block: a pipe's would, until it has a reader. Returns -1 with
 * errno. */
static int open_at_once(const char *path)
{
    return open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);
}

/* The reader of a pipe may be started at the same time as ncube, so it has READER_MS to come; the host tells of its
 * coming only to those whose opening blocks. Returns NULL with the reason complained of. */
static FILE *open_output(struct machine *m, const char *path)
{
    int fd = open_at_once(path);

    for (int ms = 0; fd < 0 && errno == ENXIO && is_pipe(path) && ms < READER_MS; ms += READER_STEP_MS) {
        poll(NULL, 0, READER_STEP_MS);
        fd = open_at_once(path);
    }
    if (fd < 0 && errno == ENXIO && is_pipe(path))
        machine_complain(m, "%s: nothing has opened this pipe to read for 2 s; start its reader before ncube", path);
    else if (fd < 0)
        machine_complain(m, "%s: %s", path, strerror(errno));
    if (fd < 0)
        return NULL;
    fcntl(fd, F_SETFL, O_WRONLY);
    FILE *file = fdopen(fd, "w");
    if (!file) {
        machine_complain(m, "%s: %s", path, strerror(errno));
        close(fd);
    }
    return file;
}

FILE *machine_open_output(struct machine *m, const char *option, const char *path)
{
    return machine_check_output(m, option, path) == 0 ? open_output(m, path) : NULL;
}
