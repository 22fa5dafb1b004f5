/* The options of a machine that is booted (machine_options.h). */
#include "emu/cmd/machine_options.h"

#include "emu/base/beside.h"
#include "emu/qemu/fiber.h"

static const char *const sync_modes[] = {"ahead", "strict", NULL};
static const char *const hart_ways[] = {"threads", "turns", "inside", NULL}; /* from MACHINE_HARTS_THREADS on */

static void take_statistics(const struct options *o, const struct option_line *l, void *machine, const char *path)
{
    struct machine_options *m = machine;

    if (path && path[0] == '\0')
        options_refuse(o, "%s: give a file's name after '='", l->name);
    m->statistics_file = path;
    m->statistics = true;
}

static void take_heartbeat(const struct options *o, const struct option_line *l, void *seconds, const char *value)
{
    *(double *)seconds = value ? options_seconds(o, l->name, value, "the host's time") : 1;
}

void options_take_gdb(const struct options *o, const struct option_line *l, void *machine, const char *port)
{
    struct machine_options *m = machine;

    m->gdb_port = port ? (uint16_t)options_number(o, l->name, port, 0, 65535) : 0;
    m->gdb = true;
}

static const char *way_name(const struct machine_options *m)
{
    return hart_ways[m->harts - MACHINE_HARTS_THREADS];
}

void options_check_harts(const struct options *o, const struct machine_options *m)
{
    if (m->harts >= MACHINE_HARTS_TURNS && !fiber_possible())
        options_refuse(o, "harts '%s': %s", way_name(m), NO_FIBERS);
}

#define TO(kind, member) OPTION_INTO(kind, struct machine_options, member)

const struct option_line machine_lines[] = {
    {OPTION_TABLE(tracing_lines, offsetof(struct machine_options, trace))},
    {"sync", "MODE", "ahead: user code runs ahead (default); strict: never; same results, slow",
     TO(OPTION_CHOICE, strict), .choices = sync_modes},
    {"cores", "N", "use at most N processors of the host (default: all allowed); same results",
     TO(OPTION_NUMBER, processors), 1, 64},
    {"racks", "N,...", "nodes of each rack, with ncube-mpi (default: even); same results", TO(OPTION_TEXT, racks)},
    {"harts", "WAY",
     "inside: ncube's thread has all harts (default); turns: another; threads: each has one; same results",
     TO(OPTION_CHOICE, harts), MACHINE_HARTS_THREADS, .choices = hart_ways},
    {"stats", "[FILE]", "print statistics at the end to standard error, or write them to FILE as JSON", OPTION_OWN,
     .take = take_statistics},
    {"heartbeat", "[SECONDS]", "print progress every SECONDS of host time (default 1)", TO(OPTION_OWN, heartbeat_s),
     .take = take_heartbeat},
    {0}};

const struct option_line machine_watch_lines[] = {
    {"gdb", "[PORT]", "wait for gdb on a port of this host (default: a free one); same results", OPTION_OWN,
     .take = options_take_gdb},
    {"gdb-memory", "MB", "use at most MB of memory for going back in gdb (default 1024; 0: none)",
     TO(OPTION_NUMBER, gdb_memory), 0, 1u << 24},
    {"core", "DIR", "if the program crashes, write a core file for each node to DIR; slow, same results",
     TO(OPTION_FOLDER, core_dir)},
    {"check", NULL, "report what was never read or closed, and calls that failed; slow, same results",
     TO(OPTION_FLAG, check)},
    {"progress", NULL, "show progress on a terminal: time, speed, messages, drives", TO(OPTION_FLAG, progress)},
    {0}};

void options_check_watch(const struct options *o, struct machine_options *m)
{
    if (m->gdb_memory != OPTIONS_GDB_MEMORY_MB && !m->gdb)
        options_refuse(o, "gdb-memory without gdb; add --gdb");
    if (m->gdb && m->core_dir)
        options_refuse(o, "gdb and core cannot be combined; gdb shows everything that a core file would contain");
    if (m->check && (m->gdb || m->core_dir))
        options_refuse(o, "check cannot be combined with gdb or core; give one of them");
    options_check_harts(o, m);
    m->strict |= m->core_dir || m->check; /* so killed nodes are in the same places in every run; gdb's: target_pace */
    if (m->progress && m->heartbeat_s > 0)
        options_refuse(o, "--progress and --heartbeat print the same; give one of them");
}

const char *options_find_lib(void)
{
    static char *lib;

    return lib = beside_find("lib");
}
