/*
 * What reports say of members that wait in a collective read or write (clf_client.h). Texts are made with the group, as
 * a call has no time for them.
 */
#include <stdlib.h>
#include <string.h>

#include "libpio/clusterfile/clf_client.h"
#include "libpio/servers/server_told.h"
#include "vertex/shared/text.h"

void clf_told_make(struct clf_open *f)
{
    struct clf_members *m = f->members;
    struct abi_call *told = calloc(2, sizeof *told);

    for (int write = 0; told && write < 2; write++) {
        told[write] = (struct abi_call){.rank = m->g.rank, .peer = ABI_CALL_NONE, .tag = ABI_CALL_NONE, .is_file = 1};
        text_print(told[write].call, sizeof told[write].call, "%s of a group of %d", write ? "clf_write" : "clf_read",
                   m->g.size);
        text_print(told[write].communicator, sizeof told[write].communicator, "%s", f->name ? f->name : "");
    }
    m->told = told;
}

struct abi_call *clf_told_begin(const struct clf_open *f, bool write)
{
    struct abi_call *record = server_record();

    if (!f->members || !f->members->told || record->call[0] != '\0')
        return NULL;
    *record = f->members->told[write];
    record->context = (uint32_t)clf_way_context(f);
    return record;
}
