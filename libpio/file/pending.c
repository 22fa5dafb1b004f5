#include "libpio/file/pending.h"

#include <stddef.h>

void pio_queue_append(struct pio_queue *queue, struct pio_request *request)
{
    request->next = NULL;
    if (queue->tail)
        queue->tail->next = request;
    else
        queue->head = request;
    queue->tail = request;
    queue->n[request->op]++;
}

struct pio_request *pio_queue_take(struct pio_queue *queue, enum pio_op op, int node)
{
    struct pio_request *before = NULL, *entry = queue->head;

    while (entry && (entry->node != node || entry->op != op)) {
        before = entry;
        entry = entry->next;
    }
    if (!entry)
        return NULL;
    if (before)
        before->next = entry->next;
    else
        queue->head = entry->next;
    if (queue->tail == entry)
        queue->tail = before;
    queue->n[op]--;
    return entry;
}
