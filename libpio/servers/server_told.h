/* The record of the library call that a process waits in, for reports (tell of vertex/contract/abi.h). */
#pragma once

#include "vertex/contract/abi.h"

/* The process's record: MPI's, in a program with MPI. `call` is "" while no call is told. Vertex knows it from the
 * first time on. */
struct abi_call *server_record(void);
