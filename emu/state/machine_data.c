#include "emu/state/machine_data.h"

#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "emu/base/oneline.h"
#include "emu/base/progress.h"
#include "emu/job/where.h"

uint64_t machine_work_ns(void *machine)
{
    const struct machine *m = machine;
    uint64_t ns = 0;

    for (uint32_t c = 0; c < m->cabinets; c++)
        ns += cabinet_work_ns(&m->cabinet[c]);
    return ns;
}

bool machine_find_symbol(const struct machine *m, const char *name, uint64_t *va)
{
    char path[PATH_MAX + 64];

    snprintf(path, sizeof path, "%s/vertex.elf", m->options->lib);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool found = fd >= 0 && where_find(fd, name, va);
    if (fd >= 0)
        close(fd);
    return found;
}

void machine_read_memory(const struct machine *m, uint32_t index, uint64_t addr, void *to, size_t bytes)
{
    if (m->options->far)
        m->options->far->memory.read((void *)m, index, addr, to, bytes);
    else
        memcpy(to, cabinet_window(&m->cabinet[machine_cabinet_of(m, index)], machine_hart_of(m, index)) + addr, bytes);
}

bool machine_bring_page(const struct machine *m, uint32_t index, uint64_t at)
{
    const struct cabinet *c = &m->cabinet[machine_cabinet_of(m, index)];
    uint64_t window = (uint64_t)(cabinet_window(c, machine_hart_of(m, index)) - c->ram),
             page = at - at % NODE_PAGE_BYTES;

    if (!m->options->far)
        return false;
    if (page >= window && page - window < c->ram_bytes && page - window != NCU_MAILBOX_PA)
        machine_read_memory(m, index, page - window, c->ram + page, NODE_PAGE_BYTES);
    return true;
}

static void say(const char *format, va_list arguments)
{
    char text[2 * MACHINE_ERROR_BYTES];

    vsnprintf(text, sizeof text, format, arguments);
    fflush(stdout);
    progress_erase();
    fprintf(stderr, "ncube: %s\n", one_line(text));
}

void machine_say(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    say(format, arguments);
    va_end(arguments);
}

void machine_say_more(void *unused, const char *line)
{
    (void)unused;
    fprintf(stderr, "  %s\n", line);
}

int machine_complain(struct machine *m, const char *format, ...)
{
    char text[2 * MACHINE_ERROR_BYTES]; /* m->error may be among the arguments */
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (m->options->silent)
        snprintf(m->error, sizeof m->error, "%.*s", (int)sizeof m->error - 1, text);
    else
        machine_say("%s", text);
    m->failed = true;
    return -1;
}
