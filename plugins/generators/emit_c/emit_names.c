/* C names of values, symbols, kernels and functions. Names that this generator makes end in `_`, or in a word that says
 * what they are of a kernel or function: `f_kernel`. Headers have names that begin with pto_, end in _t or are in
 * capitals, and the language has those of c_words.def and what begins with `_`. Users' names of all these kinds get
 * another end. */
#include "emit.h"

/* And what is called. */
static const char *const words[] = {
#define C_WORD(text) text,
#include "c_words.def"
    "memcpy", NULL};

static int begins_with(const char *c, const char *with) { return strncmp(c, with, strlen(with)) == 0; }

static int is_in_capitals(const char *c)
{
    int capitals = 0;
    for (; *c != '\0'; c++) {
        if (*c >= 'a' && *c <= 'z') return 0;
        capitals += *c >= 'A' && *c <= 'Z';
    }
    return capitals > 1;
}

static int is_of_pto(const char *c) { return begins_with(c, "pto_") || begins_with(c, "PTO_"); }

static int is_taken(const char *c)
{
    static const char *const ends[] = {"_kernel", "_frame", "_count", "_function", "_symbols", "_entry", "_t", NULL};
    const size_t n = strlen(c);
    for (uint32_t i = 0; words[i] != NULL; i++)
        if (strcmp(c, words[i]) == 0) return 1;
    for (uint32_t i = 0; ends[i] != NULL; i++)
        if (n > strlen(ends[i]) && strcmp(c + n - strlen(ends[i]), ends[i]) == 0) return 1;
    return c[0] == '_' || is_of_pto(c) || is_in_capitals(c);
}

const char *emit_global(emitter *e, pto_str name)
{
    const char *c = text_identifier(e->run, name);
    return is_of_pto(c) ? emit_format(e, "%s_x", c) : c;
}

const char *emit_plain_name(emitter *e, pto_str name)
{
    const char *c = text_identifier(e->run, name);
    if (name.n == 0) return "_x_";
    if (c[0] >= '0' && c[0] <= '9') return emit_format(e, "v%s", c);
    if ((c[0] == 'v' && name.n > 1 && c[1] >= '0' && c[1] <= '9')) return emit_format(e, "%s_x_", c);
    if (c[strlen(c) - 1] == '_') return emit_format(e, "%sx_", c);
    return is_taken(c) ? emit_format(e, "%s_x_", c) : c;
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
    return emit_format(e, is_ours ? "%s_s_" : "%s_", text_identifier(e->run, name));
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
