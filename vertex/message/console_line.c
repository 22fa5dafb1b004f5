#include "vertex/message/console_line.h"

#include <stdarg.h>
#include <stddef.h>

#include "vertex/base/ncu_calls.h"
#include "vertex/contract/system.h"
#include "vertex/message/buffers.h"
#include "vertex/message/sends.h"
#include "vertex/shared/text.h"

enum { LINE_BYTES = 256 };

void console_line(const char *format, ...)
{
    struct message *m = message_new(LINE_BYTES);
    va_list list;

    if (!m)
        return;
    char *line = (char *)m->payload;
    size_t n = text_print(line, LINE_BYTES, "node 0x%x: ", MAILBOX->node);
    va_start(list, format);
    n += text_print_list(line + n, LINE_BYTES - 1 - n, format, list);
    va_end(list);
    line[n++] = '\n';
    m->bytes = n;
    message_post(m, NODE_HOST, TAG(N_CONSOLE, 0, 0));
}
