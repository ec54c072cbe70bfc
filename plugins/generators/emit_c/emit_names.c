/* C names of values, symbols, kernels and functions. Names that this generator makes end in `_`; of users' names those
 * that end so, and those that C takes, get another end. */
#include "emit.h"

static const char *const keywords[] = {
    "auto",      "break",    "case",     "char",          "const",         "continue",  "default",  "do",
    "double",    "else",     "enum",     "extern",        "float",         "for",       "goto",     "if",
    "inline",    "int",      "long",     "register",      "restrict",      "return",    "short",    "signed",
    "sizeof",    "static",   "struct",   "switch",        "typedef",       "union",     "unsigned", "void",
    "volatile",  "while",    "asm",      "typeof",        "bool",          "true",      "false",    "nullptr",
    "constexpr", "alignas",  "alignof",  "static_assert", "thread_local",  "NAN",       "INFINITY", "NULL",
    "unix",      "linux",    "i386",     "int8_t",        "int16_t",       "int32_t",   "int64_t",  "uint8_t",
    "uint16_t",  "uint32_t", "uint64_t", "size_t",        "typeof_unqual", "HUGE_VALF", NULL};

static int is_taken(pto_str name)
{
    for (uint32_t i = 0; keywords[i] != NULL; i++)
        if (pto_str_is(name, keywords[i])) return 1;
    return name.n >= 2 && (memcmp(name.p, "M_", 2) == 0 || memcmp(name.p, "__", 2) == 0);
}

const char *emit_global(emitter *e, pto_str name) { return text_identifier(e->run, name); }

const char *emit_plain_name(emitter *e, pto_str name)
{
    const char *c = emit_global(e, name);
    if (name.n == 0) return "_x_";
    if (c[0] >= '0' && c[0] <= '9') return emit_format(e, "v%s", c);
    if ((c[0] == 'v' && name.n > 1 && c[1] >= '0' && c[1] <= '9')) return emit_format(e, "%s_x_", c);
    if (c[strlen(c) - 1] == '_') return emit_format(e, "%sx_", c);
    if (strncmp(c, "pto_", 4) == 0 || strncmp(c, "PTO_", 4) == 0) return emit_format(e, "%s_x_", c);
    return is_taken(name) ? emit_format(e, "%s_x_", c) : c;
}

void emit_names_reset(emitter *e) { e->name_count = e->symbol_count = e->spare_count = 0; }

static const char *add_name(emitter *e, uint32_t key, pto_str symbol, const char *c)
{
    PTO_GROW(e->run, e->names, e->name_count, e->name_capacity);
    e->names[e->name_count++] = (emit_name){key, symbol, c};
    return c;
}

const char *emit_value(emitter *e, pto_value v)
{
    for (uint32_t i = e->name_count; i-- > 0;)
        if (e->names[i].key == v.index && e->names[i].symbol.n == 0) return e->names[i].c;
    return add_name(e, v.index, pto_no_str(), emit_plain_name(e, pto_value_name(v)));
}

void emit_alias(emitter *e, pto_value v, const char *c) { (void)add_name(e, v.index, pto_no_str(), c); }

const char *emit_field(emitter *e, pto_str name)
{
    /* A value may have the name of a symbol, so symbols have a mark; another one where it would be a name of ours. */
    static const char *const ours[] = {
        "all",     "at",    "b",     "call",        "fault",       "first",        "frame",      "i",   "instance",
        "j",       "k",     "m",     "mark",        "n",           "nothing",      "packing",    "raw", "rest",
        "scratch", "state", "value", "f32_product", "f16_product", "bf16_product", "i8_product", NULL};
    static const char *const ends[] = {"_s", "_v", "_r", "_all", "_", "x", "0", "1", "2",
                                       "3",  "4",  "5",  "6",    "7", "8", "9", NULL};
    int is_ours = name.n == 0;
    for (uint32_t i = 0; ends[i] != NULL; i++) {
        const size_t n = strlen(ends[i]);
        is_ours |= name.n >= n && memcmp(name.p + name.n - n, ends[i], n) == 0;
    }
    for (uint32_t i = 0; ours[i] != NULL; i++) is_ours |= pto_str_is(name, ours[i]);
    return emit_format(e, is_ours ? "%s_s_" : "%s_", emit_global(e, name));
}

const char *emit_symbol(emitter *e, pto_str name)
{
    for (uint32_t i = 0; i < e->name_count; i++)
        if (e->names[i].symbol.n != 0 && pto_str_same(e->names[i].symbol, name)) return e->names[i].c;
    PTO_GROW(e->run, e->symbols, e->symbol_count, e->symbol_capacity);
    e->symbols[e->symbol_count++] = name;
    return add_name(e, 0, name, emit_field(e, name));
}

const char *emit_spare(emitter *e, const char *stem) { return emit_format(e, "%s%u_", stem, ++e->spare_count); }
