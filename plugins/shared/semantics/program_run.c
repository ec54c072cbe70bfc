/* Walking a program. */
#include "semantics/program_body.h"

#include <inttypes.h>

/* Codes between two looks at whether the host asks to stop. */
enum { CODES_PER_LOOK = 1 << 20 };

struct program_state {
    const program *p;
    uint32_t at, codes_left;
    int64_t *slots;
    number *numbers; /* beside slots: scalars */
    program_tile *tiles;
    program_array *arrays;
    program_array *between; /* beside slots: arrays on their way from one to another; NULL: none is handed on */
    uint8_t *memory[PTO_NAMES_MAX];
    int64_t memory_bytes[PTO_NAMES_MAX];
    program_argument *launch;
};

program_state *program_state_make(const program *p)
{
    const program_body *b = p->body;
    program_state *s = PTO_SCRATCH(p->run, program_state, 1);
    s->p = p;
    s->slots = PTO_SCRATCH(p->run, int64_t, b->slot_count + 1);
    s->numbers = PTO_SCRATCH(p->run, number, b->slot_count + 1);
    s->tiles = PTO_SCRATCH(p->run, program_tile, b->tile_count + 1);
    s->arrays = PTO_SCRATCH(p->run, program_array, b->array_count + 1);
    if (b->slot_arrays != NULL) s->between = PTO_SCRATCH(p->run, program_array, b->slot_count);
    s->launch = PTO_SCRATCH(p->run, program_argument, b->most_arguments + 1);
    for (uint32_t i = 0; i < b->tile_count; i++) s->tiles[i] = b->tiles[i].shape;
    return s;
}

static void set_slot(program_state *s, uint32_t slot, number n)
{
    s->numbers[slot] = n;
    s->slots[slot] = n.is_int ? n.i : 0;
}

/* Indices of loops and grids change the slot alone. */
static number scalar_at(const program_state *s, uint32_t slot)
{
    return s->numbers[slot].is_int ? number_from_int(s->slots[slot]) : s->numbers[slot];
}

/* ---- arrays ---- */

/* Dims, strides and bytes of an array; offsets of windows stay far below 2^63 elements. */
static pto_status shape_array(program_state *s, const array_code *a, program_array *out)
{
    const program *p = s->p;
    int64_t last = 0;
    bool is_empty = false, bad = false;
    out->dtype = a->dtype;
    out->rank = a->rank;
    for (uint32_t i = 0; i < a->rank; i++) {
        PTO_TRY(program_eval(p, a->site, &a->dims[i], s->slots, "dims", &out->dims[i]));
        PTO_TRY(program_eval(p, a->site, &a->strides[i], s->slots, "strides", &out->strides[i]));
        int64_t reach;
        if (out->dims[i] < 0) bad = true;
        is_empty |= out->dims[i] == 0;
        bad |= out->strides[i] < 0 || __builtin_mul_overflow(out->dims[i] - 1, out->strides[i], &reach);
        bad |= !is_empty && !bad && __builtin_add_overflow(last, reach, &last);
    }
    if (bad || last >= INT64_C(1) << 56)
        return program_error(p, a->site, "arguments", "`%.*s` in @%s has an array with a negative or too large extent",
                             PTO_FMT(a->site->op_name), a->site->function);
    out->bytes = is_empty ? 0 : (size_t)(last + 1) * element_bytes(a->dtype);
    return PTO_OK;
}

static pto_status take_array(program_state *s, const program_parameter *q, const program_array *given)
{
    const program *p = s->p;
    program_array *a = &s->arrays[q->array];
    PTO_TRY(shape_array(s, &p->body->arrays[q->array], a));
    bool fits = given->dtype == a->dtype && given->rank == a->rank && given->bytes >= a->bytes;
    for (uint32_t i = 0; fits && i < a->rank; i++)
        fits = given->dims[i] == a->dims[i] && (given->strides[i] == a->strides[i] || a->dims[i] < 2);
    if (!fits)
        return program_error(p, p->self, "arguments",
                             "parameter %%%.*s of @%s has %" PRIu32 " dims and %zu bytes; the argument has other dims, "
                             "strides or element type, or only %zu bytes",
                             PTO_FMT(q->name), p->name, a->rank, a->bytes, given->bytes);
    a->base = given->base;
    a->bytes = given->bytes;
    a->root = given->root;
    return PTO_OK;
}

static pto_status view(program_state *s, uint32_t id)
{
    const array_code *c = &s->p->body->arrays[id];
    const program_array *from = &s->arrays[c->source];
    program_array *a = &s->arrays[id];
    PTO_TRY(shape_array(s, c, a));
    if (a->bytes > from->bytes)
        return program_error(s->p, c->site, "arguments", "a view of %zu bytes onto %zu bytes in @%s", a->bytes,
                             from->bytes, s->p->name);
    a->base = from->base;
    a->root = from->root;
    return PTO_OK;
}

void program_give(program_state *s, program_step *alloc, uint8_t *base, uint32_t root)
{
    (void)s;
    alloc->array->base = base;
    alloc->array->root = root;
}

/* ---- starting ---- */

static pto_status check_buffers(const program_state *s)
{
    for (uint32_t i = 0; i < s->p->buffer_count; i++) {
        const program_buffer *b = &s->p->buffers[i];
        const int64_t have = s->memory_bytes[b->space], need = b->bytes_per_stage * b->stages;
        if (b->address > have || need > have - b->address)
            return program_error(s->p, b->site, "out-of-bounds",
                                 "the buffer has bytes %" PRId64 " to %" PRId64 " of `%s`, which has %" PRId64,
                                 b->address, b->address + need, pto_space_name(s->p->run, b->space), have);
    }
    return PTO_OK;
}

pto_status program_start(program_state *s, const program_frame *frame)
{
    const program *p = s->p;
    const program_body *b = p->body;
    s->at = 0;
    s->codes_left = CODES_PER_LOOK;
    for (uint32_t i = 0; i < b->slot_count; i++) set_slot(s, i, b->constants[i]);
    for (uint32_t i = 0; i < p->grid_rank; i++) s->slots[i] = frame->grid[i];
    for (uint32_t i = 0; i < p->symbol_count; i++) s->slots[b->symbol_slots[i]] = frame->symbols[i];
    memcpy(s->memory, frame->memory, sizeof s->memory);
    memcpy(s->memory_bytes, frame->memory_bytes, sizeof s->memory_bytes);
    for (uint32_t i = 0; i < p->parameter_count; i++) {
        const program_parameter *q = &p->parameters[i];
        if (q->slot != NO_ID) set_slot(s, q->slot, frame->arguments[i].scalar);
        if (q->array != NO_ID) PTO_TRY(take_array(s, q, &frame->arguments[i].array));
    }
    return check_buffers(s);
}

/* ---- descriptors ---- */

static pto_status tile_range_error(const program_state *s, const tile_code *c, int64_t stage)
{
    return program_error(s->p, c->site, "out-of-bounds",
                         "stage %" PRId64 " of a buffer with %" PRId64 " stage%s in @%s", stage,
                         s->p->buffers[c->buffer].stages, s->p->buffers[c->buffer].stages == 1 ? "" : "s", s->p->name);
}

static pto_status valid_error(const program_state *s, const tile_code *c, const tile_ref *r)
{
    return program_error(s->p, c->site, "valid",
                         "a valid region of %" PRId64 " x %" PRId64 " in a tile of %" PRId64 " x %" PRId64 " in @%s",
                         r->valid_rows, r->valid_cols, r->rows, r->cols, s->p->name);
}

static pto_status describe(program_state *s, uint32_t id)
{
    const tile_code *c = &s->p->body->tiles[id];
    const program_buffer *b = &s->p->buffers[c->buffer];
    program_tile *t = &s->tiles[id];
    tile_ref *r = &t->ref;
    int64_t stage;
    PTO_TRY(program_eval(s->p, c->site, &c->stage, s->slots, "stage", &stage));
    if (stage < 0 || stage >= b->stages) return tile_range_error(s, c, stage);
    PTO_TRY(program_eval(s->p, c->site, &c->valid[0], s->slots, "valid rows", &r->valid_rows));
    PTO_TRY(program_eval(s->p, c->site, &c->valid[1], s->slots, "valid columns", &r->valid_cols));
    if (r->valid_rows < 0 || r->valid_cols < 0 || r->valid_rows > r->rows || r->valid_cols > r->cols)
        return valid_error(s, c, r);
    t->address = b->address + stage * b->bytes_per_stage + c->offset;
    r->base = s->memory[r->space] != NULL ? s->memory[r->space] + t->address : NULL;
    t->end = t->address;
    if (r->valid_rows && r->valid_cols) {
        const tile_ref bytes = tile_as_bytes(r);
        const int64_t last = tile_run_at(&bytes, bytes.valid_rows - 1, bytes.valid_cols - 1, 1).offset;
        t->end += (last + 1) * (int64_t)element_bytes(bytes.dtype);
    }
    return PTO_OK;
}

static pto_status window_error(const program_state *s, const insn_code *c, const gm_window *w, int dim, int64_t extent)
{
    const int64_t offset = w->rank ? w->offsets[dim] : 0, have = w->rank ? w->dims[dim] : 1;
    return program_error(s->p, c->site, "out-of-bounds",
                         "`%.*s` in @%s needs elements %" PRId64 " to %" PRId64 " of dim %d, which has %" PRId64,
                         PTO_FMT(c->site->op_name), s->p->name, offset, offset + extent, dim, have);
}

static pto_status fill_window(program_state *s, const insn_code *c, int64_t rows, int64_t cols, program_step *out)
{
    const program_array *a = &s->arrays[c->array];
    gm_window *w = &out->gm;
    w->base = a->base;
    w->bytes = a->bytes;
    w->dtype = a->dtype;
    w->rank = a->rank;
    w->transpose = c->transpose;
    w->rows = rows;
    w->cols = cols;
    for (uint32_t i = 0; i < a->rank; i++) {
        w->dims[i] = a->dims[i];
        w->strides[i] = a->strides[i];
        PTO_TRY(program_eval(s->p, c->site, &c->offsets[i], s->slots, "offsets", &w->offsets[i]));
    }
    int64_t extent;
    const int dim = gm_outside_dim(w, &extent);
    if (dim >= 0) return window_error(s, c, w, dim, extent);
    out->gm_root = a->root;
    out->gm_parameter = s->p->body->arrays[c->array].parameter;
    return PTO_OK;
}

/* ---- steps ---- */

static pto_status step_insn(program_state *s, const insn_code *c, program_step *out)
{
    out->kind = STEP_INSN;
    out->site = c->site;
    out->pipe = c->site->pipe;
    out->src_count = c->src_count;
    out->dst = c->dst != NO_ID ? &s->tiles[c->dst] : NULL;
    for (uint32_t i = 0; i < c->src_count; i++) out->src[i] = &s->tiles[c->src[i]];
    out->tmp = c->tmp != NO_ID ? &s->tiles[c->tmp] : NULL;
    out->has_gm = c->array != NO_ID;
    out->has_scalar = c->scalar != NO_ID;
    out->has_pad = c->has_pad;
    out->saturate = c->saturate;
    out->relu = c->relu;
    out->has_scale = c->has_scale;
    out->scale = c->scale;
    out->mode = c->mode;
    out->relation = c->relation;
    out->function = c->function;
    out->run = c->run;
    out->descending = c->descending;
    out->upper = c->upper;
    out->pad = c->pad;
    if (out->has_scalar) out->scalar = s->numbers[c->scalar];
    out->result = c->result;
    for (uint32_t i = 0; c->has_place && i < 2; i++)
        PTO_TRY(program_eval(s->p, c->site, &c->offsets[i], s->slots, "offsets", &out->at[i]));
    if (!out->has_gm) return PTO_OK;
    const tile_ref *tile = out->dst != NULL ? &out->dst->ref : &out->src[0]->ref;
    return fill_window(s, c, tile->valid_rows, tile->valid_cols, out);
}

static pto_status step_read(program_state *s, const insn_code *c, program_step *out)
{
    out->kind = STEP_READ;
    out->site = c->site;
    out->has_gm = true;
    out->result = c->result;
    return fill_window(s, c, 1, 1, out);
}

static pto_status step_debug(program_state *s, const insn_code *c, program_step *out)
{
    out->kind = STEP_DEBUG;
    out->site = c->site;
    out->array = c->array != NO_ID ? &s->arrays[c->array] : NULL;
    if (c->array == NO_ID) out->scalar = scalar_at(s, c->scalar);
    return PTO_OK;
}

static pto_status step_flag(program_state *s, const flag_code *f, program_step *out)
{
    out->kind = f->kind;
    out->site = f->site;
    out->pipe = f->pipe;
    out->dst_pipe = f->dst_pipe;
    if (f->kind == STEP_BARRIER) return PTO_OK;
    int64_t event;
    PTO_TRY(program_eval(s->p, f->site, &f->event, s->slots, "event", &event));
    if (event < 0 || event >= PROGRAM_EVENTS_MAX)
        return program_error(s->p, f->site, "event", "event id %" PRId64 " of %.*s -> %.*s; ids go from 0 to %d", event,
                             PTO_FMT(pto_pipe_name(s->p->run, f->pipe)), PTO_FMT(pto_pipe_name(s->p->run, f->dst_pipe)),
                             PROGRAM_EVENTS_MAX - 1);
    out->event = (uint32_t)event;
    return PTO_OK;
}

static pto_status step_launch(program_state *s, const launch_code *l, program_step *out)
{
    out->kind = STEP_LAUNCH;
    out->site = l->site;
    out->kernel = l->kernel;
    out->argument_count = l->argument_count;
    out->arguments = s->launch;
    for (uint32_t i = 0; i < l->argument_count; i++) {
        const launch_argument *a = &s->p->body->launch_arguments[l->first + i];
        s->launch[i] = (program_argument){0};
        if (a->array != NO_ID)
            s->launch[i].array = s->arrays[a->array];
        else
            s->launch[i].scalar = scalar_at(s, a->slot);
    }
    return PTO_OK;
}

static pto_status step_alloc(program_state *s, uint32_t id, program_step *out)
{
    const array_code *a = &s->p->body->arrays[id];
    out->kind = STEP_ALLOC;
    out->site = a->site;
    out->array = &s->arrays[id];
    return shape_array(s, a, out->array);
}

/* ---- control ---- */

static pto_status bind(program_state *s, const bind_code *b)
{
    int64_t value, lo, hi;
    PTO_TRY(program_eval(s->p, b->site, &b->value, s->slots, "value", &value));
    PTO_TRY(program_eval(s->p, b->site, &b->lo, s->slots, "range", &lo));
    PTO_TRY(program_eval(s->p, b->site, &b->hi, s->slots, "range", &hi));
    if (value < lo || value > hi)
        return program_error(s->p, b->site, "expression", "%" PRId64 " is outside of [%" PRId64 ", %" PRId64 "] in @%s",
                             value, lo, hi, s->p->name);
    s->slots[b->slot] = value;
    return PTO_OK;
}

static pto_status index_cast(program_state *s, const bind_code *b)
{
    int64_t value;
    PTO_TRY(program_eval(s->p, b->site, &b->value, s->slots, "from", &value));
    set_slot(s, b->slot, number_from_int(value));
    return PTO_OK;
}

static void compare(program_state *s, const compare_code *c)
{
    set_slot(
        s, c->slot,
        number_from_int(element_relation_holds(c->dtype, c->relation, scalar_at(s, c->left), scalar_at(s, c->right))));
}

static pto_status eval(void *self, const void *site, const index_expr *e, const char *which, int64_t *out)
{
    const program_state *s = self;
    return program_eval(s->p, site, e, s->slots, which, out);
}

static pto_status bad_step(void *self, const void *site, int64_t step)
{
    const program_state *s = self;
    return program_error(s->p, site, "expression", "a loop in @%s has the step %" PRId64, s->p->name, step);
}

static void set_index(void *self, uint32_t slot, int64_t n)
{
    const program_state *s = self;
    s->slots[slot] = n;
}

/* What a slot holds of an array. */
static program_array *array_at(const program_state *s, uint32_t slot)
{
    const uint32_t array = s->p->body->slot_arrays[slot];
    return array != NO_ID ? &s->arrays[array] : &s->between[slot];
}

static void copy(void *self, uint32_t to, uint32_t from, int is_move)
{
    const program_state *s = self;
    (void)is_move;
    if (s->between != NULL) *array_at(s, to) = *array_at(s, from);
    s->slots[to] = s->slots[from];
    s->numbers[to] = s->numbers[from];
}

static const control_actions actions = {eval, bad_step, set_index, copy};

static pto_status look(program_state *s)
{
    s->codes_left = CODES_PER_LOOK;
    if (!pto_should_stop(s->p->run)) return PTO_OK;
    return program_error(s->p, s->p->self, "interrupted", "the run of @%s was stopped", s->p->name);
}

pto_status program_next(program_state *s, program_step *out)
{
    const program_body *b = s->p->body;
    for (;;) {
        if (--s->codes_left == 0) PTO_TRY(look(s));
        const control_code *c = &b->flow.codes[s->at++];
        switch (c->what) {
        case CONTROL_END:
            s->at--;
            out->kind = STEP_END;
            out->site = s->p->self;
            return PTO_OK;
        case CODE_INSN: return step_insn(s, &b->insns[c->a], out);
        case CODE_FLAG: return step_flag(s, &b->flags[c->a], out);
        case CODE_READ: return step_read(s, &b->insns[c->a], out);
        case CODE_DEBUG: return step_debug(s, &b->insns[c->a], out);
        case CODE_LAUNCH: return step_launch(s, &b->launches[c->a], out);
        case CODE_ALLOC: return step_alloc(s, c->a, out);
        case CODE_FREE:
            out->kind = STEP_FREE;
            out->site = s->p->sites[c->b];
            out->array = &s->arrays[c->a];
            return PTO_OK;
        case CODE_TILE: PTO_TRY(describe(s, c->a)); break;
        case CODE_ARRAY: PTO_TRY(view(s, c->a)); break;
        case CODE_BIND: PTO_TRY(bind(s, &b->binds[c->a])); break;
        case CODE_NUMBER: PTO_TRY(index_cast(s, &b->binds[c->a])); break;
        case CODE_COMPARE: compare(s, &b->compares[c->a]); break;
        default: PTO_TRY(control_step(&b->flow, c, &actions, s, s->slots, &s->at)); break;
        }
    }
}

bool program_wants_scalar(const program_step *insn) { return insn->result != NO_ID; }

void program_give_scalar(program_state *s, const program_step *step, number scalar)
{
    set_slot(s, step->result, scalar);
}

void program_insn_call(const program_step *step, insn_call *out)
{
    if (step->dst != NULL) out->dst = step->dst->ref;
    for (uint32_t i = 0; i < step->src_count; i++) out->src[i] = step->src[i]->ref;
    if (step->has_gm) out->gm = step->gm;
    out->scalar = step->scalar;
    for (uint32_t i = 0; i < 2; i++) out->at[i] = step->at[i];
    out->pad = step->pad;
    out->has_pad = step->has_pad;
    out->saturate = step->saturate;
    out->relu = step->relu;
    out->has_scale = step->has_scale;
    out->scale = step->scale;
    out->mode = step->mode;
    out->relation = step->relation;
    out->function = step->function;
    out->run = step->run;
    out->descending = step->descending;
    out->upper = step->upper;
    out->text[0] = 0;
}

/* ---- between a launching function and a kernel ---- */

static bool symbol_of_caller(const program_state *caller, pto_str name, int64_t *out)
{
    const program *p = caller->p;
    for (uint32_t i = 0; i < p->known_count; i++) {
        if (!pto_str_same(p->symbols[i], name)) continue;
        *out = caller->slots[p->body->symbol_slots[i]];
        return true;
    }
    return false;
}

static bool symbol_of_dim(const program *kernel, const program_step *launch, pto_str name, int64_t *out)
{
    for (uint32_t i = 0; i < kernel->parameter_count && i < launch->argument_count; i++) {
        const program_parameter *q = &kernel->parameters[i];
        for (uint32_t k = 0; k < q->rank && k < launch->arguments[i].array.rank; k++) {
            if (q->bare[k].n == 0 || !pto_str_same(q->bare[k], name)) continue;
            *out = launch->arguments[i].array.dims[k];
            return true;
        }
    }
    return false;
}

pto_status program_bind_symbols(const program *kernel, const program_state *caller, const program_step *launch,
                                int64_t *out)
{
    if (launch->argument_count != kernel->parameter_count)
        return program_error(kernel, launch->site, "arguments",
                             "%" PRIu32 " arguments for the %" PRIu32 " parameters of @%s", launch->argument_count,
                             kernel->parameter_count, kernel->name);
    for (uint32_t i = 0; i < kernel->symbol_count; i++) {
        const pto_str name = kernel->symbols[i];
        if (symbol_of_dim(kernel, launch, name, &out[i]) || symbol_of_caller(caller, name, &out[i])) continue;
        return program_error(kernel, launch->site, "arguments", "nothing says what $%.*s of @%s is", PTO_FMT(name),
                             kernel->name);
    }
    return PTO_OK;
}

pto_status program_pick_symbols(const program *p, uint32_t count, const pto_str *names, const int64_t *values,
                                int64_t *out)
{
    for (uint32_t i = 0; i < p->symbol_count; i++) {
        uint32_t k = 0;
        while (k < count && !pto_str_same(names[k], p->symbols[i])) k++;
        if (k == count)
            return program_error(p, p->self, "arguments", "the call does not say what $%.*s of @%s is",
                                 PTO_FMT(p->symbols[i]), p->name);
        out[i] = values[k];
    }
    return PTO_OK;
}

static void put_symbols(const program *p, const int64_t *symbols)
{
    for (uint32_t i = 0; i < p->symbol_count; i++) p->body->work[p->body->symbol_slots[i]] = symbols[i];
}

pto_status program_grid(const program *kernel, const int64_t *symbols, int64_t *out_extents)
{
    const int64_t most = INT64_C(1) << 31;
    int64_t all = 1;
    put_symbols(kernel, symbols);
    for (uint32_t i = 0; i < kernel->grid_rank; i++) {
        PTO_TRY(program_eval(kernel, kernel->self, &kernel->grid[i], kernel->body->work, "grid", &out_extents[i]));
        if (out_extents[i] < 0 || out_extents[i] > most || (all *= out_extents[i]) > most)
            return program_error(kernel, kernel->self, "arguments",
                                 "the grid of @%s has the extent %" PRId64 " in dim %" PRIu32
                                 "; a grid has 0 to 2147483648 instances",
                                 kernel->name, out_extents[i], i);
    }
    return PTO_OK;
}

pto_status program_region_bytes(const program *kernel, const program_region *region, const int64_t *symbols,
                                const program_argument *arguments, int64_t *out_lo, int64_t *out_hi)
{
    const program_array *a = &arguments[region->parameter].array;
    *out_lo = 0;
    *out_hi = (int64_t)a->bytes;
    if (region->whole) return PTO_OK;
    put_symbols(kernel, symbols);
    int64_t first = 0, last = 0;
    bool is_empty = false;
    for (uint32_t i = 0; i < region->rank && i < a->rank; i++) {
        int64_t offset, size;
        PTO_TRY(program_eval(kernel, kernel->self, &region->offsets[i], kernel->body->work, "regions", &offset));
        PTO_TRY(program_eval(kernel, kernel->self, &region->sizes[i], kernel->body->work, "regions", &size));
        if (offset < 0) offset = 0;
        if (size > a->dims[i] || offset > a->dims[i] - size) size = a->dims[i] - offset;
        is_empty |= size <= 0;
        first += offset * a->strides[i];
        last += (offset + size - 1) * a->strides[i];
    }
    const int64_t bytes = (int64_t)element_bytes(a->dtype);
    *out_lo = is_empty ? 0 : first * bytes;
    *out_hi = is_empty ? 0 : (last + 1) * bytes;
    return PTO_OK;
}

pto_status program_region_box(const program *kernel, const program_region *region, const int64_t *symbols,
                              const int64_t *grid, int64_t *out_offsets, int64_t *out_sizes)
{
    int64_t *work = kernel->body->work;
    put_symbols(kernel, symbols);
    for (uint32_t i = 0; i < kernel->grid_rank; i++) work[i] = grid[i];
    for (uint32_t i = 0; i < region->rank; i++) {
        PTO_TRY(program_eval(kernel, kernel->self, &region->offsets[i], work, "regions", &out_offsets[i]));
        PTO_TRY(program_eval(kernel, kernel->self, &region->sizes[i], work, "regions", &out_sizes[i]));
    }
    return PTO_OK;
}
