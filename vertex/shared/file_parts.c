#include "vertex/shared/file_parts.h"

#include <string.h>

#include "vertex/contract/errors.h"
#include "vertex/contract/system.h"

#define OF(type) [(type)-N_FOPEN]
static const uint8_t parts_of[] = {
    OF(N_FOPEN) = PART_DRIVE | PART_NAME,
    OF(N_FCLOSE) = PART_FILE,
    OF(N_FREAD) = PART_FILE | PART_OFFSET | PART_COUNT,
    OF(N_FWRITE) = PART_FILE | PART_OFFSET | PART_DATA,
    OF(N_FSTAT) = PART_FILE,
    OF(N_FTRUNCATE) = PART_FILE | PART_OFFSET,
    OF(N_FSYNC) = PART_FILE,
    OF(N_FSTATNAME) = PART_DRIVE | PART_NAME,
    OF(N_FUNLINK) = PART_DRIVE | PART_NAME,
    OF(N_FRENAME) = PART_DRIVE | PART_NAME | PART_NAME2,
    OF(N_FLINK) = PART_DRIVE | PART_NAME | PART_NAME2,
    OF(N_FMKDIR) = PART_DRIVE | PART_NAME,
    OF(N_FRMDIR) = PART_DRIVE | PART_NAME,
    OF(N_FREADDIR) = PART_FILE | PART_OFFSET | PART_COUNT,
    OF(N_FACCESS) = PART_DRIVE | PART_NAME,
    OF(N_FEXIT) = 0,
    OF(N_FFORK) = 0,
    OF(N_FPOLL) = PART_FILE,
    OF(N_FSTATFS) = PART_DRIVE,
    OF(N_FSYMLINK) = PART_DRIVE | PART_NAME | PART_DATA,
    OF(N_FREADLINK) = PART_DRIVE | PART_NAME | PART_COUNT,
    OF(N_FSETATTR) = PART_FILE | PART_DATA,
    OF(N_FSYNCALL) = 0,
    OF(N_FVIEW) = PART_FILE | PART_DATA,
    OF(N_FREADNAME) = PART_DRIVE | PART_NAME | PART_COUNT,
    OF(N_FMAKE) = PART_DRIVE | PART_NAME | PART_DATA,
    OF(N_FSETATTRNAME) = PART_DRIVE | PART_NAME | PART_DATA,
    OF(N_FOPENREAD) = PART_DRIVE | PART_NAME | PART_NAME2 | PART_COUNT,
    OF(N_FADD) = PART_FILE | PART_DATA,
};
_Static_assert(sizeof parts_of / sizeof parts_of[0] == FILE_OPERATIONS, "every file request is in the table");
_Static_assert(N_FOPEN + FILE_OPERATIONS <= N_RCLAIM && N_FOPEN + FILE_OPERATIONS <= N_PIPE,
               "no other request has one of these numbers");

bool file_parts_of(uint32_t type, uint32_t *parts)
{
    uint32_t index = type - N_FOPEN;

    if (index >= FILE_OPERATIONS)
        return false;
    *parts = parts_of[index];
    return true;
}

static bool is_name(const char *name, uint32_t bytes, bool wanted)
{
    return wanted ? bytes > 0 && !memchr(name, '\0', bytes) : bytes == 0;
}

int32_t file_parts_split(const struct file_request *r, uint32_t parts, const void *message, size_t n,
                         struct file_parts *out)
{
    size_t data_bytes = (parts & PART_DATA) ? r->bytes : 0;

    if (r->bytes > FILE_IO_MAX_BYTES && (parts & (PART_DATA | PART_COUNT)))
        return -N_EPROTO;
    if (n != sizeof *r + r->name_bytes + r->name2_bytes + data_bytes)
        return -N_EPROTO;
    out->name = (const char *)message + sizeof *r;
    out->name2 = out->name + r->name_bytes;
    out->data = (const uint8_t *)out->name2 + r->name2_bytes;
    if (!is_name(out->name, r->name_bytes, parts & PART_NAME) ||
        !is_name(out->name2, r->name2_bytes, parts & PART_NAME2))
        return -N_EPROTO;
    return 0;
}

int32_t file_counter_add(int64_t *counter, struct file_counter *k)
{
    int64_t was = *counter, sum = k->value;

    if (k->value < 0)
        return -N_EINVAL;
    if (k->owner && __builtin_add_overflow(was, k->value, &sum))
        return -N_EOVERFLOW;
    *counter = sum;
    k->value = was;
    return 0;
}
