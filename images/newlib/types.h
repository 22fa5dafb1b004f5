/*
 * Becomes newlib's <machine/_types.h>: the types of a file's identity wide enough for ext2 and for a machine
 * of many volumes, where newlib's defaults for RISC-V are 16 bits.
 */
#pragma once

#include <machine/_default_types.h>

typedef unsigned int __dev_t;
typedef unsigned int __gid_t;
typedef unsigned int __uid_t;
typedef unsigned long __ino_t;

#define __machine_dev_t_defined 1
#define __machine_gid_t_defined 1
#define __machine_uid_t_defined 1
#define __machine_ino_t_defined 1
