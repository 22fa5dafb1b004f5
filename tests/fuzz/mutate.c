/* Changes of inputs: bits, bytes, numbers, words, and parts that go, come twice, or come from another input. */
#include "tests/fuzz/mutate.h"

#include <string.h>

#include "tests/fuzz/fuzz.h"

/* xorshift64* */
uint32_t mutate_below(uint64_t *state, size_t n)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (uint32_t)((*state * 0x2545f4914f6cdd1dull >> 32) % (n > 0 ? n : 1));
}

/* Puts n bytes at `at`, instead of `gone`; what does not fit is cut off. */
static void replace(struct input *it, size_t at, size_t gone, const void *bytes, size_t n)
{
    size_t rest = it->n - at - gone;

    if (n > FUZZ_INPUT_BYTES - at)
        n = FUZZ_INPUT_BYTES - at;
    if (rest > FUZZ_INPUT_BYTES - at - n)
        rest = FUZZ_INPUT_BYTES - at - n;
    memmove(it->bytes + at + n, it->bytes + at + gone, rest);
    memcpy(it->bytes + at, bytes, n);
    it->n = at + n + rest;
}

static void change_byte(uint64_t *state, struct input *it)
{
    static const uint8_t special[] = {0, 1, 0x7f, 0x80, 0xff, '\n', '"', '{', '}', ';', ',', '0', '9', '-'};
    uint32_t at = mutate_below(state, it->n);

    if (it->n == 0)
        return;
    switch (mutate_below(state, 3)) {
    case 0:
        it->bytes[at] ^= (uint8_t)(1u << mutate_below(state, 8));
        break;
    case 1:
        it->bytes[at] = special[mutate_below(state, sizeof special)];
        break;
    default:
        it->bytes[at] = (uint8_t)mutate_below(state, 256);
        break;
    }
}

static void put_word(uint64_t *state, struct input *it, const char *const *words)
{
    size_t n = 0;

    while (words && words[n])
        n++;
    if (n == 0)
        return;
    const char *word = words[mutate_below(state, n)];
    size_t at = mutate_below(state, it->n + 1), gone = mutate_below(state, 2) ? strlen(word) : 0;
    replace(it, at, gone < it->n - at ? gone : it->n - at, word, strlen(word));
}

/* A number in digits becomes another one. */
static void change_number(uint64_t *state, struct input *it)
{
    static const char *const numbers[] = {"0",
                                          "1",
                                          "-1",
                                          "2",
                                          "7",
                                          "31",
                                          "32",
                                          "63",
                                          "64",
                                          "127",
                                          "128",
                                          "255",
                                          "256",
                                          "1000",
                                          "4095",
                                          "4096",
                                          "65535",
                                          "65536",
                                          "2147483647",
                                          "2147483648",
                                          "4294967295",
                                          "4294967296",
                                          "9223372036854775807",
                                          "18446744073709551615",
                                          "99999999999999999999",
                                          "0.5",
                                          "1e9",
                                          "1e400",
                                          "ffffffff",
                                          "ffffffffffffffff"};
    size_t at = mutate_below(state, it->n), end;

    while (at < it->n && !(it->bytes[at] >= '0' && it->bytes[at] <= '9'))
        at++;
    for (end = at; end < it->n && it->bytes[end] >= '0' && it->bytes[end] <= '9';)
        end++;
    if (end == at)
        return;
    const char *number = numbers[mutate_below(state, sizeof numbers / sizeof *numbers)];
    replace(it, at, end - at, number, strlen(number));
}

/* Two or four bytes become a small or a large number, as they are in memory. */
static void put_binary(uint64_t *state, struct input *it)
{
    static const uint32_t values[] = {0,    1,     2,      3,       4,          8,          16,        0x7f,
                                      0xff, 0x100, 0xffff, 0x10000, 0x7fffffff, 0x80000000, UINT32_MAX};
    uint32_t value = values[mutate_below(state, sizeof values / sizeof *values)];
    size_t at = mutate_below(state, it->n), n = mutate_below(state, 2) ? 4 : 2;

    if (at + n <= it->n)
        memcpy(it->bytes + at, &value, n);
}

static void change_parts(uint64_t *state, struct input *it, const struct input *other)
{
    static uint8_t part[FUZZ_INPUT_BYTES];
    size_t at = mutate_below(state, it->n + 1), from = mutate_below(state, other->n + 1), n;

    switch (mutate_below(state, 4)) {
    case 0: /* one goes */
        replace(it, at, mutate_below(state, (it->n - at) / (1 + mutate_below(state, 16)) + 1), "", 0);
        break;
    case 1: /* one comes twice */
        n = mutate_below(state, (it->n - at) / (1 + mutate_below(state, 16)) + 1);
        memcpy(part, it->bytes + at, n);
        replace(it, at, 0, part, n);
        break;
    case 2: /* one comes from another input */
        n = mutate_below(state, (other->n - from) / (1 + mutate_below(state, 16)) + 1);
        replace(it, at, 0, other->bytes + from, n);
        break;
    default: /* the rest does */
        replace(it, at, it->n - at, other->bytes + from, other->n - from);
        break;
    }
}

void mutate(uint64_t *state, struct input *it, const struct input *other, const char *const *words)
{
    for (uint32_t left = 1u << mutate_below(state, 5); left > 0; left--)
        switch (mutate_below(state, 6)) {
        case 0:
        case 1:
            change_byte(state, it);
            break;
        case 2:
            put_word(state, it, words);
            break;
        case 3:
            change_number(state, it);
            break;
        case 4:
            put_binary(state, it);
            break;
        default:
            change_parts(state, it, other);
            break;
        }
}
