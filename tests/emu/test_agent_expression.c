/*
 * gdb's agent expressions: each opcode, what has no value, what is malformed; random expressions against an evaluator
 * of trees; any bytes at all.
 */
#include "emu/qemu/agent_expression.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* Register R has 1000 R; memory lies at 0x1000, and its byte k is 0x81 + k. */
static bool read_register(void *ctx, uint32_t number, uint64_t *value)
{
    (void)ctx;
    *value = 1000u * number;
    return number < 68;
}

static bool read_memory(void *ctx, uint64_t va, void *bytes, size_t n)
{
    (void)ctx;
    for (size_t k = 0; k < n; k++)
        ((uint8_t *)bytes)[k] = (uint8_t)(0x81 + (va + k - 0x1000));
    return va >= 0x1000 && va + n <= 0x1010;
}

static const struct agent_ops ops = {.read_register = read_register, .read_memory = read_memory};

static size_t read_digits(const char *digits, uint8_t code[256])
{
    size_t n = 0;
    char pair[3] = "";

    for (const char *c = digits; *c != '\0'; c += *c == ' ' ? 1 : 2)
        if (*c != ' ') {
            memcpy(pair, c, 2);
            code[n++] = (uint8_t)strtoul(pair, NULL, 16);
        }
    return n;
}

/* From memory of exactly that length. */
static bool evaluate(const uint8_t *code, size_t n, uint64_t *value)
{
    uint8_t *exact = malloc(n + (n == 0));

    memcpy(exact, code, n);
    bool has = agent_expression_evaluate(exact, n, &ops, NULL, value);
    agent_expression_is_sound(exact, n);
    free(exact);
    return has;
}

Test(agent_expression, has_each_opcode)
{
    static const struct {
        const char *name, *code;
        uint64_t value;
    } cases[] = {
        {"const8 is unsigned", "22ff 27", 255},
        {"const16, the high byte first", "23 0102 27", 0x102},
        {"const32", "24 80000001 27", 0x80000001},
        {"const64", "25 8000000000000001 27", 0x8000000000000001},
        {"reg", "26 000a 27", 10000},
        {"add", "22ff 2201 02 27", 256},
        {"sub, below 0", "2201 2202 03 27", UINT64_MAX},
        {"mul", "22ff 22ff 04 27", 65025},
        {"div_signed", "22f9 1608 2202 05 27", (uint64_t)-3},
        {"div_signed of the least number by -1", "25 8000000000000000 22ff 1608 05 27", (uint64_t)1 << 63},
        {"div_unsigned", "22f9 1608 2202 06 27", (uint64_t)-7 / 2},
        {"rem_signed", "22f9 1608 2202 07 27", (uint64_t)-1},
        {"rem_signed of the least number by -1", "25 8000000000000000 22ff 1608 07 27", 0},
        {"rem_unsigned", "22f9 2205 08 27", 4},
        {"lsh", "2203 2204 09 27", 48},
        {"lsh by all bits", "2203 2240 09 27", 0},
        {"rsh_signed", "2280 1608 2204 0a 27", (uint64_t)-8},
        {"rsh_signed by nothing", "2280 1608 2200 0a 27", (uint64_t)-128},
        {"rsh_signed by more than all bits", "2280 1608 22ff 0a 27", UINT64_MAX},
        {"rsh_signed of a positive number", "2280 2204 0a 27", 8},
        {"rsh_unsigned", "2280 1608 223c 0b 27", 15},
        {"log_not", "2200 0e 27", 1},
        {"log_not of any other number", "2202 0e 27", 0},
        {"bit_and", "220c 220a 0f 27", 8},
        {"bit_or", "220c 220a 10 27", 14},
        {"bit_xor", "220c 220a 11 27", 6},
        {"bit_not", "220c 12 27", ~(uint64_t)12},
        {"equal", "220c 220c 13 27", 1},
        {"equal: not", "220c 220d 13 27", 0},
        {"less_signed", "22ff 1608 2201 14 27", 1},
        {"less_signed: equal is not less", "2201 2201 14 27", 0},
        {"less_unsigned", "22ff 1608 2201 15 27", 0},
        {"ext", "23 1280 1608 27", (uint64_t)-128},
        {"ext of a positive number", "23 127f 1608 27", 127},
        {"ext of all bits", "22ff 1640 27", 255},
        {"ext of one bit", "2201 1601 27", UINT64_MAX},
        {"ext of none", "22ff 1600 27", 0},
        {"zero_ext", "23 1280 2a08 27", 128},
        {"zero_ext of all bits", "22ff 1608 2aff 27", UINT64_MAX},
        {"ref8", "23 1000 17 27", 0x81},
        {"ref16, the low byte first", "23 1001 18 27", 0x8382},
        {"ref32", "23 1000 19 27", 0x84838281},
        {"ref64", "23 1008 1a 27", 0x908f8e8d8c8b8a89},
        {"if_goto", "2201 20 0008 2205 27 2206 27", 6},
        {"if_goto: not", "2200 20 0008 2205 27 2206 27", 5},
        {"goto", "21 0006 2205 27 2206 27", 6},
        {"goto, backwards", "2203 21 0008 2207 27 2202 02 21 0007", 5},
        {"dup", "2203 28 04 27", 9},
        {"pop", "2203 2204 29 27", 3},
        {"swap", "2203 2204 2b 03 27", 1},
        {"pick 0 is dup", "2203 2204 3200 04 27", 16},
        {"pick 1", "2203 2204 3201 04 27", 12},
        {"rot: the third", "2207 2208 2209 33 29 29 27", 9},
        {"rot: the second", "2207 2208 2209 33 29 27", 7},
        {"rot: the top", "2207 2208 2209 33 27", 8},
        {"end leaves what is below", "2207 2208 27", 8},
        {"what gdb 13 makes of n == 150", "26000a 1620 2300 96 13 27", 0},
        {"a loop of 100 turns", "2264 2201 03 28 20 0002 27", 0},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t code[256];
        size_t n = read_digits(cases[i].code, code);
        uint64_t value = 0;

        cr_expect(agent_expression_is_sound(code, n), "%s: sound", cases[i].name);
        cr_expect(evaluate(code, n, &value), "%s: has a value", cases[i].name);
        cr_expect_eq(value, cases[i].value, "%s: %llx", cases[i].name, (unsigned long long)value);
    }
}

Test(agent_expression, has_no_value_sometimes)
{
    static const struct {
        const char *name, *code;
    } cases[] = {
        {"division by 0", "2201 2200 05 27"},
        {"unsigned", "2201 2200 06 27"},
        {"remainder", "2201 2200 07 27"},
        {"unsigned", "2201 2200 08 27"},
        {"memory that is not there", "22 00 19 27"},
        {"partly", "23 100f 18 27"},
        {"a register that is not there", "26 0044 27"},
        {"an empty stack at the end", "27"},
        {"in a sum", "2201 02 27"},
        {"in a rotation", "2201 2202 33 27"},
        {"before a jump", "20 0000 27"},
        {"pick reaches below the stack", "2201 3201 27"},
        {"no end", "2201"},
        {"a loop without end", "21 0000"},
        {"that fills the stack", "2201 21 0000"},
        {"by copies", "2201 28 21 0002"},
        {"a trace state variable", "2c 0001 27"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t code[256];
        size_t n = read_digits(cases[i].code, code);
        uint64_t value;

        cr_expect(agent_expression_is_sound(code, n), "%s: sound", cases[i].name);
        cr_expect_not(evaluate(code, n, &value), "%s", cases[i].name);
    }
}

Test(agent_expression, is_refused_if_malformed)
{
    static const struct {
        const char *name, *code;
    } cases[] = {
        {"nothing", ""},
        {"no opcode", "00"},
        {"beyond all opcodes", "ff"},
        {"float", "01"},
        {"trace", "2201 2201 0c 27"},
        {"trace_quick", "2201 0d01 27"},
        {"ref_float", "2201 1b 27"},
        {"ref_double", "2201 1c 27"},
        {"ref_long_double", "2201 1d 27"},
        {"l_to_d", "2201 1e 27"},
        {"d_to_l", "2201 1f 27"},
        {"setv", "2201 2d 0001 27"},
        {"tracev", "2e 0001 27"},
        {"tracenz", "2201 2201 2f 27"},
        {"trace16", "2201 30 0001 27"},
        {"printf", "34 00 0001 00 27"},
        {"a number that is cut", "23 01"},
        {"an opcode alone", "25"},
        {"a jump into a number", "21 0004 2200 27"},
        {"behind the end", "21 0006 2200 27"},
        {"far behind it", "21 ffff 27"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t code[256];
        size_t n = read_digits(cases[i].code, code);

        cr_expect_not(agent_expression_is_sound(code, n), "%s", cases[i].name);
    }
}

/* ---- Random expressions, as gdb makes them of trees: both operands, then the operator ---- */

struct writer {
    uint8_t code[256];
    size_t n;
};

static uint64_t write_leaf(struct writer *w)
{
    uint8_t number = (uint8_t)(random() % 64), at = (uint8_t)(random() % 16);

    switch (random() % 3) {
    case 0:
        memcpy(w->code + w->n, (uint8_t[]){0x26, 0, number}, 3);
        w->n += 3;
        return 1000u * number;
    case 1:
        memcpy(w->code + w->n, (uint8_t[]){0x23, 0x10, at, 0x17}, 4);
        w->n += 4;
        return (uint8_t)(0x81 + at);
    default:
        memcpy(w->code + w->n, (uint8_t[]){0x22, number, 0x16, 6}, 4);
        w->n += 4;
        return number < 32 ? number : number - (uint64_t)64;
    }
}

static uint64_t combine(uint8_t op, uint64_t a, uint64_t b)
{
    switch (op) {
    case 0x02:
        return a + b;
    case 0x03:
        return a - b;
    case 0x04:
        return a * b;
    case 0x0f:
        return a & b;
    case 0x11:
        return a ^ b;
    case 0x14:
        return (int64_t)a < (int64_t)b;
    default:
        return a < b;
    }
}

static uint64_t write_tree(struct writer *w, unsigned depth)
{
    static const uint8_t operators[] = {0x02, 0x03, 0x04, 0x0f, 0x11, 0x14, 0x15};

    if (depth == 0 || random() % 4 == 0)
        return write_leaf(w);
    uint64_t a = write_tree(w, depth - 1), b = write_tree(w, depth - 1);
    uint8_t op = operators[random() % (long)sizeof operators];
    w->code[w->n++] = op;
    return combine(op, a, b);
}

Test(agent_expression, has_the_value_of_its_tree)
{
    srandom(29);
    for (int turn = 0; turn < 20000; turn++) {
        struct writer w = {.n = 0};
        uint64_t expected = write_tree(&w, 5), value = 0;

        w.code[w.n++] = 0x27;
        cr_assert(agent_expression_is_sound(w.code, w.n), "turn %d", turn);
        cr_assert(evaluate(w.code, w.n, &value), "turn %d", turn);
        cr_assert_eq(value, expected, "turn %d", turn);
    }
}

/* Whatever the bytes are, the evaluator ends, and reads nothing beyond them: the sanitizers would say so. */
Test(agent_expression, survives_any_bytes)
{
    uint64_t value;
    int values = 0;

    srandom(31);
    for (int turn = 0; turn < 200000; turn++) {
        uint8_t code[40];
        size_t n = (size_t)random() % sizeof code;

        for (size_t k = 0; k < n; k++)
            code[k] = (uint8_t)(random() % 4 ? random() % 0x36 : random());
        bool has = evaluate(code, n, &value);
        cr_assert(!has || memchr(code, 0x27, n), "turn %d: a value without an end", turn);
        values += has;
    }
    cr_expect_gt(values, 100, "%d have one", values);
}
