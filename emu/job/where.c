/*
 * Finds functions in the symbol table, which only stripped programs lack, and lines in DWARF. Units are tried one by
 * one: the assembler's entries in .debug_aranges are not always right.
 */
#include "emu/job/where.h"

#include <elfutils/libdw.h>
#include <gelf.h>
#include <stdio.h>
#include <string.h>

#include "emu/base/host.h"
#include "vertex/contract/abi.h"

/* ---- Functions -------------------------------------------------------------------------------- */

static bool symbol_has(const GElf_Sym *s, uint64_t address)
{
    return GELF_ST_TYPE(s->st_info) == STT_FUNC && address >= s->st_value && address - s->st_value < s->st_size;
}

/* Assembly may have labels only; the last one before the address, in the same section of code, counts. */
static bool label_leads_to(const GElf_Sym *s, size_t section, uint64_t address)
{
    return GELF_ST_TYPE(s->st_info) == STT_NOTYPE && GELF_ST_BIND(s->st_info) == STB_GLOBAL && s->st_shndx == section &&
           s->st_value <= address;
}

/* Of a function with several names, the first without an underscore counts: nwrite, not _nwrite. */
static const char *find_in_table(Elf *elf, Elf_Scn *table, const GElf_Shdr *header, size_t section, uint64_t address)
{
    Elf_Data *data = elf_getdata(table, NULL);
    GElf_Sym symbol, found = {.st_value = 0};
    bool known = false;
    const char *function = NULL;

    for (int i = 0; data && gelf_getsym(data, i, &symbol); i++) {
        if (symbol_has(&symbol, address) && (!function || *function == '_'))
            function = elf_strptr(elf, header->sh_link, symbol.st_name);
        if (label_leads_to(&symbol, section, address) && symbol.st_value >= found.st_value) {
            found = symbol;
            known = true;
        }
    }
    if (function)
        return function;
    return known ? elf_strptr(elf, header->sh_link, found.st_name) : NULL;
}

/* The section of code that contains an address, or 0. */
static size_t find_code(Elf *elf, uint64_t address)
{
    GElf_Shdr h;

    for (Elf_Scn *s = elf_nextscn(elf, NULL); s; s = elf_nextscn(elf, s))
        if (gelf_getshdr(s, &h) && (h.sh_flags & SHF_EXECINSTR) && address >= h.sh_addr &&
            address - h.sh_addr < h.sh_size)
            return elf_ndxscn(s);
    return 0;
}

static const char *find_function(Elf *elf, uint64_t address)
{
    size_t code = find_code(elf, address);
    GElf_Shdr header;

    for (Elf_Scn *s = elf_nextscn(elf, NULL); code && s; s = elf_nextscn(elf, s))
        if (gelf_getshdr(s, &header) && header.sh_type == SHT_SYMTAB)
            return find_in_table(elf, s, &header, code, address);
    return NULL;
}

/* ---- Lines ------------------------------------------------------------------------------------ */

static Dwarf_Line *find_line(Dwarf *dwarf, uint64_t address)
{
    Dwarf_Off at = 0, next;
    size_t header_bytes;
    Dwarf_Die unit;

    while (dwarf_nextcu(dwarf, at, &next, &header_bytes, NULL, NULL, NULL) == 0) {
        if (dwarf_offdie(dwarf, at + header_bytes, &unit) && dwarf_haspc(&unit, address) == 1)
            return dwarf_getsrc_die(&unit, address);
        at = next;
    }
    return NULL;
}

static void add_line(Elf *elf, uint64_t address, char *text, size_t bytes)
{
    Dwarf *dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
    Dwarf_Line *line = dwarf ? find_line(dwarf, address) : NULL;
    const char *file = line ? dwarf_linesrc(line, NULL, NULL) : NULL;
    int number;

    if (file && dwarf_lineno(line, &number) == 0)
        snprintf(text, bytes, " (%s:%d)", host_last_part(file), number);
    if (dwarf)
        dwarf_end(dwarf);
}

bool where_describe(int fd, uint64_t address, char *text)
{
    text[0] = '\0';
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    const char *function = elf ? find_function(elf, address) : NULL;

    if (function) {
        size_t used = (size_t)snprintf(text, WHERE_BYTES, "%s", function);

        if (used < WHERE_BYTES)
            add_line(elf, address, text + used, WHERE_BYTES - used);
    }
    elf_end(elf);
    return function;
}

static bool names_library(const char *unit)
{
    static const char *const folders[] = {"images/lib/", "images/newlib/", "libpio/", "vertex/"};

    for (size_t i = 0; unit && i < sizeof folders / sizeof *folders; i++)
        if (strncmp(unit + (strncmp(unit, "./", 2) == 0 ? 2 : 0), folders[i], strlen(folders[i])) == 0)
            return true;
    return unit && strstr(unit, "/libgcc/");
}

bool where_is_library(int fd, uint64_t address)
{
    Dwarf *dwarf = dwarf_begin(fd, DWARF_C_READ);
    Dwarf_Off at = 0, next;
    size_t header_bytes;
    Dwarf_Die unit;
    bool library = false;

    for (; dwarf && !library && dwarf_nextcu(dwarf, at, &next, &header_bytes, NULL, NULL, NULL) == 0; at = next)
        library = dwarf_offdie(dwarf, at + header_bytes, &unit) && dwarf_haspc(&unit, address) == 1 &&
                  names_library(dwarf_diename(&unit));
    if (dwarf)
        dwarf_end(dwarf);
    return library;
}

/* The lowest address of a unit. Code that the linker has left out is at 0. */
static uint64_t unit_begins(Dwarf_Die *unit)
{
    Dwarf_Addr base, begin, end, low = UINT64_MAX;

    for (ptrdiff_t at = 0; (at = dwarf_ranges(unit, at, &base, &begin, &end)) > 0;)
        low = begin >= USER_TEXT_VA && begin < end && begin < low ? begin : low;
    return low;
}

/* The program's very first instructions are ncube's, too. */
uint64_t where_libraries_begin(int fd)
{
    Dwarf *dwarf = dwarf_begin(fd, DWARF_C_READ);
    Dwarf_Off at = 0, next;
    size_t header_bytes;
    Dwarf_Die unit;
    uint64_t low = UINT64_MAX;

    for (; dwarf && low > 0 && dwarf_nextcu(dwarf, at, &next, &header_bytes, NULL, NULL, NULL) == 0; at = next)
        if (dwarf_offdie(dwarf, at + header_bytes, &unit)) {
            uint64_t begin = names_library(dwarf_diename(&unit)) ? unit_begins(&unit) : 0;

            low = (begin > USER_TEXT_VA || begin == 0) && begin < low ? begin : low;
        }
    if (dwarf)
        dwarf_end(dwarf);
    return low < UINT64_MAX ? low : 0;
}

/* A global symbol rather than a local one. */
static bool find_in_symbols(Elf *elf, Elf_Scn *table, const GElf_Shdr *header, const char *name, uint64_t *address)
{
    Elf_Data *data = elf_getdata(table, NULL);
    GElf_Sym symbol;
    bool found = false;

    for (int i = 0; data && gelf_getsym(data, i, &symbol); i++) {
        const char *this = elf_strptr(elf, header->sh_link, symbol.st_name);
        bool local = GELF_ST_BIND(symbol.st_info) == STB_LOCAL;

        if (!this || strcmp(this, name) != 0 || symbol.st_shndx == SHN_UNDEF || (found && local))
            continue;
        *address = symbol.st_value;
        found = true;
        if (!local)
            break;
    }
    return found;
}

bool where_find(int fd, const char *name, uint64_t *address)
{
    GElf_Shdr header;
    bool found = false;

    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    for (Elf_Scn *s = elf_nextscn(elf, NULL); s && !found; s = elf_nextscn(elf, s))
        if (gelf_getshdr(s, &header) && header.sh_type == SHT_SYMTAB)
            found = find_in_symbols(elf, s, &header, name, address);
    elf_end(elf);
    return found;
}
