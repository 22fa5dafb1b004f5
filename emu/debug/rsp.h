/*
 * Packets of gdb's remote serial protocol: taking them out of a stream of bytes, and making them. Pure: no descriptor,
 * no machine. The protocol is described in "Debugging with GDB", appendix E.
 *
 *   $ data # checksum     '}' in data: the next byte XOR 0x20. The checksum is the sum of the bytes, two digits
 *   + and -               received, and please send again; until both have agreed to leave them out
 *   0x03                  stop the program
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RSP_PACKET_BYTES 16384u /* the longest packet, either way, without its frame */

enum rsp_item {
    RSP_NOTHING, /* more bytes are needed */
    RSP_PACKET,  /* in `packet` */
    RSP_BREAK,   /* 0x03 */
    RSP_RESEND,  /* '-' */
    RSP_BAD,     /* a packet with a wrong checksum, or too long, or with an escape at its end; it has been dropped */
};

struct rsp {
    uint8_t in[4096]; /* bytes that have arrived and are not used up: in[taken .. filled-1] */
    size_t taken, filled;
    enum { RSP_BETWEEN, RSP_DATA, RSP_SUM_HIGH, RSP_SUM_LOW } state;
    bool escaped, too_long;
    uint8_t sum, sum_high;
    size_t bytes; /* of the packet so far */
    char packet[RSP_PACKET_BYTES + 1];
    /* the answer in the making */
    char out[RSP_PACKET_BYTES];
    size_t out_bytes;
    bool out_overflow; /* it did not fit; rsp_frame then makes an error of it */
};

void rsp_init(struct rsp *r);

/* Where the next bytes go, and how many: more than 0 after rsp_next has returned RSP_NOTHING. The caller adds what it
 * has read to `filled`. */
uint8_t *rsp_room(struct rsp *r, size_t *bytes);
/* Returns what comes next in the stream. A packet stays valid until the next call; it ends in a NUL, but may contain
 * others: its length is r->bytes. */
enum rsp_item rsp_next(struct rsp *r);

/* Begin an answer, and add to it: text, the digits of bytes, a number in hexadecimal digits, and binary data with its
 * escapes. */
void rsp_begin(struct rsp *r);
void rsp_add(struct rsp *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Adds OK. Returns true. */
bool rsp_add_ok(struct rsp *r);
void rsp_add_hex(struct rsp *r, const void *bytes, size_t n);
void rsp_add_binary(struct rsp *r, const void *bytes, size_t n);
/* Writes the framed answer to `to`, of RSP_FRAME_BYTES, and returns its length. */
#define RSP_FRAME_BYTES (RSP_PACKET_BYTES + 4u)
size_t rsp_frame(const struct rsp *r, char *to);

/* Read a hexadecimal number, of at most 16 digits, or n bytes of two digits, at *text, and move *text behind it.
 * Return false if there is none. */
bool rsp_read_number(const char **text, uint64_t *value);
bool rsp_read_bytes(const char **text, void *bytes, size_t n);
/* Likewise, "ADDRESS,BYTES". */
bool rsp_read_range(const char **text, uint64_t *va, uint64_t *bytes);
/* Moves *text behind the word if it begins with it. */
bool rsp_read_word(const char **text, const char *word);
