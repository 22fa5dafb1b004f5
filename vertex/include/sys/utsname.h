/*
 * The names of the system and the machine.
 */
#ifndef _SYS_UTSNAME_H
#define _SYS_UTSNAME_H

#define _UTSNAME_BYTES 32

struct utsname {
    char sysname[_UTSNAME_BYTES];  /* "Vertex" */
    char nodename[_UTSNAME_BYTES]; /* "node" and the node's logical number, as from gethostname: "node5" */
    char release[_UTSNAME_BYTES];
    char version[_UTSNAME_BYTES];
    char machine[_UTSNAME_BYTES];
};

/* Fills *name. Returns 0, or -1 with errno: EFAULT. */
int uname(struct utsname *name);

#endif
