/* See cfs_client.h. */
#include "tests/nsdisk/cfs_client.h"

#include <stdio.h>
#include <string.h>

#include "vertex/contract/errors.h"

uint32_t client_requests_left = UINT32_MAX;

static struct lab *there;
static int client;

void client_use(struct lab *lab, int from)
{
    there = lab;
    client = from;
    client_requests_left = UINT32_MAX;
}

static long text(char *buf, long bytes)
{
    static const char line[] = "/cfs df00 df01 df02: 2 100.0 100.1 100.2\n";

    if (buf)
        memcpy(buf, line, (size_t)bytes < sizeof line ? (size_t)bytes : sizeof line);
    return sizeof line - 1;
}

static long start(long node, long type, const void *head, long head_bytes, const void *data, long bytes)
{
    uint8_t message[sizeof(struct cfs_request) + 8192];

    (void)node;
    if (client_requests_left == 0)
        return -N_EHOSTDOWN;
    client_requests_left -= client_requests_left != UINT32_MAX;
    memcpy(message, head, (size_t)head_bytes);
    if (bytes > 0)
        memcpy(message + head_bytes, data, (size_t)bytes);
    return (long)lab_send(there, client, (int)type, message, (size_t)(head_bytes + bytes));
}

static long end(long number, void *head, long head_bytes, void *data, long bytes)
{
    long status = lab_wait(there, (uint32_t)number);
    const size_t n = there->payload_bytes, first = n < (size_t)head_bytes ? n : (size_t)head_bytes;
    const size_t rest = n - first < (size_t)bytes ? n - first : (size_t)bytes;

    if (first > 0)
        memcpy(head, there->payload, first);
    if (rest > 0)
        memcpy(data, there->payload + first, rest);
    return status;
}

static long test(long number)
{
    return lab_answered(there, (uint32_t)number);
}

const struct server_calls server_calls = {text, start, end, test, NULL, NULL, NULL, NULL, NULL};
