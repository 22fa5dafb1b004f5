/* A rack that waits for another one's bytes answers no command. So the one that is lost is found by looks, which are no
 * commands. */
#include "emu/rack/racks_asking.h"

#include <stdio.h>
#include <string.h>

#include "emu/base/host.h"
#include "emu/rack/ranks.h"

static bool is_lost;

void racks_send_all(struct racks *r)
{
    for (uint32_t k = 0; k < r->n; k++)
        if (r->rack[k].out.n > 0) {
            ranks_send(k + 1, WIRE_COMMANDS, &r->rack[k].out);
            r->busy_ms = host_ms();
        }
}

void racks_lose(struct racks *r, uint32_t rack, const char *how)
{
    is_lost = true;
    if (!r->failed)
        snprintf(r->why, sizeof r->why, "rack %u (%s) %s", rack + 1, ranks_host(rack + 1), how);
    r->failed = true;
}

bool racks_any_lost(void)
{
    return is_lost;
}

static uint64_t number_in(const struct wire *w)
{
    uint64_t number = 0;

    if (w->n == sizeof number)
        memcpy(&number, w->bytes, sizeof number);
    return number;
}

void racks_lose_silent(struct racks *r, uint32_t rack)
{
    racks_lose(r, rack, ranks_lost() == rack + 1 ? "has ended" : "does not answer");
}

uint64_t racks_look_at(struct racks *r, uint32_t rack)
{
    struct wire look = {0};

    racks_send_all(r);
    if (r->failed)
        return 0;
    ranks_send(rack + 1, WIRE_LOOK, &look);
    if (ranks_await(rack + 1, WIRE_ALIVE, &r->answer, SILENCE_MS))
        return number_in(&r->answer);
    racks_lose_silent(r, rack);
    return 0;
}

bool racks_ask(struct racks *r, uint32_t rack)
{
    racks_send_all(r);
    if (!r->failed && !ranks_await(rack + 1, WIRE_ANSWER, &r->answer, SILENCE_MS)) {
        for (uint32_t k = 0; k < r->n && !r->failed; k++)
            racks_look_at(r, k);
        racks_lose_silent(r, rack);
    }
    return !r->failed;
}

uint64_t racks_ask_number(struct racks *r, uint32_t rack)
{
    return racks_ask(r, rack) ? number_in(&r->answer) : 0;
}
