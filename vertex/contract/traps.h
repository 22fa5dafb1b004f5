/*
 * The traps of Vertex as functions: trap_NAME for every name in vertex/contract/abi.h's TRAP_LIST, which describes
 * each. The result is >= 0, or a negative n_error.
 *
 * This header declares them; images/lib/traps/traps.c defines them from the list. They are part of libvertex, for the
 * library itself and for nsdisk; programs use the calls of vertex/include and of POSIX.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "vertex/contract/abi.h"
#include "vertex/contract/proto.h"

extern int trap_last_error; /* negative n_error of the last call that failed, for nperror; 0: no call has failed */

/* Returns `result`. If that is negative, records it in trap_last_error: for errors that did not come from a trap. */
static inline int trap_note(int result)
{
    if (result < 0)
        trap_last_error = result;
    return result;
}

_Noreturn void trap_exit(long status);
_Noreturn void trap_endjob(long status);
long trap_tell(const struct abi_call *call);
long trap_whoami(struct abi_whoami *whoami);
/* What trap_whoami tells, without a trap but for the first time: a process keeps its numbers. traps/self.c */
const struct abi_whoami *trap_self(void);
long trap_nwrite(const void *buf, long bytes, long dest, long type);
long trap_read_message(void *buf, long bytes, int *src, int *type); /* nread; *src and *type: in wanted, out received */
long trap_test_message(int *src, int *type);                        /* ntest */
long trap_read_buffer(void **buf, long bytes, int *src, int *type, long context); /* nreadp */
long trap_cwrite(const void *buf, long bytes, long dest, long type, long context);
long trap_read_context(void *buf, long bytes, int *src, int *type, long context); /* cread, as trap_read_message */
long trap_read_pipe(void *buf, long bytes, int *src, int *type, long *others);    /* in CONTEXT_PIPE */
long trap_write_and_read(void *buf, long bytes, long dest, int src, long type, long context, bool *written);
/* csync: what is still to be done is left in *s. */
struct trap_sync {
    const int64_t *from;
    long n, dest;
};
long trap_context_sync(struct trap_sync *s, int src, long type, long context);
long trap_test_context(int *src, int *type, long context); /* ctest, as trap_test_message */
long trap_ngetp(long bytes);
long trap_nwritep(void *buf, long bytes, long dest, long type, long context);
long trap_nrelp(void *buf);
long trap_nrange(long low, long high);
long trap_cycles(void);
long trap_sbrk(long increment);
long trap_sleep(uint64_t until_cycles);
long trap_sigaction(long signal, long action, uint32_t mask, void (*dispatcher)(void));
long trap_sigblock(uint32_t block, uint32_t unblock);
long trap_sigpending(void);
long trap_sigsuspend(uint32_t signals);
long trap_sigwait(uint32_t signals, uint64_t until_cycles);
long trap_itimer(const struct abi_itimer *alarm, struct abi_itimer *before);
long trap_kill(long process, long signal);

long trap_open(const char *path, long flags, long mode);
long trap_close(long ufid);
long trap_read(long ufid, void *buf, long bytes);
long trap_write(long ufid, const void *buf, long bytes);
long trap_pread(long ufid, void *buf, long bytes, long offset);
long trap_pwrite(long ufid, const void *buf, long bytes, long offset);
long trap_lseek(long ufid, long offset, long whence);
long trap_fstat(long ufid, struct file_stat *stat);
long trap_stat(const char *path, struct file_stat *stat);
long trap_ftruncate(long ufid, long size_bytes, long only_by);
long trap_fsync(long ufid);
long trap_sync(void);
long trap_unlink(const char *path);
long trap_rename(const char *from, const char *to);
long trap_link(const char *path, const char *new_path);
long trap_mkdir(const char *path, long mode);
long trap_rmdir(const char *path);
long trap_readdir(long ufid, void *buf, long bytes);
long trap_access(const char *path, long mode);
long trap_chdir(const char *path);
long trap_striped(char *buf, long bytes);
long trap_fdpath(long ufid, char *buf, long bytes);
long trap_lstat(const char *path, struct file_stat *stat);
long trap_symlink(const char *text, const char *path);
long trap_readlink(const char *path, char *buf, long bytes);
long trap_setattr(const char *path, long flags, const struct file_attr *attr);
long trap_fsetattr(long ufid, const struct file_attr *attr);
long trap_fadd(long ufid, struct file_counter *counter);
long trap_statfs(long ufid, struct file_statfs *statfs);

long trap_askstart(const void *path, long type, long mode, const void *buf, long bytes); /* N_FVIEW: UFID, view */
long trap_askend(long number, void *buf);

long trap_requeststart(long node, long type, const void *head, long head_bytes, const void *data, long bytes);
long trap_requestend(long number, void *head, long head_bytes, void *data, long bytes);
long trap_requesttest(long number);

long trap_readstart(long ufid, long bytes);
long trap_preadstart(long ufid, long bytes, long offset);
long trap_readend(long ufid, void *buf);
long trap_writestart(long ufid, const void *buf, long bytes);
long trap_pwritestart(long ufid, const void *buf, long bytes, long offset);
long trap_writeend(long ufid);
long trap_ionode(long ufid);
long trap_iochannel(long ufid, long channel);
long trap_monitor(struct nmonitor *monitor);
long trap_mark(const char *text, long bytes);
long trap_work(long works);

/* fork is called by images/lib/posix/forkentry.S */
long trap_wait(long procid, long wait);
long trap_parent(void);
long trap_exec(const struct abi_program *program);
long trap_pipe(int32_t ufid[2]);
long trap_pipe_state(long ufid, long request);
long trap_poll(struct abi_poll *entries, long n, uint64_t until_cycles, uint64_t blocked);

long trap_rexec(long node, long nodes, const struct abi_program *program);
long trap_rwait(long node);
struct load_peer;
long trap_pipenumber(void);
long trap_pipeopen(const char *name, long writes, struct load_peer *peer);
long trap_rexecf(long node, long nodes, const struct abi_program *program, const void *descriptors, long bytes);

long trap_disk_info(long drive, struct abi_drive *info);
long trap_disk_io(long drive, long write, uint64_t sector, void *buf, long sectors);
long trap_disk_start(long drive, long write, uint64_t sector, void *buf, long sectors, long type);
long trap_disk_end(struct abi_disk_done *done, long wait);
long trap_reply(const void *head, long head_bytes, const void *data, long bytes, long dest, long type);
long trap_pay(long bytes);
long trap_message_or_disk(void *buf, long bytes, int *src, int *type); /* disk_or_read, as trap_read_message */
