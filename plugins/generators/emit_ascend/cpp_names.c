/* C++ names of values, symbols, kernels and functions: those of the program where nothing else has them. */
#include "cpp_print.h"

/* Those of C++, of what is printed, and of headers that it includes. */
static const char *const reserved[] = {
#define C_WORD(text) text,
#include "c_words.def"
    "arguments",    "asserts",   "blocks",  "ceildiv",  "columns_of", "event_t", "floordiv", "gamma",
    "half",         "j0",        "j1",      "jn",       "least",      "main",    "modulo",   "most",
    "pipe_barrier", "pto",       "rows_of", "set_flag", "std",        "stream",  "symbols",  "thread",
    "wait_flag",    "workspace", "y0",      "y1",       "yn",         NULL};

static int is_reserved(const char *c)
{
    for (uint32_t i = 0; reserved[i] != NULL; i++)
        if (strcmp(c, reserved[i]) == 0) return 1;
    return 0;
}

static int is_taken(const cpp_printer *p, const char *c)
{
    if (is_reserved(c)) return 1;
    for (uint32_t i = 0; i < p->name_count; i++)
        if (strcmp(c, p->names[i].c) == 0) return 1;
    for (uint32_t i = 0; i < p->taken_count; i++)
        if (strcmp(c, p->taken[i]) == 0) return 1;
    return 0;
}

/* `stem`, with a number where something else has that name. */
static const char *own_name(cpp_printer *p, const char *stem)
{
    const char *c = stem;
    for (uint32_t i = 1; is_taken(p, c); i++) c = text_format(p->run, "%s_%u", stem, i);
    return c;
}

void cpp_names_begin(cpp_printer *p, pto_op function)
{
    p->function = p->at = function;
    p->name_count = p->taken_count = p->known.count = 0;
}

static const char *add(cpp_printer *p, uint32_t key, pto_str symbol, const char *c)
{
    PTO_GROW(p->run, p->names, p->name_count, p->name_capacity);
    p->names[p->name_count++] = (cpp_name){key, symbol, c};
    return c;
}

/* Compilers have what begins with `_`, macros and functions of the vendor's headers have names that begin so. */
static int begins_as_others_do(const char *c)
{
    return c[0] == '_' || strncmp(c, "PTO_", 4) == 0 || strncmp(c, "PIPE_", 5) == 0;
}

static const char *identifier(cpp_printer *p, pto_str name)
{
    const char *c = text_identifier(p->run, name);
    const size_t n = strlen(c);
    if (n != 0 && c[n - 1] == '_') c = text_format(p->run, "%sv", c); /* forms of tiles end so */
    const int is_whole = c[0] != 0 && (c[0] < '0' || c[0] > '9') && !begins_as_others_do(c);
    return is_whole ? c : text_format(p->run, "v%s", c);
}

const char *cpp_value(cpp_printer *p, pto_value v)
{
    for (uint32_t i = p->name_count; i-- > 0;)
        if (p->names[i].key == v.index) return p->names[i].c;
    return add(p, v.index, pto_no_str(), own_name(p, identifier(p, pto_value_name(v))));
}

const char *cpp_symbol(cpp_printer *p, pto_str name)
{
    for (uint32_t i = 0; i < p->name_count; i++)
        if (p->names[i].key == 0 && pto_str_same(p->names[i].symbol, name)) return p->names[i].c;
    return add(p, 0, name, own_name(p, identifier(p, name)));
}

const char *cpp_spare(cpp_printer *p, const char *stem)
{
    PTO_GROW(p->run, p->taken, p->taken_count, p->taken_capacity);
    const char *c = own_name(p, stem);
    p->taken[p->taken_count++] = c;
    return c;
}

void cpp_alias(cpp_printer *p, pto_value v, const char *c) { (void)add(p, v.index, pto_no_str(), c); }

const char *cpp_global(const cpp_printer *p, pto_op function)
{
    const char *c = text_identifier(p->run, pto_function_name(function));
    return is_reserved(c) ? text_format(p->run, "%s_1", c) : c;
}
