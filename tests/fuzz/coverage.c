/* The steps that inputs have taken. The code that calls this is compiled with -fsanitize-coverage=trace-pc; this file
 * is not. */
#include "tests/fuzz/coverage.h"

#define STEPS (1u << 18)

extern const char __executable_start;

static uint8_t step[STEPS];
static uint32_t seen, last;

void __sanitizer_cov_trace_pc(void);

/* From where the program has been loaded, so that two runs see the same. */
void __sanitizer_cov_trace_pc(void)
{
    uint32_t here = (uint32_t)((uintptr_t)__builtin_return_address(0) - (uintptr_t)&__executable_start);
    uint32_t place = (here * 2654435761u ^ last) % STEPS;

    last = here;
    seen += !step[place];
    step[place] = 1;
}

void coverage_begin(void)
{
    last = 0;
}

uint32_t coverage_seen(void)
{
    return seen;
}
