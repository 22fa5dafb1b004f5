/* The machine file: the machine that a good one describes, and the exact line of error for a bad one. */
#include "emu/config/config.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu/model/timing.h"

static struct machine_config config;
static char error[512];

/* Loads a machine file with that text from a new folder, which is the current one from then on. */
static int load(const char *text, const char *image_folder)
{
    char folder[] = "/tmp/ncube-test-XXXXXX";

    cr_assert_not_null(mkdtemp(folder));
    cr_assert_eq(chdir(folder), 0);
    FILE *f = fopen("m.conf", "w");
    fputs(text, f);
    fclose(f);
    int result = config_load(&config, "m.conf", image_folder, error, sizeof error);
    unlink("m.conf");
    cr_assert_eq(chdir("/"), 0);
    rmdir(folder);
    return result;
}

#define BOARD(number, io_nodes) "boards = ({ number = " #number "; io_nodes = (\n" io_nodes "\n); });\n"
#define DRIVE(volume, image)    "{ volume = \"" volume "\"; image = \"" image "\"; }"
#define CACHE(keys)             "{ volume = \"c\"; image = \"c\"; " keys " }"
#define STRIPED(volume, over, map)                                                                                    \
    "dim = 1; boards = ({ number = 0; io_nodes = ({ index = 0; si = [1]; drives = (\n" DRIVE("df00", "x") ", " DRIVE( \
        "df01", "y") "); }); });\nstriped = ({ volume = \"" volume "\"; over = [" over "]; map = \"" map "\"; });\n"
#define CFS(io, drive, cfs)                                                   \
    "dim = 1; boards = ({ number = 0; io_nodes = ({ index = 0; si = [1]; " io \
    " drives = (\n{ volume = \"cf0\"; image = \"x\"; " drive " }); }); });\n\ncfs = { " cfs " };\n"
#define IO_NODE(i, more) "{ index = " #i "; " more " }"

Test(config, sandia_conf_is_the_machine_of_the_paper_in_a_5_cube)
{
    cr_assert_eq(config_load(&config, "images/sandia.conf", NULL, error, sizeof error), 0, "%s", error);
    const struct topo *t = &config.topo;
    cr_expect_eq(t->dim, 5);
    cr_expect_eq(t->ram_bytes, 16u << 20);
    cr_expect_eq(t->nodes_per_cabinet, 256);
    cr_expect_eq(t->host_si, 0);
    cr_assert_eq(t->n_io, 8);
    for (uint32_t i = 0; i < 8; i++) {
        char volume[8], image[32];

        snprintf(volume, sizeof volume, "df0%u", i);
        snprintf(image, sizeof image, "images/df0%u.img", i);
        cr_expect_eq(t->io[i].node, NODE_IO(3, i));
        cr_expect_eq(t->io[i].si[0], 4 * i + 3);
        for (uint32_t k = 1; k < NCU_SI_CHANNELS; k++)
            cr_expect_eq(t->io[i].si[k], TOPO_NONE, "I/O node %u, channel %u", i, k);
        cr_assert_eq(t->io[i].ndrives, 1);
        cr_expect_str_eq(t->io[i].drive[0].volume, volume);
        cr_expect_str_eq(t->io[i].drive[0].image, image);
        cr_expect_str_eq(t->io[i].drive[0].model, "scsi-1990");
    }
    config_free(&config);
}

Test(config, costs_replace_rows_of_the_stated_ones_or_state_nothing)
{
    static const struct {
        const char *what, *costs;
        struct stated_cost write, read;
    } c[] = {
        {"absent", "", {0}, {0}},
        {"some rows", "costs = { write = [1, 2, 3, 4, 5]; };", {1, 2, 3, 4, 5}, {0}},
        {"the first numbers of a row", "costs = { write = [7]; read = [5, 6]; };", {7, 0, 0, 0, 0}, {5, 6, 0, 0, 0}},
        {"none", "costs = \"instructions\";", {0}, {0}},
    };

    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        char text[128];
        bool none = strstr(c[i].costs, "instructions"), write = c[i].write.begin_cycles || none,
             read = c[i].read.begin_cycles || none;

        snprintf(text, sizeof text, "dim = 3;\n%s", c[i].costs);
        cr_assert_eq(load(text, NULL), 0, "%s: %s", c[i].what, error);
        const struct stated_cost *rows = config.stated;
        cr_expect(memcmp(&rows[STATED_OF(N_FWRITE)], write ? &c[i].write : &software_stated[STATED_OF(N_FWRITE)].cost,
                         sizeof *rows) == 0,
                  "%s: write", c[i].what);
        cr_expect(memcmp(&rows[STATED_OF(N_FREAD)], read ? &c[i].read : &software_stated[STATED_OF(N_FREAD)].cost,
                         sizeof *rows) == 0,
                  "%s: read", c[i].what);
        config_free(&config);
    }
}

/* A preset, what a group changes of it, and `cycles`, which comes after either. */
Test(config, timing_is_a_preset_or_changes_one)
{
    static const struct {
        const char *text;
        struct channel_times times;
        bool no_broadcasts;
        struct software_costs software;
        uint32_t alu, branch; /* cycles; 0: not changed */
    } c[] = {
        {"", {45, 9, 8}, false, {{0}, {0}}, 0, 0},
        {"timing = \"wang-leiss\";", {45, 9, 8}, false, {{420, 420, 205, 0}, {420, 420, 205, 0}}, 0, 0},
        {"timing = \"ipsc-860\";", {240, 7, 8}, true, {{0}, {0, 0, 1314, 16200}}, 1, 1},
        {"timing = { preset = \"ipsc-860\"; broadcasts = 1; };", {240, 7, 8}, false, {{0}, {0, 0, 1314, 16200}}, 1, 1},
        {"timing = { io = [0, 0, 10, 7]; };", {45, 9, 8}, false, {{0}, {0, 0, 10, 7}}, 0, 0},
        {"timing = { preset = \"ipsc-860\"; io = []; hop_cycles = 100; };", {100, 7, 8}, true, {{0}, {0}}, 1, 1},
        {"timing = { preset = \"wang-leiss\"; compute = [1, 2]; header_bytes = 4; };",
         {45, 9, 4},
         false,
         {{1, 2, 0, 0}, {420, 420, 205, 0}},
         0,
         0},
        {"timing = { byte_cycles = 2; broadcasts = 0; };", {45, 2, 8}, true, {{0}, {0}}, 0, 0},
        {"timing = {};", {45, 9, 8}, false, {{0}, {0}}, 0, 0},
        {"cycles = { branch = 5; }; timing = \"ipsc-860\";", {240, 7, 8}, true, {{0}, {0, 0, 1314, 16200}}, 1, 5},
    };

    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        char text[200];
        uint32_t alu = 0, branch = 0;

        snprintf(text, sizeof text, "dim = 3;\n%s", c[i].text);
        cr_assert_eq(load(text, NULL), 0, "%s: %s", c[i].text, error);
        struct channel_times times = topo_times(&config.topo);
        for (uint32_t k = 0; k < config.n_costs; k++) {
            alu = strcmp(config.cost[k].name, "alu") == 0 ? config.cost[k].cycles : alu;
            branch = strcmp(config.cost[k].name, "branch") == 0 ? config.cost[k].cycles : branch;
        }
        cr_expect(memcmp(&times, &c[i].times, sizeof times) == 0, "%s: channels", c[i].text);
        cr_expect_eq(config.topo.no_broadcasts, c[i].no_broadcasts, "%s: broadcasts", c[i].text);
        cr_expect(memcmp(&config.software, &c[i].software, sizeof config.software) == 0, "%s: charges", c[i].text);
        cr_expect(alu == c[i].alu && branch == c[i].branch, "%s: %u and %u cycles", c[i].text, alu, branch);
        cr_expect(memcmp(&config.stated[STATED_CALL], &software_stated[STATED_CALL].cost, sizeof *config.stated) == 0,
                  "%s: stated costs", c[i].text);
        config_free(&config);
    }
}

/* The key `costs` takes the rows up to the first without a name. */
Test(config, every_stated_cost_has_a_name)
{
    for (int row = 0; row < STATED_ROWS; row++)
        cr_expect_not_null(software_stated[row].name, "row %d", row);
}

Test(config, the_least_machine_file_is_a_dimension)
{
    cr_assert_eq(load("dim = 3;", NULL), 0, "%s", error);
    cr_expect_eq(config.topo.dim, 3);
    cr_expect_eq(config.topo.ram_bytes, NODE_RAM_DEFAULT_BYTES);
    cr_expect_eq(config.topo.nodes_per_cabinet, 256);
    cr_expect_eq(config.topo.shared_text_kb, 27648);
    cr_expect_eq(config.topo.code_mb, 1024);
    cr_expect_eq(config.topo.server_limit_s, 60);
    cr_expect_eq(config.topo.n_io, 0);
    cr_expect_eq(config.topo.host_si, 0);
    cr_expect_eq(config.n_costs, 0);
    cr_expect_str_eq(config.path, "m.conf");
    config_free(&config);
}

Test(config, without_a_file_there_are_compute_nodes_only)
{
    config_default(&config, 4);
    cr_expect_eq(config.topo.dim, 4);
    cr_expect_eq(config.topo.ram_bytes, NODE_RAM_DEFAULT_BYTES);
    cr_expect_eq(config.topo.nodes_per_cabinet, 256);
    cr_expect_eq(config.topo.shared_text_kb, 27648);
    cr_expect_eq(config.topo.code_mb, 1024);
    cr_expect_eq(config.topo.n_io, 0);
    cr_expect_null(config.path);
    config_free(&config);
}

/* Bad combinations are in the table below. */
Test(config, a_drive_has_a_data_cache_only_when_it_is_given_one)
{
    const char *drives = "drives = (" DRIVE("a", "a") "," CACHE("cache_kb = 1000; group = 2; write = \"back\";") ");";
    char text[1000];

    snprintf(text, sizeof text, "dim = 5; boards = ({ number = 3; io_nodes = ({ index = 0; %s }); });", drives);
    cr_assert_eq(load(text, NULL), 0, "%s", error);
    const struct drive_cache *none = &config.topo.io[0].drive[0].cache, *c = &config.topo.io[0].drive[1].cache;
    cr_expect(none->kb == 0 && none->block_bytes == 0);
    cr_expect(c->kb == 1000 && c->block_bytes == 4096 && c->group_blocks == 2 && c->ahead_groups == 1);
    cr_expect(c->write == DRIVE_CACHE_BACK && c->evict == DRIVE_CACHE_LRU);
    cr_expect(c->commands == 4 && c->fill == DRIVE_CACHE_FILL_FIRST && c->misses == DRIVE_CACHE_MISSES_WAIT);
    config_free(&config);
    drives = "service = \"concurrent\"; drives = (" CACHE("cache_kb = 1000; write = \"groups\"; evict = \"used-first\";"
                                                          "commands = 64; fill = \"later\"; misses = \"aside\";") ");";
    snprintf(text, sizeof text, "dim = 5; boards = ({ number = 3; io_nodes = ({ index = 0; %s }); });", drives);
    cr_assert_eq(load(text, NULL), 0, "%s", error);
    c = &config.topo.io[0].drive[0].cache;
    cr_expect(c->write == DRIVE_CACHE_GROUPS && c->evict == DRIVE_CACHE_USED_FIRST && c->commands == 64);
    cr_expect(c->fill == DRIVE_CACHE_FILL_LATER && c->misses == DRIVE_CACHE_MISSES_ASIDE);
    config_free(&config);
}

Test(config, io_nodes_are_sorted_by_address)
{
    cr_assert_eq(load("dim = 5;\n"
                      "boards = (\n"
                      "  { number = 1; io_nodes = ( { index = 2; }, { index = 0; } ); },\n"
                      "  { number = 0; io_nodes = ( { index = 7; } ); }\n"
                      ");\n",
                      NULL),
                 0, "%s", error);
    cr_assert_eq(config.topo.n_io, 3);
    cr_expect_eq(config.topo.io[0].node, NODE_IO(0, 7));
    cr_expect_eq(config.topo.io[0].si[0], 28);
    cr_expect_eq(config.topo.io[1].node, NODE_IO(1, 0));
    cr_expect_eq(config.topo.io[2].node, NODE_IO(1, 2));
    config_free(&config);
}

static void expect_wiring(const char *text, const uint32_t expected[NCU_SI_CHANNELS], uint32_t host_si)
{
    cr_assert_eq(load(text, NULL), 0, "%s", error);
    for (uint32_t k = 0; k < NCU_SI_CHANNELS; k++)
        cr_expect_eq(config.topo.io[0].si[k], expected[k], "%s: channel %u", text, k);
    cr_expect_eq(config.topo.host_si, host_si, "%s: front end at %u", text, config.topo.host_si);
    config_free(&config);
}

#define NO TOPO_NONE

Test(config, wiring_is_sandias_a_part_of_it_or_free)
{
    expect_wiring("dim = 9;" BOARD(3, IO_NODE(2, "")), (uint32_t[]){11, 75, 139, 203, 267, 331, 395, 459}, 0);
    expect_wiring("dim = 7;" BOARD(0, IO_NODE(0, "")), (uint32_t[]){0, 64, NO, NO, NO, NO, NO, NO}, 1);
    expect_wiring("dim = 9;" BOARD(3, IO_NODE(2, "channels = [7, 1];")), (uint32_t[]){NO, 75, NO, NO, NO, NO, NO, 459},
                  0);
    expect_wiring("dim = 2;" BOARD(60, IO_NODE(2, "si = [1, -1, 0];")), (uint32_t[]){1, NO, 0, NO, NO, NO, NO, NO}, 2);
    expect_wiring("dim = 2; front_end = { si = 3; };" BOARD(0, IO_NODE(0, "")),
                  (uint32_t[]){0, NO, NO, NO, NO, NO, NO, NO}, 3);
}

Test(config, nas_conf_is_the_machine_of_the_paper)
{
    char text[400];

    cr_assert_eq(config_load(&config, "images/machines/nas.conf", NULL, error, sizeof error), 0, "%s", error);
    const struct topo *t = &config.topo;
    cr_expect_eq(t->dim, 7);
    cr_assert_eq(t->cfs.disks, 10);
    cr_expect_eq(t->cfs.async, 2);
    cr_expect_eq(t->times.byte_cycles, 7);
    for (uint32_t i = 0; i < 10; i++) {
        cr_expect_eq(t->io[i].si[0] % 4, 2);
        cr_expect_eq(t->io[i].drive[0].cache.kb, 1000);
        cr_expect_eq(t->io[i].drive[0].cache.commands, 64);
        cr_expect_str_eq(t->io[i].drive[0].model, "xt-8760s");
    }
    topo_striped_text(t, text, sizeof text);
    cr_expect_str_eq(text, "/cfs cf00 cf01 cf02 cf03 cf04 cf05 cf06 cf07 cf08 cf09: 2 16384.0 16385.0 16386.0 16387.0 "
                           "16388.0 16389.0 16390.0 16391.0 16392.0 16393.0\n");
    config_free(&config);
}

/* The volume of the metadata is named by its number among the servers'. */
Test(config, of_clusterfile_tells_programs_its_servers)
{
    char text[500];

    cr_assert_eq(config_load(&config, "images/machines/clusterfile.conf", NULL, error, sizeof error), 0, "%s", error);
    topo_striped_text(&config.topo, text, sizeof text);
    cr_expect_str_eq(text,
                     "/clf df00 df01 df02 df03 df04 df05 df06 df07 df08 df09 df10 df11 df12 df13 df14 df15: 0 16384.0 "
                     "16385.0 16386.0 16387.0 16388.0 16389.0 16390.0 16391.0 16392.0 16393.0 16394.0 16395.0 16396.0 "
                     "16397.0 16398.0 16399.0\n");
    config_free(&config);
}

Test(config, images_start_at_the_machine_files_folder_or_where_one_says)
{
    static const struct {
        const char *text, *image_folder, *image;
    } c[] = {
        {"", NULL, "df00.img"},
        {"images = \"disks/a\";", NULL, "disks/a/df00.img"},
        {"images = \"/var/disks\";", NULL, "/var/disks/df00.img"},
        {"images = \"disks\";", "elsewhere", "elsewhere/df00.img"},
        {"", ".", "df00.img"},
    };
    for (size_t i = 0; i < sizeof c / sizeof c[0]; i++) {
        char text[512];

        snprintf(text, sizeof text, "dim = 5; %s %s", c[i].text,
                 BOARD(3, IO_NODE(0, "drives = (" DRIVE("df00", "df00.img") "," DRIVE("df01", "/abs/b.img") ");")));
        cr_assert_eq(load(text, c[i].image_folder), 0, "%s", error);
        cr_expect_str_eq(config.topo.io[0].drive[0].image, c[i].image, "case %zu", i);
        cr_expect_str_eq(config.topo.io[0].drive[1].image, "/abs/b.img", "case %zu", i);
        config_free(&config);
    }
}

Test(config, costs_carry_their_place)
{
    cr_assert_eq(load("dim = 0;\ncycles = {\n  integer = 3;\n  divide = 40;\n};\n", NULL), 0, "%s", error);
    cr_assert_eq(config.n_costs, 2);
    cr_expect_str_eq(config.cost[1].name, "divide");
    cr_expect_eq(config.cost[1].cycles, 40);
    cr_expect_str_eq(config.cost[1].where, "m.conf:4");
    config_free(&config);
}

Test(config, the_drive_model_may_be_named)
{
    static const char drive[] = "{ volume = \"a\"; image = \"a\"; model = \"hp97560\"; }";
    char text[256];

    snprintf(text, sizeof text, "dim = 2; boards = ({ number = 3; io_nodes = ({ index = 0; drives = (%s); }); });",
             drive);
    cr_assert_eq(load(text, NULL), 0, "%s", error);
    cr_expect_str_eq(config.topo.io[0].drive[0].model, "hp97560");
    config_free(&config);
}

Test(config, a_bad_machine_file_gets_one_line_with_file_and_line)
{
    static const struct {
        const char *text, *error;
    } c[] = {
        /* syntax */
        {"dim = 5;\nram_mb 16;\n", "m.conf:2: syntax error"},
        {"dim = 5;\ndim = 6;\n", "m.conf:2: duplicate setting name"},
        /* keys */
        {"dim = 5;\ndimn = 5;\n", "m.conf:2: unknown key 'dimn'; known here: dim, ram_mb, nodes_per_cabinet, "
                                  "shared_text_kb, translation_mb, boards, front_end, images, "
                                  "cycles, timing, faults, striped, cfs, metadata, server_limit_s, costs, racks"},
        {"dim = 5;\nboards = (\n  { numbr = 3; }\n);\n", "m.conf:3: unknown key 'numbr'; known here: number, io_nodes"},
        {"dim = 5;\n" BOARD(3, "{ index = 0;\n  channel = 0;\n}"),
         "m.conf:4: unknown key 'channel'; known here: index, channels, si, drives, service"},
        {"dim = 5;\n" BOARD(3, IO_NODE(0, "service = \"fast\";")),
         "m.conf:3: service = 'fast'; known: in-order, concurrent"},
        {"dim = 5;\n" BOARD(3, IO_NODE(0, "drives = (\n{ volume = \"a\"; image = \"b\";\n  speed = 3; } );")),
         "m.conf:5: unknown key 'speed'; known here: volume, image, model, cache_kb, block, group, look_ahead, write, "
         "evict, commands, fill, misses, rpm"},
        {"dim = 5;\nfront_end = {\n  node = 3;\n};\n", "m.conf:3: unknown key 'node'; known here: si"},
        /* faults */
        {"dim = 2;\nfaults = (\n{ } );\n",
         "m.conf:3: a fault is of one link, node, io_node or drive, or parity of one or all links"},
        {"dim = 2;\nfaults = (\n{ node = 1; link = [0, 1]; } );\n",
         "m.conf:3: a fault is of one link, node, io_node or drive, or parity of one or all links"},
        {"dim = 2;\nfaults = (\n{ node = 4; } );\n",
         "m.conf:3: node = 4 is out of range; it must be an integer from 0 to 3"},
        {"dim = 2;\nfaults = (\n{ link = [0]; } );\n", "m.conf:3: 'link' takes two numbers"},
        {"dim = 2;\nfaults = (\n{ link = [0, 2]; } );\n", "m.conf:3: channel 2 of compute node 0 is not connected"},
        {"dim = 2;\nfaults = (\n{ io_node = [3, 0]; } );\n", "m.conf:3: there is no I/O node 0 on board 3"},
        {"dim = 2;\nfaults = (\n{ drive = \"df00\"; } );\n", "m.conf:3: there is no volume 'df00'"},
        {"dim = 2;\nfaults = (\n{ parity = 0; } );\n",
         "m.conf:3: parity = 0 is out of range; it must be an integer from 1 to 1000000"},
        {"dim = 2;\nfaults = (\n{ node = 1; seed = 2; } );\n", "m.conf:3: 'seed' needs 'parity'"},
        {"dim = 2;\nfaults = (\n{ node = 1; from_us = 5; until_us = 5; } );\n",
         "m.conf:3: until_us = 5 does not lie after from_us = 5"},
        /* required keys */
        {"ram_mb = 16;\n", "m.conf: 'dim' is missing: the dimension of the hypercube, 0 to 13"},
        {"dim = 5;\nboards = ( { io_nodes = (); } );\n",
         "m.conf:2: 'number' is missing: the board's number, which the Sandia wiring depends on"},
        {"dim = 5;\n" BOARD(3, "{ }"), "m.conf:3: 'index' is missing: the I/O node's number on its board, 0 to 15"},
        {"dim = 5;\n" BOARD(3, IO_NODE(0, "drives = ( { image = \"a\"; } );")),
         "m.conf:3: 'volume' is missing: the drive's volume name, \"df00\" say"},
        {"dim = 5;\n" BOARD(3, IO_NODE(0, "drives = ( { volume = \"a\"; } );")),
         "m.conf:3: 'image' is missing: the path of its image file"},
        /* types */
        {"dim = 5.0;", "m.conf:1: 'dim' is a floating-point number; it must be an integer from 0 to 13"},
        {"dim = \"5\";", "m.conf:1: 'dim' is a string; it must be an integer from 0 to 13"},
        {"dim = true;", "m.conf:1: 'dim' is a boolean; it must be an integer from 0 to 13"},
        {"dim = 5;\nboards = { };\n",
         "m.conf:2: 'boards' is a group; it must be a list of groups, ( { ... }, { ... } )"},
        {"dim = 5;\nboards = ( 3 );\n", "m.conf:2: this element is an integer; it must be a group, { ... }"},
        {"dim = 5;\nfront_end = 3;\n", "m.conf:2: 'front_end' is an integer; it must be a group, { ... }"},
        {"dim = 5;\nimages = 3;\n", "m.conf:2: 'images' is an integer; it must be a string"},
        {"dim = 5;\nimages = \"\";\n", "m.conf:2: 'images' is an empty string"},
        {"dim = 5;\n" BOARD(3, IO_NODE(0, "si = 3;")),
         "m.conf:3: 'si' is an integer; it must be an array of integers, [0, 1]"},
        {"dim = 5;\n" BOARD(3, IO_NODE(0, "si = [\"3\"];")),
         "m.conf:3: this element is a string; it must be an integer from -1 to 31"},
        {"dim = 5;\ncycles = { integer = 2.5; };\n",
         "m.conf:2: 'integer' is a floating-point number; it must be an integer from 1 to 100000"},
        /* ranges */
        {"dim = 14;", "m.conf:1: dim = 14 is out of range; it must be an integer from 0 to 13"},
        {"dim = 5;\nram_mb = 128;\n", "m.conf:2: ram_mb = 128 is out of range; it must be an integer from 1 to 64"},
        {"dim = 5;\nram_mb = 12;\n",
         "m.conf:2: ram_mb = 12 is not a power of two; it must be 1, 2, 4, 8, 16, 32 or 64"},
        {"dim = 5;\nnodes_per_cabinet = 0;\n",
         "m.conf:2: nodes_per_cabinet = 0 is out of range; it must be an integer from 1 to 256"},
        {"dim = 5;\nracks = [16, 0];\n", "m.conf:2: 0 is out of range; it must be an integer from 1 to 32768"},
        {"dim = 5;\nserver_limit_s = 0;\n",
         "m.conf:2: server_limit_s = 0 is out of range; it must be an integer from 1 to 100000"},
        {"dim = 5;\nshared_text_kb = 27649;\n",
         "m.conf:2: shared_text_kb = 27649 is out of range; it must be an integer from 0 to 27648"},
        {"dim = 5;\ntranslation_mb = 15;\n",
         "m.conf:2: translation_mb = 15 is out of range; it must be an integer from 16 to 2047"},
        {"dim = 5;\nboards = ( { number = 1024; } );\n",
         "m.conf:2: number = 1024 is out of range; it must be an integer from 0 to 1023"},
        {"dim = 5;\n" BOARD(3, IO_NODE(16, "")),
         "m.conf:3: index = 16 is out of range; it must be an integer from 0 to 15"},
        {"dim = 5;\nfront_end = { si = 32; };\n",
         "m.conf:2: si = 32 is out of range; it must be an integer from 0 to 31"},
        {"dim = 5;\ntiming = \"1992\";\n", "m.conf:2: timing = '1992'; known: wang-leiss, ipsc-860"},
        {"dim = 5;\ntiming = 1992;\n", "m.conf:2: 'timing' is an integer; it must be a string"},
        {"dim = 5;\ntiming = {\n  preset = \"1992\"; };\n", "m.conf:3: preset = '1992'; known: wang-leiss, ipsc-860"},
        {"dim = 5;\ntiming = {\n  hop = 45; };\n",
         "m.conf:3: unknown key 'hop'; known here: preset, hop_cycles, byte_cycles, header_bytes, broadcasts, compute, "
         "io"},
        {"dim = 5;\ntiming = {\n  hop_cycles = 0; };\n",
         "m.conf:3: hop_cycles = 0 is out of range; it must be an integer from 1 to 100000"},
        {"dim = 5;\ntiming = {\n  byte_cycles = 10001; };\n",
         "m.conf:3: byte_cycles = 10001 is out of range; it must be an integer from 1 to 10000"},
        {"dim = 5;\ntiming = {\n  header_bytes = 257; };\n",
         "m.conf:3: header_bytes = 257 is out of range; it must be an integer from 1 to 256"},
        {"dim = 5;\ntiming = {\n  broadcasts = 2; };\n",
         "m.conf:3: broadcasts = 2 is out of range; it must be an integer from 0 to 1"},
        {"dim = 5;\ntiming = {\n  compute = [50001]; };\n",
         "m.conf:3: 50001 is out of range; it must be an integer from 0 to 50000"},
        {"dim = 5;\ntiming = {\n  compute = [1, 2, 3, 4]; };\n",
         "m.conf:3: 'compute' has 4 elements; at most 3 are possible"},
        {"dim = 5;\ntiming = {\n  io = [1, 2, 3, 4, 5]; };\n", "m.conf:3: 'io' has 5 elements; at most 4 are possible"},
        {"dim = 5;\ncosts = \"1992\";\n", "m.conf:2: costs = '1992'; known: instructions"},
        {"dim = 5;\ncosts = { writes = [1]; };\n",
         "m.conf:2: unknown key 'writes'; known here: open, close, read, write, stat, truncate, sync, stat_name, "
         "unlink, "
         "rename, link, mkdir, rmdir, readdir, access, exit, statfs, symlink, readlink, set_attributes, "
         "set_attributes_name, sync_all, "
         "view, read_name, make, fork, poll, open_read, add, arrival, reap, call, transfer, pio_call, pio_read, "
         "pio_write"},
        {"dim = 5;\ncosts = {\n  write = [1, -1]; };\n",
         "m.conf:3: -1 is out of range; it must be an integer from 0 to 20000000"},
        {"dim = 5;\ncosts = {\n  write = [1, 2, 3, 4, 5, 6]; };\n",
         "m.conf:3: 'write' has 6 elements; at most 5 are possible"},
        {"dim = 5;\ncycles = { integer = 0; };\n",
         "m.conf:2: integer = 0 is out of range; it must be an integer from 1 to 100000"},
        /* wiring */
        {"dim = 5;\n" BOARD(3, IO_NODE(0, "si = [32];")),
         "m.conf:3: 32 is out of range; it must be an integer from -1 to 31"},
        {"dim = 5;\n" BOARD(3, IO_NODE(0, "si = [0, 1, 2, 3, 4, 5, 6, 7, 8];")),
         "m.conf:3: 'si' has 9 elements; at most 8 are possible"},
        {"dim = 5;\n" BOARD(3, IO_NODE(0, "channels = [8];")),
         "m.conf:3: 8 is out of range; it must be an integer from 0 to 7"},
        {"dim = 5;\n" BOARD(3, IO_NODE(2, "channels = [0, 1];")),
         "m.conf:3: channel 1 reaches compute node 75, which a 5-cube does not have"},
        {"dim = 5;\n" BOARD(3, IO_NODE(0, "si = [0]; channels = [0];")),
         "m.conf:3: 'channels' selects from the Sandia wiring, 'si' wires freely: give one"},
        {"dim = 5;\n" BOARD(3, IO_NODE(8, "")),
         "m.conf:3: I/O node 8 of board 3 reaches no compute node of a 5-cube; wire it with 'si'"},
        {"dim = 5;\n" BOARD(3, IO_NODE(0, "si = [-1];")),
         "m.conf:3: I/O node 0 of board 3 reaches no compute node of a 5-cube; wire it with 'si'"},
        {"dim = 5;\n" BOARD(3, IO_NODE(0, "") ",\n" IO_NODE(1, "si = [5,\n 3];")),
         "m.conf:4: channel 1 cannot reach compute node 3: "
         "that node's I/O channel goes to I/O node 0 of board 3 (line 3)"},
        {"dim = 5;\n" BOARD(3, IO_NODE(0, "si = [4, 4];")),
         "m.conf:3: channel 1 cannot reach compute node 4: "
         "that node's I/O channel goes to I/O node 0 of board 3 (line 3)"},
        {"dim = 5;\nfront_end = {\n si = 3; };\n" BOARD(3, IO_NODE(0, "")),
         "m.conf:3: the I/O channel of compute node 3 goes to I/O node 0 of board 3 (line 5)"},
        {"dim = 0;\n" BOARD(0, IO_NODE(0, "")), "m.conf: no compute node has its I/O channel free for the front end"},
        /* values that must be unique */
        {"dim = 5;\n" BOARD(3, IO_NODE(0, "") ",\n" IO_NODE(0, "")),
         "m.conf:4: I/O node 0 of board 3 is already defined in line 3"},
        {"dim = 5;\n" BOARD(3, IO_NODE(0, "drives = (" DRIVE("a", "a") ",\n" DRIVE("a", "b") ");")),
         "m.conf:4: volume 'a' is already defined in line 3; volume names are unique"},
        {"dim = 5;\n" BOARD(
             3, IO_NODE(0, "drives = (" DRIVE("a", "x") ");") ",\n" IO_NODE(1, "drives = (" DRIVE("b", "x") ");")),
         "m.conf:4: image 'x' already belongs to volume 'a' (line 3)"},
        /* the Concurrent File System */
        {CFS("service = \"concurrent\";", "cache_kb = 200;", "volumes = [\"cf1\"];"),
         "m.conf:4: the CFS: there is no volume 'cf1'"},
        {CFS("service = \"concurrent\";", "cache_kb = 200;", "volumes = [\"cf0\", \"cf0\"];"),
         "m.conf:4: the CFS has volume 'cf0' twice; each disk is another volume"},
        {CFS("service = \"concurrent\";", "cache_kb = 200;", "volumes = (7);"),
         "m.conf:4: 'volumes' is a list of names of volumes, such as [\"cf00\", \"cf01\"]"},
        {CFS("service = \"concurrent\";", "cache_kb = 200;", "volumes = [];"),
         "m.conf:4: 'volumes' must be a list of 1 to 32 names of volumes"},
        {CFS("service = \"concurrent\";", "cache_kb = 200;", "async = 2;"),
         "m.conf:4: 'volumes' is missing: the volumes that are its disks, in order"},
        {CFS("service = \"concurrent\";", "cache_kb = 200;", "volumes = [\"cf0\"]; async = 65;"),
         "m.conf:4: async = 65 is out of range; it must be an integer from 1 to 64"},
        {CFS("service = \"concurrent\";", "cache_kb = 200;", "volumes = [\"cf0\"]; disks = 1;"),
         "m.conf:4: unknown key 'disks'; known here: volumes, async"},
        {CFS("", "cache_kb = 200;", "volumes = [\"cf0\"];"),
         "m.conf:4: CFS disk 'cf0' is on an I/O node with in-order service; give it service = \"concurrent\""},
        {CFS("service = \"concurrent\";", "", "volumes = [\"cf0\"];"),
         "m.conf:4: CFS disk 'cf0' has no data cache; give its drive a cache_kb"},
        {CFS("service = \"concurrent\";", "cache_kb = 200; block = 8192;", "volumes = [\"cf0\"];"),
         "m.conf:4: CFS disk 'cf0': block = 8192; blocks of the CFS have 4096 bytes"},
        {CFS("service = \"concurrent\";", "cache_kb = 127;", "volumes = [\"cf0\"];"),
         "m.conf:4: CFS disk 'cf0': cache_kb = 127 is less than 4 groups of 8 blocks"},
        {"dim = 1;\nmetadata = 1;\n", "m.conf:2: 'metadata' is the name of a volume, such as \"df00\""},
        {"dim = 1;\nmetadata = \"cf0\";\n", "m.conf:2: Clusterfile: there is no volume 'cf0'"},
        {"dim = 1;\ncfs = \"cf0\";\n", "m.conf:2: 'cfs' is a group, such as { volumes = [\"cf00\", \"cf01\"]; }"},
        /* striped volumes */
        {STRIPED("df00", "\"df00\"", "cyclic 1 1"),
         "m.conf:3: 'df00' is already the volume of a drive; give the striped volume another name"},
        {STRIPED("a b", "\"df00\"", "cyclic 1 1"),
         "m.conf:3: volume 'a b': a name has only letters, digits, '_' and '-'"},
        {STRIPED("big", "\"df00\", \"df02\"", "cyclic 1 2"),
         "m.conf:3: striped volume 'big': there is no volume 'df02'"},
        {STRIPED("big", "\"df00\", \"df00\"", "cyclic 1 2"),
         "m.conf:3: striped volume 'big' has volume 'df00' twice; a volume holds one part"},
        {STRIPED("big", "", "cyclic 1 1"), "m.conf:3: 'over' must be a list of 1 to 256 names of volumes"},
        {STRIPED("big", "1, 2", "cyclic 1 2"),
         "m.conf:3: 'over' is a list of names of volumes, such as [\"df00\", \"df01\"]"},
        {STRIPED("big", "\"df00\", \"df01\"", "cyclic 16384 3"),
         "m.conf:3: striped volume 'big': the map \"cyclic 16384 3\" is for 3 volumes, but 'over' has 2"},
        {STRIPED("big", "\"df00\", \"df01\"", "cyclic 16384"),
         "m.conf:3: striped volume 'big': column 13: the number of elements expected"},
        {STRIPED("big", "\"df00\", \"df01\"", "cyclic 16384 2 +8"),
         "m.conf:3: striped volume 'big': the map \"cyclic 16384 2 +8\" does not suit volumes: it must give each byte "
         "from 0 on to one of them, in order, in at most 1023 characters and blocks of at most 1048576 bytes"},
        {STRIPED("big", "\"df00\", \"df01\"", "bits o3-0 p0-0 o8-4"),
         "m.conf:3: striped volume 'big': the map \"bits o3-0 p0-0 o8-4\" does not suit volumes: it must give each "
         "byte from 0 on to one of them, in order, in at most 1023 characters and blocks of at most 1048576 bytes"},
        {STRIPED("big", "\"df00\", \"df01\"", "cyclic 1 2\\n"), "m.conf:3: striped volume 'big': a map is one line"},
        {"dim = 1;\n" BOARD(
             0, IO_NODE(0, "si = [1]; drives = (" DRIVE(
                               "df00", "x") ");")) "striped = ({ volume = \"big\"; map = \"cyclic 1 1\"; });",
         "m.conf:5: 'over' is missing: the volumes that hold the parts of its files"},
        {"dim = 1;\n" BOARD(
             0, IO_NODE(0, "si = [1]; drives = (" DRIVE(
                               "df00",
                               "x") ");")) "striped = ({ volume = \"b\"; over = [\"df00\"]; map = \"cyclic 1 1\"; },\n"
                                           "{ volume = \"b\"; over = [\"df00\"]; map = \"cyclic 1 1\"; });",
         "m.conf:6: striped volume 'b' is already defined; volume names are unique"},
        /* data caches */
        {"dim = 5;\n" BOARD(3, IO_NODE(0, "drives = (" CACHE("cache_kb = 1;") ");")),
         "m.conf:3: cache_kb = 1 is less than two groups of 8 blocks of 4096 bytes"},
        {"dim = 5;\n" BOARD(3, IO_NODE(0, "drives = (" CACHE("group = 4;") ");")),
         "m.conf:3: 'group' is a setting of the data cache; give the drive a cache_kb, too"},
        {"dim = 5;\n" BOARD(3, IO_NODE(0, "drives = (" CACHE("cache_kb = 64;\nwrite = \"never\";") ");")),
         "m.conf:4: write = 'never'; known: through, groups, back"},
        {"dim = 5;\n" BOARD(3, IO_NODE(0, "drives = (" CACHE("cache_kb = 64;\nevict = \"mru\";") ");")),
         "m.conf:4: evict = 'mru'; known: lru, fifo, used-first"},
        {"dim = 5;\n" BOARD(3, IO_NODE(0, "drives = (" CACHE("cache_kb = 64;\nblock = 3072;") ");")),
         "m.conf:4: block = 3072 is not a power of two"},
        {"dim = 5;\n" BOARD(3, IO_NODE(0, "drives = (" CACHE("cache_kb = 512; block = 32768;") ");")),
         "m.conf:3: a group of 8 blocks of 32768 bytes has 262144 bytes; at most 131072"},
        {"dim = 5; ram_mb = 4;\n" BOARD(3, IO_NODE(0, "drives = (" CACHE("cache_kb = 4096;") ");")),
         "m.conf:3: cache_kb = 4096: the data caches of this I/O node take 4288 KB with their buffers, but its 4 MB of "
         "memory have room for 1536 KB"},
        {"dim = 5; ram_mb = 4;\n" BOARD(3, IO_NODE(0, "drives = (" CACHE("cache_kb = 512; commands = 64;") ");")),
         "m.conf:3: cache_kb = 512: the data caches of this I/O node take 2624 KB with their buffers, but its 4 MB of "
         "memory have room for 1536 KB"},
        {"dim = 5;\n" BOARD(3, IO_NODE(0, "drives = (" CACHE("cache_kb = 64;\ncommands = 3;") ");")),
         "m.conf:4: commands = 3 is out of range; it must be an integer from 4 to 64"},
        {"dim = 5;\n" BOARD(3, IO_NODE(0, "drives = (" CACHE("cache_kb = 64;\nfill = \"never\";") ");")),
         "m.conf:4: fill = 'never'; known: first, later"},
        {"dim = 5;\n" BOARD(
             3, IO_NODE(0, "drives = (" CACHE("cache_kb = 64;\nfill = \"later\"; misses = \"aside\";") ");")),
         "m.conf:4: fill = \"later\" requires write = \"groups\" or \"back\""},
        {"dim = 5;\n" BOARD(3, IO_NODE(0, "drives = (" CACHE("cache_kb = 64;\nmisses = \"aside\";") ");")),
         "m.conf:4: misses = \"aside\" requires service = \"concurrent\" for the I/O node"},
        /* drives */
        {"dim = 5;\n" BOARD(3, IO_NODE(0, "drives = (" DRIVE("a/b", "x") ");")),
         "m.conf:3: volume 'a/b': a name has only letters, digits, '_' and '-'"},
        {"dim = 5;\n" BOARD(3, IO_NODE(0, "drives = (" DRIVE("abcdefghijklmnop", "x") ");")),
         "m.conf:3: volume 'abcdefghijklmnop' has a name of 16 characters; give it at most 15"},
        {"dim = 5;\n" BOARD(3, IO_NODE(0, "drives = ({ volume = \"a\"; image = \"a\"; model = \"ssd\"; });")),
         "m.conf:3: model = 'ssd'; known: scsi-1990, hp97560, xt-8760s"},
        {"dim = 5;\n" BOARD(
             3,
             IO_NODE(0, "drives = (\n" DRIVE("a", "a") "," DRIVE("b", "b") "," DRIVE("c", "c") "," DRIVE(
                            "d", "d") "," DRIVE("e", "e") "," DRIVE("f", "f") "," DRIVE("g", "g") "," DRIVE("h",
                                                                                                            "h") ");")),
         "m.conf:3: 8 drives; a controller has at most 7"},
    };
    for (size_t i = 0; i < sizeof c / sizeof c[0]; i++) {
        cr_expect_eq(load(c[i].text, NULL), -1, "accepted: %s", c[i].text);
        cr_expect_str_eq(error, c[i].error, "got '%s'", error);
    }
}

Test(config, a_machine_file_that_cannot_be_read_is_named)
{
    cr_expect_eq(config_load(&config, "/tmp/no-such.conf", NULL, error, sizeof error), -1);
    cr_expect_str_eq(error, "/tmp/no-such.conf: No such file or directory");
    cr_expect_eq(config_load(&config, "/tmp", NULL, error, sizeof error), -1);
    cr_expect_str_eq(error, "/tmp: Is a directory");
}

Test(config, a_short_error_buffer_is_not_overrun)
{
    char short_error[16];

    memset(short_error, '#', sizeof short_error);
    cr_expect_eq(config_load(&config, "/tmp/no-such.conf", NULL, short_error, 8), -1);
    cr_expect_str_eq(short_error, "/tmp/no");
    cr_expect_eq(short_error[8], '#');
}
