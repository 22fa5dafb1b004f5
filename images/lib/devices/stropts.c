/*
 * getmsg and putmsg of <stropts.h>: through the switch to the driver of their descriptor.
 */
#include <stropts.h>

#include "images/lib/devices/endpoint.h"
#include "images/lib/devices/ndevice_switch.h"
#include "images/lib/traps/result.h"

/* The driver of pipes uses the message driver for messages, without making every program have it. */
static const struct ndevice *const needed __attribute__((used)) = &message_device;

int putmsg(int fd, const struct strbuf *ctl, const struct strbuf *data, int flags)
{
    return (int)result_to_errno(NDEVICE_ON_FD("putmsg", fd, putmsg, ENOSTR, ctl, data, flags));
}

int getmsg(int fd, struct strbuf *ctl, struct strbuf *data, int *flags)
{
    return (int)result_to_errno(NDEVICE_ON_FD("getmsg", fd, getmsg, ENOSTR, ctl, data, flags));
}
