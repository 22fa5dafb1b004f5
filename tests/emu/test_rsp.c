/*
 * gdb's packets, and what the commands make of sound and of broken ones: a target of three nodes in this process's
 * memory, no machine.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/base/memory.h"
#include "emu/debug/breakpoints.h"
#include "emu/qemu/breaks.h"
#include "tests/emu/gdb_target.h"

/* ---- The stream ---- */

static void feed(struct rsp *r, const void *bytes, size_t n)
{
    size_t room;
    uint8_t *to = rsp_room(r, &room);

    cr_assert_leq(n, room);
    memcpy(to, bytes, n);
    r->filled += n;
}

static void feed_text(struct rsp *r, const char *text)
{
    feed(r, text, strlen(text));
}

Test(rsp, takes_what_is_sound_and_reports_what_is_not)
{
    static const struct {
        const char *name, *stream;
        enum rsp_item item[4];
        const char *packet; /* the last one */
    } cases[] = {
        {"a packet", "$g#67", {RSP_PACKET, RSP_NOTHING}, "g"},
        {"an empty packet", "$#00", {RSP_PACKET, RSP_NOTHING}, ""},
        {"capital digits", "$O#4F", {RSP_PACKET}, "O"},
        {"acknowledgements are no packets", "+++$g#67+", {RSP_PACKET, RSP_NOTHING}, "g"},
        {"please again", "-", {RSP_RESEND, RSP_NOTHING}, NULL},
        {"an interrupt", "\x03", {RSP_BREAK, RSP_NOTHING}, NULL},
        {"an interrupt between packets", "$g#67\x03$g#67", {RSP_PACKET, RSP_BREAK, RSP_PACKET}, "g"},
        {"a wrong checksum", "$g#66$c#63", {RSP_BAD, RSP_PACKET}, "c"},
        {"no digits", "$g#zz$c#63", {RSP_BAD, RSP_PACKET}, "c"},
        {"the end of one is lost", "$ggg$c#63", {RSP_BAD, RSP_PACKET}, "c"},
        {"an escape", "$}\x03#80", {RSP_PACKET}, "#"},
        {"an escape at the end", "$}#7d$c#63", {RSP_BAD, RSP_PACKET}, "c"},
        {"a packet that does not end", "$ggg", {RSP_NOTHING}, NULL},
        {"noise", "hello\n", {RSP_NOTHING}, NULL},
    };
    static struct rsp r;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rsp_init(&r);
        feed_text(&r, cases[i].stream);
        for (size_t k = 0; k < 4 && (k == 0 || cases[i].item[k] != RSP_NOTHING); k++) {
            cr_expect_eq(rsp_next(&r), cases[i].item[k], "%s: item %zu", cases[i].name, k);
            if (cases[i].packet && cases[i].item[k] == RSP_PACKET && k > 0 && cases[i].item[k + 1] == RSP_NOTHING)
                cr_expect_str_eq(r.packet, cases[i].packet, "%s", cases[i].name);
        }
        cr_expect_eq(rsp_next(&r), RSP_NOTHING, "%s: nothing follows", cases[i].name);
    }
}

Test(rsp, drops_a_packet_that_is_too_long)
{
    static struct rsp r;
    enum rsp_item item = RSP_NOTHING;

    rsp_init(&r);
    feed_text(&r, "$");
    for (size_t k = 0; k <= RSP_PACKET_BYTES; k++) {
        feed_text(&r, "a");
        cr_assert_eq(rsp_next(&r), RSP_NOTHING);
    }
    feed_text(&r, "#61$c#63");
    item = rsp_next(&r);
    cr_expect_eq(item, RSP_BAD);
    cr_expect_eq(rsp_next(&r), RSP_PACKET, "the next one is taken");
    cr_expect_str_eq(r.packet, "c");
}

Test(rsp, carries_any_bytes_there_and_back)
{
    static struct rsp from, to;
    static char frame[RSP_FRAME_BYTES];

    srandom(7);
    for (int turn = 0; turn < 500; turn++) {
        uint8_t bytes[300];
        size_t n = (size_t)random() % sizeof bytes;

        for (size_t k = 0; k < n; k++)
            bytes[k] = (uint8_t)(random() % 4 ? random() : "$#}*\x03"[random() % 5]);
        rsp_begin(&from);
        rsp_add_binary(&from, bytes, n);
        size_t framed = rsp_frame(&from, frame);
        rsp_init(&to);
        feed(&to, frame, framed);
        cr_assert_eq(rsp_next(&to), RSP_PACKET, "turn %d", turn);
        cr_assert_eq(to.bytes, n, "turn %d", turn);
        cr_assert_arr_eq(to.packet, bytes, n, "turn %d", turn);
    }
}

Test(rsp, makes_an_error_of_an_answer_that_does_not_fit)
{
    static struct rsp r;
    static char frame[RSP_FRAME_BYTES], much[RSP_PACKET_BYTES];

    rsp_begin(&r);
    rsp_add_hex(&r, much, sizeof much);
    cr_expect_eq(rsp_frame(&r, frame), 7u);
    cr_expect_arr_eq(frame, "$E01#a6", 7);
}

/* ---- Commands ---- */

static struct gdb_target g;

static void make_target(void)
{
    gdb_target_make(&g);
}

static const char *answer_to(const char *packet)
{
    strcpy(g.packets.packet, packet);
    g.packets.bytes = strlen(packet);
    command_execute(&g.session);
    g.packets.out[g.packets.out_bytes < sizeof g.packets.out ? g.packets.out_bytes : sizeof g.packets.out - 1] = '\0';
    return g.packets.out;
}

Test(commands, answer_as_the_protocol_says, .init = make_target)
{
    static const struct {
        const char *packet, *answer;
    } cases[] = {
        {"", ""},
        {"vMustReplyEmpty", ""},
        {"qC", "QC1"},
        {"Hg2", "OK"},
        {"qC", "QC2"},
        {"Hg0", "OK"},
        {"Hg4", "E01"},
        {"Hgx", "E01"},
        {"T2", "OK"},
        {"T3", "E01"}, /* it has ended */
        {"T", "E01"},
        {"qfThreadInfo", "m1,2"},
        {"qsThreadInfo", "l"},
        {"qThreadExtraInfo,1", "6973203c303e"},
        {"pa", "3412000000000000"},
        {"p20", "0000010000000000"},
        {"p44", "E01"},
        {"p", "E01"},
        {"m10000,4", "74657874"},
        {"m10ffe,4", "00000000"},
        {"m12000,2", "0000"},
        {"m13fff,2", "00"}, /* up to the end of what there is */
        {"m0,4", "E01"},
        {"m40000000,4", "E01"}, /* the table's loop ends */
        {"m80000000,4", "E01"},
        {"mffffffffffffffff,8", "E01"},
        {"m10000", "E01"},
        {"m10000,fffffffffffffffff", "E01"},
        {"M11000,2:0aff", "OK"},
        {"m11000,2", "0aff"},
        {"M11000,2:0a", "E01"},
        {"M11000,2:zz", "E01"},
        {"M10000,1:00", "E01"}, /* text */
        {"M11000,ffff:00", "E01"},
        {"M13000,1:00", "E01"},       /* executed, too */
        {"M11ffe,4:01020304", "E01"}, /* its end cannot be written, so nothing is */
        {"m11ffe,2", "0000"},
        {"Z0,10000,4", "OK"},
        {"Z0,10000,4", "OK"},
        {"Z0,10000,4;X3,220027", "OK"},
        {"Z1,10000,4;X3,220027X4,26000a27", "OK"},
        {"Z0,10000,4;", "OK"},
        {"Z0,10000,4X3,220027", "E01"},
        {"Z0,10000,4;X3,2200", "E01"},
        {"Z0,10000,4;X3,220027X", "E01"},
        {"Z0,10000,4;X0,", "E01"},
        {"Z0,10000,4;Xffffffffffffffff,220027", "E01"},
        {"Z0,10000,4;X3,zz0027", "E01"},
        {"Z0,10000,4;X4,2e000127", "E01"}, /* tracev */
        {"Z0,10000,4;cmds:0,X3,220027", "E01"},
        {"Z2,11000,8;X3,220027", "E01"}, /* gdb gives watchpoints none */
        {"z0,10000,4", "OK"},
        {"z0,10000,4", "OK"},
        {"Z2,11000,0", "E01"},
        {"Z2,11000,8", "OK"},
        {"Z3,ffffffffffffffff,8", "E01"},
        {"Z9,1,1", ""},
        {"Z0", "E01"},
        {"vCont?", "vCont;c;C;s;S;t;r"},
        {"vCont;x", "E01"},
        {"vCont;c:9", "E01"},
        {"vCont;r10", "E01"},
        {"vContx", "E01"},
        {"qRcmd,7", "E01"},
        {"qRcmd,zz", "E01"},
        {"qRcmd,68656c70", "OK"},
        {"qXfer:threads:read::0,10", "m<?xml version=\"1"},
        {"qXfer:threads:read::ffffff,10", "E01"},
        {"qXfer:threads:read::0", "E01"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect_str_eq(answer_to(cases[i].packet), cases[i].answer, "'%s': '%s'", cases[i].packet,
                         answer_to(cases[i].packet));
}

Test(commands, escape_what_nodes_do, .init = make_target)
{
    cr_expect(strstr(answer_to("qXfer:threads:read::0,fff"), "<thread id=\"2\" name=\"node 1\">is &}\x03"
                                                             "60;1&}\x03"
                                                             "62;</thread>"),
              "%s", g.packets.out);
}

Test(commands, have_room_for_so_many_breakpoints, .init = make_target)
{
    char packet[32];

    for (uint32_t k = 0; k < DEBUG_BREAKS; k++) {
        snprintf(packet, sizeof packet, "Z0,%x,2", 0x10000 + 2 * k);
        cr_assert_str_eq(answer_to(packet), "OK");
    }
    cr_expect_str_eq(answer_to("Z0,20000,2"), "E01");
    answer_to("z0,10000,2");
    cr_expect_str_eq(answer_to("Z0,20000,2"), "OK");
}

/* ---- Conditions: node 0 is stopped at 0x10000, with 0x1234 in a0 ---- */

static bool holds_after(const char *packet)
{
    answer_to(packet);
    return target_still_stops(&g.target, 0, DEBUG_BREAK);
}

Test(commands, let_breakpoints_hold_on_conditions, .init = make_target)
{
    static const struct {
        const char *name, *packet;
        bool holds;
    } cases[] = {
        {"no breakpoint", "z0,10000,4", false},
        {"no condition", "Z0,10000,4", true},
        {"a false one", "Z0,10000,4;X3,220027", false},
        {"a true one in place of it", "Z0,10000,4;X3,220127", true},
        {"the first is true", "Z0,10000,4;X3,220127X3,220027", true},
        {"the last is", "Z0,10000,4;X3,220027X3,220027X3,220127", true},
        {"none is", "Z0,10000,4;X3,220027X3,220027", false},
        {"a0 == 0x1234", "Z0,10000,4;X8,26000a2312341327", true},
        {"a0 == 0x1235", "Z0,10000,4;X8,26000a2312351327", false},
        {"pc == 0x10000", "Z0,10000,4;Xa,26002024000100001327", true},
        {"what lies at 0x10000", "Z0,10000,4;Xd,24000100001924747865741327", true},
        {"and not there", "Z0,10000,4;Xd,24000100001924747865751327", false},
        {"memory that is not there", "Z0,10000,4;X4,22001727", true},
        {"none again", "Z0,10000,4", true},
        {"a false one elsewhere", "Z0,10004,4;X3,220027", true},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect_eq(holds_after(cases[i].packet), cases[i].holds, "%s", cases[i].name);
}

Test(commands, keep_the_conditions_of_others, .init = make_target)
{
    char packet[64];

    for (uint32_t k = 0; k < 100; k++) { /* of different lengths; the last one of each three is true */
        snprintf(packet, sizeof packet, "Z0,%x,2;%s%s", 0x10000 + 2 * k, k % 2 ? "X3,220027" : "X4,23000027",
                 k % 3 == 2 ? "X3,220127" : "");
        cr_assert_str_eq(answer_to(packet), "OK");
    }
    for (uint32_t k = 0; k < 100; k += 5) {
        snprintf(packet, sizeof packet, "z0,%x,2", 0x10000 + 2 * k);
        answer_to(packet);
    }
    for (uint32_t k = 0; k < 100; k++) {
        g.target.area->hart[0].now.x[0] = 0x10000 + 2 * k;
        cr_expect_eq(target_still_stops(&g.target, 0, DEBUG_BREAK), k % 5 != 0 && k % 3 == 2, "%u", k);
    }
    struct debug_area *other = memory_new(1, sizeof *other + GDB_TARGET_NODES * sizeof(struct debug_hart));
    struct target copy = g.target;
    copy.area = other;
    target_copy_breaks(&copy, g.target.area);
    cr_expect(target_has_same_breaks(other, g.target.area), "so has a copy");
    answer_to("Z0,10002,2;X3,220227");
    cr_expect_not(target_has_same_breaks(other, g.target.area), "another condition");
    free(other);
}

/* Beyond the room for conditions, breakpoints always hold: gdb looks at the condition then. */
Test(commands, let_breakpoints_hold_without_room_for_conditions, .init = make_target)
{
    static char packet[RSP_PACKET_BYTES];
    const uint32_t bytes = 8001;
    uint32_t held = 0;

    for (uint32_t k = 0; k < 12; k++) {
        int n = snprintf(packet, sizeof packet, "Z0,%x,2;X%x,", 0x10000 + 2 * k, bytes);
        for (uint32_t i = 0; i < bytes - 3; i += 3)
            n += snprintf(packet + n, sizeof packet - (size_t)n, "220029");
        snprintf(packet + n, sizeof packet - (size_t)n, "220027");
        cr_assert_str_eq(answer_to(packet), "OK", "%u", k);
        g.target.area->hart[0].now.x[0] = 0x10000 + 2 * k;
        held += target_still_stops(&g.target, 0, DEBUG_BREAK);
    }
    cr_expect_eq(held, 12 - DEBUG_LISTS / (bytes + 2));
}

/* ---- Whether gdb may await a breakpoint with a condition that it has set before ---- */

static void go(const char *packet)
{
    strcpy(g.packets.packet, packet);
    cr_assert_eq(command_execute(&g.session), COMMAND_GO, "%s", packet);
    breakpoints_go_on(&g.session);
}

static bool counts(uint64_t pc)
{
    uint32_t number = breaks_find(g.target.area, pc);

    return g.target.area->condition[number].bytes > 0;
}

/* Node 0 is in front of an instruction at 0x10000 + `at`. */
static void put_text(uint32_t at, uint32_t instruction)
{
    memcpy(g.ram + 16 * 4096 + at, &instruction, sizeof instruction);
    g.target.area->hart[0].now.x[0] = 0x10000 + at;
}

#define ADDI   0x00150513u
#define JAL    0x010000efu
#define C_ADDI 0x0505u
#define C_JR   0x8082u
#define LR_W   0x1006252fu

Test(commands, count_on_conditions_that_gdb_has_just_sent, .init = make_target)
{
    static const struct {
        const char *name;
        uint32_t passed, bytes, then; /* the instruction that node 0 passes alone, and the one that follows */
        uint64_t broken;
        bool counts;
    } cases[] = {
        {"behind a breakpoint", ADDI, 4, ADDI, 0x10100, true},
        {"behind a short instruction", C_ADDI, 2, C_ADDI, 0x10100, true},
        {"gdb may await the next instruction", ADDI, 4, ADDI, 0x10008, false},
        {"the next short one", C_ADDI, 2, C_ADDI, 0x10004, false},
        {"a call: gdb may await its end", JAL, 4, ADDI, 0x10100, false},
        {"a return", C_JR, 2, ADDI, 0x10100, false},
        {"a call follows", ADDI, 4, JAL, 0x10100, false},
        {"a reservation, over which gdb steps", ADDI, 4, LR_W, 0x10100, false},
        {"it has gone elsewhere", ADDI, 8, ADDI, 0x10100, false},
    };
    char packet[64];

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        put_text(0, cases[i].passed);
        snprintf(packet, sizeof packet, "Z0,%llx,4;X3,220027", (unsigned long long)cases[i].broken);
        answer_to(packet);
        go("vCont;c:1");
        cr_expect(counts(cases[i].broken), "%s: at first", cases[i].name);
        put_text(cases[i].bytes, cases[i].then);
        go("vCont;c");
        cr_expect_eq(counts(cases[i].broken), cases[i].counts, "%s", cases[i].name);
        go("vCont;c");
        cr_expect_not(counts(cases[i].broken), "%s: and it is still there", cases[i].name);
        answer_to(packet);
        go("vCont;c");
        cr_expect(counts(cases[i].broken), "%s: sent again", cases[i].name);
        packet[0] = 'z';
        answer_to(packet);
    }
}

Test(commands, count_on_conditions_from_one_way_back_to_the_next, .init = make_target)
{
    answer_to("Z0,10100,4;X3,220027");
    breakpoints_go_back(&g.session, false);
    breakpoints_go_back(&g.session, false);
    cr_expect(counts(0x10100));
    breakpoints_go_back(&g.session, true);
    answer_to("Z0,10100,4;X3,220027");
    breakpoints_go_back(&g.session, true);
    cr_expect(counts(0x10100), "just sent");
    breakpoints_go_back(&g.session, false);
    cr_expect_not(counts(0x10100), "in the middle of steps");
}

static const char *const beginnings[] = {"m",
                                         "M",
                                         "p",
                                         "P",
                                         "g",
                                         "G",
                                         "Z0,",
                                         "Z0,10000,4;X",
                                         "z2,",
                                         "vCont;",
                                         "H",
                                         "T",
                                         "qRcmd,",
                                         "qXfer:threads:read::",
                                         "qThreadExtraInfo,",
                                         "c",
                                         "s",
                                         "q",
                                         "Q"};

/* Whatever comes, there is an answer that fits, and the breakpoints' table is sound. */
Test(commands, survive_nonsense, .init = make_target)
{
    static const char letters[] = "0123456789abcdef,;:-rcs#zZ";
    static char frame[RSP_FRAME_BYTES];

    srandom(11);
    for (int turn = 0; turn < 200000; turn++) {
        char packet[64];
        int n = snprintf(packet, sizeof packet, "%s", beginnings[random() % (sizeof beginnings / sizeof *beginnings)]);

        for (long left = random() % 30; left > 0; left--)
            packet[n++] = letters[random() % (sizeof letters - 1)];
        packet[n] = '\0';
        answer_to(packet);
        cr_assert_leq(rsp_frame(&g.packets, frame), RSP_FRAME_BYTES, "'%s'", packet);
        cr_assert_leq(g.target.area->breaks, DEBUG_BREAKS, "'%s'", packet);
        cr_assert_leq(g.target.area->watches, DEBUG_WATCHES, "'%s'", packet);
        cr_assert_lt(g.session.current, GDB_TARGET_NODES, "'%s'", packet);
    }
}

/* ---- Backwards ---- */

static enum command_result result_of(const char *packet)
{
    strcpy(g.packets.packet, packet);
    g.packets.bytes = strlen(packet);
    return command_execute(&g.session);
}

Test(commands, go_back_where_the_run_can_be_repeated, .init = make_target)
{
    cr_expect_eq(result_of("bs"), COMMAND_STEP_BACK);
    cr_expect_eq(g.session.back, 0u);
    cr_expect_not(g.session.back_alone);
    cr_expect_eq(result_of("bc"), COMMAND_GO_BACK);
    cr_expect_eq(result_of("Hc2"), COMMAND_ANSWERED);
    cr_expect_eq(result_of("bc"), COMMAND_GO_BACK);
    cr_expect_eq(g.session.back, 1u, "the chosen node");
    cr_expect(g.session.back_alone);
    cr_expect_eq(result_of("Hc0"), COMMAND_ANSWERED);
    cr_expect_eq(result_of("bs"), COMMAND_STEP_BACK);
    cr_expect_not(g.session.back_alone, "any node");
    cr_expect_eq(result_of("bx"), COMMAND_ANSWERED);
    cr_expect_eq(result_of("qRcmd,7768656e"), COMMAND_FIND_HITS, "monitor when");
    cr_expect_eq(result_of("qRcmd,676f746f20302e35"), COMMAND_ANSWERED, "monitor goto 0.5");
    cr_expect(g.travel.wish == WISH_TIME && g.travel.wished.cycles == CLOCK_HZ / 2 + 1);
    cr_expect_eq(result_of("qRcmd,676f746f206e6f77"), COMMAND_ANSWERED, "monitor goto now");
    cr_expect_eq(result_of("qRcmd,6f726967696e"), COMMAND_ANSWERED, "monitor origin");
    cr_expect(g.travel.wish == WISH_CALL && g.travel.wished.node == 1 && g.travel.wished.cycles == 500);
    g.session.travel = NULL;
    cr_expect_eq(result_of("bs"), COMMAND_ANSWERED, "nothing is recorded");
}

static void add_point(uint64_t pc, uint64_t cycles, uint64_t va, const char *old)
{
    struct trail_point p = {.registers = g.target.area->hart[0].now, .cycles = cycles, .before = cycles - 1, .va = va};

    p.registers.x[0] = pc;
    p.bytes = (uint8_t)strlen(old);
    memcpy(p.old, old, p.bytes);
    trail_add(&g.target.trail, &p);
}

Test(commands, show_a_view_and_leave_it_for_what_it_has_not, .init = make_target)
{
    answer_to("M11000,4:41424344");
    add_point(0x10004, 100, 0x11001, "xy");
    add_point(0x10008, 105, 0, "");
    cr_expect_str_eq(answer_to("m11000,4"), "41424344", "at its end it shows the machine");
    g.target.trail.view = 0;
    cr_expect_str_eq(answer_to("m11000,4"), "41787944");
    cr_expect_str_eq(answer_to("p20"), "0400010000000000");
    cr_expect_str_eq(answer_to("Z0,10000,4"), "OK");
    cr_expect_eq(target_place(&g.target, 0).cycles, 100u);
    static const char *const left_for[] = {"M11000,1:00", "vCont;c", "c", "s", "qRcmd,74696d65"};
    for (size_t i = 0; i < sizeof left_for / sizeof *left_for; i++)
        cr_expect_eq(result_of(left_for[i]), COMMAND_LEAVE_VIEW, "%s", left_for[i]);
    cr_expect_str_eq(answer_to("Hg2"), "OK");
    cr_expect_eq(result_of("g"), COMMAND_LEAVE_VIEW, "another node");
}
