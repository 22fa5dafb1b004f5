/*
 * What a request costs the I/O node while many others wait: nsdisk and its Vertex take as many cycles for each of 256
 * clients as for each of 16. Virtual time, so the figures are exact; and by instructions, since a stated cost would
 * hide those that more clients take.
 */
#include <criterion/criterion.h>
#include <jansson.h>

#include "tests/machine/command.h"

TestSuite(waiting, .timeout = 600);

struct work { /* of the I/O node */
    json_int_t cycles, requests;
};

static struct work work_in(const char *path)
{
    json_t *stats = json_load_file(path, 0, NULL), *node;
    struct work w = {0};
    size_t i;

    cr_assert_not_null(stats);
    json_array_foreach(json_object_get(stats, "nodes"), i,
                       node) if (strcmp(json_string_value(json_object_get(node, "kind")), "io") == 0)
    {
        w.cycles = json_integer_value(json_object_get(node, "user_cycles")) +
                   json_integer_value(json_object_get(node, "kernel_cycles"));
        w.requests = json_integer_value(json_object_get(node, "messages_received"));
    }
    json_decref(stats);
    return w;
}

static struct work measure(int dim, const char *service, const char *rounds)
{
    char *folder = folder_with_images(1, 4096, 1024),
         *machine = machine_file_one_node(folder, dim, 1, service, "costs = \"instructions\";");
    char *stats = format("%s/stats", folder), *option = format("--stats=%s", stats), *dims = format("%d", dim);
    struct outcome o = ncube_run(&(struct ncube_run){.dim = dims,
                                                     .machine = machine,
                                                     .program = "guest/waiting",
                                                     .args = {"//df00/f", rounds},
                                                     .options = {option}});

    cr_assert_eq(o.status, 0, "%s%s", o.out, o.err);
    struct work w = work_in(stats);
    images_check(folder, 1);
    outcome_free(&o);
    free(dims);
    free(option);
    free(stats);
    free(machine);
    folder_remove(folder);
    return w;
}

/* Of a round more, so that neither the start nor the end counts. */
static double cycles_of_request(int dim, const char *service)
{
    struct work one = measure(dim, service, "1"), two = measure(dim, service, "2");

    cr_assert_eq(two.requests - one.requests, 5 << dim);
    return (double)(two.cycles - one.cycles) / (double)(two.requests - one.requests);
}

static const char *const services[] = {"", "service = \"concurrent\";"};

RowTest(waiting, costs_no_cycle_of_those_before, services)
{
    double few = cycles_of_request(4, services[*row]), many = cycles_of_request(8, services[*row]);

    cr_expect_leq(many, 1.05 * few, "%s: %.0f cycles with 16 clients, %.0f with 256", services[*row], few, many);
    cr_log_info("%s: %.0f cycles with 16 clients, %.0f with 256", services[*row], few, many);
}
