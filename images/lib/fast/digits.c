/*
 * The digits of floating-point numbers, for newlib's printf, ecvt, fcvt and gcvt.
 *
 * newlib's printf makes a long double of every number, and its _ldtoa_r takes the digits out of 128 bits one by one:
 * some 150,000 cycles. Its _dtoa_r, for doubles, takes 1,500 to 10,000. ncc links programs with --wrap=_ldtoa_r and
 * --wrap=_dtoa_r, so that both are called through the functions here, which ask short_digits first. All of them
 * round exactly.
 *
 * They return the digits of VALUE without its sign and without trailing zeros, in storage that is good until the next
 * call; *DECPT is the point's place, *SIGN 1 for a negative value, *END the digits' end. MODE 2 asks for NDIGITS digits
 * in all, MODE 3 for NDIGITS behind the point; newlib handles all other modes.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct _reent;

char *__real__dtoa_r(struct _reent *reent, double value, int mode, int ndigits, int *decpt, int *sign, char **end);
char *__wrap__dtoa_r(struct _reent *reent, double value, int mode, int ndigits, int *decpt, int *sign, char **end);
char *__real__ldtoa_r(struct _reent *reent, long double value, int mode, int ndigits, int *decpt, int *sign,
                      char **end);
char *__wrap__ldtoa_r(struct _reent *reent, long double value, int mode, int ndigits, int *decpt, int *sign,
                      char **end);

typedef unsigned __int128 wide;

#define FRACTION_BITS 52
#define EXPONENT_BIAS (1023 + FRACTION_BITS)
#define EXPONENT_NONE 0x7ff /* the exponent of infinities and NaNs; zero and subnormal numbers have 0 */
#define TEN_MAX       19    /* the largest power of ten in 64 bits */
#define SCALE_MAX     22    /* 53 bits times 10^22 are 127 bits */
#define SHORT_DIGITS  18    /* numbers of so many digits fit in 64 bits, even rounded up */

static const uint64_t ten_to[TEN_MAX + 1] = {
    1ull,
    10ull,
    100ull,
    1000ull,
    10000ull,
    100000ull,
    1000000ull,
    10000000ull,
    100000000ull,
    1000000000ull,
    10000000000ull,
    100000000000ull,
    1000000000000ull,
    10000000000000ull,
    100000000000000ull,
    1000000000000000ull,
    10000000000000000ull,
    100000000000000000ull,
    1000000000000000000ull,
    10000000000000000000ull,
};

/* FRACTION * 2^EXPONENT * 10^SCALE, rounded half to even; 0 when that is 0, or when 128 bits are not enough for it. */
static uint64_t scaled(uint64_t fraction, int exponent, int scale)
{
    wide quotient, rest, half, number = fraction;

    if (scale > SCALE_MAX || scale < -TEN_MAX)
        return 0;
    if (scale >= 0) {
        number *= ten_to[scale < TEN_MAX ? scale : TEN_MAX];
        if (scale > TEN_MAX)
            number *= ten_to[scale - TEN_MAX];
        if (exponent >= 0)
            return exponent < 64 && number >> (64 - exponent) == 0 ? (uint64_t)number << exponent : 0;
        if (exponent <= -127)
            return 0;
        quotient = number >> -exponent;
        rest = number - (quotient << -exponent);
        half = (wide)1 << (-exponent - 1);
    } else {
        wide divisor = ten_to[-scale];

        if (exponent > 127 - FRACTION_BITS - 1 || exponent <= -63)
            return 0;
        if (exponent >= 0)
            number <<= exponent;
        else
            divisor <<= -exponent;
        quotient = number / divisor;
        rest = number - quotient * divisor;
        half = divisor / 2; /* ten_to[] is even */
    }
    quotient += rest > half || (rest == half && (quotient & 1));
    return quotient >> 64 ? 0 : (uint64_t)quotient;
}

/* Returns NULL if the number is too large or too small, or if too many digits are wanted. Numbers from about 10^-5 to
 * 10^22 with 17 digits are possible. */
static char *short_digits(double value, int mode, int ndigits, int *decpt, int *sign, char **end)
{
    /* printf puts zeros behind the digits: up to NDIGITS of them, or NDIGITS and the point's place. */
    static char digits[SHORT_DIGITS + SCALE_MAX + 2];
    uint64_t bits, fraction, number;
    int exponent, scale = ndigits, count = 0;

    memcpy(&bits, &value, sizeof bits);
    exponent = bits >> FRACTION_BITS & EXPONENT_NONE;
    if (exponent == 0 || exponent == EXPONENT_NONE || ndigits < 0 || (mode != 2 && mode != 3))
        return NULL;
    fraction = (bits & ((1ull << FRACTION_BITS) - 1)) | 1ull << FRACTION_BITS;
    exponent -= EXPONENT_BIAS;
    if (mode == 3) {
        number = scaled(fraction, exponent, scale);
    } else {
        if (ndigits > SHORT_DIGITS - 1)
            return NULL;
        ndigits += !ndigits;
        /* log10(2) is about 1233/4096. This gives the number of digits before the point, or one less. */
        scale = ndigits - 1 - (((exponent + FRACTION_BITS) * 1233) >> 12);
        number = scaled(fraction, exponent, scale);
        if (number >= ten_to[ndigits])
            number = scaled(fraction, exponent, --scale);
    }
    if (number == 0 || number >= ten_to[SHORT_DIGITS])
        return NULL;
    while (count < SHORT_DIGITS && number >= ten_to[count])
        count++;
    *decpt = count - scale;
    *sign = bits >> 63;
    for (int i = count; i > 0; number /= 10)
        digits[--i] = '0' + number % 10;
    digits[count] = 0;
    *end = digits + count;
    return digits;
}

char *__wrap__dtoa_r(struct _reent *reent, double value, int mode, int ndigits, int *decpt, int *sign, char **end)
{
    char *last, *digits = short_digits(value, mode, ndigits, decpt, sign, &last);

    if (!digits)
        digits = __real__dtoa_r(reent, value, mode, ndigits, decpt, sign, &last);
    while (last > digits + 1 && last[-1] == '0')
        *--last = 0;
    if (end)
        *end = last;
    return digits;
}

/* A value that fits in a double, as every argument of %f does, takes the fast path. */
char *__wrap__ldtoa_r(struct _reent *reent, long double value, int mode, int ndigits, int *decpt, int *sign, char **end)
{
    double narrow = (double)value;

    if (narrow == value)
        return __wrap__dtoa_r(reent, narrow, mode, ndigits, decpt, sign, end);
    return __real__ldtoa_r(reent, value, mode, ndigits, decpt, sign, end);
}
