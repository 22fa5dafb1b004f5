#define _GNU_SOURCE
#include "emu/qemu/processors.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static char space[64];
static cpu_set_t two, all;

static void set_up(void)
{
    snprintf(space, sizeof space, "ncube-test-processors-%d", (int)getpid());
    CPU_ZERO(&two);
    CPU_SET(0, &two);
    CPU_SET(5, &two);
    CPU_ZERO(&all);
    for (int i = 0; i < CPU_SETSIZE; i++)
        CPU_SET(i, &all);
}

TestSuite(processors, .init = set_up);

static struct claim claim(int here)
{
    return processors_claim(space, &two, here);
}

Test(processors, are_shared_alike_by_runs_that_all_begin_on_one)
{
    struct claim c[8];
    int on_0 = 0;

    for (int i = 0; i < 8; i++) {
        c[i] = claim(0);
        on_0 += c[i].processor == 0;
        cr_expect_eq(c[i].rank, (uint32_t)i / 2, "run %d", i);
        cr_expect_eq(on_0, i / 2 + 1, "run %d: %d on processor 0", i, on_0);
    }
    for (int i = 0; i < 8; i++)
        processors_release(&c[i]);
}

Test(processors, a_run_alone_stays_where_it_is)
{
    for (int here = 0; here <= 5; here += 5) {
        struct claim c = claim(here);

        cr_expect_eq(c.processor, here);
        cr_expect_eq(c.rank, 0);
        cr_expect_not(processors_reclaim(&c, &two), "nothing is better");
        processors_release(&c);
    }
}

Test(processors, that_are_not_allowed_are_left)
{
    struct claim c = claim(3); /* only 0 and 5 are */

    cr_expect_eq(c.processor, 0);
    processors_release(&c);
}

Test(processors, a_claim_that_is_given_up_twice_closes_nothing_else)
{
    struct claim c = claim(0);

    processors_release(&c);
    int fd = dup(STDIN_FILENO); /* gets the claim's descriptor */
    processors_release(&c);
    cr_expect_geq(fcntl(fd, F_GETFD), 0, "descriptor %d has been closed", fd);
    close(fd);
}

Test(processors, a_run_goes_where_there_is_room_and_only_there)
{
    struct claim a = claim(0), b = claim(0), c = claim(0);

    cr_assert(a.processor == 0 && b.processor == 5 && c.processor == 0 && c.rank == 1);
    cr_expect_not(processors_reclaim(&c, &two), "there is no room");
    processors_release(&b);
    cr_expect(processors_reclaim(&c, &two));
    cr_expect(c.processor == 5 && c.rank == 0);
    b = claim(0);
    cr_expect(b.processor == 0 && b.rank == 1, "its old place is free");
    processors_release(&a);
    cr_expect_not(processors_reclaim(&b, &two), "there is room where it is");
    cr_expect(b.processor == 0 && b.rank == 0);
    processors_release(&b);
    processors_release(&c);
}

Test(processors, more_runs_than_ranks_have_no_claim_and_a_processor)
{
    struct claim c[2 * PROCESSORS_RANKS + 1];

    for (size_t i = 0; i < 2 * PROCESSORS_RANKS; i++)
        c[i] = claim(0);
    c[2 * PROCESSORS_RANKS] = claim(5);
    cr_expect(c[2 * PROCESSORS_RANKS].fd < 0 && c[2 * PROCESSORS_RANKS].processor == 5);
    processors_release(&c[3]);
    processors_reclaim(&c[2 * PROCESSORS_RANKS], &two);
    cr_expect(c[2 * PROCESSORS_RANKS].fd >= 0, "one has become free");
    for (size_t i = 0; i <= 2 * PROCESSORS_RANKS; i++)
        processors_release(&c[i]);
}

Test(processors, of_a_run_that_is_killed_are_free_at_once)
{
    pid_t child = fork();

    if (child == 0) {
        claim(0);
        claim(0);
        raise(SIGKILL);
    }
    cr_assert_eq(waitpid(child, NULL, 0), child);
    struct claim c = claim(0);
    cr_expect_eq(c.rank, 0);
    processors_release(&c);
}

Test(processors, one_is_claimed_alone_only_if_no_run_is_there)
{
    struct claim run = claim(0), alone = processors_claim_alone(space, 5), again = processors_claim_alone(space, 5);

    cr_expect_lt(processors_claim_alone(space, 0).fd, 0, "a run is on 0");
    cr_expect_geq(alone.fd, 0);
    cr_expect_eq(alone.processor, 5);
    cr_expect_lt(again.fd, 0, "it is claimed already");
    struct claim other = claim(5);
    cr_expect_eq(other.rank, 1, "a run that begins later is the second one anywhere");
    processors_release(&alone);
    cr_expect_not(processors_reclaim(&other, &two), "it stays there,");
    cr_expect_eq(other.rank, 0, "and is the first one now");
    processors_release(&other);
    processors_release(&run);
}
