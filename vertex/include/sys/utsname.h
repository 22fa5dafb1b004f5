/*
 * What machine this is.
 */
#ifndef _SYS_UTSNAME_H
#define _SYS_UTSNAME_H

#define _UTSNAME_BYTES 32

struct utsname {
    char sysname[_UTSNAME_BYTES];  /* "Vertex" */
    char nodename[_UTSNAME_BYTES]; /* as gethostname: "node5", the node's number in its subcube */
    char release[_UTSNAME_BYTES];
    char version[_UTSNAME_BYTES];
    char machine[_UTSNAME_BYTES];
};

/* Returns 0; -1 with EFAULT. */
int uname(struct utsname *name);

#endif
