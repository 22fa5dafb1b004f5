/*
 * The closed queueing network of parallel file I/O [P0 section 3, Figure 6], by two solvers.
 *
 *        +--> CPU --> routing r --> I/O node i --> returned status --+
 *        |    one     one of R      one of D       no queue          |
 *        +---------------------- C messages of class i <-------------+
 *
 * A message of class i always goes to I/O node i. Class i takes routing i * R / D, rounded down, as in [P0 Table 3].
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define QUEUEING_MESSAGES_MAX 512u /* D * C */

/* A service time that depends on how long the I/O node was idle before: a drive turns on meanwhile, so that a service
 * which begins later may end at the same time. Measured points in ascending order of idle time. Where the service gets
 * longer from one point to the next, the drive has missed its sector in between: until then a service ends as the one
 * of the point before. */
struct queueing_curve {
    uint32_t n;
    const double *idle_us, *service_us;
};

struct queueing {
    uint32_t disks;                     /* D, I/O nodes and classes */
    uint32_t buffers;                   /* C, messages of each class */
    uint32_t routings;                  /* R <= D, channel-disjoint */
    double cpu_us, network_us, disk_us; /* service times, > 0, waiting not included */
    double status_us;                   /* of the returned status; 0: neglected, as the paper does */
};

struct queueing_means {
    double response_us;                 /* of one message's way around */
    double cpu_us, network_us, disk_us; /* residence: waiting and service */
    double network_messages;            /* in all routings */
    double disk_use;                    /* part of the time that an I/O node is busy */
    double per_s;                       /* messages of all classes */
};

/* Whether the network can be solved: counts from 1, R <= D, D * C <= QUEUEING_MESSAGES_MAX, times that are finite. */
bool queueing_is_sound(const struct queueing *q);

/* The means for service times that are distributed exponentially, exact, by the product form of the network (as mean
 * value analysis for several classes gives them). q must be sound. */
struct queueing_means queueing_exact(const struct queueing *q);

/* The means for constant service times, by simulation: first come, first served; the means over
 * 300 ways around of a message, after 100. q must be sound. */
struct queueing_means queueing_constant(const struct queueing *q);

/* The time until `blocks` messages, spread evenly over the classes, have gone around, from the first one's start, with
 * constant service times: the end of a transfer, where I/O nodes are idle, counts. q must be sound, blocks at least 1.
 */
double queueing_constant_us(const struct queueing *q, uint64_t blocks);

/* The same with I/O nodes that serve as the curve says, instead of in disk_us; its n is at least 1. */
double queueing_turning_us(const struct queueing *q, const struct queueing_curve *curve, uint64_t blocks);
