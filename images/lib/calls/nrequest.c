/*
 * <nrequest.h>: requests of a program to servers.
 */
#include <nrequest.h>

#include "images/lib/traps/failure.h"
#include "vertex/contract/traps.h"

static long judge(const char *call, long result)
{
    return result >= 0 ? result : failure_of_message(result, call);
}

long requeststart(int node, int type, const void *head, size_t head_bytes, const void *data, size_t bytes)
{
    return judge("requeststart", trap_requeststart(node, type, head, (long)head_bytes, data, (long)bytes));
}

long requestend(long number, void *head, size_t head_bytes, void *data, size_t bytes)
{
    return judge("requestend", trap_requestend(number, head, (long)head_bytes, data, (long)bytes));
}

int requesttest(long number)
{
    return (int)judge("requesttest", trap_requesttest(number));
}
