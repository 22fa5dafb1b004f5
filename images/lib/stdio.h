/* What newlib's stdio does not tell by itself. */
#ifndef NCUBE_LIB_STDIO_H
#define NCUBE_LIB_STDIO_H

/* A write to a descriptor has failed. */
void stdio_note_failed_write(int fd, int error);

#endif
