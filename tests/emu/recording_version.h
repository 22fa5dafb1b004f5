/* The versions of a recording that this ncube writes and reads, as text for a test's JSON. */
#pragma once

#include "emu/record/recording.h"

#define TEXT_OF_TOKENS(x) #x
#define TEXT_OF(x)        TEXT_OF_TOKENS(x)
#define THIS_FORMAT       TEXT_OF(RECORDING_FORMAT)
#define THIS_TIMING       TEXT_OF(RECORDING_TIMING)
