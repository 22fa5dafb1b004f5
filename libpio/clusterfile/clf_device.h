/* The driver of names that begin with /clf/, for the calls of <clf.h>. */
#pragma once

#include <ndevices.h>

#include "libpio/clusterfile/clf_client.h"

extern const struct ndevice ndevice_clf;
/* The layout of a file that the next open makes; NULL: the default. */
extern const struct clf_layout *clf_device_layout;
