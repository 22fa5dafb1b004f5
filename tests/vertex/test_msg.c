/* How large the standard buffers are. */
#include <criterion/criterion.h>

#include "vertex/message/msg.h"

#define OTHERS_BYTES (52u << 10) /* mailbox, data, bss, boot stack, slabs, as measured on a node that has booted */
#define AIM_BYTES    (256u << 10)

Test(msg, buffers_hold_16_kilobytes_up_to_twelve_channels)
{
    for (uint32_t n = 0; n <= 12; n++)
        cr_expect_eq(msg_standard_bytes(n), 16384, "%u channels", n);
    cr_expect_eq(msg_standard_bytes(13), 12288);
    cr_expect_eq(msg_standard_bytes(14), 12288);
}

Test(msg, a_node_without_a_program_takes_less_than_256_kilobytes_in_every_machine)
{
    for (uint32_t n = 0; n <= NCU_CHANNELS; n++)
        cr_expect_lt(OTHERS_BYTES + n * (msg_standard_bytes(n)), AIM_BYTES, "%u channels", n);
}
