/* Reads /proc with bare system calls: opendir would allocate memory. */
#include "emu/base/starved.h"

#include <fcntl.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NUMBER_BYTES 24u

struct entry { /* of getdents64 */
    uint64_t inode;
    int64_t next;
    unsigned short bytes;
    unsigned char type;
    char name[];
};

static char *add_text(char *to, const char *text)
{
    while (*text)
        *to++ = *text++;
    *to = '\0';
    return to;
}

static char *add_number(char *to, uint64_t number)
{
    char digits[NUMBER_BYTES];
    size_t n = 0;

    do
        digits[n++] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    while (n > 0)
        *to++ = digits[--n];
    *to = '\0';
    return to;
}

/* Returns how many bytes have been read; text ends in a NUL. */
static size_t read_file(int folder, const char *path, char *text, size_t bytes)
{
    int fd = openat(folder, path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, bytes - 1) : 0;

    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    return n > 0 ? (size_t)n : 0;
}

/* The state stands behind the command's name, which may have brackets of its own. */
static bool thread_is_runnable(int folder, const char *thread)
{
    char path[NUMBER_BYTES + 8], text[512], state = '?';

    add_text(add_text(path, thread), "/stat");
    for (size_t n = read_file(folder, path, text, sizeof text); n > 0 && state == '?'; n--)
        if (text[n - 1] == ')')
            state = text[n + 1];
    return state == 'R';
}

bool starved_is_runnable(pid_t pid)
{
    char path[NUMBER_BYTES + 16];
    _Alignas(struct entry) char list[4096];
    bool runnable = false;
    long n;

    add_text(add_number(add_text(path, "/proc/"), (uint64_t)pid), "/task");
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    while (folder >= 0 && !runnable && (n = syscall(SYS_getdents64, folder, list, sizeof list)) > 0)
        for (long at = 0; at < n && !runnable; at += ((struct entry *)(list + at))->bytes) {
            const struct entry *e = (const struct entry *)(list + at);

            runnable = e->name[0] != '.' && thread_is_runnable(folder, e->name);
        }
    if (folder >= 0)
        close(folder);
    return runnable;
}

uint64_t starved_own_ns(void)
{
    char text[128];
    uint64_t ns = 0;
    const char *s = text;

    read_file(AT_FDCWD, "/proc/thread-self/schedstat", text, sizeof text);
    while (*s >= '0' && *s <= '9')
        s++;
    for (s += *s == ' '; *s >= '0' && *s <= '9'; s++)
        ns = ns * 10 + (uint64_t)(*s - '0');
    return ns;
}
