/* A program that takes more than half of what a node of 1 MB has for programs. */
#include "check.h"

static char much[300000] = "data";

static void starts(void)
{
    check(strcmp(much, "data") == 0, "%.10s", much);
    check_equal(nsync(1), 0);
}

static const struct test_case cases[] = {
    {"starts", starts},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    return run_case(cases, argc, argv);
}
