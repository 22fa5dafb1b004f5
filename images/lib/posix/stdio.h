/* Write errors of stdio streams that newlib does not report. */
#pragma once

/* Records that a write to a descriptor has failed. */
void stdio_note_failed_write(int fd, int error);
