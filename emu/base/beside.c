#include "emu/base/beside.h"

#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "emu/base/memory.h"

static const char *program = "/proc/self/exe";
static pid_t command; /* 0: this process */

void beside_set_program(const char *path, pid_t process)
{
    program = path;
    command = process;
}

const char *beside_program(void)
{
    return program;
}

pid_t beside_process(void)
{
    return command != 0 ? command : getpid();
}

char *beside_find(const char *name)
{
    char self[PATH_MAX];
    ssize_t n = readlink(program, self, sizeof self - 1);

    if (n > 0)
        self[n] = '\0';
    else
        snprintf(self, sizeof self, "%s", program); /* no link */
    return memory_print("%s/%s", dirname(dirname(self)), name);
}
