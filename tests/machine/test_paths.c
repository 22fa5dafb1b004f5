/*
 * Every path that ncube takes or passes on, with names as a host may have them. A request is carried
 * out, or refused in one line; and no file that a run reads is overwritten.
 */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/machine/booted.h"

TestSuite(paths, .timeout = 300);

/* ---- Odd names ---- */

#define DEEP 15 /* folders of 200 characters below each other: 3 KB */

static const struct odd_name {
    const char *what, *name; /* NULL: a deep folder */
} odd_names[] = {
    {"a comma", "a,b"},
    {"two commas and an option", "a,,b=c,size=1"},
    {"spaces", " a  b "},
    {"quotes", "a'b\"c`d"},
    {"a newline", "a\nb"},
    {"characters of a shell and of printf", "$(x) %s%n;*&|\\"},
    {"bytes that are no UTF-8", "a\xff\xfe\xc3z"},
    {"a dash in front", "-d"},
    {"a colon", ":"},
    {"3 KB", NULL},
};

/* A folder of that name below `top`; the caller frees its path. */
static char *make_odd_folder(const char *top, const struct odd_name *o)
{
    char *path = format("%s/%s", top, o->name ? o->name : "deep");

    cr_assert_eq(mkdir(path, 0755), 0, "%s: %s", o->what, strerror(errno));
    for (int i = 0; !o->name && i < DEEP; i++) {
        char *deeper = format("%s/%0200d", path, i);

        cr_assert_eq(mkdir(deeper, 0755), 0);
        free(path);
        path = deeper;
    }
    return path;
}

/* ---- The places where a path is given ---- */

/* A machine with a volume, a program, a folder to serve: all in one folder with a plain name, and
 * in one with an odd one. A column of the table takes one thing from the other. */
struct place {
    char *plain, *odd;
};

enum use { INSTALLED, PROGRAM, MACHINE, IMAGES, IMAGE_IN_FILE, SERVE, TRACE, STATS, LINKED, USES };

static const char *const use_names[USES] = {"ncube installed there",
                                            "the program",
                                            "the machine file",
                                            "--images",
                                            "an image's path in the machine file",
                                            "--serve",
                                            "--trace",
                                            "--stats",
                                            "all of it through a link"};

static void fill(const char *folder)
{
    static const char *const parts[] = {"bin/ncube", "lib/vertex.elf", "lib/nsdisk.elf", "lib/plugin.so"};

    command_must_succeed((char *[]){"mkdir", "--", format("%s/bin", folder), format("%s/lib", folder), NULL});
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        command_must_succeed((char *[]){"cp", "--", build_path(parts[i]), format("%s/%s", folder, parts[i]), NULL});
    command_must_succeed((char *[]){"cp", "--", build_path("guest/crowd"), format("%s/prog", folder), NULL});
    command_must_succeed(
        (char *[]){"mke2fs", "-q", "-t", "ext2", "-F", "--", format("%s/df00.img", folder), "1024k", NULL});
    file_write(folder, "file", "x", 1);
    free(machine_file(folder, 1, 1, ""));
}

/* Every byte of a path as an escape of libconfig's. */
static char *escape(const char *path)
{
    char *text = malloc(4 * strlen(path) + 1), *end = text;

    for (*end = '\0'; *path; path++)
        end += sprintf(end, "\\x%02x", (unsigned char)*path);
    return text;
}

static char *machine_with_image(const char *folder, const char *image_folder)
{
    char *path = format("%s/other.conf", folder), *escaped = escape(image_folder);
    FILE *f = fopen(path, "we");

    cr_assert_not_null(f);
    fprintf(f,
            "dim = 1;\nfront_end = { si = 0; };\nboards = ( { number = 3; io_nodes = ( { index = "
            "0; si = [1];\n"
            "drives = ( { volume = \"df00\"; image = \"%s/df00.img\"; } ); } ); } );\n",
            escaped);
    cr_assert_eq(fclose(f), 0);
    free(escaped);
    return path;
}

static void expect_run(const struct place *p, enum use use, const char *what)
{
    const char *in[USES];

    for (int i = 0; i < USES; i++)
        in[i] = i == (int)use || use == LINKED ? p->odd : p->plain;
    char *machine =
        use == IMAGE_IN_FILE ? machine_with_image(p->plain, p->odd) : format("%s/machine.conf", in[MACHINE]);
    char *argv[] = {format("%s/bin/ncube", in[INSTALLED]),
                    "run",
                    "-d",
                    "1",
                    "-m",
                    machine,
                    use == IMAGE_IN_FILE ? "--images=." : format("--images=%s", in[IMAGES]),
                    format("--serve=%s", in[SERVE]),
                    "--trace",
                    format("%s/trace", in[TRACE]),
                    format("--stats=%s/stats", in[STATS]),
                    format("%s/prog", in[PROGRAM]),
                    "all open one file",
                    "file",
                    NULL};

    outcome_must_be(command_run(argv, NULL), what, 0, "passed\n", "");
    cr_expect_eq(access(argv[9], R_OK), 0, "%s: no trace", what);
    cr_expect_eq(access(argv[10] + strlen("--stats="), R_OK), 0, "%s: no statistics", what);
}

DrawnRowTest(paths, with_odd_names_work_in_every_place, odd_names, 2)
{
    const struct odd_name *o = &odd_names[*row];
    char *top = folder_new();
    struct place p = {.plain = format("%s/plain", top), .odd = make_odd_folder(top, o)};

    cr_assert_eq(mkdir(p.plain, 0755), 0);
    fill(p.plain);
    fill(p.odd);
    for (enum use use = *row % 2; use < LINKED; use += 2) { /* each use with every other name */
        char *what = format("%s, %s", o->what, use_names[use]);

        expect_run(&p, use, what);
        free(what);
    }
    char *link = format("%s/link", top);
    cr_assert_eq(symlink(p.odd, link), 0);
    expect_run(&(struct place){p.plain, link}, LINKED, use_names[LINKED]);
    folder_remove(top);
}

/* Programs and served folders of xnc, by names that begin where it runs. */
RowTest(paths, with_odd_names_work_on_a_machine_that_is_up, odd_names)
{
    char *top = folder_new(), *odd = make_odd_folder(top, &odd_names[*row]);

    fill(odd);
    struct booted b = booted_up(WORDS(format("--images=%s", odd), format("--trace=%s/trace", odd),
                                      format("--stats=%s/stats", odd), "--", format("%s/machine.conf", odd)));
    xnc_expect(&b, "", WORDS("-d1", format("--serve=%s", odd), format("%s/prog", odd), "all open one file", "file"), 0,
               "passed\n", "");
    cr_assert_eq(chdir(odd), 0);
    xnc_expect(&b, "", WORDS("-d1", "--serve=.", "./prog", "all open one file", "file"), 0, "passed\n", "");
    booted_down(&b);
    folder_remove(top);
}

/* ---- Tools ---- */

RowTest(paths, with_odd_names_are_told_by_topo, odd_names)
{
    char *top = folder_new(), *odd = make_odd_folder(top, &odd_names[*row]), *ncube = build_path("bin/ncube");
    char *machine = machine_with_image(odd, odd);
    struct outcome o = command_run((char *[]){ncube, "topo", "--json", "--", machine, NULL}, NULL);

    outcome_expect(&o, odd_names[*row].what, 0, NULL, "");
    cr_expect(strstr(o.out, "\"volume\": \"df00\"") && strstr(o.out, "df00.img\""), "%s: %s", odd_names[*row].what,
              o.out);
    outcome_free(&o);
    free(ncube);
    folder_remove(top);
}

/* ---- Refusals ---- */

/* `*` in an argument is the folder, which has: df00.img, df01.img, a link and a hard link to
 * df00.img, machine.conf of one volume, two.conf that includes it, prog, a FIFO that nobody writes
 * to, a folder. */
static const struct refusal {
    const char *what, *argv[8];
    const char *words[3];
} refusals[] = {
    {"a trace onto an image",
     {"run", "-m", "*/machine.conf", "--trace=*/df00.img", "*/prog"},
     {"df00.img", "the image of volume df00", "--trace"}},
    {"a trace onto a link to an image",
     {"run", "-m", "*/machine.conf", "--trace=*/link.img", "*/prog"},
     {"link.img", "the image of volume df00"}},
    {"a trace onto an image's other name",
     {"run", "-m", "*/machine.conf", "--trace=*/hard.img", "*/prog"},
     {"hard.img", "the image of volume df00"}},
    {"statistics onto an image",
     {"run", "-m", "*/machine.conf", "--stats=*/df00.img", "*/prog"},
     {"df00.img", "the image of volume df00", "--stats"}},
    {"a trace onto the machine file",
     {"run", "-m", "*/machine.conf", "--trace=*/machine.conf", "*/prog"},
     {"machine.conf", "the machine file"}},
    {"a trace onto an included file",
     {"run", "-m", "*/two.conf", "--trace=*/machine.conf", "*/prog"},
     {"machine.conf", "a part of the machine file"}},
    {"statistics onto the program", {"run", "--stats=*/prog", "*/prog"}, {"prog", "the program"}},
    {"statistics onto the second program",
     {"run", "-d1", "--stats=*/prog", "*/other", ":", "*/prog"},
     {"prog", "the program"}},
    {"statistics onto the trace",
     {"run", "--trace=*/out", "--stats=*/./out", "*/prog"},
     {"out", "the trace", "--stats"}},
    {"a trace onto an image of a machine to be kept up",
     {"boot", "--trace=*/df00.img", "*/machine.conf"},
     {"the image of volume df00"}},
    {"one image for two volumes, by a link",
     {"run", "-m", "*/same_link.conf", "*/prog"},
     {"link.img", "volume df01", "also the image of volume df00"}},
    {"one image for two volumes, by a hard link",
     {"run", "-m", "*/same_hard.conf", "*/prog"},
     {"hard.img", "also the image of volume df00"}},
    {"a folder that is included", {"topo", "*/folder.conf"}, {"/.", "included"}},
    {"a pipe that is included", {"topo", "*/pipe.conf"}, {"fifo", "included"}},
    {"a folder that is included by an included file", {"topo", "*/deep.conf"}, {"/.", "included"}},
    {"a pipe without a writer", {"topo", "*/fifo"}, {"fifo", "nothing was written"}},
    {"the same to boot", {"boot", "*/fifo"}, {"fifo", "nothing was written"}},
    {"the same to run", {"run", "-m", "*/fifo", "*/prog"}, {"fifo", "nothing was written"}},
    {"a trace into a pipe without a reader", {"run", "--trace=*/fifo", "*/prog"}, {"fifo", "to read for 2 s"}},
    {"statistics into a pipe without a reader", {"boot", "--stats=*/fifo"}, {"fifo", "to read for 2 s"}},
    {"a pipe for a program", {"run", "*/fifo"}, {"fifo"}},
    {"a machine file without an end", {"topo", "/dev/zero"}, {"/dev/zero", "16 MB"}},
    {"a machine file with a NUL", {"topo", "*/nul.conf"}, {"nul.conf", "NUL"}},
    {"a name with a newline that is not there", {"topo", "*/a\nb"}, {"a?b"}},
    {"a program with a newline that is not there", {"run", "*/a\nb"}, {"a?b"}},
    {"an option with a newline", {"run", "-d", "1\n2", "*/prog"}, {"1?2"}},
};

static void put_machine(const char *folder, const char *name, const char *second_image)
{
    char *text = format("dim = 2;\nfront_end = { si = 0; };\nboards = ( { number = 3; io_nodes = ( "
                        "{ index = 0; si = [1]; drives = (\n"
                        "{ volume = \"df00\"; image = \"df00.img\"; }, { volume = \"df01\"; image "
                        "= \"%s\"; } ); } ); } );\n",
                        second_image);

    file_write(folder, name, text, strlen(text));
    free(text);
}

static void put_text(const char *folder, const char *name, const char *text)
{
    file_write(folder, name, text, strlen(text));
}

static char *make_refusal_folder(void)
{
    char *folder = folder_with_images(2, 1024, 1024);

    free(machine_file(folder, 1, 1, ""));
    cr_assert_eq(symlink("df00.img", format("%s/link.img", folder)), 0);
    cr_assert_eq(link(format("%s/df00.img", folder), format("%s/hard.img", folder)), 0);
    cr_assert_eq(mkfifo(format("%s/fifo", folder), 0600), 0);
    command_must_succeed((char *[]){"cp", build_path("examples/hello"), format("%s/prog", folder), NULL});
    command_must_succeed((char *[]){"cp", build_path("examples/hello"), format("%s/other", folder), NULL});
    put_machine(folder, "same_link.conf", "link.img");
    put_machine(folder, "same_hard.conf", "hard.img");
    put_text(folder, "two.conf", "@include \"machine.conf\"\n");
    put_text(folder, "folder.conf", "dim = 1;\n  @include \".\"\n");
    put_text(folder, "pipe.conf", "@include \"fifo\"\n");
    put_text(folder, "deep.conf", "@include \"folder.conf\"\n");
    file_write(folder, "nul.conf", "dim = 1;\n\0", 10);
    return folder;
}

static char *expand(const char *word, const char *folder)
{
    const char *star = strchr(word, '*');

    return star ? format("%.*s%s%s", (int)(star - word), word, folder, star + 1) : strdup(word);
}

RowTest(paths, that_must_not_be_taken_are_refused_in_a_line_and_stay_as_they_are, refusals)
{
    const struct refusal *r = &refusals[*row];
    char *folder = make_refusal_folder(), *argv[10] = {build_path("bin/ncube")};

    for (int i = 0; i < 8 && r->argv[i]; i++)
        argv[i + 1] = expand(r->argv[i], folder);
    setenv("NCUBE_NAME", format("paths-%d", (int)getpid()), 1);
    struct command c = command_start(argv, NULL, 0);
    struct outcome o = command_wait_within(&c, 10000);
    cr_expect(o.status == 1 || o.status == 2, "%s: status %d", r->what, o.status);
    cr_expect_eq(count_lines(o.err), 1, "%s: %s", r->what, o.err);
    cr_expect_str_empty(o.out, "%s: %s", r->what, o.out);
    for (int i = 0; i < 3 && r->words[i]; i++)
        cr_expect_not_null(strstr(o.err, r->words[i]), "%s: no '%s' in: %s", r->what, r->words[i], o.err);
    outcome_free(&o);
    images_check(folder, 2);
    command_must_succeed((char *[]){"cmp", build_path("examples/hello"), format("%s/prog", folder), NULL});
    folder_remove(folder);
}

/* A machine file from a shell's <(...): the pipe has a writer. */
Test(paths, of_pipes_are_machine_files_too)
{
    char *line = format("printf 'dim = 3;\\n' | %s topo /dev/stdin", build_path("bin/ncube"));
    struct outcome o = command_run((char *[]){"/bin/sh", "-c", line, NULL}, NULL);

    outcome_expect(&o, "a pipe", 0, NULL, "");
    cr_expect_not_null(strstr(o.out, "3-cube"), "%s", o.out);
    outcome_free(&o);
}
