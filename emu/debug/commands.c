/*
 * The commands of gdb's remote serial protocol (commands.h). A command that is not here is answered by an empty packet,
 * as the protocol wants: gdb then does without.
 */
#include "emu/debug/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/base/memory.h"
#include "emu/debug/breakpoints.h"
#include "emu/debug/monitor.h"
#include "vertex/contract/machine.h"

#define FAILED         "E01"
#define REFUSE_CHANGE  "E.memory cannot be written here: the host has seen later output of this run; continue first"
#define REFUSE_WRITING "E.registers cannot be written: QEMU's plugins only read them; so gdb can call no function"

static uint32_t nodes(const struct session *s)
{
    return s->target->ops->nodes(s->target->ctx);
}

/* ---- What gdb reads as XML: the registers of a node, and the list of its threads, which are the nodes ---- */

static const char *const x_names[] = {"zero", "ra", "sp", "gp", "tp",  "t0",  "t1", "t2", "fp", "s1", "a0",
                                      "a1",   "a2", "a3", "a4", "a5",  "a6",  "a7", "s2", "s3", "s4", "s5",
                                      "s6",   "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6"};

static const char *const f_names[] = {"ft0", "ft1", "ft2", "ft3", "ft4",  "ft5",  "ft6", "ft7", "fs0",  "fs1", "fa0",
                                      "fa1", "fa2", "fa3", "fa4", "fa5",  "fa6",  "fa7", "fs2", "fs3",  "fs4", "fs5",
                                      "fs6", "fs7", "fs8", "fs9", "fs10", "fs11", "ft8", "ft9", "ft10", "ft11"};

static const char *type_of_x(size_t i)
{
    return i == 1 ? "code_ptr" : i == 2 || i == 3 || i == 4 || i == 8 ? "data_ptr" : "int";
}

static void write_features(FILE *f)
{
    fputs("<?xml version=\"1.0\"?><!DOCTYPE target SYSTEM \"gdb-target.dtd\"><target version=\"1.0\">"
          "<architecture>riscv:rv64</architecture><feature name=\"org.gnu.gdb.riscv.cpu\">",
          f);
    for (size_t i = 0; i < sizeof x_names / sizeof *x_names; i++)
        fprintf(f, "<reg name=\"%s\" bitsize=\"64\" type=\"%s\"/>", x_names[i], type_of_x(i));
    fputs("<reg name=\"pc\" bitsize=\"64\" type=\"code_ptr\"/></feature><feature name=\"org.gnu.gdb.riscv.fpu\">"
          "<union id=\"riscv_double\"><field name=\"float\" type=\"ieee_single\"/>"
          "<field name=\"double\" type=\"ieee_double\"/></union>",
          f);
    for (size_t i = 0; i < sizeof f_names / sizeof *f_names; i++)
        fprintf(f, "<reg name=\"%s\" bitsize=\"64\" type=\"riscv_double\"/>", f_names[i]);
    fputs("<reg name=\"fflags\" bitsize=\"32\" type=\"int\"/><reg name=\"frm\" bitsize=\"32\" type=\"int\"/>"
          "<reg name=\"fcsr\" bitsize=\"32\" type=\"int\"/></feature></target>",
          f);
}

static char *document_features(const struct target *t, size_t *bytes)
{
    char *text = NULL;
    FILE *f = open_memstream(&text, bytes);
    (void)t;

    if (!f)
        return NULL;
    write_features(f);
    return fclose(f) == 0 ? text : NULL;
}

/* What nodes wait for is text of the kernel's and the front end's, but not XML. */
static void write_escaped(FILE *f, const char *text)
{
    for (const char *c = text; *c != '\0'; c++)
        if (strchr("<>&\"", *c))
            fprintf(f, "&#%d;", *c);
        else
            fputc(*c, f);
}

static void write_thread(FILE *f, const struct target *t, uint32_t node)
{
    char what[256];

    t->ops->describe(t->ctx, node, what, sizeof what);
    fprintf(f, "<thread id=\"%x\" name=\"node %u\">", node + 1, node);
    write_escaped(f, what);
    fputs("</thread>", f);
}

static char *document_threads(const struct target *t, size_t *bytes)
{
    char *text = NULL;
    FILE *f = open_memstream(&text, bytes);

    if (!f)
        return NULL;
    fputs("<?xml version=\"1.0\"?><threads>", f);
    for (uint32_t node = 0; node < t->ops->nodes(t->ctx); node++)
        if (target_is_alive(t, node))
            write_thread(f, t, node);
    fputs("</threads>", f);
    return fclose(f) == 0 ? text : NULL;
}

/* ---- Registers ---- */

static void add_register(struct rsp *rsp, const struct debug_registers *r, uint64_t number)
{
    uint64_t value = 0;

    target_register(r, number, &value);
    rsp_add_hex(rsp, &value, number < TARGET_REGISTERS_X + 32 ? sizeof value : 4); /* behind them: fflags, frm, fcsr */
}

static bool read_registers(struct session *s, const char *text)
{
    (void)text;
    if (!target_is_alive(s->target, s->current))
        return false;
    for (uint64_t i = 0; i < TARGET_REGISTERS; i++)
        add_register(s->rsp, target_registers(s->target, s->current), i);
    return true;
}

static bool read_register(struct session *s, const char *text)
{
    uint64_t number;

    if (!rsp_read_number(&text, &number) || number >= TARGET_REGISTERS || !target_is_alive(s->target, s->current))
        return false;
    add_register(s->rsp, target_registers(s->target, s->current), number);
    return true;
}

/* ---- Memory ---- */

static bool read_memory(struct session *s, const char *text)
{
    uint8_t bytes[RSP_PACKET_BYTES / 2];
    uint64_t va, n;

    if (!rsp_read_range(&text, &va, &n) || !target_is_alive(s->target, s->current))
        return false;
    size_t done = target_read(s->target, s->current, va, bytes, n < sizeof bytes ? n : sizeof bytes);
    rsp_add_hex(s->rsp, bytes, done);
    return done > 0 || n == 0;
}

static bool write_memory(struct session *s, const char *text)
{
    uint8_t bytes[RSP_PACKET_BYTES / 2];
    uint64_t va, n;

    if (s->target->ops->is_behind && s->target->ops->is_behind(s->target->ctx)) {
        rsp_add(s->rsp, REFUSE_CHANGE);
        return true;
    }
    bool done = rsp_read_range(&text, &va, &n) && rsp_read_word(&text, ":") && n <= sizeof bytes &&
                rsp_read_bytes(&text, bytes, n) && target_is_alive(s->target, s->current) &&
                target_write(s->target, s->current, va, bytes, n) && rsp_add_ok(s->rsp);
    s->changed = s->changed || (done && n > 0 && s->travel);
    return done;
}

/* ---- Threads ---- */

/* Reads the number of a thread, or -1 (all) or 0 (any), and stores its node; that which has stopped for the two. */
static bool read_thread(const struct session *s, const char **text, uint32_t *node, bool *all)
{
    uint64_t number;

    *node = s->stopped;
    *all = rsp_read_word(text, "-1");
    if (*all)
        return true;
    if (!rsp_read_number(text, &number) || number > nodes(s))
        return false;
    if (number > 0)
        *node = (uint32_t)number - 1;
    return true;
}

static bool choose_thread(struct session *s, const char *text)
{
    uint32_t node;
    bool all, registers = *text == 'g';

    if (*text != 'g' && *text != 'c')
        return false;
    text++;
    bool any = strcmp(text, "0") == 0, known = read_thread(s, &text, &node, &all);
    if (registers && target_is_alive(s->target, node))
        s->current = node;
    else if (!registers)
        s->chosen = known && !all && !any ? node : TARGET_NO_SLOT;
    return known && rsp_add_ok(s->rsp);
}

static bool is_thread_alive(struct session *s, const char *text)
{
    uint32_t node;
    bool all;

    return read_thread(s, &text, &node, &all) && target_is_alive(s->target, node) && rsp_add_ok(s->rsp);
}

static bool list_threads(struct session *s, const char *text)
{
    bool any = false;
    (void)text;

    for (uint32_t node = 0; node < nodes(s) && s->rsp->out_bytes < RSP_PACKET_BYTES - 16; node++) {
        if (!target_is_alive(s->target, node))
            continue;
        rsp_add(s->rsp, "%s%x", any ? "," : "m", node + 1);
        any = true;
    }
    if (!any)
        rsp_add(s->rsp, "l");
    return true;
}

static bool say_current(struct session *s, const char *text)
{
    (void)text;
    rsp_add(s->rsp, "QC%x", s->current + 1);
    return true;
}

static bool describe_thread(struct session *s, const char *text)
{
    char what[256];
    uint32_t node;
    bool all;

    if (!read_thread(s, &text, &node, &all))
        return false;
    s->target->ops->describe(s->target->ctx, node, what, sizeof what);
    rsp_add_hex(s->rsp, what, strlen(what));
    return true;
}

/* ---- Questions ---- */

static bool say_stop_again(struct session *s, const char *text)
{
    (void)text;
    rsp_add(s->rsp, "%s", s->stop);
    return true;
}

static bool say_abilities(struct session *s, const char *text)
{
    (void)text;
    rsp_add(s->rsp,
            "PacketSize=%x;QStartNoAckMode+;vContSupported+;qXfer:features:read+;qXfer:threads:read+;multiprocess-;"
            "ReverseStep+;ReverseContinue+;ConditionalBreakpoints+",
            RSP_PACKET_BYTES);
    return true;
}

static bool leave_out_acks(struct session *s, const char *text)
{
    (void)text;
    s->no_acks = true;
    return rsp_add_ok(s->rsp);
}

/* "OFFSET,BYTES" of a document, which is made when its beginning is read. */
static bool send_document(struct session *s, const char *text, char *(*make)(const struct target *t, size_t *bytes))
{
    uint64_t offset, n;

    if (!rsp_read_range(&text, &offset, &n))
        return false;
    if (offset == 0) {
        free(s->document);
        s->document = make(s->target, &s->document_bytes);
    }
    if (!s->document || offset > s->document_bytes)
        return false;
    uint64_t left = s->document_bytes - offset, most = RSP_PACKET_BYTES / 2 - 1; /* each byte may need an escape */
    n = n < most ? n : most;
    rsp_add(s->rsp, n < left ? "m" : "l");
    rsp_add_binary(s->rsp, s->document + offset, n < left ? n : left);
    return true;
}

static bool send_features(struct session *s, const char *text)
{
    return send_document(s, text, document_features);
}

static bool send_threads(struct session *s, const char *text)
{
    return send_document(s, text, document_threads);
}

/* ---- monitor ---- */

static bool execute_monitor(struct session *s, const char *text)
{
    char words[256];
    size_t n = strlen(text) / 2;

    if (n >= sizeof words || !rsp_read_bytes(&text, words, n) || *text != '\0')
        return false;
    words[n] = '\0';
    monitor_execute(s, words);
    rsp_begin(s->rsp);
    return rsp_add_ok(s->rsp);
}

/* ---- Going on ---- */

/* Reads one action of vCont, up to the ';' or the ':' with its thread. */
static bool read_action(const char **text, struct target_go *go)
{
    uint64_t signal;
    char what = **text;

    *go = (struct target_go){.how = what == 'c' || what == 'C' ? TARGET_RUN : what == 't' ? TARGET_STAY : TARGET_STEP};
    if (what == '\0' || !strchr("cCsSrt", what))
        return false;
    ++*text;
    if (what == 'C' || what == 'S')
        return rsp_read_number(text, &signal);
    if (what == 'r')
        return rsp_read_number(text, &go->low) && rsp_read_word(text, ",") && rsp_read_number(text, &go->high);
    return true;
}

/* For each node, the first action counts that names it. */
static bool read_actions(struct session *s, const char *text)
{
    uint32_t n = nodes(s), node;
    uint8_t *given = memory_new(n + 1, 1);
    bool sound = true, all;

    for (uint32_t i = 0; i < n; i++)
        s->go[i] = (struct target_go){.how = TARGET_STAY};
    while (sound && rsp_read_word(&text, ";")) {
        struct target_go go;

        all = true;
        sound = read_action(&text, &go) && (!rsp_read_word(&text, ":") || read_thread(s, &text, &node, &all));
        for (uint32_t i = 0; sound && i < n; i++)
            if (!given[i] && (all || i == node)) {
                s->go[i] = go;
                given[i] = 1;
            }
    }
    free(given);
    return sound && *text == '\0';
}

/* gdb chooses a node by "Hc"; else it means the one whose registers it has read. Where it cannot go back, it is told
 * that, and that it is as far back as it can be. */
static enum command_result go_back(struct session *s, char how)
{
    if (!session_goes_back(s)) {
        session_at_begin(s, s->current);
        return COMMAND_ANSWERED;
    }
    s->back_alone = s->chosen != TARGET_NO_SLOT && target_is_alive(s->target, s->chosen);
    s->back = s->back_alone ? s->chosen : s->current;
    return how == 's' ? COMMAND_STEP_BACK : COMMAND_GO_BACK;
}

static enum command_result go_on(struct session *s, const char *text)
{
    if (read_actions(s, text))
        return COMMAND_GO;
    rsp_add(s->rsp, FAILED);
    return COMMAND_ANSWERED;
}

/* ---- All commands ---- */

static const struct {
    const char *word;
    bool (*execute)(struct session *s, const char *text); /* false: it failed, and has added no answer */
    const char *answer;                                   /* in place of it */
} commands[] = {
    {"?", say_stop_again, NULL},
    {"g", read_registers, NULL},
    {"G", NULL, REFUSE_WRITING},
    {"p", read_register, NULL},
    {"P", NULL, REFUSE_WRITING},
    {"m", read_memory, NULL},
    {"M", write_memory, NULL},
    {"H", choose_thread, NULL},
    {"T", is_thread_alive, NULL},
    {"Z", breakpoints_add, NULL},
    {"z", breakpoints_remove, NULL},
    {"qC", say_current, NULL},
    {"qAttached", NULL, "1"},
    {"qSupported", say_abilities, NULL},
    {"qfThreadInfo", list_threads, NULL},
    {"qsThreadInfo", NULL, "l"},
    {"qThreadExtraInfo,", describe_thread, NULL},
    {"qXfer:features:read:target.xml:", send_features, NULL},
    {"qXfer:threads:read::", send_threads, NULL},
    {"qRcmd,", execute_monitor, NULL},
    {"QStartNoAckMode", leave_out_acks, NULL},
};

static void answer(struct session *s)
{
    const char *text = s->rsp->packet;
    size_t longest = 0, chosen = 0;

    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strlen(commands[i].word) > longest && strncmp(text, commands[i].word, strlen(commands[i].word)) == 0) {
            longest = strlen(commands[i].word);
            chosen = i;
        }
    if (longest > 0 && commands[chosen].answer)
        rsp_add(s->rsp, "%s", commands[chosen].answer);
    else if (longest > 0 && !commands[chosen].execute(s, text + longest))
        rsp_add(s->rsp, FAILED);
}

/* Returns true if the view answers a command as the machine would: one about the node that it shows, or about none. */
static bool view_suffices(const struct session *s)
{
    static const char *const about_none[] = {"?", "T", "Z", "z", "H", "q", "Q", "v", "bs", "bc", "D", "k", "G", "P"};
    const char *text = s->rsp->packet;
    bool about_view = s->current == s->target->trail.node && strchr("gpm", text[0]) && text[0] != '\0',
         any = about_view;

    if (strncmp(text, "qRcmd", 5) == 0 || (strncmp(text, "vCont", 5) == 0 && text[5] != '?'))
        return false;
    for (size_t i = 0; i < sizeof about_none / sizeof *about_none && !any; i++)
        any = strncmp(text, about_none[i], strlen(about_none[i])) == 0;
    return any;
}

static bool knows_hits(const struct session *s)
{
    struct target_place present;

    return travel_knows_hits(s->travel, s->target, s->stopped, &present);
}

enum command_result command_execute(struct session *s)
{
    const char *text = s->rsp->packet;

    if (trail_viewed(&s->target->trail, s->target->trail.node) && !view_suffices(s))
        return COMMAND_LEAVE_VIEW;
    if (s->travel && strcmp(text, "qRcmd,7768656e") == 0 && !session_is_another_run(s) && !knows_hits(s))
        return COMMAND_FIND_HITS;
    rsp_begin(s->rsp);
    if (strcmp(text, "vCont?") == 0) {
        rsp_add(s->rsp, "vCont;c;C;s;S;t;r");
        return COMMAND_ANSWERED;
    }
    if (rsp_read_word(&text, "vCont"))
        return go_on(s, text);
    if (text[0] == 'c' || text[0] == 's')
        return go_on(s, text[0] == 'c' ? ";c" : ";s:0;c");
    if (strcmp(text, "bs") == 0 || strcmp(text, "bc") == 0)
        return go_back(s, text[1]);
    if (text[0] == 'D') {
        rsp_add_ok(s->rsp);
        return COMMAND_DETACHED;
    }
    if (text[0] == 'k')
        return COMMAND_KILLED;
    answer(s);
    return COMMAND_ANSWERED;
}
