/* Write errors of stdio streams that newlib does not report. */
#ifndef NCUBE_LIB_STDIO_H
#define NCUBE_LIB_STDIO_H

/* Records that a write to a descriptor has failed. */
void stdio_note_failed_write(int fd, int error);

#endif
