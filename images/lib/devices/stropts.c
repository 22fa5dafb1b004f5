/*
 * getmsg and putmsg of <stropts.h>: through the switch to the driver of their descriptor.
 */
#include <stropts.h>

#include "images/lib/devices/endpoint.h"
#include "images/lib/devices/ndevice_switch.h"

/* The driver of pipes uses the message driver for messages, without making every program have it. */
static const struct ndevice *const needed __attribute__((used)) = &message_device;

NDEVICE_FD_CALL(int, putmsg, putmsg, ENOSTR, (int fd, const struct strbuf *ctl, const struct strbuf *data, int flags),
                ctl, data, flags)
NDEVICE_FD_CALL(int, getmsg, getmsg, ENOSTR, (int fd, struct strbuf *ctl, struct strbuf *data, int *flags), ctl, data,
                flags)
