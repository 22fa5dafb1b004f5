/* The style sheet and the scripts of a report, as text in ncube itself (report_make.h). */
#include "emu/report/report_make.h"

#define ASSET(symbol, file)                              \
    __asm__(".section .rodata\n"                         \
            ".global " #symbol "\n"                      \
            ".type " #symbol ", @object\n" #symbol ":\n" \
            ".incbin \"" file "\"\n"                     \
            ".byte 0\n"                                  \
            ".size " #symbol ", . - " #symbol "\n"       \
            ".previous\n")

ASSET(report_page_css, "emu/report/report_page.css");
ASSET(report_view_css, "emu/report/report_view.css");
ASSET(report_view_js, "emu/report/report_view.js");
ASSET(report_play_js, "emu/report/report_play.js");
