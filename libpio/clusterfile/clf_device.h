/* The driver of names that begin with /clf/, for the calls of <clf.h>. */
#ifndef LIBPIO_CLF_DEVICE_H
#define LIBPIO_CLF_DEVICE_H

#include <ndevices.h>

#include "libpio/clusterfile/clf_client.h"

extern const struct ndevice ndevice_clf;
/* The layout of a file that the next open makes; NULL: the default. */
extern const struct clf_layout *clf_device_layout;

#endif
