/* Tables of statistics, as the summary prints them. */
#include "emu/stats/stats_table.h"

#include <stdlib.h>
#include <string.h>

#include "emu/base/memory.h"

double stats_share(const struct stats_source *s, uint64_t cycles)
{
    return stats_ratio((double)cycles, (double)sched_now(s->sched));
}

double stats_ratio(double a, double b)
{
    return b > 0 ? a / b : 0;
}

static void print_number(FILE *to, const struct stats_source *s, const struct column *c, double value)
{
    if (c->is_time)
        fprintf(to, "%13.2f %%", 100 * stats_ratio(value, (double)sched_now(s->sched)));
    else
        fprintf(to, "%15.*f", value < 10 && value != (double)(uint64_t)value ? 2 : 0, value);
}

void stats_print_column(FILE *to, const struct stats_source *s, const struct part *p, size_t k)
{
    uint32_t least = 0, most = 0;
    double sum = 0;

    for (uint32_t i = 0; i < p->count; i++) {
        sum += (double)p->row[i].value[k];
        least = p->row[i].value[k] < p->row[least].value[k] ? i : least;
        most = p->row[i].value[k] > p->row[most].value[k] ? i : most;
    }
    if (p->row[most].value[k] == 0)
        return; /* all are zero */
    fprintf(to, "  %-16s", p->column[k].label);
    print_number(to, s, &p->column[k], sum / p->count);
    print_number(to, s, &p->column[k], (double)p->row[least].value[k]);
    fprintf(to, "  %-12s", p->name[least]);
    print_number(to, s, &p->column[k], (double)p->row[most].value[k]);
    fprintf(to, "  %s\n", p->name[most]);
}

void stats_print_heading(FILE *to, const char *heading)
{
    fprintf(to, "%s%*s%15s%29s\n", heading, 33 - (int)strlen(heading), "mean", "least", "most");
}

void stats_print_part(FILE *to, const struct stats_source *s, const char *title, const struct part *p)
{
    char heading[48];

    if (p->count == 0)
        return;
    snprintf(heading, sizeof heading, "%u %s", p->count, title);
    stats_print_heading(to, heading);
    for (size_t k = 0; p->column[k].key; k++)
        if (p->column[k].label)
            stats_print_column(to, s, p, k);
}

struct part stats_part_new(const struct column *column, struct row **row, uint32_t room)
{
    *row = memory_new(room + 1, sizeof **row);
    return (struct part){.column = column, .row = *row, .name = memory_new(room + 1, sizeof(char[NAME_BYTES]))};
}

void stats_part_free(struct part *p, struct row *row)
{
    free(row);
    free(p->name);
}
