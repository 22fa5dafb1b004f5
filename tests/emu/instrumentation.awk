# What the plugin adds to the code that QEMU makes, counted in QEMU's own log (-d in_asm,op).
#
# A block's operations are listed in front of its first instruction, then instruction by instruction:
#
#   OP:
#    ld_i32 loc1,env,...           QEMU: does the hart have to stop?
#    brcond_i32 loc1,$0x0,lt,$L0
#    ld_i32 tmp9,env,$OFFSET       plugin: the hart's number, ...
#    ...                           ... from it its counter's address
#    ld_i64  add_i64  st_i64       an addition
#    ... brcond_i64 ld_i32 call    a comparison, and the call that it may skip
#    ---- PC                       first instruction
#
# All that a plugin has done, anywhere, begins with a load of the hart's number: that is how it is found.
# Prints NAME COUNT lines. Kernel: what lies in the region that the cabinet's harts share.

function is_kernel(address) {
    return address >= "0x80000000" && address < "0x84000000" && length(address) == 10
}

# QEMU's reset vector; its first block is treated as a program's.
function is_reset(address) {
    return address > "0x00001000" && address < "0x00002000" && length(address) == 10
}

function end_block() {
    if (!in_block)
        return
    blocks++
    if (additions != expected_additions)
        wrong_additions++
    checked += comparisons > 0
    if (comparisons > 1 || comparisons != head_calls)
        wrong_comparisons++
    in_block = 0
}

/^IN:/ {
    first = 1
    next
}
/^0x[0-9a-f]+:/ {
    address = substr($1, 1, length($1) - 1)
    if (first && !is_kernel(address) && !is_reset(address))
        user_blocks++
    first = 0
    if (/slti +zero,zero,/)
        is_kernel(address) ? kernel_hints++ : user_hints++
    next
}
/^OP:/ {
    end_block()
    in_block = 1
    head = 1
    loads = additions = comparisons = head_calls = 0
    next
}
/^ ----/ {
    instructions++
    head = 0
    seen = 0
    next
}
head && $1 == "ld_i32" && ++loads == 2 && offset == "" {
    split($2, operand, ",")
    offset = operand[3]
}
head && $1 == "st_i64" { additions++ }
head && $1 == "brcond_i64" { comparisons++ }
head && $1 == "call" { head_calls++ }
!head && in_block && (index($0, "env," offset) || /call plugin/) && !seen {
    seen = 1
    instrumented++
}
!head && in_block && /call plugin/ { calls++ }
END {
    end_block()
    print "blocks", blocks + 0
    print "instructions", instructions + 0
    print "blocks_without_their_additions", wrong_additions + 0
    print "blocks_with_a_wrong_comparison", wrong_comparisons + 0
    print "user_blocks", user_blocks + 0
    print "blocks_with_a_comparison", checked + 0
    print "kernel_hints", kernel_hints + 0
    print "user_hints", user_hints + 0
    print "instrumented_instructions", instrumented + 0
    print "calls_at_instructions", calls + 0
}
