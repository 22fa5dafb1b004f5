#include <criterion/criterion.h>
#include <string.h>

#include "vertex/contract/errors.h"
#include "vertex/file/path.h"

static const struct {
    const char *path;
    int error;
    const char *volume; /* NULL: the front end */
    const char *name;
} cases[] = {
    {"//df00/demo", 0, "df00", "/demo"},
    {"//df00/a/b//c", 0, "df00", "/a/b//c"},
    {"//df00/", 0, "df00", "/"},
    {"//df00", 0, "df00", ""},
    {"//fifteen-letters/x", 0, "fifteen-letters", "/x"},
    {"/etc/motd", 0, NULL, "/etc/motd"},
    {"notes.txt", 0, NULL, "notes.txt"},
    {"a//b", 0, NULL, "a//b"},
    {"", -N_ENOENT, NULL, NULL},
    {"//", -N_ENOENT, NULL, NULL},
    {"///x", -N_ENOENT, NULL, NULL},
    {"//sixteen-letters!/x", -N_ENOENT, NULL, NULL},
};

static const struct {
    const char *base, *text, *joined, *simple; /* joined: NULL: too long */
} joins[] = {
    {"/", "a", "/a", "/a"},
    {"/a/b", "c", "/a/b/c", "/a/b/c"},
    {"/a/b", "/c", "/c", "/c"},
    {"/a/b", "//v/c", "//v/c", "//v/c"},
    {"/a/b", "", "", NULL},
    {"/a/b", "..", "/a/b/..", "/a"},
    {"/a/b", "../..", "/a/b/../..", "/"},
    {"/a/b", "../../..", "/a/b/../../..", "/"},
    {"/a/b", "./c/./d/", "/a/b/./c/./d/", "/a/b/c/d"},
    {"/a", "...", "/a/...", "/a/..."},
    {"/a", "x//y///", "/a/x//y///", "/a/x/y"},
    {"//v", "c", "//v/c", "//v/c"},
    {"//v/", "c", "//v/c", "//v/c"},
    {"//v/d", "../../e", "//v/d/../../e", "//v/e"},
    {"//v/d", "..", "//v/d/..", "//v/"},
    {"/", "//v", "//v", "//v/"},
    {"/", "/..", "/..", "/"},
    {"/a/b", "0123456789012345678901234", "/a/b/0123456789012345678901234", "/a/b/0123456789012345678901234"},
    {"/a/b", "01234567890123456789012345", NULL, NULL},
};

Test(path, names_begin_at_the_working_directory)
{
    for (unsigned i = 0; i < sizeof joins / sizeof joins[0]; i++) {
        char text[31];

        strcpy(text, joins[i].text);
        int error = path_prepend(joins[i].base, text, sizeof text);
        cr_expect_eq(error, joins[i].joined ? 0 : -N_ENAMETOOLONG, "%s %s: %d", joins[i].base, joins[i].text, error);
        if (error || !joins[i].joined)
            continue;
        cr_expect_str_eq(text, joins[i].joined);
        if (!joins[i].simple)
            continue;
        cr_expect_eq(path_simplify(text), strlen(joins[i].simple), "%s", text);
        cr_expect_str_eq(text, joins[i].simple);
    }
}

Test(path, names_lead_to_a_volume_or_to_the_front_end)
{
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct path_parts parts;
        int error = path_parse(cases[i].path, &parts);

        cr_expect(error == cases[i].error, "\"%s\": %d", cases[i].path, error);
        if (error || cases[i].error)
            continue;
        cr_expect(parts.on_volume == (cases[i].volume != NULL), "\"%s\": on a volume", cases[i].path);
        if (cases[i].volume)
            cr_expect(strcmp(parts.volume, cases[i].volume) == 0, "\"%s\": volume %s", cases[i].path, parts.volume);
        cr_expect(strcmp(parts.name, cases[i].name) == 0, "\"%s\": name %s", cases[i].path, parts.name);
        cr_expect(parts.name_bytes == strlen(cases[i].name), "\"%s\": length %u", cases[i].path, parts.name_bytes);
    }
}
