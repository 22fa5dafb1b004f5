#include "vertex/process/returns.h"

#include <stdbool.h>

#include "vertex/base/attr.h"
#include "vertex/contract/abi.h"

#define STACK_BYTES (64u << 10) /* looked through: about 5 ms of virtual time, if nothing is found sooner */
#define PIECE_WORDS 32u

/* Whether a call stands before an address: jal or jalr that sets ra, or c.jalr. */
static bool is_after_call(struct vm *vm, uint64_t address)
{
    uint16_t half[2];

    if (address % 2 != 0 || address < USER_TEXT_VA + sizeof half || address > vm->text_high ||
        vm_copy_by_pages(vm, half, address - sizeof half, sizeof half, PTE_X) != 0)
        return false;
    return (half[0] & 0xfff) == 0x0ef || (half[0] & 0xfff) == 0x0e7 ||
           ((half[1] & 0xf07f) == 0x9002 && half[1] != 0x9002);
}

RARE uint32_t returns_find(struct vm *vm, uint64_t sp, struct exit_return *found)
{
    uint64_t at = sp < vm->stack_low ? vm->stack_low : sp & ~7ull, word[PIECE_WORDS];
    uint64_t end = at < USER_STACK_TOP - STACK_BYTES ? at + STACK_BYTES : USER_STACK_TOP;
    uint32_t n = 0;

    while (at < end && n < EXIT_RETURNS_MOST) {
        uint64_t bytes = end - at < sizeof word ? end - at : sizeof word;

        if (vm_copy_by_pages(vm, word, at, bytes, PTE_R) != 0)
            break;
        for (uint64_t i = 0; i < bytes / sizeof *word && n < EXIT_RETURNS_MOST; i++)
            if (is_after_call(vm, word[i]))
                found[n++] = (struct exit_return){.at = at + i * sizeof *word, .to = word[i]};
        at += bytes;
    }
    return n;
}
