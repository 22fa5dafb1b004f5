/*
 * The node's side of tests/machine/test_nhost.c. Without arguments it does what the host's messages say, by their type:
 *
 *   1        sends the message back, as type 2, with its own node's number in front
 *   3        exits with the status in the first byte
 *   4        ends by a fault
 *   0xffff   sends its length back, as type 0xffff
 */
#include <nself.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define BUFFER_BYTES (1 << 20)

int main(void)
{
    int node, host;
    unsigned char *buffer = malloc(BUFFER_BYTES);

    whoami(&node, NULL, &host, NULL);
    for (;;) {
        int from = host, type = -1, n = nread(buffer + sizeof node, BUFFER_BYTES - sizeof node, &from, &type, NULL);

        if (n < 0 || from != host)
            return 99;
        switch (type) {
        case 1:
            memcpy(buffer, &node, sizeof node);
            nwrite(buffer, n + (int)sizeof node, host, 2, NULL);
            break;
        case 3:
            return buffer[sizeof node];
        case 4:
            *(volatile int *)NULL = 0;
            break;
        case 0xffff:
            nwrite(&n, sizeof n, host, 0xffff, NULL);
            break;
        default:
            return 98;
        }
    }
}
