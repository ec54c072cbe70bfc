#include "tools/run/call_binding.h"

#include "ir/context/float_format.h"
#include "ir/tune.h"
#include "ir/verify/ranges.h"
#include "ir/verify/verifier.h"
#include "tools/base/tool_diag.h"
#include "tools/run/call_value.h"

#include <inttypes.h>
#include <string.h>

enum {
    DATA_ALIGN = 64,
    BYTES_MAX_SHIFT = 36
}; /* 64 GiB for one tensor: more cannot be meant on a machine that runs a test */

typedef struct binder {
    arena *arena;
    module *m;
    ir_context *c;
    diag_engine *d;
    op_id function;
    bound_call *out;
    const char **bound_by; /* for messages: what gave a symbol its value */
    bool is_missing;       /* a symbol without a value was seen */
    const call_words *words;
    bool is_in_place; /* tensors are where the caller has them */
} binder;

static const call_words words_of_tools = {
    .array = "file", .symbol = "--sym", .symbol_value = "--sym NAME=N", .takes_options = true};

status given_symbol_read(diag_engine *d, const char *tool, const char *option, const char *text, given_symbol *out)
{
    const char *equals = strchr(text, '=');
    if (equals == NULL || equals == text || !equals[1]) {
        diag_error(d, (src_pos){tool, 0, 0}, &E1503, "option `--%s` needs NAME=VALUE, not `%s`", option, text);
        return FAILED;
    }
    const uint32_t sigil = text[0] == '$';
    *out = (given_symbol){.name = {text + sigil, (size_t)(equals - text) - sigil}};
    if (str_to_i64(str_from(equals + 1), &out->value) == OK && out->value >= 0) return OK;
    diag_error(d, (src_pos){tool, 0, 0}, &E1503, "option `--%s` needs a whole number that is not negative, not `%s`",
               option, equals + 1);
    return FAILED;
}

op_id call_init_of(const module *m, op_id function)
{
    text_buffer t;
    text_init(&t);
    const str name = string_of(module_context(m), function_name(m, function));
    text_put(&t, name.p, name.n);
    text_puts(&t, ".init");
    const op_id found = module_find_symbol(m, string_intern(module_context(m), (str){t.p, t.n}));
    text_fini(&t);
    return found != 0 && op_kind_of(m, found) == OP_FUNC ? found : 0;
}

static bool is_init(const module *m, op_id f)
{
    BLOCK_EACH_OP(m, o, module_top(m))
        if (op_kind_of(m, o) == OP_FUNC && call_init_of(m, o) == f) return true;
    return false;
}

bool call_is_entry(const module *m, op_id f)
{
    return op_kind_of(m, f) == OP_FUNC && str_is(op_attr_str(m, f, "visibility"), "public") && !is_init(m, f);
}

/* The function to run, or 0; `count` is how many there are to choose from. */
static op_id find_entry(module *m, const char *entry, uint32_t *count)
{
    op_id found = 0;
    *count = 0;
    if (entry != NULL) {
        found = module_find_symbol(m, string_intern_z(module_context(m), entry));
        return found != 0 && op_kind_of(m, found) == OP_FUNC ? found : 0;
    }
    BLOCK_EACH_OP(m, o, module_top(m)) {
        if (!call_is_entry(m, o)) continue;
        found = o;
        ++*count;
    }
    return *count == 1 ? found : 0;
}

op_id call_entry(module *m, const char *entry)
{
    uint32_t count;
    const op_id found = find_entry(m, entry, &count);
    if (found != 0) return found;
    diag_engine *d = context_diags(module_context(m));
    const src_pos file = {string_of(module_context(m), module_file(m)).p, 0, 0};
    if (entry != NULL)
        diag_error(d, file, &E1601, "the module has no function @%s", entry);
    else
        diag_error(d, file, &E1601, "the module has %" PRIu32 " public functions; name the one to run with --entry",
                   count);
    return 0;
}

static status fix_in_function(module *m, op_id f, uint32_t symbol_count, given_symbol *symbols, bool *changed)
{
    for (uint32_t i = 0; i < symbol_count; i++) {
        const op_id tune = tune_find(m, f, symbols[i].name);
        if (tune == 0) continue;
        *changed = symbols[i].is_fixed = true;
        TRY(tune_fix(m, tune, symbols[i].value));
    }
    return OK;
}

status call_fix_symbols(module *m, uint32_t symbol_count, given_symbol *symbols)
{
    bool changed = false;
    BLOCK_EACH_OP(m, f, module_top(m)) TRY(fix_in_function(m, f, symbol_count, symbols, &changed));
    return changed ? module_verify(m) : OK;
}

status call_check_fixed(module *m, const call_words *words)
{
    BLOCK_EACH_OP(m, f, module_top(m)) {
        const op_id tune = tune_find(m, f, (str){NULL, 0});
        if (tune == 0) continue;
        const tune_range r = tune_range_of(m, tune);
        const str name = op_attr_str(m, tune, "symbol");
        diag_engine *d = context_diags(module_context(m));
        op_name_diag(d, m, tune, DIAG_ERROR);
        if (words == NULL || words->takes_options)
            diag_error(d, op_pos(m, tune), &E1607,
                       "nothing says what $%.*s is: give it with --sym %.*s=N, one of %" PRId64 " to %" PRId64
                       " in steps of %" PRId64 ", or compile with pto.tile",
                       (int)name.n, name.p, (int)name.n, name.p, r.lo, r.hi, r.step);
        else
            diag_error(d, op_pos(m, tune), &E1607,
                       "nothing says what $%.*s is, one of %" PRId64 " to %" PRId64 " in steps of %" PRId64
                       ": compile by a pipeline with pto.tile",
                       (int)name.n, name.p, r.lo, r.hi, r.step);
        return FAILED;
    }
    return OK;
}

/* Where the function is, for an error about it. */
static src_pos place_of_function(const binder *b)
{
    op_name_diag(b->d, b->m, b->function, DIAG_ERROR);
    return op_pos(b->m, b->function);
}

bool bound_call_value(const bound_call *call, str symbol, int64_t *out)
{
    for (uint32_t i = 0; i < call->symbol_count; i++) {
        if (!str_eq(call->symbols[i], symbol)) continue;
        *out = call->values[i];
        return true;
    }
    return false;
}

static bool symbol_value(void *self, str_id name, int64_t *out)
{
    const binder *b = self;
    return bound_call_value(b->out, string_of(b->c, name), out);
}

static status bind_symbol(binder *b, str name, int64_t value, const char *by)
{
    bound_call *out = b->out;
    for (uint32_t i = 0; i < out->symbol_count; i++) {
        if (!str_eq(out->symbols[i], name)) continue;
        if (out->values[i] == value) return OK;
        diag_error(b->d, place_of_function(b), &E1602, "$%.*s is %" PRId64 " by %s but %" PRId64 " by %s", (int)name.n,
                   name.p, out->values[i], b->bound_by[i], value, by);
        return FAILED;
    }
    const uint32_t n = out->symbol_count;
    str *symbols = arena_array(b->arena, n + 1u, sizeof *symbols);
    int64_t *values = arena_array(b->arena, n + 1u, sizeof *values);
    const char **bound_by = arena_array(b->arena, n + 1u, sizeof *bound_by);
    if (n > 0) {
        memcpy(symbols, out->symbols, n * sizeof *symbols);
        memcpy(values, out->values, n * sizeof *values);
        memcpy((void *)bound_by, (const void *)b->bound_by, n * sizeof *bound_by);
    }
    symbols[n] = name;
    values[n] = value;
    bound_by[n] = by;
    out->symbols = symbols;
    out->values = values;
    out->symbol_count = n + 1;
    b->bound_by = bound_by;
    return OK;
}

/* ", $B is 4 by dim 0 of `x`" for each symbol of an expression: what else takes part in a contradiction. */
typedef struct symbol_words {
    const binder *b;
    text_buffer *out;
    str_id said[8];
    uint32_t count;
} symbol_words;

static void put_symbol_words(void *self, str_id name)
{
    symbol_words *w = self;
    const str text = string_of(w->b->c, name);
    for (uint32_t i = 0; i < w->count; i++) {
        if (w->said[i] == name) return;
    }
    if (w->count == sizeof w->said / sizeof w->said[0]) return;
    w->said[w->count++] = name;
    for (uint32_t i = 0; i < w->b->out->symbol_count; i++) {
        if (!str_eq(w->b->out->symbols[i], text)) continue;
        text_printf(w->out, "; $%.*s is %" PRId64 " by %s", (int)text.n, text.p, w->b->out->values[i],
                    w->b->bound_by[i]);
    }
}

/* The expression; then what gave its symbols their values. */
static const char *expr_text(const binder *b, expr_id e)
{
    text_buffer t;
    text_init(&t);
    expr_print(b->c, e, &t, NULL, NULL);
    return text_keep(&t, b->arena);
}

static const char *symbols_text(const binder *b, uint32_t count, const expr_id *e)
{
    text_buffer t;
    text_init(&t);
    symbol_words w = {.b = b, .out = &t};
    for (uint32_t i = 0; i < count; i++) expr_visit_symbols(b->c, e[i], put_symbol_words, &w);
    return text_keep(&t, b->arena);
}

static const char *dim_text(binder *b, str parameter, uint32_t dim)
{
    text_buffer t;
    text_init(&t);
    text_printf(&t, "dim %" PRIu32 " of `%.*s`", dim, (int)parameter.n, parameter.p);
    return text_keep(&t, b->arena);
}

static str value_text(arena *a, module *m, value_id v)
{
    text_buffer t;
    text_init(&t);
    value_print_name(m, v, &t);
    const str copy = {arena_strndup(a, t.p + 1, t.n - 1), t.n - 1};
    text_fini(&t);
    return copy;
}

static const given_tensor *find_given(str name, uint32_t count, const given_tensor *tensors)
{
    for (uint32_t i = 0; i < count; i++) {
        if (str_eq(tensors[i].name, name)) return &tensors[i];
    }
    return NULL;
}

/* Element type and rank fit, and dims that are bare symbols bind them. */
static status bind_dims(binder *b, str name, const type_node *type, const given_tensor *g)
{
    if (g->value != NULL) {
        if (type->kind == TYPE_SCALAR) return OK;
        diag_error(b->d, g->value_at, &E1609, "`%.*s` is a tensor, of which `%s` is not a value", (int)name.n, name.p,
                   g->value);
        diag_note(b->d, NO_POS, "give a file, as --in %.*s=FILE.npy; one that is called like a number as ./%s",
                  (int)name.n, name.p, g->value);
        return FAILED;
    }
    const tensor_header *h = &g->array->header;
    char descr[TENSOR_DESCR_BYTES];
    tensor_descr(h, descr);
    const src_pos at = {g->path, 0, 0};
    if (!tensor_matches(h, type->dtype)) {
        diag_error(b->d, at, &E1603, "`%.*s` needs elements of type %s, the %s has %s", (int)name.n, name.p,
                   dtype_name((dtype)type->dtype), b->words->array, descr);
        if (!b->words->takes_options) return FAILED;
        diag_note(b->d, NO_POS, "%s is stored as %s", dtype_name((dtype)type->dtype),
                  h->type != PTO_DTYPE_NONE ? tensor_safetensors_type(type->dtype) : tensor_npy_type(type->dtype));
        return FAILED;
    }
    if (h->rank != type->rank) {
        diag_error(b->d, at, &E1603, "`%.*s` needs rank %u, the %s has rank %" PRIu32, (int)name.n, name.p, type->rank,
                   b->words->array, h->rank);
        return FAILED;
    }
    for (uint32_t i = 0; i < type->rank; i++) {
        const expr_node *e = expr_at(b->c, type->dims[i]);
        if (e->kind == EXPR_SYMBOL)
            TRY(bind_symbol(b, string_of(b->c, (str_id)e->value), h->dims[i], dim_text(b, name, i)));
    }
    return OK;
}

static void note_missing(void *self, str_id name)
{
    binder *b = self;
    int64_t unused;
    b->is_missing = b->is_missing || !symbol_value(b, name, &unused);
}

static status fail_extent(binder *b, const bound_tensor *t, expr_id dim, int64_t extent, bool is_known)
{
    const src_pos at = place_of_function(b);
    b->is_missing = false;
    expr_visit_symbols(b->c, dim, note_missing, b);
    if (b->is_missing)
        diag_error(b->d, at, &E1604, "extent %s of `%.*s` has no value: give its symbols with %s", expr_text(b, dim),
                   (int)t->name.n, t->name.p, b->words->symbol_value);
    else if (is_known)
        diag_error(b->d, at, &E1604, "extent %s of `%.*s` is %" PRId64 "%s; extents are at least 0", expr_text(b, dim),
                   (int)t->name.n, t->name.p, extent, symbols_text(b, 1, &dim));
    else
        diag_error(b->d, at, &E1604, "extent %s of `%.*s` overflows 64 bits or divides by 0%s", expr_text(b, dim),
                   (int)t->name.n, t->name.p, symbols_text(b, 1, &dim));
    return FAILED;
}

/* What is only read is used where its file is mapped, if it lies as tensors do. */
static bool is_used_in_place(const bound_tensor *t, const given_tensor *g)
{
    return g != NULL && g->array != NULL && g->is_lent && !t->is_output && (uintptr_t)g->array->data % DATA_ALIGN == 0;
}

/* Evaluates the extents of a tensor; all symbols are bound by now. `g`: NULL when it is not given. */
static status resolve_dims(binder *b, const type_node *type, const given_tensor *g, bound_tensor *t)
{
    const expr_values values = {.symbol = symbol_value, .self = b};
    t->type = (dtype)type->dtype;
    t->rank = type->rank;
    t->element_count = 1;
    uint64_t bytes = dtype_bytes(t->type);
    for (uint32_t i = 0; i < type->rank; i++) {
        const bool is_known = expr_eval(b->c, type->dims[i], &values, &t->dims[i]);
        if (!is_known || t->dims[i] < 0) return fail_extent(b, t, type->dims[i], t->dims[i], is_known);
        t->element_count *= (uint64_t)t->dims[i];
        if (__builtin_mul_overflow(bytes, (uint64_t)t->dims[i], &bytes) || bytes >> BYTES_MAX_SHIFT) {
            diag_error(b->d, place_of_function(b), &E1604, "`%.*s` would have more than %" PRIu64 " bytes",
                       (int)t->name.n, t->name.p, UINT64_C(1) << BYTES_MAX_SHIFT);
            return FAILED;
        }
    }
    if (b->is_in_place || is_used_in_place(t, g))
        t->data = g != NULL ? (uint8_t *)(uintptr_t)g->array->data : NULL;
    else
        t->data = arena_alloc_aligned(b->arena, bytes, DATA_ALIGN);
    t->abi = (pto_tensor){
        .struct_size = sizeof t->abi, .dtype = (pto_dtype)t->type, .rank = t->rank, .data = t->data, .bytes = bytes};
    int64_t stride = 1;
    for (uint32_t i = t->rank; i-- > 0;) {
        t->abi.dims[i] = t->dims[i];
        t->abi.strides[i] = stride;
        stride *= t->dims[i];
    }
    return OK;
}

/* What a symbol is that the function had before passes put that in its place; 0: it had no such symbol. */
static expr_id known_value(const module *m, op_id function, str name)
{
    ir_context *c = module_context(m);
    const attr_id known = op_attr(m, function, "known");
    for (uint32_t i = 0; known != 0 && i < attr_at(c, known)->count; i++) {
        str symbol;
        expr_id value;
        if (known_read(c, attr_at(c, known)->items[i], &symbol, &value) && str_eq(symbol, name)) return value;
    }
    return 0;
}

/* Which facts an extent may come from that is a number now. */
static void note_known(binder *b, expr_id dim)
{
    const attr_id known = op_attr(b->m, b->function, "known");
    for (uint32_t i = 0; known != 0 && i < attr_at(b->c, known)->count; i++) {
        str symbol;
        expr_id value;
        if (!known_read(b->c, attr_at(b->c, known)->items[i], &symbol, &value) || value != dim) continue;
        diag_note(b->d, place_of_function(b), "its `where` says `$%.*s == %s`", (int)symbol.n, symbol.p,
                  expr_text(b, value));
    }
}

static status check_given(binder *b, const type_node *type, const bound_tensor *t, const given_tensor *g)
{
    if (g->value != NULL) return call_value_read(b->d, g->value_at, t->name, t->type, g->value, t->data);
    for (uint32_t i = 0; i < t->rank; i++) {
        if (g->array->header.dims[i] == t->dims[i]) continue;
        const char *symbols = symbols_text(b, 1, &type->dims[i]);
        if (*symbols != '\0')
            diag_error(b->d, (src_pos){g->path, 0, 0}, &E1602,
                       "dim %" PRIu32 " of `%.*s` must be %s = %" PRId64 ", the %s has %" PRId64 "%s", i,
                       (int)t->name.n, t->name.p, expr_text(b, type->dims[i]), t->dims[i], b->words->array,
                       g->array->header.dims[i], symbols);
        else
            diag_error(b->d, (src_pos){g->path, 0, 0}, &E1602,
                       "dim %" PRIu32 " of `%.*s` must be %" PRId64 ", the %s has %" PRId64, i, (int)t->name.n,
                       t->name.p, t->dims[i], b->words->array, g->array->header.dims[i]);
        note_known(b, type->dims[i]);
        return FAILED;
    }
    if (t->data != g->array->data && t->abi.bytes > 0) memcpy(t->data, g->array->data, t->abi.bytes);
    return OK;
}

/* Deterministic small numbers; splitmix64. */
static void fill_random(const bound_tensor *t, uint64_t seed)
{
    const uint32_t bytes = dtype_bytes(t->type);
    for (uint64_t i = 0; i < t->element_count; i++) {
        uint64_t z = seed + (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
        z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
        z ^= z >> 31;
        const double unit = (double)(z >> 11) * 0x1p-53 * 2 - 1;
        uint64_t bits;
        if (dtype_class_of(t->type) == DTYPE_CLASS_FLOAT)
            bits = float_encode(t->type, unit, ROUND_RINT, false);
        else if (t->type == DTYPE_BOOL)
            bits = z & 1;
        else
            bits = dtype_class_of(t->type) == DTYPE_CLASS_SINT ? (uint64_t)((int64_t)(z & 15) - 8) : z & 15;
        memcpy(t->data + i * bytes, &bits, bytes);
    }
}

uint64_t call_input_seed(uint64_t random_seed, uint32_t parameter)
{
    const uint64_t seed = random_seed + parameter;
    return seed != 0 ? seed : UINT64_C(1) << 63;
}

void call_fill(const bound_call *call)
{
    for (uint32_t i = 0; i < call->parameter_count; i++) {
        bound_tensor *t = &call->tensors[i];
        if (t->random_seed != 0) fill_random(t, t->random_seed);
        t->random_seed = 0;
    }
}

static status bind_inputs(binder *b, uint32_t count, const given_tensor *tensors)
{
    const block_id body = function_body(b->m, b->function);
    for (uint32_t i = 0; i < b->out->parameter_count; i++) {
        bound_tensor *t = &b->out->tensors[i];
        const value_id v = block_arg(b->m, body, i);
        const type_node *type = type_at(b->c, value_type(b->m, v));
        t->name = value_text(b->arena, b->m, v);
        const str mode = function_param_mode(b->m, b->function, i);
        t->is_output = str_is(mode, "out") || str_is(mode, "inout");
        t->is_input = !str_is(mode, "out");
        t->is_scalar = type->kind == TYPE_SCALAR;
        if (type->kind != TYPE_TENSOR && type->kind != TYPE_GM && !t->is_scalar) {
            diag_error(b->d, place_of_function(b), &E1605,
                       "parameter `%.*s` is neither a tensor nor a scalar; a function that is run takes nothing else",
                       (int)t->name.n, t->name.p);
            return FAILED;
        }
        const given_tensor *g = find_given(t->name, count, tensors);
        if (g != NULL && t->is_input) TRY(bind_dims(b, t->name, type, g));
    }
    return OK;
}

static status refuse_unknown_inputs(binder *b, uint32_t count, const given_tensor *tensors)
{
    for (uint32_t i = 0; i < count; i++) {
        bool known = false;
        for (uint32_t p = 0; p < b->out->parameter_count; p++)
            known |= b->out->tensors[p].is_input && str_eq(b->out->tensors[p].name, tensors[i].name);
        if (known) continue;
        const src_pos at = tensors[i].value != NULL ? tensors[i].value_at : (src_pos){tensors[i].path, 0, 0};
        diag_error(b->d, at, &E1605, "the function has no input `%.*s`", (int)tensors[i].name.n, tensors[i].name.p);
        for (uint32_t p = 0; p < b->out->parameter_count; p++) {
            const bound_tensor *t = &b->out->tensors[p];
            if (t->is_input) diag_note(b->d, NO_POS, "input `%.*s`", (int)t->name.n, t->name.p);
        }
        return FAILED;
    }
    return OK;
}

static status check_fact(binder *b, attr_id fact)
{
    const expr_values values = {.symbol = symbol_value, .self = b};
    relation r;
    expr_id sides[2];
    int64_t left = 0, right = 0;
    if (!fact_read(b->c, fact, &r, &sides[0], &sides[1])) return OK; /* the verifier refuses it */
    const bool is_known = expr_eval(b->c, sides[0], &values, &left) && expr_eval(b->c, sides[1], &values, &right);
    if (is_known && relation_holds(r, left, right)) return OK;
    const char *l = expr_text(b, sides[0]), *s = expr_text(b, sides[1]), *symbols = symbols_text(b, 2, sides);
    if (is_known)
        diag_error(b->d, place_of_function(b), &E1606,
                   "the fact `%s %s %s` does not hold: left side %" PRId64 ", right side %" PRId64 "%s", l,
                   relation_sign(r), s, left, right, symbols);
    else
        diag_error(b->d, place_of_function(b), &E1606,
                   "the fact `%s %s %s` cannot be computed: it overflows 64 bits, divides by 0, or "
                   "mentions a symbol that no parameter binds%s",
                   l, relation_sign(r), s, symbols);
    return FAILED;
}

/* What is given for a symbol that the function no longer has must be what it was taken for. */
static status check_known(binder *b, const given_symbol *g)
{
    const expr_values values = {.symbol = symbol_value, .self = b};
    const expr_id known = known_value(b->m, b->function, g->name);
    int64_t value = 0;
    if (known == 0 || !expr_eval(b->c, known, &values, &value) || value == g->value) return OK;
    diag_error(b->d, place_of_function(b), &E1606,
               "the fact `$%.*s == %s` does not hold: left side %" PRId64 " by %s, right side %" PRId64 "%s",
               (int)g->name.n, g->name.p, expr_text(b, known), g->value, b->words->symbol, value,
               symbols_text(b, 1, &known));
    return FAILED;
}

static status check_facts(binder *b)
{
    const attr_id facts = op_attr(b->m, b->function, "facts");
    for (uint32_t i = 0; facts != 0 && i < attr_at(b->c, facts)->count; i++)
        TRY(check_fact(b, attr_at(b->c, facts)->items[i]));
    return OK;
}

typedef struct symbol_hunt {
    const ir_context *c;
    str wanted;
    bool found;
} symbol_hunt;

static void compare_symbol(void *self, str_id name)
{
    symbol_hunt *h = self;
    h->found = h->found || str_eq(string_of(h->c, name), h->wanted);
}

bool call_has_symbol(const module *m, op_id function, str name)
{
    const ir_context *c = module_context(m);
    symbol_hunt h = {c, name, known_value(m, function, name) != 0};
    const block_id body = function_body(m, function);
    for (uint32_t i = 0; i < block_arg_count(m, body); i++) {
        const type_node *t = type_at(c, value_type(m, block_arg(m, body, i)));
        for (uint32_t d = 0; d < t->rank; d++) expr_visit_symbols(c, t->dims[d], compare_symbol, &h);
    }
    return h.found;
}

/* A symbol that nothing mentions would be given in vain: most likely it is misspelt. */
static status refuse_unknown_symbol(binder *b, const given_symbol *g)
{
    if (g->is_fixed || call_has_symbol(b->m, b->function, g->name)) return OK;
    diag_error(b->d, place_of_function(b), &E1608, "the function has no symbol $%.*s that %s could give",
               (int)g->name.n, g->name.p, b->words->symbol);
    return FAILED;
}

static status bind_results(binder *b)
{
    const attr_id results = op_attr(b->m, b->function, "results");
    if (results == 0) return OK;
    const op_id last = block_last(b->m, function_body(b->m, b->function));
    for (uint32_t i = 0; i < b->out->result_count; i++) {
        bound_tensor *t = &b->out->tensors[b->out->parameter_count + i];
        t->name = value_text(b->arena, b->m, op_operand(b->m, last, i));
        t->alias = function_alias(b->m, b->function, i) + 1;
        if (t->alias != 0) {
            t->abi = b->out->tensors[t->alias - 1].abi;
            continue;
        }
        t->is_output = true;
        TRY(resolve_dims(b, type_at(b->c, attr_at(b->c, attr_at(b->c, results)->items[i])->id), NULL, t));
    }
    return OK;
}

static status refuse_missing(binder *b, const bound_tensor *t)
{
    diag_error(b->d, place_of_function(b), &E1605, "input `%.*s` was not given", (int)t->name.n, t->name.p);
    if (!b->words->takes_options) return FAILED;
    diag_note(b->d, NO_POS, "give it with --in %.*s=%s, or all with --random-inputs SEED", (int)t->name.n, t->name.p,
              t->is_scalar ? "VALUE" : "FILE.npy");
    return FAILED;
}

static status bind(binder *b, uint32_t tensor_count, const given_tensor *tensors, uint32_t symbol_count,
                   const given_symbol *symbols, uint64_t random_seed)
{
    ir_context *c = b->c;
    module *m = b->m;
    bound_call *out = b->out;
    const attr_id results = op_attr(m, b->function, "results");
    *out = (bound_call){.function = b->function,
                        .parameter_count = block_arg_count(m, function_body(m, b->function)),
                        .result_count = results ? attr_at(c, results)->count : 0};
    out->tensors = arena_array(b->arena, out->parameter_count + out->result_count, sizeof *out->tensors);
    for (uint32_t i = 0; i < symbol_count; i++) {
        TRY(refuse_unknown_symbol(b, &symbols[i]));
        if (known_value(m, b->function, symbols[i].name) == 0)
            TRY(bind_symbol(b, symbols[i].name, symbols[i].value, b->words->symbol));
    }
    TRY(bind_inputs(b, tensor_count, tensors));
    TRY(refuse_unknown_inputs(b, tensor_count, tensors));
    for (uint32_t i = 0; i < out->parameter_count; i++) {
        bound_tensor *t = &out->tensors[i];
        const type_node *type = type_at(c, value_type(m, block_arg(m, function_body(m, b->function), i)));
        const given_tensor *g = t->is_input ? find_given(t->name, tensor_count, tensors) : NULL;
        TRY(resolve_dims(b, type, g, t));
        if (!t->is_input) continue;
        if (g != NULL)
            TRY(check_given(b, type, t, g));
        else if (random_seed != 0)
            /* Never 0, which means that there is nothing to do. */
            t->random_seed = call_input_seed(random_seed, i);
        else
            return refuse_missing(b, t);
    }
    for (uint32_t i = 0; i < symbol_count; i++) TRY(check_known(b, &symbols[i]));
    TRY(check_facts(b));
    return bind_results(b);
}

status call_bind(arena *a, module *m, op_id function, uint32_t tensor_count, const given_tensor *tensors,
                 uint32_t symbol_count, const given_symbol *symbols, uint64_t random_seed, const call_words *words,
                 bound_call *out)
{
    ir_context *c = module_context(m);
    binder b = {.arena = a, .m = m, .c = c, .d = context_diags(c), .function = function, .out = out};
    b.words = words != NULL ? words : &words_of_tools;
    return bind(&b, tensor_count, tensors, symbol_count, symbols, random_seed);
}

status call_bind_in_place(arena *a, module *m, op_id function, uint32_t tensor_count, const given_tensor *tensors,
                          uint32_t symbol_count, const given_symbol *symbols, const call_words *words, bound_call *out)
{
    ir_context *c = module_context(m);
    binder b = {.arena = a,
                .m = m,
                .c = c,
                .d = context_diags(c),
                .function = function,
                .out = out,
                .words = words,
                .is_in_place = true};
    return bind(&b, tensor_count, tensors, symbol_count, symbols, 0);
}

void call_output_names(arena *a, module *m, const char *entry, output_names *out)
{
    *out = (output_names){0};
    uint32_t unused;
    const op_id f = find_entry(m, entry, &unused);
    if (f != 0) output_names_of(a, m, f, out);
}

void call_name_outputs(bound_call *call, const output_names *names)
{
    uint32_t count = 0;
    const uint32_t all = call->parameter_count + call->result_count;
    for (uint32_t i = 0; i < all; i++) count += call->tensors[i].is_output && !call->tensors[i].is_input;
    if (count != names->count) return;
    count = 0;
    for (uint32_t i = 0; i < all; i++) {
        if (call->tensors[i].is_output && !call->tensors[i].is_input) call->tensors[i].name = names->names[count++];
    }
}
