/* Reports (report_page.h). The style sheet is small: system fonts, one column, tables that scroll on a phone. */
#define _GNU_SOURCE
#include "emu/report/report_page.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emu/base/host.h"
#include "emu/base/memory.h"
#include "emu/base/new_file.h"
#include "emu/base/error_line.h"

#define PATH_BYTES 4096

static const char page_style[] =
    ":root{color-scheme:light dark;--paper:#fff;--text:#222;--soft:#555;--line:#ccc;--band:#f4f4f4}\n"
    "@media(prefers-color-scheme:dark){:root{--paper:#16181c;--text:#ddd;--soft:#aaa;--line:#444;--band:#1f2228}}\n"
    "body{max-width:60rem;margin:0 auto;padding:1rem;background:var(--paper);color:var(--text);"
    "font:1rem/1.5 system-ui,sans-serif}\n"
    "h1{font-size:1.6rem;line-height:1.2}h2{font-size:1.25rem;margin-top:2.5rem}\n"
    "nav ul{columns:16rem;padding-left:1.2rem}a{color:var(--link,#0b62a8)}\n"
    "@media(prefers-color-scheme:dark){a{color:#6cb6ff}}\n"
    ".wide{overflow-x:auto}table{border-collapse:collapse;font-size:.9rem;margin:1rem 0}\n"
    "th,td{padding:.25rem .5rem;text-align:right;border-bottom:1px solid var(--line);"
    "font-variant-numeric:tabular-nums}td{white-space:nowrap}\n"
    "th{vertical-align:bottom;font-weight:600}th:first-child,td:first-child{text-align:left}\n"
    "tbody tr:nth-child(even){background:var(--band)}li{margin:.4rem 0}\n"
    "figure{margin:1.5rem 0}figure svg{width:100%;height:auto;display:block}figcaption{color:var(--soft);"
    "font-size:.9rem}\n";

static void fail(struct page *p, const char *why)
{
    if (p->error[0] == '\0')
        snprintf(p->error, p->error_bytes, "%s", why);
}

static struct page_file *add_file(struct page *p, const char *name)
{
    if (p->files == PAGE_FILES_MAX) {
        fail(p, "the report has too many files");
        return &p->file[PAGE_FILES_MAX - 1];
    }
    struct page_file *f = &p->file[p->files++];
    f->name = memory_copy_text(name, SIZE_MAX);
    return f;
}

static void put_html(struct page *p, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '&':
            fputs("&amp;", p->html);
            break;
        case '<':
            fputs("&lt;", p->html);
            break;
        case '>':
            fputs("&gt;", p->html);
            break;
        default:
            fputc(*text, p->html);
        }
}

void page_begin(struct page *p, const char *title, const char *style, const char *work, char *error, size_t error_bytes)
{
    *p = (struct page){.work = work, .error = error, .error_bytes = error_bytes};
    error[0] = '\0';
    struct page_file *markdown = add_file(p, "report.md"), *html = add_file(p, "report.html");
    p->markdown = open_memstream(&markdown->text, &markdown->bytes);
    p->html = open_memstream(&html->text, &html->bytes);
    if (!p->markdown || !p->html) {
        perror("ncube");
        exit(1);
    }
    fprintf(p->markdown, "# %s\n", title);
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>",
          p->html);
    put_html(p, title);
    fprintf(p->html, "</title>\n<style>\n%s", page_style);
    plot_put_style(p->html);
    fputs(style ? style : "", p->html);
    fputs("</style>\n</head>\n<body>\n<h1>", p->html);
    put_html(p, title);
    fputs("</h1>\n", p->html);
}

/* To be called before anything that is no item. */
void page_end_list(struct page *p)
{
    if (p->in_list)
        fputs("</ul>\n", p->html);
    p->in_list = false;
}

void page_heading(struct page *p, const char *name, const char *text)
{
    page_end_list(p);
    fprintf(p->markdown, "\n## %s\n", text);
    fprintf(p->html, "<h2 id=\"%s\">", name);
    put_html(p, text);
    fputs("</h2>\n", p->html);
}

static void put_formatted(struct page *p, const char *before, const char *tag, const char *format, va_list arguments)
{
    char *text;

    if (vasprintf(&text, format, arguments) < 0) {
        fail(p, "no memory for a paragraph");
        return;
    }
    fprintf(p->markdown, "%s%s\n", before, text);
    fprintf(p->html, "<%s>", tag);
    put_html(p, text);
    fprintf(p->html, "</%s>\n", tag);
    free(text);
}

void page_paragraph(struct page *p, const char *format, ...)
{
    va_list arguments;

    page_end_list(p);
    va_start(arguments, format);
    put_formatted(p, "\n", "p", format, arguments);
    va_end(arguments);
}

void page_item(struct page *p, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    if (!p->in_list) {
        fputs("\n", p->markdown);
        fputs("<ul>\n", p->html);
    }
    p->in_list = true;
    put_formatted(p, "* ", "li", format, arguments);
    va_end(arguments);
}

/* ---- Tables ---- */

void page_table(struct page *p, const char *columns)
{
    char *names = memory_copy_text(columns, SIZE_MAX), *rest = names, *name;

    page_end_list(p);
    fputs("\n|", p->markdown);
    fputs("<div class=\"wide\"><table><thead><tr>", p->html);
    for (p->columns = 0; (name = strsep(&rest, "|")); p->columns++) {
        fprintf(p->markdown, " %s |", name);
        fputs("<th>", p->html);
        put_html(p, name);
        fputs("</th>", p->html);
    }
    fputs("\n|", p->markdown);
    for (size_t i = 0; i < p->columns; i++)
        fputs(i == 0 ? " --- |" : " ---: |", p->markdown);
    fputs("\n", p->markdown);
    fputs("</tr></thead>\n<tbody>\n", p->html);
    p->column = 0;
    free(names);
}

void page_cell(struct page *p, const char *format, ...)
{
    char text[PAGE_CELL_BYTES];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (p->column == 0) {
        fputs("|", p->markdown);
        fputs("<tr>", p->html);
    }
    fprintf(p->markdown, " %s |", text);
    fputs("<td>", p->html);
    put_html(p, text);
    fputs("</td>", p->html);
    if (++p->column < p->columns)
        return;
    fputs("\n", p->markdown);
    fputs("</tr>\n", p->html);
    p->column = 0;
}

void page_number(struct page *p, int decimals, double value)
{
    page_cell(p, value > 0 && isfinite(value) ? "%.*f" : "-", decimals, value);
}

void page_difference(struct page *p, double value, double reference)
{
    double percent = 100 * (value / reference - 1);

    if (!(reference > 0))
        page_cell(p, "-");
    else
        page_cell(p, "%+.1f %%", fabs(percent) < 0.05 ? 0.0 : percent);
}

void page_end_table(struct page *p)
{
    fputs("</tbody></table></div>\n", p->html);
    p->columns = 0;
}

/* ---- Plots and other files ---- */

void page_html(struct page *p, const char *html)
{
    page_end_list(p);
    fputs(html, p->html);
}

void page_plot(struct page *p, const struct plot *plot, const char *caption)
{
    char name[PATH_BYTES];

    if (!p->work)
        return;
    char *svg = plot_draw(plot, p->work, p->error, p->error[0] == '\0' ? p->error_bytes : 0);

    if (!svg)
        return;
    page_end_list(p);
    snprintf(name, sizeof name, "%s.svg", plot->name);
    struct page_file *f = add_file(p, name);
    FILE *alone = open_memstream(&f->text, &f->bytes);
    char *end = strchr(svg, '>') + 1; /* of the element's own mark */
    fprintf(alone, "%.*s\n<style>\n", (int)(end - svg), svg);
    plot_put_style(alone);
    fprintf(alone, "</style>\n%s", end);
    fclose(alone);
    fprintf(p->markdown, "\n![%s](%s)\n", caption, name);
    fprintf(p->html, "<figure>\n%s<figcaption>", svg);
    put_html(p, caption);
    fputs("</figcaption>\n</figure>\n", p->html);
    free(svg);
}

void page_json(struct page *p, const char *name, json_t *json)
{
    struct page_file *f = add_file(p, name);
    FILE *to = open_memstream(&f->text, &f->bytes);

    json_dumpf(json, to, JSON_INDENT(1) | JSON_REAL_PRECISION(10));
    fputc('\n', to);
    fclose(to);
    json_decref(json);
}

/* ---- Writing ---- */

static void end_page(struct page *p)
{
    page_end_list(p);
    fputs("</body>\n</html>\n", p->html);
    fflush(p->markdown);
    fflush(p->html);
}

int page_write_html(struct page *p, int fd, const char *path)
{
    char error[ERROR_LINE_BYTES];

    end_page(p);
    if (p->error[0] == '\0' && host_move(fd, true, p->file[1].text, p->file[1].bytes, -1) < 0) {
        error_line(error, "%s: %s", path, strerror(errno));
        fail(p, error);
    }
    return p->error[0] == '\0' ? 0 : -1;
}

int page_write(struct page *p, const char *folder)
{
    struct new_file open_file[PAGE_FILES_MAX];
    char path[PATH_BYTES], error[ERROR_LINE_BYTES] = "";
    size_t n = 0;
    int result = 0;
    bool made;

    end_page(p);
    if (p->error[0] != '\0')
        return -1;
    made = mkdir(folder, 0777) == 0;
    if (!made && errno != EEXIST)
        result = error_line(error, "%s: %s", folder, strerror(errno));
    for (; result == 0 && n < p->files; n++) {
        snprintf(path, sizeof path, "%s/%s", folder, p->file[n].name);
        result = new_file_open(&open_file[n], path, error);
        if (result == 0 && host_move(open_file[n].fd, true, p->file[n].text, p->file[n].bytes, -1) < 0)
            result = error_line(error, "%s: %s", path, strerror(errno));
    }
    for (size_t i = 0; i < n; i++) /* all of them get their names, or none */
        result = new_file_close(&open_file[i], result, error);
    if (result < 0 && made)
        rmdir(folder);
    if (result < 0)
        fail(p, error);
    return result;
}

void page_end(struct page *p)
{
    fclose(p->markdown);
    fclose(p->html);
    for (size_t i = 0; i < p->files; i++) {
        free(p->file[i].name);
        free(p->file[i].text);
    }
}
