/* The shell nsh [P1 2.4]: lines, and what comes out of them on the nodes of one job. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/machine/booted.h"
#include "tests/machine/guest.h"
#include "tests/machine/observe.h"

TestSuite(nsh, .timeout = 600);

#define SHELL "examples/nsh"

#define PROGRAMS \
    "examples/gen", "examples/psort", "examples/check", "examples/wc", "examples/hello", "guest/pipes", "guest/status"

static const struct line {
    const char *name, *dim, *text;
    int status;
    const char *out, *err;
} lines[] = {
    {"one program", "1", "hello", 0, "hello from node 0 of 1\n", ""},
    {"a pipeline", "4", "@2 gen 10000 | @2 psort | check", 0, "10000 numbers, in order\n", ""},
    {"odd numbers of nodes", "4", "@n3 gen 10000 | @n5 psort | check", 0, "10000 numbers, in order\n", ""},
    {"as many nodes as there are", "3", "@2 gen 1000 | @1 psort | check", 0, "1000 numbers, in order\n", ""},
    {"nodes are free again", "1", "hello; hello; hello | wc", 126, "hello from node 0 of 1\nhello from node 0 of 1\n",
     "nsh: wc: no subcube of 1 node is free of the job's 2"},
    {"files", "3", "gen 100 | psort >/out; wc -c < /out; check </out", 0, "400\n100 numbers, in order\n", ""},
    {"a mapped file", "4", "@2 gen 20000 > /out; @3 psort </out >'/sorted'; check < /sorted", 0,
     "20000 numbers, in order\n", ""},
    {"nodes without a number", "4", "@2 gen 3 > /out; @3 psort < /out > /sorted; check < /sorted; wc -c < /sorted", 0,
     "3 numbers, in order\n12\n", ""},
    {"a longer file before", "2", "gen 100 > /out; gen 10 > /out; wc -c < /out", 0, "40\n", ""},
    {"appending", "2", "hello >> /out; hello >> /out; wc < /out", 0, "2 12 46\n", ""},
    {"errors to a file", "2", "pipes nothing 2> /err; echo $?; wc < /err", 0, "1\n1 6 51\n", ""},
    {"a redirection before the pipe", "3", "hello > /out | wc; wc < /out", 0, "0 0 0\n1 6 23\n", ""},
    {"statuses", "2", "status 3; echo $?; status 3 && echo no; status 0 && echo yes; status 4 || echo $?", 0,
     "3\nyes\n4\n", ""},
    {"the last status", "2", "status 5; status 9", 9, "", ""},
    {"the last program's status", "3", "status 5 | status 6", 6, "", ""},
    {"exit", "1", "exit 7; echo no", 7, "", ""},
    {"exit with the last status", "2", "status 9; exit", 9, "", ""},
    {"quotes", "0", "echo 'a  b' \"c \\\" $?\" d\\ e 'it'\"'\"'s' #f", 0, "a  b c \" 0 d e it's\n", ""},
    {"nothing", "0", " ", 0, "", ""},
    {"cd", "2", "cd /none; cd /; hello", 0, "hello from node 0 of 1\n", "nsh: /none: No such file or directory"},
    {"the reader ends first", "3", "gen 1000000 | status 3", 3, "", ""},
    {"the writer writes nothing", "3", "@1 status 0 | wc", 0, "0 0 0\n", ""},
    {"a reader of several nodes that reads nothing", "4", "gen 100000 | @2 status 0", 3, "", ""},
    {"nobody maps", "3", "@1 hello | wc", 0, "0 0 0\n", "a pipe of several nodes: say who writes what"},
    {"a program that there is not", "2", "none", 127, "", "nsh: none: no such program here or in /bin\n"},
    {"no first program", "3", "none | wc", 0, "0 0 0\n", "nsh: none: no such program"},
    {"no last program", "3", "gen 100000 | ./none", 127, "", "nsh: ./none: No such file or directory"},
    {"no program in the middle", "4", "gen 100000 | none | check", 0, "0 numbers, in order\n", "nsh: none: no such"},
    {"a file that is no program", "2", "hello > /text; ./text", 126, "", "nsh: ./text: "},
    {"a file that there is not", "2", "wc < /nothing; echo $?", 0, "126\n", "nsh: /nothing: No such file or directory"},
    {"a folder that there is not", "2", "hello > /no/x", 126, "", "nsh: /no/x: No such file or directory"},
    {"all nodes busy", "2", "@1 hello | @1 hello", 126, "",
     "nsh: hello: no subcube of 2 nodes is free of the job's 4, of which the shell has one; give the job more\n"},
    {"more nodes than the job has", "2", "@3 hello", 126, "", "nsh: hello: no subcube of 8 nodes is free"},
    {"a fault", "2", "pipes faults; echo no", 1, "", "store to an address that is not writable"},
    {"background", "1", "hello &", 2, "", "nsh: programs cannot run in the background: '&' at '&'\n"},
    {"no program behind the pipe", "1", "hello |", 2, "", "nsh: no program at the end of the line\n"},
    {"no program behind &&", "1", "true &&", 2, "", "nsh: no program at the end of the line\n"},
    {"no program at first", "1", "| hello", 2, "", "nsh: no program at '| hello'\n"},
    {"parentheses", "1", "true (hello)", 2, "", "nsh: syntax error at '(hello)'\n"},
    {"a quote without end", "1", "echo 'a", 2, "", "nsh: an unterminated quote at ''a'\n"},
    {"no file", "1", "hello >", 2, "", "nsh: no file at '>'\n"},
    {"two outputs", "1", "hello > /a > /b", 2, "", "nsh: a second redirection at '> /b'\n"},
    {"a bad dimension", "1", "@14 hello", 2, "",
     "nsh: @ takes a dimension from 0 to 13, or n and a number of nodes, at"},
    {"no nodes", "1", "@n0 hello", 2, "", "nsh: @ takes a dimension"},
    {"a builtin in a pipeline", "2", "echo a | wc", 126, "", "nsh: echo: a built-in command takes no pipe"},
};

/* Each line has a shell of its own, one after the other on one machine. */
Test(nsh, executes_lines)
{
    struct booted b = booted_up(WORDS("-d", "4"));

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        const struct line *l = &lines[i];
        char *folder = folder_with_programs(PROGRAMS);
        const struct ncube_run r = {.dim = l->dim, .serve = folder, .program = SHELL, .args = {"-c", l->text}};

        outcome_must_be(xnc_run_of(&b, &r), l->name, l->status, l->out, l->err);
        folder_remove(folder);
    }
    booted_down(&b);
}

/* What a program reads of the standard input is not the shell's. */
Test(nsh, reads_lines_and_leaves_the_rest)
{
    char *folder = folder_with_programs(PROGRAMS);

    outcome_must_be(
        ncube_run(&(struct ncube_run){
            .dim = "2", .serve = folder, .program = SHELL, .input = "# first\n\nhello\nwc\nfor wc\nand this\n"}),
        "input", 0, "hello from node 0 of 1\n2 4 16\n", "");
    folder_remove(folder);
}

Test(nsh, runs_a_file_with_prompts_or_without)
{
    char *folder = folder_with_programs(PROGRAMS);

    file_write(folder, "script", "echo one\nstatus 4\nexit\necho two\n", 32);
    struct outcome o = ncube_run(
        &(struct ncube_run){.dim = "1", .serve = folder, .program = SHELL, .args = {"/script"}, .input = "echo no\n"});
    outcome_expect(&o, "script", 4, "one\n", "");
    outcome_free(&o);
    o = ncube_run(&(struct ncube_run){.program = SHELL, .args = {"-i"}, .input = "echo a\n"});
    outcome_expect(&o, "prompts", 0, "a\n", "nsh> nsh> \n");
    outcome_free(&o);
    folder_remove(folder);
}

Test(nsh, refuses_wrong_arguments)
{
    static const struct {
        const char *args[4], *err;
        int status;
    } cases[] = {
        {{"-x"}, "nsh: unknown option; usage: nsh [-i] [-c LINE | FILE]", 2},
        {{"-c"}, "nsh: -c needs a line", 2},
        {{"a", "b"}, "nsh: too many words", 2},
        {{"/none"}, "nsh: /none: ", 127},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ncube_run r = {.program = SHELL};

        memcpy(r.args, cases[i].args, sizeof cases[i].args);
        outcome_must_be(ncube_run(&r), cases[i].err, cases[i].status, "", cases[i].err);
    }
}

/* ---- Exactness ---- */

static unsigned number_from(const char *name, unsigned otherwise)
{
    const char *text = getenv(name);

    return text ? (unsigned)strtoul(text, NULL, 10) : otherwise;
}

static uint32_t draw(uint64_t *state)
{
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(*state >> 33);
}

/* Pipelines of two or three programs with random mappings, sizes, pieces and numbers of nodes; some end early, some
 * write to files, some meet at a name; statuses lead to others. The caller frees it. */
static char *draw_script(unsigned seed)
{
    static const char *const ends[] = {"2> /a", "2>> /b", "2> /a && status 2", "2> /a || status 3"};
    uint64_t state = seed * 31 + 5;
    char *script = strdup(""), *more;

    for (int i = 0; i < 3; i++) {
        unsigned a = 1 + draw(&state) % 5, b = 1 + draw(&state) % 4, s = draw(&state) % 1000;

        switch (draw(&state) % 4) {
        case 0:
            more = format("%s@n%u pipes exact %u | @n%u pipes exact %u %s; ", script, a, s, b, s + 1,
                          ends[draw(&state) % 4]);
            break;
        case 1:
            more = format("%s@n%u gen %u | @n%u psort | check; ", script, a, 3000 + s, b);
            break;
        case 2:
            more = format("%sgen %u | status %u; ", script, 3000 * (1 + s % 9), s % 3);
            break;
        default:
            more = format("%s@n%u gen %u > //pipe/x | psort < //pipe/x > /c; wc -c < /c; ", script, a, 2000 + s);
        }
        free(script);
        script = more;
    }
    return script;
}

static struct observed run_script(const char *script, const char *const options[2])
{
    char *folder = folder_with_programs(PROGRAMS);
    struct ncube_run r = {.dim = "4", .serve = folder, .program = SHELL, .args = {"-c", script}, .may_fail = true};

    memcpy(r.options, options, 2 * sizeof *options);
    struct observed seen = observe(r, NULL);
    folder_remove(folder);
    return seen;
}

/* SEEDS=n tries n scripts, from FIRST on. */
Test(nsh, is_exact, .timeout = 36000)
{
    static const struct {
        const char *name, *options[2];
    } ways[] = {{"strict", {"--sync=strict"}}, {"ahead", {NULL}}, {"ahead on one processor", {"--cores", "1"}}};
    unsigned first = number_from("FIRST", 1), seeds = number_from("SEEDS", 1);

    for (unsigned seed = first; seed < first + seeds; seed++) {
        char *script = draw_script(seed);
        struct observed reference = run_script(script, ways[0].options);

        cr_expect_leq(reference.status, 3, "%s: status %d: %s", script, reference.status, reference.err);
        for (size_t i = 1; i < sizeof ways / sizeof *ways; i++) {
            struct observed now = run_script(script, ways[i].options);
            char *how = format("%s: %s", ways[i].name, script);

            observed_expect_same(&reference, &now, how);
            observed_free(&now);
            free(how);
        }
        observed_free(&reference);
        free(script);
    }
}
