/* The versions of a recording that this ncube writes and reads, as text for a test's JSON. */
#ifndef NCUBE_TEST_RECORDING_VERSION_H
#define NCUBE_TEST_RECORDING_VERSION_H

#include "emu/record/recording.h"

#define TEXT_OF_TOKENS(x) #x
#define TEXT_OF(x)        TEXT_OF_TOKENS(x)
#define THIS_FORMAT       TEXT_OF(RECORDING_FORMAT)
#define THIS_TIMING       TEXT_OF(RECORDING_TIMING)

#endif
