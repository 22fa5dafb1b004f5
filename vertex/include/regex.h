/* newlib's <regex.h> wants off_t to be there before it; POSIX's does not. */
#ifndef _NCUBE_REGEX_H
#define _NCUBE_REGEX_H

#include <sys/types.h>

#include_next <regex.h>

#endif
