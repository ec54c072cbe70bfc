/* Functions to code: values, symbols, blocks, and how long values are needed. */
#include "reference_decoder.h"

#include <inttypes.h>

pto_status coder_refuse(pto_op op, const char *code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    pto_vreport(op, PTO_ERROR, code, format, args);
    va_end(args);
    return PTO_FAILED;
}

void *coder_at(coder *c, growing *g, uint32_t index, size_t size)
{
    if (index >= g->capacity) {
        uint32_t capacity = g->capacity != 0 ? g->capacity : 32;
        while (capacity <= index) capacity *= 2;
        void *items = pto_scratch_array(c->run, capacity, size);
        if (g->count != 0) memcpy(items, g->items, g->count * size);
        g->items = items;
        g->capacity = capacity;
    }
    if (index >= g->count) g->count = index + 1;
    return (uint8_t *)g->items + index * size;
}

/* ---- values and symbols ---- */

static uint32_t next_number(coder *c)
{
    CODER_ADD(c, shapes, shape_code);
    return c->shapes.count - 1;
}

uint32_t coder_spare(coder *c) { return next_number(c); }

static symbol_entry *find_symbol(const coder *c, pto_str name)
{
    symbol_entry *all = c->symbols.items;
    for (uint32_t i = 0; i < c->symbols.count; i++)
        if (pto_str_same(all[i].name, name)) return &all[i];
    return NULL;
}

uint32_t coder_symbol(coder *c, pto_str name)
{
    const symbol_entry *known = find_symbol(c, name);
    if (known != NULL) return known->slot;
    const uint32_t slot = next_number(c);
    *CODER_ADD(c, symbols, symbol_entry) = (symbol_entry){name, slot, false};
    return slot;
}

void coder_bind_symbol(coder *c, pto_str name)
{
    coder_symbol(c, name);
    find_symbol(c, name)->is_bound_inside = true;
}

static uint32_t symbol_leaf(void *self, pto_str name) { return coder_symbol(self, name); }
static uint32_t value_leaf(void *self, pto_value v) { return coder_value(self, v); }

pto_status coder_expr(coder *c, pto_op op, pto_expr e, index_expr *out)
{
    const index_leaves leaves = {c, symbol_leaf, value_leaf};
    if (index_compile(&c->pool, &leaves, e, out)) return PTO_OK;
    return coder_refuse(op, "pto.reference/unsupported", "`%.*s` has an index expression that cannot be computed",
                        PTO_FMT(pto_op_name(op)));
}

/* Expressions of types hold symbols and constants only, so they always compile. */
static index_expr type_expr(coder *c, pto_expr e)
{
    const index_leaves leaves = {c, symbol_leaf, value_leaf};
    index_expr out = {0};
    if (!index_compile(&c->pool, &leaves, e, &out)) out = (index_expr){.constant = -1};
    return out;
}

static shape_code shape_of(coder *c, pto_type t)
{
    shape_code s = {.kind = pto_type_kind_of(t), .dtype = pto_type_dtype(t), .rank = pto_type_rank(t)};
    if (s.kind == PTO_TYPE_TILE) {
        s.space = pto_type_space(t);
        if (!pto_dim_is_const(t, 0, &s.rows) || !pto_dim_is_const(t, 1, &s.cols)) s.rows = s.cols = 0;
    }
    if (s.kind != PTO_TYPE_TENSOR && s.kind != PTO_TYPE_GM) return s;
    for (uint32_t i = 0; i < s.rank && i < PTO_MAX_DIMS; i++) {
        const pto_expr dim = pto_type_dim(t, i), stride = pto_type_stride(t, i);
        s.dims[i] = type_expr(c, dim);
        s.bare[i] = NO_SLOT;
        if (pto_expr_kind_of(dim) == PTO_EXPR_SYMBOL) s.bare[i] = coder_symbol(c, pto_expr_symbol_name(dim));
        s.has_strides = s.kind == PTO_TYPE_GM && PTO_SOME(stride);
        if (s.has_strides) s.strides[i] = type_expr(c, stride);
    }
    return s;
}

uint32_t coder_value(coder *c, pto_value v)
{
    uint32_t *id = coder_at(c, &c->ids, v.index, sizeof *id);
    if (*id != 0) return *id - 1;
    const uint32_t n = next_number(c);
    *id = n + 1;
    const shape_code shape = shape_of(c, pto_value_type(v));
    *(shape_code *)coder_at(c, &c->shapes, n, sizeof shape) = shape;
    return n;
}

/* ---- functions ---- */

function_code *coder_function(coder *c, pto_op function)
{
    for (function_code *f = c->functions; f != NULL; f = f->next)
        if (pto_op_same(f->op, function)) return f;
    function_code *f = PTO_SCRATCH(c->run, function_code, 1);
    f->op = function;
    f->name = pto_function_name(function);
    f->is_kernel = pto_str_is(pto_op_name(function), "block.kernel");
    f->next = c->functions;
    c->functions = f;
    return f;
}

static bool starts_with(pto_str s, const char *prefix)
{
    const size_t n = strlen(prefix);
    return s.n >= n && memcmp(s.p, prefix, n) == 0;
}

/* Whether a kernel is written in instructions; those are decoded and walked by program.h. */
static bool has_instructions(pto_op function)
{
    PTO_WALK(function, op)
    {
        const pto_str name = pto_op_name(op);
        if (starts_with(name, "pto.") || pto_str_is(name, "block.buffer") || pto_str_is(name, "block.tile"))
            return true;
    }
    return false;
}

static pto_status decode_grid(coder *c)
{
    function_code *f = c->f;
    const pto_attr grid = pto_op_attr(f->op, PTO_STR("grid"));
    if (!f->is_kernel || f->program != NULL) return PTO_OK;
    f->grid_rank = pto_attr_count(grid);
    if (f->grid_rank > PTO_MAX_DIMS)
        return coder_refuse(f->op, "pto.reference/unsupported", "@%.*s has a grid of %" PRIu32 " dims, the limit is %d",
                            PTO_FMT(f->name), f->grid_rank, PTO_MAX_DIMS);
    index_expr *e = PTO_SCRATCH(c->run, index_expr, f->grid_rank);
    for (uint32_t i = 0; i < f->grid_rank; i++)
        PTO_TRY(coder_expr(c, f->op, pto_attr_expr(pto_attr_item(grid, i, NULL)), &e[i]));
    f->grid = e;
    return PTO_OK;
}

/* What becomes of the tensor is a result: to the function it is a value as others are. */
static bool has_alias(pto_op function, uint32_t parameter)
{
    const pto_attr aliases = pto_op_attr(function, PTO_STR("aliases"));
    for (uint32_t i = 0; PTO_SOME(aliases) && i < pto_attr_count(aliases); i++)
        if (pto_attr_i64(pto_attr_item(aliases, i, NULL)) == (int64_t)parameter) return true;
    return false;
}

static pto_status decode_parameters(coder *c)
{
    function_code *f = c->f;
    const pto_block body = pto_body(f->op);
    const pto_attr modes = pto_op_attr(f->op, PTO_STR("params"));
    const uint32_t first = f->is_kernel ? pto_attr_count(pto_op_attr(f->op, PTO_STR("grid"))) : 0;
    f->parameter_count = pto_block_arg_count(body) - first;
    parameter_code *p = PTO_SCRATCH(c->run, parameter_code, f->parameter_count);
    for (uint32_t i = 0; i < f->parameter_count; i++) {
        const pto_value v = pto_block_arg(body, first + i);
        const pto_str mode = PTO_SOME(modes) ? pto_attr_str(pto_attr_item(modes, i, NULL)) : PTO_STR("in");
        p[i].value = coder_value(c, v);
        p[i].name = pto_value_name(v);
        p[i].in = !pto_str_is(mode, "out");
        p[i].out = (pto_str_is(mode, "out") || pto_str_is(mode, "inout")) && !has_alias(f->op, i);
        p[i].shape = *(shape_code *)coder_at(c, &c->shapes, p[i].value, sizeof p[i].shape);
        if (p[i].out && p[i].shape.kind == PTO_TYPE_TENSOR)
            return coder_refuse(f->op, "pto.reference/unsupported",
                                "parameter %%%.*s of @%.*s is a tensor that is written to; only gm is written in place "
                                "(a result may be declared `aliases` of it)",
                                PTO_FMT(p[i].name), PTO_FMT(f->name));
    }
    f->parameters = p;
    f->result_count = pto_attr_count(pto_op_attr(f->op, PTO_STR("results")));
    return PTO_OK;
}

static pto_status decode_facts(coder *c)
{
    function_code *f = c->f;
    const pto_attr facts = pto_op_attr(f->op, PTO_STR("facts"));
    f->fact_count = PTO_SOME(facts) ? pto_attr_count(facts) : 0;
    fact_code *out = PTO_SCRATCH(c->run, fact_code, f->fact_count);
    for (uint32_t i = 0; i < f->fact_count; i++) {
        const pto_attr fact = pto_attr_item(facts, i, NULL);
        out[i].relation = pto_relation_by_name(pto_attr_str(pto_attr_item(fact, 0, NULL)));
        PTO_TRY(coder_expr(c, f->op, pto_attr_expr(pto_attr_item(fact, 1, NULL)), &out[i].left));
        PTO_TRY(coder_expr(c, f->op, pto_attr_expr(pto_attr_item(fact, 2, NULL)), &out[i].right));
    }
    f->facts = out;
    return PTO_OK;
}

/* ---- how long values are needed ---- */

/* The op of block `home` that holds `op`. */
static pto_op ancestor_in(pto_op op, pto_block home)
{
    while (PTO_SOME(op) && !pto_block_same(pto_op_block(op), home)) op = pto_op_parent(op);
    return op;
}

/* The op after which nothing needs a result any more; none when its block hands it on. */
static pto_op last_need(pto_value v)
{
    const pto_op def = pto_value_op(v);
    const pto_block home = pto_op_block(def);
    pto_op last = def;
    PTO_EACH_USE(v, use) {
        const pto_op user = ancestor_in(use.op, home);
        if (!PTO_SOME(user) || pto_kind_has(user.run, pto_op_kind(user), PTO_TRAIT_TERMINATOR))
            return pto_op_none(v.run);
        if (pto_op_is_before(last, user)) last = user;
    }
    return last;
}

static void note_drop(coder *c, op_code *at, uint32_t value)
{
    const uint32_t n = at->drop_count;
    if ((n & (n - 1)) == 0) { /* capacity is the next power of two */
        uint32_t *bigger = PTO_SCRATCH(c->run, uint32_t, n != 0 ? 2 * (size_t)n : 1);
        if (n != 0) memcpy(bigger, at->drops, n * sizeof *bigger);
        at->drops = bigger;
    }
    at->drops[at->drop_count++] = value;
}

static void decode_drops(coder *c)
{
    for (uint32_t i = 0; i < c->results.count; i++) {
        const pto_value v = ((pto_value *)c->results.items)[i];
        const pto_op last = last_need(v);
        if (PTO_SOME(last))
            note_drop(c, *(op_code **)coder_at(c, &c->ops, last.index, sizeof(op_code *)), coder_value(c, v));
    }
}

/* ---- the whole ---- */

static void finish(coder *c)
{
    function_code *f = c->f;
    pto_str *names = PTO_SCRATCH(c->run, pto_str, c->symbols.count);
    uint32_t *slots = PTO_SCRATCH(c->run, uint32_t, c->symbols.count);
    const symbol_entry *all = c->symbols.items;
    for (uint32_t inside = 0; inside < 2; inside++) {
        for (uint32_t i = 0; i < c->symbols.count; i++) {
            if (all[i].is_bound_inside != (inside != 0)) continue;
            names[f->all_symbol_count] = all[i].name;
            slots[f->all_symbol_count++] = all[i].slot;
        }
        if (inside == 0) f->symbol_count = f->all_symbol_count;
    }
    f->symbol_names = names;
    f->symbols = slots;
    f->value_count = c->shapes.count;
    f->shapes = c->shapes.items;
    f->codes = c->pool.codes;
    f->ops = (const op_code *const *)c->code.items;
}

static pto_status decode_function(coder *c, function_code *f)
{
    c->f = f;
    c->pool = (index_pool){.run = c->run};
    c->shapes = c->symbols = c->results = c->code = (growing){0};
    c->control = (control_builder){.run = c->run};
    if (f->is_kernel && has_instructions(f->op)) {
        f->program = program_decode(c->run, f->op, "pto.reference", PROGRAM_ASSIGN_ADDRESSES);
        if (f->program == NULL) return PTO_FAILED;
    }
    PTO_TRY(decode_grid(c));
    PTO_TRY(decode_parameters(c));
    PTO_TRY(decode_facts(c));
    if (f->program == NULL) PTO_TRY(coder_body(c));
    decode_drops(c);
    finish(c);
    return PTO_OK;
}

const function_code *code_decode(const pto_run *run, pto_op function)
{
    coder c = {.run = run};
    function_code *entry = coder_function(&c, function);
    /* New ones come first, so the list is read again until all are done. */
    for (const function_code *done = NULL; c.functions != done;) {
        function_code *stop = c.functions;
        for (function_code *f = stop; f != done; f = f->next)
            if (decode_function(&c, f) < 0) return NULL;
        done = stop;
    }
    return entry;
}
