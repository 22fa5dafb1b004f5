/* Cabinets: the RAM in a memfd, the QEMU process on it, and the report of its end. */
#include "emu/qemu/cabinet.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "emu/base/host.h"
#include "emu/qemu/inside.h"
#include "vertex/contract/machine.h"

#define SLACK_BYTES    (4ull << 20) /* at the top, where QEMU puts its device tree at reset */
#define STATUS_NO_QEMU 127

static int make_ram(struct cabinet *c)
{
    c->ram_fd = inside_is() ? inside.ram_fd : memfd_create("ncube-ram", MFD_CLOEXEC);
    c->log_fd = inside_is() ? inside.log_fd : memfd_create("ncube-log", MFD_CLOEXEC);
    if (c->ram_fd < 0 || c->log_fd < 0 || ftruncate(c->ram_fd, (off_t)c->bytes) != 0)
        return -1;
    c->ram = mmap(NULL, c->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, c->ram_fd, 0);
    if (c->ram != MAP_FAILED)
        return 0;
    c->ram = NULL;
    return -1;
}

/* A device tree with nothing in it: that of many harts takes QEMU a fifth of its start, and no node reads it. It is for
 * the child that calls this. */
static int make_device_tree(void)
{
    enum { HEAD_BYTES = 40, NODES_AT = HEAD_BYTES + 16, NODES_BYTES = 16, BEGIN_NODE = 1, END_NODE, END = 9 };
    const uint32_t word[] = {
        0xd00dfeed, /* the magic number, then all bytes */
        NODES_AT + NODES_BYTES,
        NODES_AT, /* where nodes, names and reserved memory begin */
        NODES_AT + NODES_BYTES,
        HEAD_BYTES,
        17, /* the version, the oldest one that it is compatible with, the processor that starts */
        16,
        0,
        0, /* bytes of the names, and of the nodes */
        NODES_BYTES,
        0, /* no reserved memory: an address and a size of 64 bits each */
        0,
        0,
        0,
        BEGIN_NODE, /* the root, whose name is empty */
        0,
        END_NODE,
        END,
    };
    uint32_t big_endian[sizeof word / sizeof *word];
    int fd = memfd_create("ncube-device-tree", 0);

    for (size_t i = 0; i < sizeof word / sizeof *word; i++)
        big_endian[i] = htobe32(word[i]);
    return write(fd, big_endian, sizeof big_endian) == sizeof big_endian ? fd : -1;
}

static void keep_open(int fd)
{
    fcntl(fd, F_SETFD, 0);
}

/* Escapes a value for QEMU's option strings, in which a comma ends a value and two commas stand for one. `to` has room
 * for twice the text. */
static void escape(char *to, const char *text)
{
    for (; *text != '\0'; text++) {
        *to++ = *text;
        if (*text == ',')
            *to++ = ',';
    }
    *to = '\0';
}

/* ---- QEMU's buffer for translated code ----
 *
 * It takes memory only where it is used. QEMU divides it into parts of 2 MB or more, one for each hart and more for
 * those that fill theirs. It would take an eighth of the host's memory, too little for many harts on a small host. */

#define TRANSLATION_MB_MOST 2047u /* QEMU takes less than 2 GB */
#define PART_MB             2u    /* the least; */
#define PARTS_MOST          8u    /* and the most of them, for each hart */

/* Returns its size in MB. */
static uint64_t translation_mb(uint32_t harts, uint32_t code_mb)
{
    struct sysinfo host;
    uint64_t wanted = code_mb + (uint64_t)PART_MB * harts, room = TRANSLATION_MB_MOST;

    if (sysinfo(&host) == 0)
        room = ((uint64_t)host.totalram * host.mem_unit >> 20) * 3 / 4; /* Linux refuses more than there is */
    if (room > TRANSLATION_MB_MOST)
        room = TRANSLATION_MB_MOST;
    return wanted < room ? wanted : room;
}

/* Runs in the child: ends it with its parent. Ctrl-C is for the command alone. ncube inside has a session of its own,
 * where it may read from the terminal. A QEMU beside ncube stays in ncube's: a yield gives way within a session only,
 * where Linux shares processors among sessions (autogroup). */
static void be_child_of(pid_t parent, bool inside)
{
    if (inside)
        setsid();
    else
        setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
}

/* Returns how many bytes of code there may be before the buffer is to be emptied: half of it, so that there is room for
 * another program. What a hart has not filled of its part is of no use to others. */
static uint64_t code_most(uint32_t harts, uint32_t code_mb)
{
    uint64_t mb = translation_mb(harts, code_mb), parts = mb / PART_MB;

    if (parts > PARTS_MOST * harts)
        parts = PARTS_MOST * harts;
    return parts > harts ? (mb << 20) / parts * (parts - harts) / 2 : (mb << 20) / 4;
}

/* Runs in the child: redirects its output to the log and executes QEMU. `rest` are the plugin's other options. */
static void execute_qemu(const struct cabinet *c, const char *plugin, const char *rest)
{
    char object[128], device_tree[32], smp[16], memory[32], accelerator[64], escaped[2 * strlen(plugin) + 1];
    char plugin_options[2 * strlen(plugin) + 256];

    escape(escaped, plugin);
    keep_open(c->ram_fd);
    dup2(c->log_fd, STDOUT_FILENO);
    dup2(c->log_fd, STDERR_FILENO);
    snprintf(object, sizeof object, "memory-backend-file,id=ram,size=%zu,mem-path=/proc/self/fd/%d,share=on", c->bytes,
             c->ram_fd);
    snprintf(device_tree, sizeof device_tree, "/proc/self/fd/%d", make_device_tree());
    snprintf(smp, sizeof smp, "%u", c->nodes + 1);
    snprintf(memory, sizeof memory, "%zuM", c->bytes >> 20);
    snprintf(accelerator, sizeof accelerator, "tcg,thread=multi,tb-size=%" PRIu64,
             translation_mb(c->nodes + 1, c->code_mb));
    snprintf(plugin_options, sizeof plugin_options, "file=%s,ram=%d,first=%u,ram_bytes=%llu,%s,code=%" PRIu64, escaped,
             c->ram_fd, c->first_slot, (unsigned long long)c->ram_bytes, rest, code_most(c->nodes + 1, c->code_mb));
    execlp(CABINET_QEMU, CABINET_QEMU, "-M", "virt,aclint=on,acpi=off,memory-backend=ram", "-object", object, "-smp",
           smp, "-m", memory, "-accel", accelerator, "-bios", "none", "-dtb", device_tree, "-nodefaults", "-display",
           "none", "-serial", "none", "-monitor", "none", "-plugin", plugin_options, (char *)NULL);
    dprintf(STDERR_FILENO, "%s: %s\n", CABINET_QEMU, strerror(errno));
    _exit(STATUS_NO_QEMU);
}

static void become_qemu(const struct cabinet *c, int control_fd, const char *plugin)
{
    char rest[64];
    int null = open("/dev/null", O_RDWR);

    dup2(null, STDIN_FILENO);
    keep_open(control_fd);
    snprintf(rest, sizeof rest, "control=%d,statistics=%d,traps=%d", control_fd, c->watch.statistics, c->watch.traps);
    execute_qemu(c, plugin, rest);
}

/* Standard input is ncube's. */
static void become_inside(const struct cabinet *c, int page_fd, const char *plugin, const sigset_t *blocked)
{
    char rest[32];

    sigprocmask(SIG_SETMASK, blocked, NULL);
    keep_open(page_fd);
    snprintf(rest, sizeof rest, "inside=%d", page_fd);
    execute_qemu(c, plugin, rest);
}

size_t cabinet_bytes(uint32_t nodes, uint64_t ram_bytes)
{
    return CABINET_SHARED_BYTES + (nodes + 1) * ram_bytes + SLACK_BYTES;
}

/* Of QEMU's address space: its code, libraries, devices and heap, as measured (194 MB, QEMU 10.0 of Debian 12), with a
 * reserve; and what glibc reserves for each of a thread's heaps, of which it makes 8 for each processor at most. */
#define QEMU_BYTES       (248ull << 20)
#define HEAP_BYTES       (64ull << 20)
#define HEAPS            8u
#define HART_STATE_BYTES (3ull << 19) /* in QEMU, measured; and the plugin's */

static uint64_t thread_stack_bytes(void)
{
    pthread_attr_t attributes;
    size_t bytes = 8u << 20;

    if (pthread_getattr_default_np(&attributes) == 0) {
        pthread_attr_getstacksize(&attributes, &bytes);
        pthread_attr_destroy(&attributes);
    }
    return bytes;
}

uint64_t cabinet_qemu_bytes(uint32_t nodes, uint64_t ram_bytes, uint32_t code_mb)
{
    uint64_t harts = nodes + 1, heaps = HEAPS * (uint64_t)get_nprocs();

    return QEMU_BYTES + (translation_mb((uint32_t)harts, code_mb) << 20) +
           2 * cabinet_bytes(nodes, ram_bytes) /* QEMU's and the plugin's */ +
           harts * (thread_stack_bytes() + HART_STATE_BYTES) + (harts < heaps ? harts : heaps) * HEAP_BYTES;
}

static void describe_new(struct cabinet *c, uint32_t nodes, uint64_t ram_bytes, uint32_t code_mb, uint32_t first_slot)
{
    *c = CABINET_NONE;
    c->bytes = cabinet_bytes(nodes, ram_bytes);
    c->nodes = nodes;
    c->first_slot = first_slot;
    c->ram_bytes = ram_bytes;
    c->code_mb = code_mb;
}

/* Returns as fork does: 0 in the child. In a QEMU that ncube has left, nobody may wait for QEMU's locks. */
static pid_t fork_cabinet(struct cabinet *c, bool inside)
{
    pid_t parent = getpid(), child = _Fork();

    if (child == 0)
        be_child_of(parent, inside);
    c->pid = child > 0 ? child : 0;
    return child;
}

static int cannot_make(struct cabinet *c, char *error, size_t error_bytes)
{
    snprintf(error, error_bytes, "cannot make a cabinet of %u nodes: %s", c->nodes, strerror(errno));
    cabinet_stop(c);
    return -1;
}

/* The plugin waits for what it has to know. */
static void begin_here(struct cabinet *c, int control_fd)
{
    c->pid = getpid();
    c->here = true;
    inside.control_fd = control_fd;
    inside.statistics = c->watch.statistics;
    inside.traps = c->watch.traps;
    sem_post(&inside.ready);
}

int cabinet_start(struct cabinet *c, uint32_t nodes, uint64_t ram_bytes, uint32_t code_mb, uint32_t first_slot,
                  int control_fd, const char *plugin, struct cabinet_watch watch, char *error, size_t error_bytes)
{
    describe_new(c, nodes, ram_bytes, code_mb, first_slot);
    c->watch = watch;
    if (make_ram(c) != 0)
        return cannot_make(c, error, error_bytes);
    if (inside_is()) {
        begin_here(c, control_fd);
        return 0;
    }
    pid_t child = fork_cabinet(c, false);
    if (child == 0)
        become_qemu(c, control_fd, plugin);
    return child > 0 ? 0 : cannot_make(c, error, error_bytes);
}

int cabinet_start_inside(struct cabinet *c, uint32_t nodes, uint64_t ram_bytes, uint32_t code_mb, int page_fd,
                         const char *plugin, const sigset_t *blocked, char *error, size_t error_bytes)
{
    describe_new(c, nodes, ram_bytes, code_mb, 0);
    if (make_ram(c) != 0)
        return cannot_make(c, error, error_bytes);
    pid_t child = fork_cabinet(c, true);
    if (child == 0)
        become_inside(c, page_fd, plugin, blocked);
    return child > 0 ? 0 : cannot_make(c, error, error_bytes);
}

int cabinet_prepare_copy(struct cabinet *c, const struct cabinet *of, uint32_t first_slot)
{
    *c = *of;
    c->pid = 0;
    c->first_slot = first_slot;
    if (make_ram(c) == 0)
        return 0;
    int error = errno;
    cabinet_stop(c);
    errno = error;
    return -1;
}

int cabinet_make_far(struct cabinet *c, uint32_t nodes, uint64_t ram_bytes, uint32_t first_slot)
{
    describe_new(c, nodes, ram_bytes, 0, first_slot);
    void *p = mmap(NULL, c->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return -1;
    c->ram = p;
    return 0;
}

int cabinet_clear(struct cabinet *c)
{
    return fallocate(c->ram_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, (off_t)c->bytes);
}

uint8_t *cabinet_window(const struct cabinet *c, uint32_t hart)
{
    return c->ram + CABINET_SHARED_BYTES + hart * c->ram_bytes;
}

uint8_t *cabinet_shared(const struct cabinet *c, uint64_t pa)
{
    return c->ram + (pa - CABINET_RAM_BASE);
}

uint64_t cabinet_work_ns(const struct cabinet *c)
{
    clockid_t clock;

    return c->pid > 0 && clock_getcpuclockid(c->pid, &clock) == 0 ? host_ns(clock) : 0;
}

void cabinet_kill(const struct cabinet *c)
{
    if (c->pid > 0 && !c->here)
        kill(c->pid, SIGKILL);
}

void cabinet_stop(struct cabinet *c)
{
    cabinet_kill(c);
    if (c->pid > 0 && !c->here)
        while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR)
            ;
    if (c->here && !inside_is())
        cabinet_clear(c); /* its QEMU stays, and has it mapped */
    if (c->ram)
        munmap(c->ram, c->bytes);
    if (c->ram_fd >= 0)
        close(c->ram_fd);
    if (c->log_fd >= 0)
        close(c->log_fd);
    *c = CABINET_NONE;
}

/* Reads the last line that QEMU printed, without its newline; it is empty if QEMU printed nothing. */
static void read_last_line(int fd, char *line, size_t bytes)
{
    char log[4096];
    off_t end = lseek(fd, 0, SEEK_END), start = end > (off_t)sizeof log - 1 ? end - (off_t)sizeof log + 1 : 0;
    ssize_t n = pread(fd, log, sizeof log - 1, start);

    log[n > 0 ? n : 0] = '\0';
    for (size_t k = strlen(log); k > 0 && log[k - 1] == '\n'; k--)
        log[k - 1] = '\0';
    char *newline = strrchr(log, '\n');
    snprintf(line, bytes, "%s", newline ? newline + 1 : log);
}

bool cabinet_is_suspended(const struct cabinet *c)
{
    char path[64], text[1024];

    snprintf(path, sizeof path, "/proc/%d/stat", (int)c->pid);
    FILE *f = fopen(path, "re");
    if (!f)
        return false;
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    const char *end = strrchr(text, ')'); /* of the command's name, which may contain spaces and brackets */
    return end && (strncmp(end, ") T", 3) == 0 || strncmp(end, ") t", 3) == 0);
}

void cabinet_describe(const struct cabinet *c, char *text, size_t bytes)
{
    char last[1024];

    read_last_line(c->log_fd, last, sizeof last);
    snprintf(text, bytes, "%s (process %d)%s%s", CABINET_QEMU, (int)c->pid, last[0] ? ", which has said: " : "", last);
}

int cabinet_died(struct cabinet *c, char *text, size_t bytes)
{
    int status;
    pid_t pid = c->pid;

    if (pid == 0 || c->here || waitpid(pid, &status, WNOHANG) != pid)
        return 0;
    c->pid = 0;
    char last[1024];
    read_last_line(c->log_fd, last, sizeof last);
    if (WIFSIGNALED(status))
        snprintf(text, bytes, "%s (process %d) was ended by signal %d%s%s", CABINET_QEMU, (int)pid, WTERMSIG(status),
                 last[0] ? ": " : "", last);
    else
        snprintf(text, bytes, "%s (process %d) ended with status %d%s%s", CABINET_QEMU, (int)pid, WEXITSTATUS(status),
                 last[0] ? ": " : "", last);
    return 1;
}
