/*
 * Requests to the driver of a descriptor that are neither reads nor writes.
 */
#ifndef _SYS_IOCTL_H
#define _SYS_IOCTL_H

/* What request means, and the type of its one argument, is the driver's matter. Returns >= 0, or -1 with errno: EBADF;
 * ENOTTY: the driver knows no such request; or an error of the driver. Files know no request. */
int ioctl(int fd, int request, ...);

#endif
