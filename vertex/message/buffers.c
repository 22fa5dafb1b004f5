/*
 * Messages in memory: their buffers (buffers.h).
 */
#include "vertex/message/buffers.h"

#include <stddef.h>

#include "vertex/base/attr.h"
#include "vertex/base/panic.h"
#include "vertex/memory/kmem.h"
#include "vertex/memory/page.h"

struct message_spares message_spares;
static uint32_t count;           /* messages that exist, spares too */
static struct message *reserved; /* held once by this module */

static uint32_t payload_pages(uint64_t capacity)
{
    return PAGE_ROUND_UP(capacity) / PAGE_BYTES;
}

static struct message *new_header(uint64_t inline_bytes, enum message_place place)
{
    struct message *m = kmem_alloc(MEM_MESSAGE, sizeof *m + inline_bytes);

    if (!m)
        return NULL;
    m->payload = (uint64_t *)(m + 1);
    m->capacity = inline_bytes;
    m->place = place;
    count++;
    return message_make_blank(m);
}

static bool keep_as_spare(struct message *m)
{
    if (m->place != MESSAGE_INLINE || m->capacity != MESSAGE_SPARE_BYTES || message_spares.count == MESSAGE_SPARES)
        return false;
    m->next = message_spares.first;
    message_spares.first = m;
    message_spares.count++;
    return true;
}

static void free_header(struct message *m)
{
    if (keep_as_spare(m))
        return;
    count--;
    kmem_free(MEM_MESSAGE, m, sizeof *m + (m->place == MESSAGE_INLINE ? m->capacity : 0));
}

struct message *message_new_pages(uint64_t capacity)
{
    struct message *m = new_header(0, MESSAGE_PAGES);

    if (!m)
        return NULL;
    m->capacity = capacity ? capacity : 1;
    m->payload = page_alloc(MEM_MESSAGE, payload_pages(m->capacity));
    if (m->payload)
        return m;
    free_header(m);
    return NULL;
}

RARE struct message *message_new_sized(uint64_t capacity)
{
    bool small = sizeof(struct message) + capacity <= KMEM_SMALL_MAX;

    if (capacity <= MESSAGE_SPARE_BYTES)
        return new_header(MESSAGE_SPARE_BYTES, MESSAGE_INLINE);
    return small ? new_header(capacity, MESSAGE_INLINE) : message_new_pages(capacity);
}

RARE void message_fill_spares(void)
{
    struct message *m;

    while (message_spares.count < MESSAGE_SPARES && (m = new_header(MESSAGE_SPARE_BYTES, MESSAGE_INLINE)))
        keep_as_spare(m);
}

struct message *message_new_landing(void *memory, uint64_t capacity)
{
    struct message *m = new_header(0, MESSAGE_LANDED);

    if (m) {
        m->payload = memory;
        m->capacity = capacity;
    }
    return m;
}

void message_free(struct message *m)
{
    if (m->holds == 0)
        panic("message_free: message 0x%lx, tag 0x%x, is free", (uint64_t)m, m->tag);
    m->holds = 0;
    if (m->place == MESSAGE_PAGES)
        page_free(MEM_MESSAGE, m->payload, payload_pages(m->capacity));
    free_header(m);
}

void message_release_all(struct message_queue *q)
{
    struct message *m;

    while ((m = queue_take_first(q)))
        message_release(m);
}

/* ---- The reserved message ---- */

bool message_reserve(uint64_t capacity)
{
    reserved = message_new_pages(capacity);
    return reserved;
}

void message_unreserve(void)
{
    if (reserved)
        message_release(reserved);
    reserved = NULL;
}

struct message *message_use_reserved(uint64_t capacity)
{
    if (!reserved || reserved->holds > 1 || capacity > reserved->capacity)
        return NULL;
    message_make_blank(reserved)->holds++;
    return reserved;
}

uint32_t message_count(void)
{
    return count - message_spares.count - (reserved != NULL);
}
