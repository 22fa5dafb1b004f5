/*
 * Tells QEMU once, for the whole shared region, that its pages may have code.
 *
 * At the first block that QEMU translates in a page, it clears the page's dirty bit for code, and if that was set, it
 * walks the TLBs of all harts of the cabinet, all 16 modes of each: about 10 us a hart, for each of some 30 pages. All
 * pages start dirty. With the bits of the whole region cleared at once, there is one walk.
 *
 * A store to a page whose bit is clear takes QEMU's slow path and sets the bit again, so nothing can go wrong; and
 * nodes cannot store into the shared region.
 *
 * The functions for that belong to QEMU, but not to its plugin ABI. A QEMU that does not export them is only slower.
 */
#pragma once

#include "emu/plugin/qemu_abi.h"

/* To be called for a block of the shared region that is being translated; acts for the first one. */
void plugin_pages_expect_code(const struct qemu_plugin_tb *tb);
