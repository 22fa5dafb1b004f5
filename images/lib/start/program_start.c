/*
 * From _start to main and to exit: constructors, main, destructors. The linker script gives the arrays' ends.
 */
#include <stdlib.h>

#include "images/lib/devices/ndevice_switch.h"
#include "vertex/contract/system.h"

typedef void (*start_function)(void);

extern start_function __preinit_array_start[], __preinit_array_end[];
extern start_function __init_array_start[], __init_array_end[];
extern start_function __fini_array_start[], __fini_array_end[];
extern char **environ;

int main(int argc, char **argv, char **envp);
_Noreturn void start_program(int argc, char **argv, const struct load_pipes *pipes,
                             const struct abi_inherited *inherited, uint32_t n_inherited);

static void run_all(start_function *first, start_function *end)
{
    while (first < end)
        (*first++)();
}

static void run_destructors(void)
{
    for (start_function *f = __fini_array_end; f > __fini_array_start;)
        (*--f)();
}

void start_program(int argc, char **argv, const struct load_pipes *pipes, const struct abi_inherited *inherited,
                   uint32_t n_inherited)
{
    if (inherited)
        ndevice_inherit(inherited, n_inherited);
    else
        ndevice_start();
    program_pipes = pipes;
    if (pipes && pipes->fds > 0)
        pipes_start(pipes);
    atexit(run_destructors);
    run_all(__preinit_array_start, __preinit_array_end);
    run_all(__init_array_start, __init_array_end);
    exit(main(argc, argv, environ));
}
