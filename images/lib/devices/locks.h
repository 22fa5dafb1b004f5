/* Locks of ranges (locks.c). Part of libvertex. */
#pragma once

struct flock;

/* What any lock gets: 0, or -ENOLCK. */
int lock_grant(void);
/* F_GETLK, F_SETLK and F_SETLKW of fcntl on a file that was opened with these flags. 0, or a negative errno. */
int lock_range(int flags, int command, struct flock *lock);
