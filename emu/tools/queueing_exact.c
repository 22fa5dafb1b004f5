/*
 * The exact solver of queueing.h, by the product form (Baskett, Chandy, Muntz, Palacios 1975; for several classes
 * Reiser and Kobayashi 1975).
 *
 * In a state with a_i messages of class i at the CPU, b_i at its routing, d_i on their way back and the other c_i at
 * its I/O node, the weight is
 *
 *     (sum a_i)!  prod_r (sum of b_i of routing r)!
 *     prod_i  s_cpu^a_i / a_i!  s_net^b_i / b_i!  s_disk^c_i  s_status^d_i / d_i!
 *
 * The sum G of all weights gives every mean: the rate of class i is G with one message of class i less, over G. Mean
 * value analysis for several classes steps through all (C + 1)^D populations. Here the classes differ only in their
 * routing, so G is a product of polynomials: x counts messages at the CPU, y at a routing.
 *
 *     P(x, y)   one class
 *     Q = P^n   the n classes of one routing;  y^m becomes m!, which leaves a polynomial in x
 *     G         the product over the routings;  x^m becomes m!
 *
 * All terms are positive, so nothing cancels. Times are taken in units of the longest, and the factorial of 512 is well
 * inside a long double.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "emu/base/memory.h"
#include "emu/tools/queueing.h"

/* Coefficients of x^a y^b with a + b <= degree, row a, column b; or of x^a, in a single row. */
struct poly {
    uint32_t degree;
    long double *at;
};

struct demands {
    long double cpu, network, disk, status;
};

static long double *cell(const struct poly *p, uint32_t a, uint32_t b)
{
    return &p->at[(size_t)a * (p->degree + 1) + b];
}

static struct poly poly_new(uint32_t degree)
{
    return (struct poly){degree, memory_new((size_t)(degree + 1) * (degree + 1), sizeof(long double))};
}

/* t^k / k! */
static long double power_over_factorial(long double t, uint32_t k)
{
    long double value = 1;

    for (uint32_t i = 1; i <= k; i++)
        value *= t / i;
    return value;
}

static struct poly one_class(const struct demands *d, uint32_t buffers)
{
    struct poly p = poly_new(buffers);

    for (uint32_t a = 0; a <= buffers; a++)
        for (uint32_t b = 0; a + b <= buffers; b++) {
            long double rest = 0;

            for (uint32_t back = 0; a + b + back <= buffers; back++)
                rest += power_over_factorial(d->status, back) * powl(d->disk, buffers - a - b - back);
            *cell(&p, a, b) = power_over_factorial(d->cpu, a) * power_over_factorial(d->network, b) * rest;
        }
    return p;
}

/* Replaces p by p * q. */
static void multiply(struct poly *p, const struct poly *q)
{
    struct poly product = poly_new(p->degree + q->degree);

    for (uint32_t a = 0; a <= p->degree; a++)
        for (uint32_t b = 0; a + b <= p->degree; b++)
            for (uint32_t c = 0; c <= q->degree; c++)
                for (uint32_t d = 0; c + d <= q->degree; d++)
                    *cell(&product, a + c, b + d) += *cell(p, a, b) * *cell(q, c, d);
    free(p->at);
    *p = product;
}

/* The coefficients of x with y^m replaced by m!, or by m * m! for the mean of m. */
static struct poly sum_over_routing(const struct poly *q, bool mean)
{
    struct poly row = {q->degree, memory_new(q->degree + 1, sizeof(long double))};

    for (uint32_t a = 0; a <= q->degree; a++) {
        long double factorial = 1;

        for (uint32_t b = 0; a + b <= q->degree; b++) {
            factorial *= b > 0 ? b : 1;
            row.at[a] += *cell(q, a, b) * factorial * (mean ? b : 1);
        }
    }
    return row;
}

/* Replaces row by row * other^times. */
static void multiply_rows(struct poly *row, const struct poly *other, uint32_t times)
{
    while (times-- > 0) {
        struct poly product = {row->degree + other->degree,
                               memory_new(row->degree + other->degree + 1, sizeof(long double))};

        for (uint32_t a = 0; a <= row->degree; a++)
            for (uint32_t b = 0; b <= other->degree; b++)
                product.at[a + b] += row->at[a] * other->at[b];
        free(row->at);
        *row = product;
    }
}

/* Routings with the same number of classes. There are at most two such kinds. */
struct kind {
    uint32_t classes, routings;
    struct poly sum, mean, less; /* y summed; its mean; summed, with a message less in one class */
};

static struct kind kind_new(const struct demands *d, uint32_t classes, uint32_t routings, uint32_t buffers)
{
    struct kind k = {.classes = classes, .routings = routings};

    if (routings == 0)
        return k;
    struct poly one = one_class(d, buffers), one_less = one_class(d, buffers - 1), q = poly_new(0);

    *cell(&q, 0, 0) = 1;
    for (uint32_t i = 1; i < classes; i++)
        multiply(&q, &one);
    multiply(&one_less, &q);
    multiply(&q, &one);
    k.sum = sum_over_routing(&q, false);
    k.mean = sum_over_routing(&q, true);
    k.less = sum_over_routing(&one_less, false);
    free(q.at);
    free(one.at);
    free(one_less.at);
    return k;
}

static void kind_free(struct kind *k)
{
    free(k->sum.at);
    free(k->mean.at);
    free(k->less.at);
}

/* Returns the sum over all states when one routing of the kind `special` has the polynomial `its`; *mean becomes the
 * mean number of messages at the CPU. */
static long double total(const struct kind kinds[2], const struct kind *special, const struct poly *its,
                         long double *mean)
{
    struct poly row = {its->degree, memory_new(its->degree + 1, sizeof(long double))};
    long double factorial = 1, sum = 0;

    memcpy(row.at, its->at, (its->degree + 1) * sizeof *row.at);
    for (int i = 0; i < 2; i++)
        multiply_rows(&row, &kinds[i].sum, kinds[i].routings - (&kinds[i] == special));
    *mean = 0;
    for (uint32_t a = 0; a <= row.degree; a++) {
        factorial *= a > 0 ? a : 1;
        sum += row.at[a] * factorial;
        *mean += row.at[a] * factorial * a;
    }
    free(row.at);
    return sum;
}

struct queueing_means queueing_exact(const struct queueing *q)
{
    double unit = fmax(fmax(q->cpu_us, q->network_us), fmax(q->disk_us, q->status_us));
    struct demands d = {q->cpu_us / unit, q->network_us / unit, q->disk_us / unit, q->status_us / unit};
    uint32_t few = q->disks / q->routings, with_more = q->disks % q->routings;
    struct kind kinds[2] = {kind_new(&d, few, q->routings - with_more, q->buffers),
                            kind_new(&d, few + 1, with_more, q->buffers)};
    long double at_cpu = 0, in_network = 0, rate = 0, ignored;
    long double all = total(kinds, &kinds[0], &kinds[0].sum, &at_cpu);

    for (int i = 0; i < 2; i++)
        if (kinds[i].routings > 0) {
            uint32_t classes = kinds[i].routings * kinds[i].classes;

            in_network += kinds[i].routings * total(kinds, &kinds[i], &kinds[i].mean, &ignored) / all;
            rate += classes * total(kinds, &kinds[i], &kinds[i].less, &ignored) / all;
        }
    for (int i = 0; i < 2; i++)
        kind_free(&kinds[i]);

    double messages = (double)q->disks * q->buffers, each_us = (double)(unit / rate);
    double cpu_us = (double)(at_cpu / all) * each_us, network_us = (double)in_network * each_us;
    return (struct queueing_means){
        .response_us = messages * each_us,
        .cpu_us = cpu_us,
        .network_us = network_us,
        .disk_us = messages * each_us - cpu_us - network_us - q->status_us,
        .network_messages = (double)in_network,
        .disk_use = q->disk_us / each_us / q->disks,
        .per_s = 1e6 / each_us,
    };
}
