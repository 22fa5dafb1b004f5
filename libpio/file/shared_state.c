/* The state of all transfers of a process (transfer.h), apart from the code that a program may have twice. */
#include "libpio/file/transfer.h"

struct pio_shared pio_shared;
