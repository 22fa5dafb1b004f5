/* What driver, on the host, and searcher, on the nodes, say to each other. */
#include <stdint.h>

enum search_message {
    RANGE, /* to a node: two int32_t, the first number and the one behind the last; equal: there is no more */
    COUNT, /* to the host: int32_t, the primes among them */
};
