/* Asynchronous transfers: what I/O nodes have to do, and the order in which they answer. */
#include "tests/libpio/fake_state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

static void count_request(int volume)
{
    counts.requests++;
    counts.volume_requests[volume]++;
    if (++counts.in_flight > counts.max_in_flight)
        counts.max_in_flight = counts.in_flight;
    if (++counts.volume_in_flight[volume] > counts.volume_max_in_flight[volume])
        counts.volume_max_in_flight[volume] = counts.volume_in_flight[volume];
}

static int start(enum pio_op op, int fd, int64_t offset, const void *data, int n)
{
    int inode = fds[fd].inode;
    struct volume *volume = &volumes[inodes[inode].volume];

    if (volume->refuse_in >= 0 && volume->refuse_in-- == 0)
        return volume->refuse_error;
    struct request *request = &requests[n_requests++];
    *request =
        (struct request){.op = op, .inode = inode, .volume = inodes[inode].volume, .bytes = n, .view = fds[fd].view};
    request->offset = op == PIO_OP_WRITE && (fds[fd].flags & O_APPEND) ? inodes[inode].size : offset;
    if (volume->fail_in >= 0 && volume->fail_in-- == 0)
        request->error = volume->fail_error;
    if (op == PIO_OP_WRITE) {
        request->data = malloc(n);
        memcpy(request->data, data, n);
    }
    count_request(request->volume);
    return 0;
}

int fake_read_start(int fd, int64_t offset, int n)
{
    return start(PIO_OP_READ, fd, offset, NULL, n);
}

int fake_write_start(int fd, int64_t offset, const void *buf, int n)
{
    return start(PIO_OP_WRITE, fd, offset, buf, n);
}

/* Addresses of the I/O nodes that have a request of this kind, ascending. Requests of the other kind before it may have
 * been answered, too: a program that takes answers of one kind passes over those of the other. */
static int list_ready_nodes(enum pio_op op, int *ready)
{
    int n = 0;

    for (int node = 0x4000; node < 0x4000 + 2 * FAKE_VOLUMES; node++)
        for (int i = 0; i < n_requests; i++)
            if (volumes[requests[i].volume].node == node && requests[i].op == op) {
                ready[n++] = node;
                break;
            }
    return n;
}

static struct request take_request(enum pio_op op, int node)
{
    int i = 0;

    while (volumes[requests[i].volume].node != node || requests[i].op != op)
        i++;
    struct request request = requests[i];
    memmove(&requests[i], &requests[i + 1], (n_requests - i - 1) * sizeof request);
    n_requests--;
    counts.in_flight--;
    counts.volume_in_flight[request.volume]--;
    return request;
}

/* Replies to reads fill a node's memory until they are taken, and keep those to writes out. */
static void note_wait(enum pio_op op)
{
    for (int i = 0; i < n_requests && !writes_arrived; i++)
        counts.waits_for_writes += op == PIO_OP_WRITE && requests[i].op == PIO_OP_READ;
    writes_arrived = false;
}

int fake_wait(enum pio_op op, void *comm, size_t comm_bytes, struct pio_ack *ack)
{
    int ready[2 * FAKE_VOLUMES];
    char *data = (char *)comm + PIO_ACK_HEADER_BYTES;

    note_wait(op);
    if (lose_in >= 0 && lose_in-- == 0)
        return -EIO;
    int n = list_ready_nodes(op, ready);
    if (n == 0)
        abort(); /* libpio waits for an acknowledgement that will never arrive */
    int node = ready[choose_node(n)];
    struct request request = take_request(op, node);
    if (op == PIO_OP_READ && (size_t)request.bytes > comm_bytes - PIO_ACK_HEADER_BYTES)
        abort();
    *ack = (struct pio_ack){.node = node, .status = request.error, .data = data};
    if (!request.error && request.view)
        ack->status =
            op == PIO_OP_READ
                ? fake_read_view(&inodes[request.inode], request.view, request.offset, data, request.bytes)
                : fake_write_view(&inodes[request.inode], request.view, request.offset, request.data, request.bytes);
    else if (!request.error && op == PIO_OP_READ)
        ack->status = fake_read_bytes(&inodes[request.inode], request.offset, data, request.bytes);
    else if (!request.error)
        ack->status = fake_write_bytes(&inodes[request.inode], request.offset, request.data, request.bytes);
    free(request.data);
    return 0;
}

void fake_work(bool begins)
{
    (void)begins;
}

int fake_arrived(enum pio_op op)
{
    int ready[2 * FAKE_VOLUMES];

    bool arrived = list_ready_nodes(op, ready) > 0 && choose_node(2) == 0;
    writes_arrived = arrived && op == PIO_OP_WRITE;
    return arrived;
}
