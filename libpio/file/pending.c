#include "libpio/file/pending.h"

#include <errno.h>
#include <stdlib.h>

static void put_spare(struct pio_queue *queue, struct pio_request *request)
{
    request->next = queue->spare;
    queue->spare = request;
}

int pio_queue_init(struct pio_queue *queue, int requests)
{
    *queue = (struct pio_queue){.requests = calloc(requests, sizeof(struct pio_request))};
    if (!queue->requests)
        return -ENOMEM;
    for (int i = 0; i < requests; i++)
        put_spare(queue, &queue->requests[i]);
    return 0;
}

void pio_queue_free(struct pio_queue *queue)
{
    free(queue->requests);
    *queue = (struct pio_queue){0};
}

void pio_queue_append(struct pio_queue *queue, const struct pio_request *request)
{
    struct pio_request *entry = queue->spare;

    queue->spare = entry->next;
    *entry = *request;
    entry->next = NULL;
    if (queue->tail)
        queue->tail->next = entry;
    else
        queue->head = entry;
    queue->tail = entry;
}

bool pio_queue_take(struct pio_queue *queue, int node, struct pio_request *request)
{
    struct pio_request *before = NULL, *entry = queue->head;

    while (entry && entry->node != node) {
        before = entry;
        entry = entry->next;
    }
    if (!entry)
        return false;
    if (before)
        before->next = entry->next;
    else
        queue->head = entry->next;
    if (queue->tail == entry)
        queue->tail = before;
    *request = *entry;
    put_spare(queue, entry);
    return true;
}

bool pio_queue_empty(const struct pio_queue *queue)
{
    return !queue->head;
}
