/* Decoding of functions: parameters, regions, symbols, and what the ops share. */
#include "semantics/program_body.h"

#include <inttypes.h>

/* ---- reports ---- */

pto_status program_error(const program *p, const program_site *site, const char *what, const char *format, ...)
{
    char full[96];
    snprintf(full, sizeof full, "%s/%s", p->id, what);
    va_list args;
    va_start(args, format);
    pto_vreport(site->op, PTO_ERROR, full, format, args);
    va_end(args);
    return PTO_FAILED;
}

pto_status program_eval(const program *p, const program_site *site, const index_expr *e, const int64_t *slots,
                        const char *which, int64_t *out)
{
    switch (index_eval(p->body->indices, e, slots, out)) {
    case INDEX_OK: return PTO_OK;
    case INDEX_DIVISOR:
        return program_error(p, site, "expression", "`%.*s` in @%s divides by a number below 1 in its %s",
                             PTO_FMT(site->op_name), site->function, which);
    case INDEX_OVERFLOW: break;
    }
    return program_error(p, site, "expression", "`%.*s` in @%s leaves 64 bits in its %s", PTO_FMT(site->op_name),
                         site->function, which);
}

/* ---- lists, values, symbols ---- */

void *list_add(const pto_run *run, list *l, size_t size)
{
    l->items = pto_grow(run, l->items, l->count, &l->capacity, size);
    return (char *)l->items + (size_t)l->count++ * size;
}

void decode_emit(decoder *d, code_kind what, uint32_t a, uint32_t b) { control_emit(&d->control, what, a, b); }

uint32_t decode_slot(decoder *d)
{
    *LIST_ADD(d, constants, number) = number_from_int(0);
    return d->constants.count - 1;
}

uint32_t decode_array_slot(decoder *d, uint32_t array)
{
    d->hands_arrays = true;
    if (LIST_AT(d, arrays, array_code, array)->handed == 0) {
        const uint32_t slot = decode_slot(d);
        LIST_AT(d, arrays, array_code, array)->handed = slot + 1;
    }
    return LIST_AT(d, arrays, array_code, array)->handed - 1;
}

static thing *place_of(const list *things, uint32_t value)
{
    thing *items = things->items;
    for (uint32_t i = (value * 2654435769u) & (things->capacity - 1);; i = (i + 1) & (things->capacity - 1))
        if (items[i].value == value || items[i].value == 0) return &items[i];
}

void decode_define(decoder *d, pto_value v, thing_kind kind, uint32_t id)
{
    list *l = &d->things;
    if (l->count * 2 >= l->capacity) {
        const list old = *l;
        l->capacity = old.capacity ? old.capacity * 2 : 64;
        l->items = PTO_SCRATCH(d->run, thing, l->capacity);
        for (uint32_t i = 0; i < old.capacity; i++) {
            const thing *t = &((thing *)old.items)[i];
            if (t->value) *place_of(l, t->value) = *t;
        }
    }
    thing *t = place_of(l, v.index);
    l->count += t->value == 0;
    *t = (thing){v.index, kind, id};
}

thing decode_find(const decoder *d, pto_value v)
{
    if (!PTO_SOME(v) || d->things.capacity == 0) return (thing){0, THING_NONE, 0};
    const thing *t = place_of(&d->things, v.index);
    return t->value ? *t : (thing){0, THING_NONE, 0};
}

uint32_t decode_symbol(decoder *d, pto_str name)
{
    for (uint32_t i = 0; i < d->symbols.count; i++) {
        const symbol *s = LIST_AT(d, symbols, symbol, i);
        if (pto_str_same(s->name, name)) return s->slot;
    }
    const uint32_t slot = decode_slot(d);
    *LIST_ADD(d, symbols, symbol) = (symbol){name, slot, false};
    return slot;
}

void decode_bound_symbol(decoder *d, pto_str name)
{
    decode_symbol(d, name);
    for (uint32_t i = 0; i < d->symbols.count; i++) {
        symbol *s = LIST_AT(d, symbols, symbol, i);
        if (pto_str_same(s->name, name)) s->is_bound_inside = true;
    }
}

static uint32_t symbol_leaf(void *self, pto_str name) { return decode_symbol(self, name); }

static uint32_t value_leaf(void *self, pto_value v)
{
    const thing t = decode_find(self, v);
    return t.kind == THING_SLOT ? t.id : NO_ID;
}

static pto_status decode_expr(decoder *d, const program_site *site, pto_expr e, index_expr *out)
{
    const index_leaves leaves = {d, symbol_leaf, value_leaf};
    if (index_compile(&d->pool, &leaves, e, out)) return PTO_OK;
    return program_error(d->p, site, "unsupported",
                         "`%.*s` has an index expression of a value that is not an index here", PTO_FMT(site->op_name));
}

static pto_status expr_list(decoder *d, const program_site *site, pto_attr exprs, const char *name, uint32_t most,
                            index_expr *out, uint32_t *out_count)
{
    const uint32_t n = pto_attr_count(exprs);
    if (n > most)
        return program_error(d->p, site, "unsupported",
                             "`%.*s` has %" PRIu32 " expressions in `%s`, the limit is %" PRIu32,
                             PTO_FMT(site->op_name), n, name, most);
    for (uint32_t i = 0; i < n; i++)
        PTO_TRY(decode_expr(d, site, pto_attr_expr(pto_attr_item(exprs, i, NULL)), &out[i]));
    *out_count = n;
    return PTO_OK;
}

pto_status decode_exprs(decoder *d, const program_site *site, pto_op op, const char *name, uint32_t most,
                        index_expr *out, uint32_t *out_count)
{
    return expr_list(d, site, pto_op_attr(op, pto_s(name)), name, most, out, out_count);
}

program_site *decode_site(decoder *d, pto_op op)
{
    program_site *s = PTO_SCRATCH(d->run, program_site, 1);
    const pto_kind_id kind = pto_op_kind(op);
    s->loc = pto_op_loc(op);
    s->op = op;
    s->op_name = pto_kind_name(d->run, kind);
    s->cost = pto_kind_cost(d->run, kind);
    s->function = d->p->name;
    s->transfer = pto_op_transfer(op);
    s->unit = (uint32_t)pto_kind_column(d->run, kind, PTO_COLUMN_UNIT);
    s->index = d->sites.count;
    *LIST_ADD(d, sites, const program_site *) = s;
    return s;
}

/* ---- parameters and regions ---- */

pto_status decode_array_type(decoder *d, const program_site *site, pto_type type, array_code *out)
{
    out->dtype = pto_type_dtype(type);
    out->rank = pto_type_rank(type);
    if (out->rank > PTO_MAX_DIMS)
        return program_error(d->p, site, "unsupported", "`%.*s` has an array of rank %" PRIu32 ", the limit is %d",
                             PTO_FMT(site->op_name), out->rank, PTO_MAX_DIMS);
    for (uint32_t i = 0; i < out->rank; i++) {
        PTO_TRY(decode_expr(d, site, pto_type_dim(type, i), &out->dims[i]));
        PTO_TRY(decode_expr(d, site, pto_type_stride(type, i), &out->strides[i]));
    }
    return PTO_OK;
}

static pto_status decode_parameter(decoder *d, pto_value v, pto_str mode, program_parameter *out)
{
    const program_site *site = d->p->self;
    const pto_type type = pto_value_type(v);
    out->kind = pto_type_kind_of(type);
    out->dtype = pto_type_dtype(type);
    out->name = pto_value_name(v);
    out->out = pto_str_is(mode, "out") || pto_str_is(mode, "inout");
    out->in = !pto_str_is(mode, "out");
    out->slot = out->array = NO_ID;
    if (out->kind == PTO_TYPE_SCALAR) {
        out->slot = decode_slot(d);
        decode_define(d, v, THING_SLOT, out->slot);
        return PTO_OK;
    }
    if (out->kind != PTO_TYPE_GM)
        return program_error(d->p, site, "unsupported", "parameter %%%.*s of @%s is neither global memory nor a scalar",
                             PTO_FMT(out->name), d->p->name);
    array_code *a = LIST_ADD(d, arrays, array_code);
    a->site = site;
    a->source = NO_ID;
    a->parameter = (uint32_t)(out - d->p->parameters);
    PTO_TRY(decode_array_type(d, site, type, a));
    out->array = d->arrays.count - 1;
    out->rank = a->rank;
    for (uint32_t i = 0; i < a->rank; i++) {
        const pto_expr dim = pto_type_dim(type, i);
        out->dims[i] = a->dims[i];
        out->strides[i] = a->strides[i];
        if (pto_expr_kind_of(dim) == PTO_EXPR_SYMBOL) out->bare[i] = pto_expr_symbol_name(dim);
    }
    decode_define(d, v, THING_ARRAY, out->array);
    return PTO_OK;
}

static pto_status decode_parameters(decoder *d, pto_op op)
{
    const pto_block body = pto_body(op);
    const uint32_t all = pto_block_arg_count(body), first = d->p->grid_rank;
    const pto_attr modes = pto_op_attr(op, PTO_STR("params"));
    if (all < first)
        return program_error(d->p, d->p->self, "unsupported", "@%s has fewer arguments than grid indices", d->p->name);
    program_parameter *items = PTO_SCRATCH(d->run, program_parameter, all - first + 1);
    d->p->parameters = items;
    d->p->parameter_count = all - first;
    for (uint32_t i = 0; i < all - first; i++) {
        const pto_str mode = PTO_SOME(modes) ? pto_attr_str(pto_attr_item(modes, i, NULL)) : pto_no_str();
        PTO_TRY(decode_parameter(d, pto_block_arg(body, first + i), mode, &items[i]));
    }
    return PTO_OK;
}

static bool mentions_grid(const decoder *d, const index_expr *e)
{
    for (uint32_t i = 0; i < e->count; i++) {
        const index_code *c = &d->pool.codes[e->first + i];
        if (index_code_reads(c) && c->slot < d->p->grid_rank) return true;
    }
    return false;
}

static pto_status decode_region(decoder *d, pto_attr item, program_region *out)
{
    const int64_t parameter = pto_attr_i64(pto_attr_item(item, 0, NULL));
    if (parameter < 0 || parameter >= d->p->parameter_count || d->p->parameters[parameter].kind != PTO_TYPE_GM)
        return program_error(d->p, d->p->self, "unsupported", "a region of @%s names no memory parameter", d->p->name);
    out->parameter = (uint32_t)parameter;
    out->whole = pto_attr_count(item) < 3;
    out->has_box = !out->whole;
    if (out->whole) return PTO_OK;
    uint32_t offsets = 0, sizes = 0;
    PTO_TRY(expr_list(d, d->p->self, pto_attr_item(item, 1, NULL), "reads", PTO_MAX_DIMS, out->offsets, &offsets));
    PTO_TRY(expr_list(d, d->p->self, pto_attr_item(item, 2, NULL), "reads", PTO_MAX_DIMS, out->sizes, &sizes));
    out->rank = offsets;
    if (offsets != sizes || offsets != d->p->parameters[parameter].rank)
        return program_error(d->p, d->p->self, "unsupported", "a region of @%s has another rank than its parameter",
                             d->p->name);
    for (uint32_t i = 0; i < offsets; i++)
        out->whole |= mentions_grid(d, &out->offsets[i]) || mentions_grid(d, &out->sizes[i]);
    return PTO_OK;
}

/* Regions that are stated, or all memory parameters of that direction. */
static pto_status decode_regions(decoder *d, pto_op op, const char *name, bool is_write, bool *out_has,
                                 const program_region **out, uint32_t *out_count)
{
    const pto_attr given = pto_op_attr(op, pto_s(name));
    const uint32_t n = PTO_SOME(given) ? pto_attr_count(given) : d->p->parameter_count;
    program_region *items = PTO_SCRATCH(d->run, program_region, n + 1);
    uint32_t count = 0;
    *out_has = PTO_SOME(given);
    for (uint32_t i = 0; i < n; i++) {
        if (*out_has) {
            PTO_TRY(decode_region(d, pto_attr_item(given, i, NULL), &items[count++]));
        } else {
            const program_parameter *q = &d->p->parameters[i];
            if (q->kind != PTO_TYPE_GM || !(is_write ? q->out : q->in)) continue;
            items[count++] = (program_region){.parameter = i, .whole = true};
        }
    }
    *out = items;
    *out_count = count;
    return PTO_OK;
}

static pto_status decode_kernel_head(decoder *d, pto_op op)
{
    program *p = d->p;
    const pto_attr grid = pto_op_attr(op, PTO_STR("grid"));
    const pto_str core = pto_attr_str(pto_op_attr(op, PTO_STR("core")));
    p->core = pto_str_is(core, "any") ? pto_no_str() : core;
    if (pto_attr_count(grid) > PROGRAM_GRID_MAX)
        return program_error(p, p->self, "unsupported", "@%s has a grid of %" PRIu32 " dims, the limit is %d", p->name,
                             pto_attr_count(grid), PROGRAM_GRID_MAX);
    p->grid_rank = pto_attr_count(grid);
    for (uint32_t i = 0; i < p->grid_rank; i++)
        decode_define(d, pto_block_arg(pto_body(op), i), THING_SLOT, decode_slot(d));
    uint32_t n;
    PTO_TRY(expr_list(d, p->self, grid, "grid", PROGRAM_GRID_MAX, p->grid, &n));
    PTO_TRY(decode_parameters(d, op));
    PTO_TRY(decode_regions(d, op, "reads", false, &p->has_reads, &p->reads, &p->read_count));
    return decode_regions(d, op, "writes", true, &p->has_writes, &p->writes, &p->write_count);
}

/* ---- the whole ---- */

static const uint32_t *arrays_by_slot(const decoder *d)
{
    if (!d->hands_arrays) return NULL;
    uint32_t *arrays = PTO_SCRATCH(d->run, uint32_t, d->constants.count);
    for (uint32_t i = 0; i < d->constants.count; i++) arrays[i] = NO_ID;
    for (uint32_t i = 0; i < d->arrays.count; i++) {
        const array_code *a = LIST_AT(d, arrays, array_code, i);
        if (a->handed != 0) arrays[a->handed - 1] = i;
    }
    return arrays;
}

static void finish(decoder *d)
{
    program *p = d->p;
    program_body *b = d->body;
    uint32_t *slots = PTO_SCRATCH(d->run, uint32_t, d->symbols.count + 1);
    pto_str *names = PTO_SCRATCH(d->run, pto_str, d->symbols.count + 1);
    for (uint32_t i = 0; i < d->symbols.count; i++) {
        const symbol *s = LIST_AT(d, symbols, symbol, i);
        if (s->is_bound_inside) continue;
        names[p->symbol_count] = s->name;
        slots[p->symbol_count++] = s->slot;
    }
    p->known_count = p->symbol_count;
    for (uint32_t i = 0; i < d->symbols.count; i++) {
        const symbol *s = LIST_AT(d, symbols, symbol, i);
        if (!s->is_bound_inside) continue;
        names[p->known_count] = s->name;
        slots[p->known_count++] = s->slot;
    }
    p->symbols = names;
    b->symbol_slots = slots;
    b->slot_count = d->constants.count;
    b->constants = d->constants.items;
    b->slot_arrays = arrays_by_slot(d);
    b->work = PTO_SCRATCH(d->run, int64_t, b->slot_count + 1);
    b->insns = d->insns.items;
    b->flags = d->flags.items;
    b->tiles = d->tiles.items;
    b->tile_count = d->tiles.count;
    b->arrays = d->arrays.items;
    b->array_count = d->arrays.count;
    b->binds = d->binds.items;
    b->compares = d->compares.items;
    b->launches = d->launches.items;
    b->launch_arguments = d->launch_arguments.items;
    b->launch_argument_count = d->launch_arguments.count;
    b->indices = d->pool.codes;
    p->sites = d->sites.items;
    p->site_count = d->sites.count;
    p->buffers = d->buffers.items;
    p->buffer_count = d->buffers.count;
    tile_code *tiles = d->tiles.items;
    for (uint32_t i = 0; i < b->tile_count; i++) tiles[i].shape.buffer = &p->buffers[tiles[i].buffer];
}

static int64_t align_up(int64_t n, int64_t to) { return to > 1 ? (n + to - 1) / to * to : n; }

/* Buffers without address go after the others. */
static void assign_addresses(decoder *d)
{
    program *p = d->p;
    for (uint32_t pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < d->buffers.count; i++) {
            program_buffer *b = LIST_AT(d, buffers, program_buffer, i);
            int64_t *end = &p->space_bytes[b->space];
            if (pass == 0 && b->address < 0) continue;
            if (pass == 1 && b->address < 0) b->address = align_up(*end, b->align);
            const int64_t behind = b->address + b->bytes_per_stage * b->stages;
            if (behind > *end) *end = behind;
        }
    }
}

const program *program_decode(const pto_run *run, pto_op function, const char *id, uint32_t flags)
{
    decoder *d = PTO_SCRATCH(run, decoder, 1);
    program *p = PTO_SCRATCH(run, program, 1);
    *d =
        (decoder){.run = run, .p = p, .body = PTO_SCRATCH(run, program_body, 1), .pool.run = run, .flags_given = flags};
    const pto_str name = pto_attr_str(pto_op_attr(function, PTO_STR("name")));
    char *text = PTO_SCRATCH(run, char, name.n + 1);
    if (name.n) memcpy(text, name.p, name.n);
    *p = (program){.run = run, .id = id, .name = text, .op = function, .body = d->body};
    p->self = decode_site(d, function);
    p->is_kernel = pto_str_is(p->self->op_name, "block.kernel");
    if (p->is_kernel ? decode_kernel_head(d, function) < 0 : decode_parameters(d, function) < 0) return NULL;
    if (decode_body(d, pto_body(function)) < 0) return NULL;
    assign_addresses(d);
    finish(d);
    return p;
}
