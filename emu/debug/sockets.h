/* Sockets on this host, for the stub. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Listens on a port of this host; 0: on any free one, which it stores. Returns the descriptor, which does not block and
 * is the caller's, or -1 with errno. */
int socket_listen(uint16_t *port);
/* Has SIGIO sent when something arrives. */
void socket_notify(int fd);
bool socket_is_readable(int fd);
/* Sends all bytes; false: the other end is gone. */
bool socket_send(int fd, const char *bytes, size_t n);
