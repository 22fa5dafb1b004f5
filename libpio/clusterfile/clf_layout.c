/*
 * Layouts [P3 section 4.2]: which volume has which byte of a file. Their text is kept by the metadata manager
 * (nsdisk/clusterfile/clf_name.c), and read by `ncube disk get`:
 *
 *     pattern cyclic 4096 3     subfiles
 *     stripe 65536              of subfiles that lie on several volumes
 *     volumes df00 df01 ...     in order
 *     end
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "libpio/clusterfile/clf_client.h"
#include "vertex/contract/errors.h"
#include "vertex/shared/text.h"

#define STRIPE 65536 /* bytes; the default */

/* ---- Arithmetic ---- */

int64_t clf_part_bytes(const struct clf_layout *l, uint32_t part, int64_t size)
{
    const struct clf_part_place *p = &l->part[part];
    const int64_t bytes = pattern_rank(l->pattern, (int32_t)p->subfile, size);

    return p->stripes > 1 ? pattern_rank(l->striping[p->subfile], p->stripe, bytes) : bytes;
}

int64_t clf_part_end(const struct clf_layout *l, uint32_t part, int64_t bytes)
{
    const struct clf_part_place *p = &l->part[part];
    int64_t at = bytes - 1;

    if (bytes > 0 && p->stripes > 1)
        at = pattern_file(l->striping[p->subfile], p->stripe, at);
    if (bytes > 0 && at >= 0)
        at = pattern_file(l->pattern, (int32_t)p->subfile, at);
    return at + 1;
}

/* ---- Making ---- */

void clf_layout_free(struct clf_layout *l)
{
    if (!l)
        return;
    for (int32_t i = 0; l->striping && i < l->pattern->elements; i++)
        pattern_free(l->striping[i]);
    pattern_free(l->pattern);
    free(l->striping);
    free(l->volume);
    free(l->part);
    free(l->first);
    free(l);
}

static void add_parts(struct clf_layout *l, uint32_t subfile, uint32_t from, uint32_t to)
{
    for (uint32_t s = from; s < to; s++)
        l->part[l->parts++] = (struct clf_part_place){subfile, s, (int32_t)(s - from), (int32_t)(to - from)};
    l->first[subfile + 1] = l->parts;
}

/* Places the subfiles on the volumes. */
static int place_parts(struct clf_layout *l)
{
    const uint32_t n = (uint32_t)l->pattern->elements, q = l->volumes;

    l->part = calloc(n > q ? n : q, sizeof *l->part);
    l->first = calloc(n + 1, sizeof *l->first);
    l->striping = calloc(n, sizeof *l->striping);
    if (!l->part || !l->first || !l->striping)
        return -N_ENOMEM;
    for (uint32_t i = 0; i < n; i++) {
        if (n >= q)
            add_parts(l, i, i % q, i % q + 1);
        else
            add_parts(l, i, i * q / n, (i + 1) * q / n);
        const int32_t stripes = (int32_t)(l->first[i + 1] - l->first[i]);
        int error = stripes > 1 ? pattern_stripe(l->stripe, stripes, &l->striping[i]) : 0;
        if (error < 0)
            return error;
    }
    return 0;
}

static int check_pattern(const struct pattern *p)
{
    char why[PATTERN_WHY_BYTES];

    if (pattern_check(p, why) < 0)
        return clf_fail(-N_EINVAL, "a layout: %s", why);
    for (int32_t i = 0; i < p->elements; i++)
        if (!p->element[i].ascending)
            return clf_fail(-N_EINVAL, "a layout: element %d does not ascend; no subfile can be so", (int)i);
    return 0;
}

/* Adds to a text that is cut to `bytes`. */
static void add_text(char *text, size_t bytes, size_t *n, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static void add_text(char *text, size_t bytes, size_t *n, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    *n += text_print_list(text + *n, bytes - *n, format, args);
    va_end(args);
}

/* An array as such, which is shorter than its FALLS and keeps processes that have nothing. Returns the text's
 * length. */
static size_t format_array(const struct pattern *p, char *text, size_t bytes)
{
    size_t n = 0;

    for (int i = 0; i < p->dims; i++)
        add_text(text, bytes, &n, "%s%lld", i == 0 ? "array " : "x", (long long)p->dimension[i].size);
    add_text(text, bytes, &n, "x%lld ", (long long)p->item);
    for (int i = 0; i < p->dims; i++) {
        const struct pattern_dimension *d = &p->dimension[i];
        const char *kind = d->kind == 'b' ? "block" : d->kind == 'c' ? "cyclic" : "*";

        add_text(text, bytes, &n, "%s%s", i == 0 ? "" : ",", kind);
        if (d->kind != '*' && d->k > 0)
            add_text(text, bytes, &n, "(%lld)", (long long)d->k);
    }
    for (int i = 0; i < p->dims; i++)
        add_text(text, bytes, &n, "%s%d", i == 0 ? " on " : "x", (int)p->dimension[i].procs);
    if (p->displacement > 0)
        add_text(text, bytes, &n, " +%lld", (long long)p->displacement);
    return n;
}

static size_t format(const struct pattern *p, char *text, size_t bytes)
{
    return p->dims > 0 ? format_array(p, text, bytes) : pattern_format(p, text, bytes);
}

/* What its text says, which is what all who open the file see. */
static int copy_pattern(const struct pattern *from, struct pattern **to)
{
    char why[PATTERN_WHY_BYTES];
    char *text = malloc(CLF_TEXT_BYTES);

    if (!text)
        return -N_ENOMEM;
    const size_t n = format(from, text, CLF_TEXT_BYTES);
    int error = n < CLF_TEXT_BYTES ? pattern_parse(text, to, why) : -N_E2BIG;
    free(text);
    if (error == -N_E2BIG)
        return clf_fail(error, "a layout whose text has more than %u bytes", CLF_TEXT_BYTES);
    return error < 0 ? clf_fail(error, "a layout: %s", why) : 0;
}

/* The number of a volume of the machine by n bytes of its name; its volumes: none. */
static uint32_t find_volume(const char *name, size_t n)
{
    const struct server_volumes *m = clf_machine();
    uint32_t k = 0;

    while (k < m->n && (strlen(m->name[k]) != n || memcmp(m->name[k], name, n) != 0))
        k++;
    return k;
}

static int add_volume(struct clf_layout *l, const char *name, size_t n)
{
    const uint32_t k = find_volume(name, n);

    if (k == clf_machine()->n)
        return clf_fail(-N_ENODEV, "no volume '%.*s' on an I/O node with concurrent service", (int)n, name);
    for (uint32_t i = 0; i < l->volumes; i++)
        if (l->volume[i] == k)
            return clf_fail(-N_EINVAL, "volume '%.*s' twice", (int)n, name);
    l->volume[l->volumes++] = k;
    return 0;
}

static int add_volumes(struct clf_layout *l, const struct clf_place *place)
{
    const struct server_volumes *m = clf_machine();
    int error = 0;

    if (place->servers < 0 || (uint32_t)place->servers > m->n || (place->volumes && place->servers == 0))
        return clf_fail(-N_EINVAL, "%d servers; the machine has %u volumes", place->servers, m->n);
    const uint32_t n = place->servers > 0 ? (uint32_t)place->servers : m->n;
    l->volume = calloc(n, sizeof *l->volume);
    if (!l->volume)
        return -N_ENOMEM;
    for (uint32_t i = 0; i < n && error == 0; i++)
        if (place->volumes)
            error = add_volume(l, place->volumes[i], strlen(place->volumes[i]));
        else
            l->volume[l->volumes++] = i;
    return error;
}

int clf_layout_make(const struct pattern *pattern, const struct clf_place *place, struct clf_layout **out)
{
    const struct clf_place none = {NULL, 0, 0};
    struct clf_layout *l = clf_machine()->n > 0 ? calloc(1, sizeof *l) : NULL;
    int error = !l ? (clf_machine()->n > 0 ? -N_ENOMEM : -N_ENODEV) : pattern ? check_pattern(pattern) : 0;

    place = place ? place : &none;
    if (error == 0 && (place->stripe < 0 || place->stripe > PATTERN_OFFSET_MAX / 65536))
        error = clf_fail(-N_EINVAL, "a stripe of %lld bytes", (long long)place->stripe);
    if (error == 0)
        error = pattern ? copy_pattern(pattern, &l->pattern) : pattern_stripe(STRIPE, 1, &l->pattern);
    if (error == 0) {
        l->stripe = place->stripe > 0 ? place->stripe : STRIPE;
        error = add_volumes(l, place);
    }
    if (error == 0)
        error = place_parts(l);
    if (error < 0)
        clf_layout_free(l);
    else
        *out = l;
    return error;
}

int clf_layout_managers(const struct clf_layout *of, const struct clf_dealing *d, struct clf_layout **out)
{
    struct clf_layout *l = calloc(1, sizeof *l);
    int error = l ? pattern_stripe(d->block, d->managers, &l->pattern) : -N_ENOMEM;

    if (error == 0) {
        l->pattern->displacement = of->pattern->displacement;
        l->volumes = (uint32_t)d->managers;
        l->volume = calloc(l->volumes, sizeof *l->volume);
        error = l->volume ? place_parts(l) : -N_ENOMEM;
    }
    for (uint32_t i = 0; error == 0 && i < l->volumes; i++)
        l->volume[i] = CLF_MANAGER_AT + (uint32_t)d->node[i];
    if (error < 0)
        clf_layout_free(l);
    else
        *out = l;
    return error;
}

/* ---- Text ---- */

long clf_layout_format(const struct clf_layout *l, char *text, size_t bytes)
{
    size_t n = 0;

    add_text(text, bytes, &n, "pattern ");
    n += format(l->pattern, text + n, bytes - n);
    if (n < bytes)
        add_text(text, bytes, &n, "\nstripe %lld\nvolumes", (long long)l->stripe);
    for (uint32_t i = 0; i < l->volumes && n < bytes; i++)
        add_text(text, bytes, &n, " %s", clf_machine()->name[l->volume[i]]);
    if (n < bytes)
        add_text(text, bytes, &n, "\nend\n");
    if (n + 1 >= bytes) /* it is cut, or would be with a byte more */
        return clf_fail(-N_E2BIG, "a layout whose text has more than %u bytes", (unsigned)bytes - 2);
    return (long)n;
}

/* The value of the line that begins with `word`, and its length; *at moves on. NULL: there is no such line. */
static const char *take_line(const char **at, const char *word, size_t *n)
{
    const size_t word_bytes = strlen(word);
    const char *value = *at + word_bytes, *end = strchr(*at, '\n');

    if (!end || strncmp(*at, word, word_bytes) != 0)
        return NULL;
    *n = (size_t)(end - value);
    *at = end + 1;
    return value;
}

static int parse_volumes(struct clf_layout *l, const char *at, size_t n)
{
    const char *end = at + n;
    int error = 0;

    l->volume = calloc(n / 2 + 1, sizeof *l->volume);
    if (!l->volume)
        return -N_ENOMEM;
    while (at < end && error == 0) {
        size_t bytes = strcspn(at, " \n");

        error = bytes == 0 || l->volumes == CLF_VOLUMES_MAX ? -N_EPROTO : add_volume(l, at, bytes);
        at += bytes + 1;
    }
    return error;
}

static int parse_lines(struct clf_layout *l, char *text)
{
    char why[PATTERN_WHY_BYTES];
    size_t pattern_bytes, stripe_bytes, volumes_bytes, none;
    const char *at = text, *pattern = take_line(&at, "pattern ", &pattern_bytes);
    const char *stripe = pattern ? take_line(&at, "stripe ", &stripe_bytes) : NULL;
    const char *volumes = stripe ? take_line(&at, "volumes ", &volumes_bytes) : NULL;

    if (!volumes || volumes_bytes == 0 || !take_line(&at, "end", &none) || none != 0 || *at)
        return -N_EPROTO;
    text[pattern + pattern_bytes - text] = '\0';
    l->stripe = strtoll(stripe, NULL, 10);
    if (l->stripe <= 0 || l->stripe > PATTERN_OFFSET_MAX / 65536 || pattern_parse(pattern, &l->pattern, why) < 0)
        return -N_EPROTO;
    if (check_pattern(l->pattern) < 0 || l->pattern->elements > (int32_t)CLF_SUBFILES_MAX)
        return -N_EPROTO;
    return parse_volumes(l, volumes, volumes_bytes);
}

int clf_layout_parse(const char *text, size_t n, struct clf_layout **out)
{
    struct clf_layout *l = calloc(1, sizeof *l);
    char *copy = malloc(n + 1);
    int error = l && copy ? 0 : -N_ENOMEM;

    if (error == 0) {
        memcpy(copy, text, n);
        copy[n] = '\0';
        error = parse_lines(l, copy);
    }
    if (error == 0)
        error = place_parts(l);
    free(copy);
    if (error < 0)
        clf_layout_free(l);
    else
        *out = l;
    return error;
}
