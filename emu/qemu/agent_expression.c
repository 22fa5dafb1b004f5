/* gdb's agent expressions (agent_expression.h). */
#include "emu/qemu/agent_expression.h"

enum opcode {
    OP_ADD = 0x02,
    OP_SUB,
    OP_MUL,
    OP_DIV_SIGNED,
    OP_DIV_UNSIGNED,
    OP_REM_SIGNED,
    OP_REM_UNSIGNED,
    OP_LSH,
    OP_RSH_SIGNED,
    OP_RSH_UNSIGNED,
    OP_LOG_NOT = 0x0e,
    OP_BIT_AND,
    OP_BIT_OR,
    OP_BIT_XOR,
    OP_BIT_NOT,
    OP_EQUAL,
    OP_LESS_SIGNED,
    OP_LESS_UNSIGNED,
    OP_EXT,
    OP_REF8,
    OP_REF16,
    OP_REF32,
    OP_REF64,
    OP_IF_GOTO = 0x20,
    OP_GOTO,
    OP_CONST8,
    OP_CONST16,
    OP_CONST32,
    OP_CONST64,
    OP_REG,
    OP_END,
    OP_DUP,
    OP_POP,
    OP_ZERO_EXT,
    OP_SWAP,
    OP_GETV,
    OP_PICK = 0x32,
    OP_ROT,
    OPCODES,
};

/* Of each: what it takes from the stack and leaves there at least, and the bytes of its operand. */
static const struct {
    uint8_t known, takes, leaves, bytes;
} opcodes[OPCODES] = {
    [OP_ADD] = {1, 2, 1, 0},          [OP_SUB] = {1, 2, 1, 0},          [OP_MUL] = {1, 2, 1, 0},
    [OP_DIV_SIGNED] = {1, 2, 1, 0},   [OP_DIV_UNSIGNED] = {1, 2, 1, 0}, [OP_REM_SIGNED] = {1, 2, 1, 0},
    [OP_REM_UNSIGNED] = {1, 2, 1, 0}, [OP_LSH] = {1, 2, 1, 0},          [OP_RSH_SIGNED] = {1, 2, 1, 0},
    [OP_RSH_UNSIGNED] = {1, 2, 1, 0}, [OP_LOG_NOT] = {1, 1, 1, 0},      [OP_BIT_AND] = {1, 2, 1, 0},
    [OP_BIT_OR] = {1, 2, 1, 0},       [OP_BIT_XOR] = {1, 2, 1, 0},      [OP_BIT_NOT] = {1, 1, 1, 0},
    [OP_EQUAL] = {1, 2, 1, 0},        [OP_LESS_SIGNED] = {1, 2, 1, 0},  [OP_LESS_UNSIGNED] = {1, 2, 1, 0},
    [OP_EXT] = {1, 1, 1, 1},          [OP_REF8] = {1, 1, 1, 0},         [OP_REF16] = {1, 1, 1, 0},
    [OP_REF32] = {1, 1, 1, 0},        [OP_REF64] = {1, 1, 1, 0},        [OP_IF_GOTO] = {1, 1, 0, 2},
    [OP_GOTO] = {1, 0, 0, 2},         [OP_CONST8] = {1, 0, 1, 1},       [OP_CONST16] = {1, 0, 1, 2},
    [OP_CONST32] = {1, 0, 1, 4},      [OP_CONST64] = {1, 0, 1, 8},      [OP_REG] = {1, 0, 1, 2},
    [OP_END] = {1, 1, 0, 0},          [OP_DUP] = {1, 1, 2, 0},          [OP_POP] = {1, 1, 0, 0},
    [OP_ZERO_EXT] = {1, 1, 1, 1},     [OP_SWAP] = {1, 2, 2, 0},         [OP_GETV] = {1, 0, 1, 2},
    [OP_PICK] = {1, 0, 1, 1},         [OP_ROT] = {1, 3, 3, 0},
};

/* Returns the length of the instruction there; 0: there is none. */
static size_t instruction_bytes(const uint8_t *code, size_t n, size_t at)
{
    if (at >= n || code[at] >= OPCODES || !opcodes[code[at]].known || n - at <= opcodes[code[at]].bytes)
        return 0;
    return 1u + opcodes[code[at]].bytes;
}

static uint64_t operand(const uint8_t *code, size_t at)
{
    uint64_t value = 0;

    for (size_t i = 1; i <= opcodes[code[at]].bytes; i++)
        value = value << 8 | code[at + i];
    return value;
}

/* ---- What is checked before ---- */

static bool begins_at(const uint8_t *code, size_t n, size_t to)
{
    size_t at = 0;

    while (at < to && at < n)
        at += instruction_bytes(code, n, at);
    return at == to && to < n;
}

bool agent_expression_is_sound(const uint8_t *code, size_t n)
{
    size_t at = 0, bytes;

    for (; at < n; at += bytes)
        if ((bytes = instruction_bytes(code, n, at)) == 0)
            return false;
    for (at = 0; at < n; at += instruction_bytes(code, n, at))
        if ((code[at] == OP_IF_GOTO || code[at] == OP_GOTO) && !begins_at(code, n, operand(code, at)))
            return false;
    return n > 0;
}

/* ---- Evaluation ---- */

struct machine {
    const uint8_t *code;
    size_t n, at; /* at: the next instruction */
    const struct agent_ops *ops;
    void *ctx;
    uint64_t stack[AGENT_STACK];
    uint32_t depth;
};

static uint64_t pop(struct machine *m)
{
    return m->stack[--m->depth];
}

static bool push(struct machine *m, uint64_t value)
{
    m->stack[m->depth++] = value;
    return true;
}

/* As the processor divides: the one quotient that does not fit is the dividend. */
static bool divide(struct machine *m, uint8_t op, uint64_t a, uint64_t b)
{
    bool overflows = b == UINT64_MAX && a == (uint64_t)1 << 63;

    if (b == 0)
        return false;
    switch (op) {
    case OP_DIV_SIGNED:
        return push(m, overflows ? a : (uint64_t)((int64_t)a / (int64_t)b));
    case OP_REM_SIGNED:
        return push(m, overflows ? 0 : (uint64_t)((int64_t)a % (int64_t)b));
    case OP_DIV_UNSIGNED:
        return push(m, a / b);
    default:
        return push(m, a % b);
    }
}

static uint64_t shift(uint8_t op, uint64_t a, uint64_t by)
{
    uint64_t sign = op == OP_RSH_SIGNED && a >> 63 ? UINT64_MAX : 0;

    if (by > 63)
        return sign;
    return op == OP_LSH ? a << by : (a >> by) | (by > 0 ? sign << (64 - by) : 0);
}

static bool combine(struct machine *m, uint8_t op)
{
    uint64_t b = pop(m), a = pop(m);

    switch (op) {
    case OP_ADD:
        return push(m, a + b);
    case OP_SUB:
        return push(m, a - b);
    case OP_MUL:
        return push(m, a * b);
    case OP_BIT_AND:
        return push(m, a & b);
    case OP_BIT_OR:
        return push(m, a | b);
    case OP_BIT_XOR:
        return push(m, a ^ b);
    case OP_EQUAL:
        return push(m, a == b);
    case OP_LESS_SIGNED:
        return push(m, (int64_t)a < (int64_t)b);
    case OP_LESS_UNSIGNED:
        return push(m, a < b);
    case OP_LSH:
    case OP_RSH_SIGNED:
    case OP_RSH_UNSIGNED:
        return push(m, shift(op, a, b));
    default:
        return divide(m, op, a, b);
    }
}

static uint64_t extend(uint64_t value, uint64_t bits, bool sign)
{
    if (bits > 63)
        return value;
    uint64_t low = value & (((uint64_t)1 << bits) - 1);
    return sign && bits > 0 && low >> (bits - 1) ? low | UINT64_MAX << bits : low;
}

/* The nodes' memory has the low byte first. */
static bool fetch(struct machine *m, size_t n)
{
    uint8_t bytes[8];
    uint64_t value = 0;

    if (!m->ops->read_memory(m->ctx, pop(m), bytes, n))
        return false;
    for (size_t i = n; i > 0; i--)
        value = value << 8 | bytes[i - 1];
    return push(m, value);
}

static bool push_register(struct machine *m, uint32_t number)
{
    uint64_t value;

    return m->ops->read_register(m->ctx, number, &value) && push(m, value);
}

static bool jump(struct machine *m, uint64_t to, bool taken)
{
    if (taken)
        m->at = to;
    return true;
}

static bool pick(struct machine *m, uint64_t n)
{
    return n < m->depth && push(m, m->stack[m->depth - 1 - n]);
}

static bool swap(struct machine *m)
{
    uint64_t b = pop(m), a = pop(m);

    return push(m, b) && push(m, a);
}

static bool rotate(struct machine *m)
{
    uint64_t c = pop(m), b = pop(m), a = pop(m);

    return push(m, c) && push(m, a) && push(m, b);
}

/* Executes one instruction, but `end`, for which the stack has room. */
static bool execute(struct machine *m, uint8_t op, uint64_t value)
{
    switch (op) {
    case OP_CONST8:
    case OP_CONST16:
    case OP_CONST32:
    case OP_CONST64:
        return push(m, value);
    case OP_REG:
        return push_register(m, (uint32_t)value);
    case OP_REF8:
    case OP_REF16:
    case OP_REF32:
    case OP_REF64:
        return fetch(m, (size_t)1 << (op - OP_REF8));
    case OP_EXT:
    case OP_ZERO_EXT:
        return push(m, extend(pop(m), value, op == OP_EXT));
    case OP_LOG_NOT:
        return push(m, !pop(m));
    case OP_BIT_NOT:
        return push(m, ~pop(m));
    case OP_GOTO:
        return jump(m, value, true);
    case OP_IF_GOTO:
        return jump(m, value, pop(m) != 0);
    case OP_POP:
        pop(m);
        return true;
    case OP_DUP:
        return pick(m, 0);
    case OP_PICK:
        return pick(m, value);
    case OP_SWAP:
        return swap(m);
    case OP_ROT:
        return rotate(m);
    case OP_GETV:
        return false;
    default:
        return combine(m, op);
    }
}

static bool has_room(const struct machine *m, uint8_t op)
{
    return m->depth >= opcodes[op].takes && m->depth - opcodes[op].takes + opcodes[op].leaves <= AGENT_STACK;
}

bool agent_expression_evaluate(const uint8_t *code, size_t n, const struct agent_ops *ops, void *ctx, uint64_t *value)
{
    struct machine m = {.code = code, .n = n, .ops = ops, .ctx = ctx};

    for (uint32_t steps = 0; steps < AGENT_STEPS; steps++) {
        size_t at = m.at, bytes = instruction_bytes(code, n, at);

        if (bytes == 0 || !has_room(&m, code[at]))
            return false;
        if (code[at] == OP_END) {
            *value = pop(&m);
            return true;
        }
        m.at += bytes;
        if (!execute(&m, code[at], operand(code, at)))
            return false;
    }
    return false;
}
