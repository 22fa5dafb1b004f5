/* The list of descriptors that exec passes on. Part of libvertex. */
#ifndef NCUBE_LIB_INHERIT_H
#define NCUBE_LIB_INHERIT_H

#include "vertex/contract/abi.h"

/* Writes the descriptors that a program inherits to list[ABI_INHERITED_MAX]. Returns their number. */
uint32_t inherit_list(struct abi_inherited *list);

#endif
