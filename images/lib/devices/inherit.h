/* The list of descriptors that exec passes on. Part of libvertex. */
#pragma once

#include "vertex/contract/abi.h"

/* Writes the descriptors that a program inherits to list[ABI_INHERITED_MAX]. Returns their number. */
uint32_t inherit_list(struct abi_inherited *list);
