/* Pages (report_page.h). The style sheet, report_page.css, is small: system fonts, one column, tables that scroll on a
 * phone. */
#include "emu/report/report_page.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "emu/base/host.h"
#include "emu/base/memory.h"
#include "emu/base/error_line.h"

static void fail(struct page *p, const char *why)
{
    if (p->error[0] == '\0')
        snprintf(p->error, p->error_bytes, "%s", why);
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

void page_begin(struct page *p, const char *title, const char *style, char *error, size_t error_bytes)
{
    *p = (struct page){.error = error, .error_bytes = error_bytes};
    error[0] = '\0';
    p->html = open_memstream(&p->text, &p->bytes);
    if (!p->html) {
        perror("ncube");
        exit(1);
    }
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>",
          p->html);
    put_html(p, title);
    fprintf(p->html, "</title>\n<style>\n%s", report_page_css);
    fputs(style, p->html);
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
    fprintf(p->html, "<h2 id=\"%s\">", name);
    put_html(p, text);
    fputs("</h2>\n", p->html);
}

static void put_formatted(struct page *p, const char *tag, const char *format, va_list arguments)
{
    char *text;

    if (vasprintf(&text, format, arguments) < 0) {
        fail(p, "no memory for a paragraph");
        return;
    }
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
    put_formatted(p, "p", format, arguments);
    va_end(arguments);
}

void page_item(struct page *p, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    if (!p->in_list)
        fputs("<ul>\n", p->html);
    p->in_list = true;
    put_formatted(p, "li", format, arguments);
    va_end(arguments);
}

/* ---- Tables ---- */

void page_table(struct page *p, const char *columns)
{
    char *names = memory_copy_text(columns, SIZE_MAX), *rest = names, *name;

    page_end_list(p);
    fputs("<div class=\"wide\"><table><thead><tr>", p->html);
    for (p->columns = 0; (name = strsep(&rest, "|")); p->columns++) {
        fputs("<th>", p->html);
        put_html(p, name);
        fputs("</th>", p->html);
    }
    fputs("</tr></thead>\n<tbody>\n", p->html);
    p->column = 0;
    free(names);
}

void page_cell(struct page *p, const char *text)
{
    if (p->column == 0)
        fputs("<tr>", p->html);
    fputs("<td>", p->html);
    put_html(p, text);
    fputs("</td>", p->html);
    if (++p->column < p->columns)
        return;
    fputs("</tr>\n", p->html);
    p->column = 0;
}

void page_end_table(struct page *p)
{
    fputs("</tbody></table></div>\n", p->html);
    p->columns = 0;
}

void page_html(struct page *p, const char *html)
{
    page_end_list(p);
    fputs(html, p->html);
}

/* ---- Writing ---- */

static void end_page(struct page *p)
{
    page_end_list(p);
    fputs("</body>\n</html>\n", p->html);
    fflush(p->html);
}

int page_write_html(struct page *p, int fd, const char *path)
{
    char error[ERROR_LINE_BYTES];

    end_page(p);
    if (p->error[0] == '\0' && host_write(fd, p->text, p->bytes, -1) < 0) {
        error_line(error, "%s: %s", path, strerror(errno));
        fail(p, error);
    }
    return p->error[0] == '\0' ? 0 : -1;
}

void page_end(struct page *p)
{
    fclose(p->html);
    free(p->text);
}
