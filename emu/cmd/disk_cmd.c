/*
 * `ncube disk`: images of drives without a machine. Makes them (mke2fs), checks them (e2fsck), and moves files in and
 * out, of one image or of PIO files over many.
 *
 *     IMAGE:PATH          a path in an image file
 *     //VOLUME/PATH       in the image of a volume of the machine that -m names
 *     //STRIPED/PATH      a file of a striped volume of that machine
 *     pio:PATH            a PIO file over that machine's volumes
 *     clf:PATH            a file of Clusterfile over them, to get
 *     cfs:PATH            a file of the Concurrent File System, to get
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "emu/base/child.h"
#include "emu/base/host.h"
#include "emu/base/memory.h"
#include "emu/base/new_file.h"
#include "emu/base/oneline.h"
#include "emu/base/plural.h"
#include "emu/tools/disk_copy.h"
#include "emu/tools/machine_volumes.h"
#include "emu/base/options.h"
#include "emu/config/config_options.h"
#include "emu/cmd/commands.h"
#include "emu/disk/family_text.h"
#include "emu/disk/pio_image.h"
#include "emu/disk/volume.h"

#define IMAGE_MIN_BYTES (128u << 10)

struct arguments {
    const char *machine, *images, *label;
    uint32_t block_bytes; /* 0: the default */
};

#define TO(kind, member) OPTION_INTO(kind, struct arguments, member)

static const struct option_line lines[] = {
    {"machine", "FILE", "machine file, for //VOLUME/PATH, pio:PATH and all its images", TO(OPTION_TEXT, machine),
     .letter = 'm'},
    {"images", "DIR", "folder of the machine's images (default: the machine file's)", TO(OPTION_TEXT, images)},
    {"label", "NAME", "create: the volume's label (default: the file's name)", TO(OPTION_TEXT, label)},
    {"block", "SIZE", "create: block size, 1K, 2K or 4K (default 4K); put: that of a PIO file (default 16K)",
     TO(OPTION_SIZE, block_bytes), 1, PIO_BLOCK_BYTES_MAX},
    {OPTION_SET},
    {0}};

static const struct options options = {
    .command = "ncube disk",
    .usage = "[OPTION...] VERB [WORD...]",
    .words = UINT32_MAX,
    .summary = "Makes, checks and changes images of drives that no machine is using.",
    .end = "  create IMAGE SIZE      make an image, such as: ncube disk create df00.img 32M\n"
           "  create -m FILE SIZE    make the missing images of a machine\n"
           "  fsck IMAGE...          check and repair images; with -m, all images of a machine\n"
           "  ls NAME                list a directory\n"
           "  stat NAME              print a file's size and attributes\n"
           "  get NAME [FILE]        copy out; to standard output if FILE is -\n"
           "  put FILE NAME          copy in; from standard input if FILE is -\n"
           "  mkdir NAME             make a directory\n"
           "  rm NAME...             remove files and empty directories\n\n"
           "A NAME is IMAGE:PATH; or, with -m, //VOLUME/PATH (also of a striped volume), or pio:PATH for a PIO file.\n"
           "get also takes clf:PATH, a file of Clusterfile, and cfs:PATH, one of the Concurrent File System, whose\n"
           "files fsck -m checks, too.",
    .line = lines,
};

/* ---- The programs of e2fsprogs: 0, or -1 with one line in `error` (ERROR_LINE_BYTES) ---- */

/* Runs a program. Returns its exit status, or -1 with a line in error. */
static int run_tool(char *const argv[], char *error)
{
    int status = child_run(argv, false);

    if (status < 0)
        return error_line(error, "%s: %s", argv[0], strerror(errno));
    if (status > 128)
        return error_line(error, "%s: was killed", argv[0]);
    if (status == CHILD_NOT_FOUND)
        return error_line(error, "%s: cannot be run; Debian has it in e2fsprogs", argv[0]);
    return status;
}

/* Makes an ext2 image by mke2fs. The file must not exist. */
static int create_image(const char *image, uint64_t bytes, uint32_t block_bytes, const char *label, char *error)
{
    char block[16], self[40];
    struct new_file f = {.fd = -1};

    if (access(image, F_OK) == 0)
        return error_line(error, "%s: already exists; nothing was changed", image);
    if (strlen(label) > 16)
        return error_line(error, "%s: a label has at most 16 characters", label);
    if (new_file_open(&f, image, error) < 0)
        return -1;
    snprintf(block, sizeof block, "%u", block_bytes);
    snprintf(self, sizeof self, "/proc/%ld/fd/%d", (long)getpid(), f.fd); /* mke2fs has other descriptors */
    int result = ftruncate(f.fd, (off_t)bytes) < 0 ? error_line(error, "%s: %s", image, strerror(errno)) : 0;
    if (result == 0)
        result = run_tool(
            (char *[]){"mke2fs", "-q", "-F", "-t", "ext2", "-b", block, "-m", "0", "-L", (char *)label, self, NULL},
            error);
    if (result > 0)
        result = error_line(error, "%s: mke2fs could not make a file system of this size", image);
    return new_file_close_as_new(&f, result, error);
}

/* Checks an image by e2fsck -p, which prints what it does. */
static int check_image(const char *image, char *error)
{
    int fd = volume_lock(image, true, error);

    if (fd < 0)
        return -1;
    int result = run_tool((char *[]){"e2fsck", "-f", "-p", (char *)image, NULL}, error);
    if (result > 2) /* 1 and 2: errors were corrected */
        result = error_line(error, "%s: e2fsck could not repair it automatically; run it without -p", image);
    close(fd);
    return result < 0 ? -1 : 0;
}

/* ---- The machine's volumes ---- */

static void machine_free(struct machine_volumes *m)
{
    if (m->volumes.name != m->all_name) {
        free((void *)m->volumes.name);
        free((void *)m->volumes.image);
    }
    machine_volumes_free(m);
}

/* ---- Names ---- */

static const char *volume_image(const struct machine_volumes *m, const char *volume, size_t n)
{
    for (uint32_t i = 0; i < topo_drives(&m->config.topo); i++)
        if (strlen(m->all_name[i]) == n && strncmp(m->all_name[i], volume, n) == 0)
            return m->all_image[i];
    return NULL;
}

static const struct topo_striped *find_striped(const struct machine_volumes *m, const char *name, size_t n)
{
    const struct topo *t = &m->config.topo;

    for (uint32_t i = 0; i < t->n_striped; i++)
        if (strlen(t->striped[i].name) == n && strncmp(t->striped[i].name, name, n) == 0)
            return &t->striped[i];
    return NULL;
}

/* Makes the machine's volumes those that a striped volume is over, in its order; NULL: all. */
static void choose_volumes(struct machine_volumes *m, const struct topo_striped *s)
{
    const char **name = m->all_name, **image = m->all_image;
    uint32_t n = s ? s->disks : topo_drives(&m->config.topo);

    if (m->volumes.name != m->all_name) {
        free((void *)m->volumes.name);
        free((void *)m->volumes.image);
    }
    if (s) {
        name = memory_new(n, sizeof *name);
        image = memory_new(n, sizeof *image);
    }
    for (uint32_t k = 0; s && k < n; k++) {
        name[k] = s->over[k];
        image[k] = volume_image(m, s->over[k], strlen(s->over[k]));
    }
    m->volumes.n = n;
    m->volumes.name = name;
    m->volumes.image = image;
}

static void need_machine(const struct arguments *a, const char *text)
{
    if (!a->machine)
        options_refuse(&options, "'%s' is a name in a machine: give its file with -m", text);
}

/* Files that can only be copied out. Returns the row of a name's scheme, or NULL. */
static const struct scheme {
    const char *prefix, *what;
    enum disk_name_kind kind;
} schemes[] = {{"clf:/", "Clusterfile", NAME_CLF}, {"cfs:/", "the Concurrent File System", NAME_CFS}};

static const struct scheme *scheme_of(const char *text)
{
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        if (strncmp(text, schemes[i].prefix, strlen(schemes[i].prefix)) == 0)
            return &schemes[i];
    return NULL;
}

static struct disk_name parse_scheme(const struct arguments *a, struct machine_volumes *m, const char *text)
{
    need_machine(a, text);
    choose_volumes(m, NULL);
    return (struct disk_name){scheme_of(text)->kind, NULL, strchr(text, '/'), NULL};
}

/* The name also says which of the machine's volumes a PIO file is over. Puts an end behind an image in `text`. */
static struct disk_name parse_name(const struct arguments *a, struct machine_volumes *m, char *text)
{
    if (strncmp(text, "pio:", 4) == 0 && text[4] == '/') {
        need_machine(a, text);
        choose_volumes(m, NULL);
        return (struct disk_name){NAME_PIO, NULL, text + 4, NULL};
    }
    if (scheme_of(text))
        options_refuse(&options, "'%s': files of %s can only be copied out, by get", text, scheme_of(text)->what);
    if (strncmp(text, "//", 2) == 0) {
        size_t n = strcspn(text + 2, "/");

        need_machine(a, text);
        const char *path = text[2 + n] ? text + 2 + n : "/";
        const struct topo_striped *striped = find_striped(m, text + 2, n);
        if (striped) {
            choose_volumes(m, striped);
            return (struct disk_name){NAME_PIO, NULL, path, striped->map};
        }
        const char *image = volume_image(m, text + 2, n);
        if (!image)
            options_refuse(&options, "there is no volume %.*s in this machine", (int)n, text + 2);
        return (struct disk_name){NAME_IN_IMAGE, image, path, NULL};
    }
    char *colon = NULL;
    for (char *c = strstr(text, ":/"); c; c = strstr(c + 1, ":/"))
        colon = c; /* the last one: folders of the host may have colons */
    if (!colon || colon == text)
        options_refuse(&options, "'%s' names no file: give IMAGE:/PATH, or with -m //VOLUME/PATH or pio:/PATH", text);
    *colon = '\0';
    return (struct disk_name){NAME_IN_IMAGE, text, colon + 1, NULL};
}

/* ---- get and put ---- */

static int verb_get(struct machine_volumes *m, const struct arguments *a, char **word, char *error)
{
    struct disk_name from = scheme_of(word[0]) ? parse_scheme(a, m, word[0]) : parse_name(a, m, word[0]);

    return disk_copy_out(&m->volumes, &from, word[1] ? word[1] : host_last_part(from.path), error);
}

static int verb_put(struct machine_volumes *m, const struct arguments *a, char **word, char *error)
{
    struct disk_name to = parse_name(a, m, word[1]);

    return disk_copy_in(&m->volumes, word[0], &to, a->block_bytes, error);
}

/* Does something with one name in one image. */
static int in_image(const char *image, bool write, const char *path,
                    int (*act)(struct volume *v, const char *path, char *error), char *error)
{
    struct volume *v = NULL;
    int result = volume_open(&v, image, write, error);

    if (result == 0)
        result = act(v, path, error);
    return volume_close(v, result, error);
}

/* ---- ls and stat ---- */

static const char *time_text(int64_t seconds, char text[32])
{
    time_t t = (time_t)seconds;
    struct tm tm;

    gmtime_r(&t, &tm);
    strftime(text, 32, "%Y-%m-%d %H:%M:%S", &tm);
    return text;
}

static char type_letter(uint32_t mode)
{
    return S_ISDIR(mode) ? 'd' : S_ISLNK(mode) ? 'l' : S_ISREG(mode) ? '-' : '?';
}

static void print_entry(void *ctx, const char *name, const struct volume_stat *st)
{
    char text[32], *line = memory_copy_text(name, strlen(name));

    (void)ctx;
    printf("%c%04o %12" PRIu64 "  %s  %s\n", type_letter(st->mode), st->mode & 07777, st->bytes,
           time_text(st->mtime_s, text), one_line(line));
    free(line);
}

/* What print_striped needs to know. */
struct listing {
    struct machine_volumes *m;
    const char *folder;
    char *error;
    int result;
};

/* Prints an entry of a striped volume's folder. A file has the bytes of all its parts, and no description. */
static void print_striped(void *ctx, const char *name, const struct volume_stat *st)
{
    struct listing *l = ctx;
    struct volume_stat whole = *st;
    struct pio_image_file *f;
    const char *suffix = strrchr(name, '.');

    if (l->result < 0 || (suffix && strncmp(suffix, ".pio", 4) == 0))
        return;
    if (S_ISREG(st->mode)) {
        char *path = memory_print("%s/%s", l->folder, name);

        l->result = pio_image_open(&l->m->volumes, path, &f, &whole.bytes, l->error);
        if (l->result == 0)
            l->result = pio_image_close(f, 0, l->error);
        free(path);
    }
    if (l->result == 0)
        print_entry(NULL, name, &whole);
}

static int list_striped(struct machine_volumes *m, const char *folder, char *error)
{
    struct listing l = {m, folder, error, 0};
    struct volume *v;
    int result = pio_volume(&m->volumes, 0, &v, error);

    if (result == 0)
        result = volume_list(v, folder, print_striped, &l, error);
    if (result == 0)
        result = l.result;
    return pio_volumes_close(&m->volumes, result, error);
}

static int list(struct volume *v, const char *path, char *error)
{
    return volume_list(v, path, print_entry, NULL, error);
}

static int verb_ls(struct machine_volumes *m, const struct arguments *a, char **word, char *error)
{
    struct disk_name n = parse_name(a, m, word[0]);

    if (n.map)
        return list_striped(m, n.path, error);
    if (n.kind == NAME_PIO)
        options_refuse(&options, "'%s': PIO files lie in the directories of each volume: list //VOLUME/PATH", word[0]);
    return in_image(n.image, false, n.path, list, error);
}

static void print_pio(const struct pio_description *d, uint64_t bytes)
{
    printf("PIO file\nbytes    %" PRIu64 "\nblock    %d\nvolumes ", bytes, d->map.block_bytes);
    for (int k = 0; k < d->map.disks; k++)
        printf(" %s", d->volume[k]);
    if (d->map_text[0])
        printf("\nmap      %s", d->map_text);
    putchar('\n');
}

static int stat_pio(struct machine_volumes *m, const char *path, char *error)
{
    struct pio_image_file *f;
    uint64_t bytes;
    int result = pio_image_open(&m->volumes, path, &f, &bytes, error);

    if (result == 0) {
        print_pio(pio_image_description(f), bytes);
        result = pio_image_close(f, result, error);
    }
    return pio_volumes_close(&m->volumes, result, error);
}

static const char *type_name(uint32_t mode)
{
    return S_ISDIR(mode) ? "directory" : S_ISLNK(mode) ? "symbolic link" : S_ISREG(mode) ? "file" : "special file";
}

static int print_stat(struct volume *v, const char *path, char *error)
{
    struct volume_stat st;
    char text[32];

    if (volume_stat(v, path, &st, error) < 0)
        return -1;
    printf("%s\nbytes    %" PRIu64 "\nsectors  %" PRIu64 "\ninode    %u\nmode     %04o\nlinks    %u\n"
           "owner    %u, group %u\nwritten  %s UTC\n",
           type_name(st.mode), st.bytes, st.blocks_512, st.inode, st.mode & 07777, st.links, st.uid, st.gid,
           time_text(st.mtime_s, text));
    return 0;
}

static int verb_stat(struct machine_volumes *m, const struct arguments *a, char **word, char *error)
{
    struct disk_name n = parse_name(a, m, word[0]);

    if (n.kind == NAME_PIO)
        return stat_pio(m, n.path, error);
    return in_image(n.image, false, n.path, print_stat, error);
}

/* ---- mkdir and rm ---- */

static int verb_mkdir(struct machine_volumes *m, const struct arguments *a, char **word, char *error)
{
    struct disk_name n = parse_name(a, m, word[0]);
    int result = 0;

    if (n.kind == NAME_IN_IMAGE)
        result = in_image(n.image, true, n.path, volume_mkdir, error);
    for (uint32_t i = 0; n.kind == NAME_PIO && result == 0 && i < m->volumes.n; i++)
        result = in_image(m->volumes.image[i], true, n.path, volume_mkdir, error);
    return result;
}

static int remove_one(struct machine_volumes *m, const struct disk_name *n, char *error)
{
    if (n->kind == NAME_IN_IMAGE)
        return in_image(n->image, true, n->path, volume_remove, error);
    m->volumes.write = true;
    int result = pio_image_remove(&m->volumes, n->path, error);
    return pio_volumes_close(&m->volumes, result, error);
}

static int verb_rm(struct machine_volumes *m, const struct arguments *a, char **word, char *error)
{
    int result = 0;

    for (; *word && result == 0; word++) {
        struct disk_name n = parse_name(a, m, *word);

        result = remove_one(m, &n, error);
    }
    return result;
}

/* ---- create and fsck ---- */

static uint32_t image_block(const struct arguments *a)
{
    uint32_t bytes = a->block_bytes ? a->block_bytes : 4096;

    if (bytes != 1024 && bytes != 2048 && bytes != 4096)
        options_refuse(&options, "block '%u': an image has blocks of 1K, 2K or 4K", bytes);
    return bytes;
}

/* Makes the folder of an image, if it is not there. */
static int make_folder(const char *image, char *error)
{
    const char *slash = strrchr(image, '/');
    char *folder = slash ? memory_copy_text(image, (size_t)(slash - image)) : NULL;
    int result = 0;

    if (folder && folder[0] && mkdir(folder, 0777) < 0 && errno != EEXIST)
        result = error_line(error, "%s: %s", folder, strerror(errno));
    free(folder);
    return result;
}

/* Makes the images that a machine lacks. */
static int create_missing(const struct machine_volumes *m, const struct arguments *a, uint64_t bytes, char *error)
{
    uint32_t made = 0;

    for (uint32_t i = 0; i < m->volumes.n; i++) {
        if (access(m->volumes.image[i], F_OK) == 0)
            continue;
        if (make_folder(m->volumes.image[i], error) < 0 ||
            create_image(m->volumes.image[i], bytes, image_block(a), m->volumes.name[i], error) < 0)
            return -1;
        printf("%s\n", m->volumes.image[i]);
        made++;
    }
    printf("%u image%s made, %u there before\n", made, plural(made), m->volumes.n - made);
    return 0;
}

/* "df00" of "disks/df00.img". */
static char *label_of(const char *image)
{
    const char *name = host_last_part(image), *dot = strrchr(name, '.');

    return memory_copy_text(name, dot && dot > name ? (size_t)(dot - name) : strlen(name));
}

static int verb_create(struct machine_volumes *m, const struct arguments *a, char **word, char *error)
{
    const char *size = word[1] ? word[1] : word[0];
    uint64_t bytes = options_size(&options, "size", size, NODE_RAM_MAX_BYTES);

    if (bytes < IMAGE_MIN_BYTES)
        options_refuse(&options, "size '%s': an image has at least 128K", size);

    if (!word[1]) {
        if (!a->machine)
            options_refuse(&options, "create: give an image and its size, or a machine file with -m and a size");
        return create_missing(m, a, bytes, error);
    }
    char *label = a->label ? memory_copy_text(a->label, strlen(a->label)) : label_of(word[0]);
    int result = create_image(word[0], bytes, image_block(a), label, error);
    free(label);
    return result;
}

/* The files of the machine's Concurrent File System, if it has one. */
static int check_cfs(struct machine_volumes *m, char *error)
{
    struct cfs_image_counts n;
    uint32_t disk;

    if (m->config.topo.cfs.disks == 0)
        return 0;
    choose_volumes(m, NULL);
    int result = family_text_volume(&m->volumes, m->config.topo.cfs.volume[0], &disk, error);
    if (result == 0)
        result = cfs_image_check(&m->volumes, disk, &n, error);
    if (result == 0)
        printf("Concurrent File System: %" PRIu64 " file%s, %" PRIu64 " blocks in %" PRIu64 " pieces\n", n.files,
               plural((uint32_t)n.files), n.blocks, n.pieces);
    return pio_volumes_close(&m->volumes, result, error);
}

static int verb_fsck(struct machine_volumes *m, const struct arguments *a, char **word, char *error)
{
    int result = 0;

    if (!word[0] && !a->machine)
        options_refuse(&options, "fsck: give images, or a machine file with -m");
    for (uint32_t i = 0; !word[0] && i < m->volumes.n && result == 0; i++)
        result = check_image(m->volumes.image[i], error);
    if (!word[0] && result == 0)
        result = check_cfs(m, error);
    for (; *word && result == 0; word++)
        result = check_image(*word, error);
    return result;
}

/* ---- The command ---- */

static const struct verb {
    struct option_verb verb;
    int (*run)(struct machine_volumes *m, const struct arguments *a, char **word, char *error);
} verbs[] = {
    {{"create", 1, 2}, verb_create},  {{"fsck", 0, UINT32_MAX}, verb_fsck}, {{"get", 1, 2}, verb_get},
    {{"ls", 1, 1}, verb_ls},          {{"mkdir", 1, 1}, verb_mkdir},        {{"put", 2, 2}, verb_put},
    {{"rm", 1, UINT32_MAX}, verb_rm}, {{"stat", 1, 1}, verb_stat},          {{0}, NULL},
};

int disk_command(int argc, char **argv)
{
    struct arguments a = {0};
    char **word = options_parse(&options, &a, argc, argv), error[ERROR_LINE_BYTES];
    struct machine_volumes m;

    const struct verb *verb = &verbs[options_verb(&options, &verbs->verb, sizeof *verbs, word)];
    if (machine_volumes_load(&m, a.machine, a.images, error) < 0)
        return options_fail(&options, "%s", error);
    int result = verb->run(&m, &a, word + 1, error);
    if (result < 0)
        options_fail(&options, "%s", error);
    machine_free(&m);
    return result < 0;
}
