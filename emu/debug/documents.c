#include "emu/debug/documents.h"

#include <stdio.h>
#include <string.h>

static const char *const x_names[] = {"zero", "ra", "sp", "gp", "tp",  "t0",  "t1", "t2", "fp", "s1", "a0",
                                      "a1",   "a2", "a3", "a4", "a5",  "a6",  "a7", "s2", "s3", "s4", "s5",
                                      "s6",   "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6"};

static const char *const f_names[] = {"ft0", "ft1", "ft2", "ft3", "ft4",  "ft5",  "ft6", "ft7", "fs0",  "fs1", "fa0",
                                      "fa1", "fa2", "fa3", "fa4", "fa5",  "fa6",  "fa7", "fs2", "fs3",  "fs4", "fs5",
                                      "fs6", "fs7", "fs8", "fs9", "fs10", "fs11", "ft8", "ft9", "ft10", "ft11"};

static const char *type_of_x(size_t i)
{
    return i == 1 ? "code_ptr" : i == 2 || i == 3 || i == 4 || i == 8 ? "data_ptr" : "int";
}

static void write_features(FILE *f)
{
    fputs("<?xml version=\"1.0\"?><!DOCTYPE target SYSTEM \"gdb-target.dtd\"><target version=\"1.0\">"
          "<architecture>riscv:rv64</architecture><feature name=\"org.gnu.gdb.riscv.cpu\">",
          f);
    for (size_t i = 0; i < sizeof x_names / sizeof *x_names; i++)
        fprintf(f, "<reg name=\"%s\" bitsize=\"64\" type=\"%s\"/>", x_names[i], type_of_x(i));
    fputs("<reg name=\"pc\" bitsize=\"64\" type=\"code_ptr\"/></feature><feature name=\"org.gnu.gdb.riscv.fpu\">"
          "<union id=\"riscv_double\"><field name=\"float\" type=\"ieee_single\"/>"
          "<field name=\"double\" type=\"ieee_double\"/></union>",
          f);
    for (size_t i = 0; i < sizeof f_names / sizeof *f_names; i++)
        fprintf(f, "<reg name=\"%s\" bitsize=\"64\" type=\"riscv_double\"/>", f_names[i]);
    fputs("<reg name=\"fflags\" bitsize=\"32\" type=\"int\"/><reg name=\"frm\" bitsize=\"32\" type=\"int\"/>"
          "<reg name=\"fcsr\" bitsize=\"32\" type=\"int\"/></feature></target>",
          f);
}

char *document_features(const struct target *t, size_t *bytes)
{
    char *text = NULL;
    FILE *f = open_memstream(&text, bytes);
    (void)t;

    if (!f)
        return NULL;
    write_features(f);
    return fclose(f) == 0 ? text : NULL;
}

/* What nodes wait for is text of the kernel's and the front end's, but not XML. */
static void write_escaped(FILE *f, const char *text)
{
    for (const char *c = text; *c != '\0'; c++)
        if (strchr("<>&\"", *c))
            fprintf(f, "&#%d;", *c);
        else
            fputc(*c, f);
}

static void write_thread(FILE *f, const struct target *t, uint32_t node)
{
    char what[256];

    t->ops->describe(t->ctx, node, what, sizeof what);
    fprintf(f, "<thread id=\"%x\" name=\"node %u\">", node + 1, node);
    write_escaped(f, what);
    fputs("</thread>", f);
}

char *document_threads(const struct target *t, size_t *bytes)
{
    char *text = NULL;
    FILE *f = open_memstream(&text, bytes);

    if (!f)
        return NULL;
    fputs("<?xml version=\"1.0\"?><threads>", f);
    for (uint32_t node = 0; node < t->ops->nodes(t->ctx); node++)
        if (target_is_alive(t, node))
            write_thread(f, t, node);
    fputs("</threads>", f);
    return fclose(f) == 0 ? text : NULL;
}
