/* The front end: mounting, loads, ends, failures, jobs that are refused, shutdown. */
#include "emu/front/front.h"

#include <criterion/criterion.h>

#include "emu/hostfs/console.h"
#include "tests/emu/front_play.h"
#include "vertex/contract/errors.h"
#include "vertex/contract/machine.h"
#include "vertex/contract/proto.h"
#include "vertex/contract/system.h"

TestSuite(front, .init = set_up, .fini = tear_down);

/* ---- A whole run ---- */

Test(front, a_program_is_loaded_after_all_mounts_and_stopped_after_all_exits)
{
    static const int statuses[] = {0, 3, 2, 0};

    start();
    expect_wait("the front end waits for 3 of 3 volumes to be mounted, first df00");
    mounted(IO_1, 1, 0, "");
    mounted(IO_0, 0, 0, "");
    cr_expect_eq(n_sent, 0, "nothing is loaded before every drive is mounted");
    expect_wait("the front end waits for 1 of 3 volumes to be mounted, first df01");
    mounted(IO_1, 0, 0, "");

    cr_expect_eq(count_sent(N_LOAD_BEGIN, 0), 1);
    cr_expect_eq(count_sent(N_LOAD_DATA, 0), 3);
    cr_expect_eq(count_sent(N_LOAD_START, 0), 1);
    cr_expect_eq(n_sent, 5, "nothing goes to other nodes");
    const struct load_begin *begin = (const void *)sent[0].head;
    cr_expect_eq(begin->dim, 2);
    cr_expect_eq(begin->volumes, 3);
    cr_expect_eq(begin->argc, 2);
    cr_expect_eq(begin->stack_bytes, 256 << 10, "the default");

    for (uint32_t i = 0; i < 4; i++) {
        cr_expect_eq(count_type(N_SHUTDOWN), 0);
        exited(i, statuses[i], EXIT_NORMAL, "");
        if (i == 0)
            expect_wait("the front end waits for 3 of 4 nodes to exit, first node 1");
    }
    expect_wait("the front end waits for 2 nsdisk to shut down, first on I/O node 0 of board 3");
    shut_all_down();
    expect_wait("the front end waits for nothing");
    cr_expect_eq(status(), 3, "the highest");
    cr_expect_str_empty(take_err());
}

Test(front, a_machine_without_drives_needs_no_mounts)
{
    static struct topo bare = {.dim = 0, .ram_bytes = NODE_RAM_DEFAULT_BYTES};

    machine.topo = &bare;
    options.dim = 0;
    start();
    cr_expect_eq(count_sent(N_LOAD_START, 0), 1);
    exited(0, 256 + 7, EXIT_NORMAL, "");
    cr_expect(front_finished(front));
    cr_expect_eq(status(), 7, "eight bits, as a shell sees it");
}

/* ---- Failures ---- */

Test(front, a_fault_is_told_once_and_ends_the_other_nodes)
{
    run_until_loaded();
    exited(2, 5, EXIT_NORMAL, "");
    exited(1, 0, EXIT_FAULT, "node 1: store to 0x8 at pc 0x10044\n");
    cr_expect_str_eq(take_err(), "node 1: store to 0x8 at pc 0x10044\n");
    cr_expect_eq(count_type(N_KILL), 2);
    cr_expect_eq(count_sent(N_KILL, 0), 1);
    cr_expect_eq(count_sent(N_KILL, 3), 1);
    expect_wait("the front end waits for 2 of 4 nodes to confirm that they were killed, first node 0");
    exited(3, 0, EXIT_FAULT, "node 3: it faulted as well\n");
    exited(0, 0, EXIT_KILLED, "");
    cr_expect_eq(count_type(N_KILL), 2);
    cr_expect_str_empty(take_err());
    shut_all_down();
    cr_expect_eq(status(), 1);
}

Test(front, a_load_that_fails_is_told_with_its_reason)
{
    run_until_loaded();
    exited(3, -N_ENOMEM, EXIT_LOAD, "");
    const char *told = take_err();
    cr_expect_not_null(strstr(told, "/prog can't be loaded on node 3: out of memory\n"), "%s", told);
    cr_expect_eq(count_type(N_KILL), 3);
    for (uint32_t i = 0; i < 3; i++)
        exited(i, 0, EXIT_KILLED, "");
    shut_all_down();
    cr_expect_eq(status(), 1);
}

Test(front, a_failed_mount_is_told_and_the_others_are_shut_down)
{
    start();
    mounted(IO_0, 0, -N_EIO, "block 3 is no group descriptor");
    cr_expect_str_eq(take_err(), "ncube: volume df00 can't be mounted: block 3 is no group descriptor\n");
    cr_expect_eq(n_sent, 0, "the other mounts are awaited");
    mounted(IO_1, 0, 0, "");
    mounted(IO_1, 1, -N_ENOMEM, "");
    cr_expect_str_eq(take_err(), "ncube: volume df02 can't be mounted: out of memory\n");
    cr_expect_eq(n_sent, 1);
    cr_expect_eq(count_sent(N_SHUTDOWN, IO_1), 1, "it has a volume mounted");
    shut_down(IO_1, 0);
    cr_expect(front_finished(front));
    cr_expect_eq(status(), 1);
}

/* IO_0 has df00, IO_1 has df01 and df02. */
Test(front, a_missing_volume_is_told_and_done_without)
{
    start();
    mounted(IO_1, 0, -N_ENODEV, "the drive failed to read");
    cr_expect_str_eq(take_err(), "ncube: volume df01 is missing: the drive failed to read\n");
    mounted(IO_1, 1, 0, "");
    front_unreachable(front, IO_0);
    cr_expect_str_eq(take_err(), "ncube: volume df00 is missing: I/O node 0 of board 3 does not answer\n");
    cr_expect(front_is_up(front));
    for (uint32_t i = 0; i < 4; i++)
        exited(i, 0, EXIT_NORMAL, "");
    cr_expect_eq(count_type(N_SHUTDOWN), 2, "IO_0 may be there again");
    front_undeliverable(front, IO_0, TAG(N_SHUTDOWN, 0, 0), NULL, 0);
    shut_down(IO_1, 0);
    cr_expect_str_eq(take_err(), "");
    cr_expect(front_finished(front));
    cr_expect_eq(status(), 0);
}

Test(front, a_notice_without_a_way_is_sent_when_something_recovers)
{
    struct file_reply reply = {.seq = 7};
    struct lost_notice notice = {.sequence = 7, .count = 1};
    uint32_t tag = TAG(N_REPLY(N_FWRITE), 0, 0), lost = TAG(N_LOST, 0, 0);

    start();
    mount_all();
    front_recovered(front);
    cr_expect_eq(count_type(N_LOST), 0, "nothing is owed");
    front_undeliverable(front, 1, tag, &reply, sizeof reply);
    cr_expect_eq(count_sent(N_LOST, 1), 1);
    front_undeliverable(front, 1, lost, &notice, sizeof notice);
    cr_expect_eq(count_sent(N_LOST, 1), 1, "not before there is a way");
    front_recovered(front);
    front_recovered(front);
    cr_expect_eq(count_sent(N_LOST, 1), 2, "once");
    front_undeliverable(front, 1, lost, &notice, sizeof notice);
    for (uint32_t i = 0; i < 4; i++)
        exited(i, 0, EXIT_NORMAL, "");
    front_recovered(front);
    cr_expect_eq(count_sent(N_LOST, 1), 2, "its job has ended");
}

Test(front, an_io_node_that_a_shutdown_does_not_reach_is_not_awaited)
{
    run_until_loaded();
    front_undeliverable(front, IO_0, TAG(N_KILL, 0, 0), "", 0);
    cr_expect_str_eq(take_err(), "", "only a shutdown that is lost tells");
    for (uint32_t i = 0; i < 4; i++)
        exited(i, 0, EXIT_NORMAL, "");
    shut_down(IO_1, 0);
    cr_expect_not(front_finished(front));
    front_undeliverable(front, IO_0, TAG(N_SHUTDOWN, 0, 0), "", 0);
    cr_expect_str_eq(take_err(), "ncube: I/O node 0 of board 3 was not shut down: no path to it works\n");
    cr_expect(front_finished(front));
    cr_expect_eq(status(), 1);
}

Test(front, is_up_from_the_last_mount_to_the_call_to_stop)
{
    start();
    cr_expect_not(front_is_up(front));
    mount_all();
    cr_expect(front_is_up(front));
    front_stop(front);
    cr_expect_not(front_is_up(front), "a program runs, but no other may begin");
}

Test(front, the_reason_that_a_node_gives_is_cut_to_a_line)
{
    char reason[2 * CONSOLE_LINE_BYTES], line[CONSOLE_LINE_BYTES + 1];

    memset(reason, 'x', sizeof reason);
    for (size_t n = CONSOLE_LINE_BYTES - 2; n < CONSOLE_LINE_BYTES + 2; n++) {
        memset(line, '?', sizeof line);
        console_explain(reason, n, 0, line);
        cr_expect_eq(strlen(line), n < CONSOLE_LINE_BYTES ? n : CONSOLE_LINE_BYTES - 1, "%zu bytes", n);
        cr_expect_eq(line[CONSOLE_LINE_BYTES], '?', "%zu bytes", n);
    }
}

Test(front, mounts_that_never_come_are_given_up)
{
    start();
    mounted(IO_0, 0, 0, "");
    cr_expect(front_give_up(front));
    cr_expect_str_eq(take_err(), "ncube: volume df01 is missing: I/O node 1 of board 3 does not answer\n"
                                 "ncube: volume df02 is missing: I/O node 1 of board 3 does not answer\n");
    cr_expect(front_is_up(front));
    cr_expect_not(front_give_up(front), "none is awaited");
    mounted(IO_1, 0, 0, "");
    cr_expect_str_eq(take_err(), "", "it may come late");
    for (uint32_t i = 0; i < 4; i++)
        exited(i, 0, EXIT_NORMAL, "");
    shut_down(IO_0, 0);
    cr_expect(front_give_up(front));
    cr_expect_str_eq(take_err(), "ncube: I/O node 1 of board 3 was not shut down: no path to it works\n");
    cr_expect(front_finished(front));
    cr_expect_eq(status(), 1);
}

Test(front, nodes_that_do_not_confirm_their_end_are_given_up)
{
    run_until_loaded();
    cr_expect_not(front_give_up(front), "they run");
    exited(3, -N_ENOMEM, EXIT_LOAD, "");
    take_err();
    cr_expect(front_give_up(front));
    cr_expect_str_eq(take_err(), "", "why was told");
    shut_down(IO_0, 0);
    shut_down(IO_1, 0);
    cr_expect(front_finished(front));
    cr_expect_eq(status(), 1);
}

Test(front, a_failed_shutdown_is_told)
{
    run_until_loaded();
    for (uint32_t i = 0; i < 4; i++)
        exited(i, 0, EXIT_NORMAL, "");
    shut_down(IO_1, -N_EIO);
    cr_expect_str_eq(take_err(), "ncube: I/O node 1 of board 3 did not shut down cleanly: I/O error\n");
    shut_down(IO_0, 0);
    cr_expect(front_finished(front));
    cr_expect_eq(status(), 1);
}

Test(front, an_nsdisk_that_ends_takes_the_program_with_it)
{
    const struct {
        struct job_exit exit;
        struct exit_fault fault;
    } e = {.exit = {.node = IO_0, .status = 1, .how = EXIT_FAULT}}; /* as Vertex sends it: vertex/process/proc_end.c */

    run_until_loaded();
    arrive(IO_0, N_EXIT, &e, sizeof e, "node 16432 (address 0x4030): misaligned jump, pc 0x1, address 0x1");
    cr_expect_str_eq(take_err(),
                     "ncube: nsdisk on I/O node 0 of board 3 has ended: node 16432 (address 0x4030): "
                     "misaligned jump, pc 0x1, address 0x1\n",
                     "told once, where both have one stream");
    cr_expect_eq(count_type(N_KILL), 4);
    for (uint32_t i = 0; i < 4; i++)
        exited(i, 0, EXIT_KILLED, "");
    cr_expect_eq(count_sent(N_SHUTDOWN, IO_0), 0);
    shut_down(IO_1, 0);
    cr_expect(front_finished(front));
    cr_expect_eq(status(), 1);
}

Test(front, an_nsdisk_that_ends_is_told_to_users_with_streams_of_their_own)
{
    const struct job_exit e = {.node = IO_1, .status = 3};
    int machine_err_end;

    make_pipe(&machine_err_end, &machine.err);
    run_until_loaded();
    arrive(IO_1, N_EXIT, &e, sizeof e, "");
    cr_expect_str_eq(take_err(), "ncube: nsdisk on I/O node 1 of board 3 has ended, and the program with it\n");
    err_end = machine_err_end;
    cr_expect_str_eq(take_err(), "ncube: nsdisk on I/O node 1 of board 3 has ended: status 3\n");
    cr_expect_eq(count_type(N_KILL), 4);
}

Test(front, an_nsdisk_that_ends_before_it_mounts_or_shuts_down_is_not_awaited)
{
    const struct job_exit e = {.how = EXIT_FAULT};

    start();
    arrive(IO_1, N_EXIT, &e, sizeof e, "");
    mounted(IO_0, 0, 0, "");
    cr_expect_eq(count_type(N_SHUTDOWN), 1);
    arrive(IO_0, N_EXIT, &e, sizeof e, "");
    cr_expect(front_finished(front));
    cr_expect_eq(status(), 1);
}

/* ---- Jobs that are refused before the machine starts ---- */

Test(front, options_that_do_not_fit_are_refused_in_one_line)
{
    static char long_argument[70000];
    static char *long_arguments[] = {"prog", long_argument};
    static struct topo one = {.dim = 0, .ram_bytes = NODE_RAM_DEFAULT_BYTES};
    const struct job_options good = options;
    const struct job_program good_program = program;

    options.dim = 7;
    cr_expect_eq(make_front(), -1);
    cr_expect_str_eq(error, "dimension 7 does not fit: the machine has 2^3 nodes; give -d 0 to 3");

    machine.topo = &one;
    options.dim = 1;
    cr_expect_eq(make_front(), -1);
    cr_expect_str_eq(error, "dimension 1 does not fit: the machine has 2^0 nodes; give -d 0");

    machine.topo = &topo;
    options = good;
    program.path = "/none/prog";
    cr_expect_eq(make_front(), -1);
    cr_expect_not_null(strstr(error, "/none/prog: cannot be opened"), "%s", error);

    program = good_program;
    options.serve = "/none";
    cr_expect_eq(make_front(), -1);
    cr_expect_not_null(strstr(error, "/none"), "%s", error);

    options = good;
    memset(long_argument, 'a', sizeof long_argument - 1);
    program.argv = long_arguments;
    cr_expect_eq(make_front(), -1);
    cr_expect_not_null(strstr(error, "the arguments take 70029 bytes"), "%s", error);

    options = good;
    program = good_program;
    options.stack_bytes = 1ull << 40;
    cr_expect_eq(make_front(), -1);
    cr_expect_not_null(strstr(error, "stack"), "%s", error);
}
