/*
 * Puts the machine's faults into force: kills and revives channels of the network in time, and draws parity errors.
 */
#pragma once

#include "emu/model/fault.h"
#include "emu/network/net.h"
#include "emu/trace/trace.h"
#include "emu/time/eventq.h"

struct fault_plan;

/* Adds the events of n faults to the queue. All arguments must outlive the plan; trace may be NULL. The caller frees
 * the plan with fault_plan_free. */
struct fault_plan *fault_plan_new(const struct topo *topo, struct eventq *queue, struct net *net, struct trace *trace,
                                  const struct fault *fault, uint32_t n);
void fault_plan_free(struct fault_plan *p);

/* Has `recovered` called when a link or a node has recovered, or noise has ended. */
void fault_plan_on_recovery(struct fault_plan *p, void (*recovered)(void *ctx, uint64_t now_cycles), void *ctx);

/* Draws for a message of so many payload bytes that takes a channel. Returns NCU_OK, or NCU_EPARITY if it is
 * damaged. */
int fault_plan_draw(struct fault_plan *p, uint32_t channel, uint64_t bytes, uint64_t now_cycles);

/* Finds the directed channel that has damaged the most messages so far. Returns false if none has damaged any. */
struct fault_noise {
    uint32_t channel;
    uint64_t damaged, passed;
};
bool fault_plan_noisiest(const struct fault_plan *p, struct fault_noise *noise);
