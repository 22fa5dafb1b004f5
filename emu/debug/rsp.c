/*
 * Packets of gdb's remote serial protocol (rsp.h): an automaton that takes byte after byte, and the making of answers.
 */
#include "emu/debug/rsp.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define BREAK_BYTE  0x03
#define ESCAPE_FLIP 0x20

void rsp_init(struct rsp *r)
{
    *r = (struct rsp){.state = RSP_BETWEEN};
}

/* ---- Taking packets out of the stream ---- */

uint8_t *rsp_room(struct rsp *r, size_t *bytes)
{
    if (r->taken == r->filled)
        r->taken = r->filled = 0;
    *bytes = sizeof r->in - r->filled;
    return r->in + r->filled;
}

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static void packet_begin(struct rsp *r)
{
    r->state = RSP_DATA;
    r->escaped = r->too_long = false;
    r->sum = 0;
    r->bytes = 0;
}

static void packet_add(struct rsp *r, uint8_t byte)
{
    r->sum += byte;
    if (byte == '}' && !r->escaped) {
        r->escaped = true;
        return;
    }
    if (r->bytes == RSP_PACKET_BYTES)
        r->too_long = true;
    else
        r->packet[r->bytes++] = (char)(r->escaped ? byte ^ ESCAPE_FLIP : byte);
    r->escaped = false;
}

static enum rsp_item packet_end(struct rsp *r, uint8_t byte)
{
    int high = digit_of((char)r->sum_high), low = digit_of((char)byte);

    r->state = RSP_BETWEEN;
    r->packet[r->bytes] = '\0';
    bool sound = high >= 0 && low >= 0 && high * 16 + low == r->sum && !r->escaped && !r->too_long;
    return sound ? RSP_PACKET : RSP_BAD;
}

/* A '$' in the middle begins another packet: the end of the one before has been lost. */
static enum rsp_item take(struct rsp *r, uint8_t byte)
{
    if (byte == '$' && r->state != RSP_BETWEEN) {
        packet_begin(r);
        return RSP_BAD;
    }
    switch (r->state) {
    case RSP_DATA:
        if (byte == '#')
            r->state = RSP_SUM_HIGH;
        else
            packet_add(r, byte);
        return RSP_NOTHING;
    case RSP_SUM_HIGH:
        r->sum_high = byte;
        r->state = RSP_SUM_LOW;
        return RSP_NOTHING;
    case RSP_SUM_LOW:
        return packet_end(r, byte);
    default:
        if (byte == '$')
            packet_begin(r);
        return byte == BREAK_BYTE ? RSP_BREAK : byte == '-' ? RSP_RESEND : RSP_NOTHING;
    }
}

enum rsp_item rsp_next(struct rsp *r)
{
    enum rsp_item item = RSP_NOTHING;

    while (item == RSP_NOTHING && r->taken < r->filled)
        item = take(r, r->in[r->taken++]);
    return item;
}

/* ---- Making answers ---- */

void rsp_begin(struct rsp *r)
{
    r->out_bytes = 0;
    r->out_overflow = false;
}

static void add_byte(struct rsp *r, char c)
{
    if (r->out_bytes == sizeof r->out)
        r->out_overflow = true;
    else
        r->out[r->out_bytes++] = c;
}

void rsp_add(struct rsp *r, const char *format, ...)
{
    char text[1024];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    for (const char *c = text; *c != '\0'; c++)
        add_byte(r, *c);
}

bool rsp_add_ok(struct rsp *r)
{
    rsp_add(r, "OK");
    return true;
}

void rsp_add_hex(struct rsp *r, const void *bytes, size_t n)
{
    const uint8_t *b = bytes;

    for (size_t i = 0; i < n; i++) {
        add_byte(r, "0123456789abcdef"[b[i] >> 4]);
        add_byte(r, "0123456789abcdef"[b[i] & 15]);
    }
}

void rsp_add_binary(struct rsp *r, const void *bytes, size_t n)
{
    const char *b = bytes;

    for (size_t i = 0; i < n; i++) {
        bool special = b[i] == '$' || b[i] == '#' || b[i] == '}' || b[i] == '*';

        if (special)
            add_byte(r, '}');
        add_byte(r, special ? (char)(b[i] ^ ESCAPE_FLIP) : b[i]);
    }
}

size_t rsp_frame(const struct rsp *r, char *to)
{
    const char *text = r->out_overflow ? "E01" : r->out;
    size_t n = r->out_overflow ? 3 : r->out_bytes;
    uint8_t sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += (uint8_t)text[i];
    to[0] = '$';
    memcpy(to + 1, text, n);
    to[1 + n] = '#';
    to[2 + n] = "0123456789abcdef"[sum >> 4];
    to[3 + n] = "0123456789abcdef"[sum & 15];
    return n + 4;
}

/* ---- Reading the contents of packets ---- */

bool rsp_read_number(const char **text, uint64_t *value)
{
    const char *c = *text;

    *value = 0;
    for (; digit_of(*c) >= 0; c++) {
        if (c - *text == 16)
            return false;
        *value = *value << 4 | (uint64_t)digit_of(*c);
    }
    bool any = c > *text;
    *text = c;
    return any;
}

bool rsp_read_bytes(const char **text, void *bytes, size_t n)
{
    uint8_t *b = bytes;

    for (size_t i = 0; i < n; i++) {
        int high = digit_of((*text)[0]), low = high < 0 ? -1 : digit_of((*text)[1]);

        if (low < 0)
            return false;
        b[i] = (uint8_t)(high << 4 | low);
        *text += 2;
    }
    return true;
}

bool rsp_read_word(const char **text, const char *word)
{
    size_t n = strlen(word);

    if (strncmp(*text, word, n) != 0)
        return false;
    *text += n;
    return true;
}

bool rsp_read_range(const char **text, uint64_t *va, uint64_t *bytes)
{
    return rsp_read_number(text, va) && rsp_read_word(text, ",") && rsp_read_number(text, bytes);
}
