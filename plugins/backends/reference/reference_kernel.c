/* Kernels of PTO instructions: every instance in program order, flags without effect.
 *
 * On-chip memory is filled with 0xff before each instance and has a mark for each byte: an instruction may read only
 * what an instruction of the same instance wrote as part of a valid region. Writing a tile makes the rest of its
 * capacity unwritten again, so that what an earlier and larger tile left there is not taken for data. */
#include "reference_interp.h"

#include <inttypes.h>
#include <string.h>

typedef struct kernel_run {
    interp *in;
    frame *fr;
    const program *p;
    program_frame frame;
    int64_t index[PTO_MAX_DIMS];   /* of the instance that runs; the frame's grid */
    uint8_t *marks[PTO_NAMES_MAX]; /* 1: written */
    storage *memory_in[PTO_NAMES_MAX], *marks_in[PTO_NAMES_MAX];
} kernel_run;

/* ---- marks on chip ---- */

static void mark_row(uint8_t *marks, const tile_ref *t, int64_t r, int64_t cols, uint8_t mark)
{
    const size_t size = element_bytes(t->dtype);
    for (int64_t c = 0; c < cols;) {
        const tile_run run = tile_run_at(t, r, c, (size_t)(cols - c));
        for (size_t i = 0; i < run.count; i++)
            memset(marks + (run.offset + (int64_t)i * run.stride) * (int64_t)size, mark, size);
        c += (int64_t)run.count;
    }
}

static uint8_t *marks_of(const kernel_run *k, const program_tile *t) { return k->marks[t->ref.space] + t->address; }

static void mark_written(const kernel_run *k, const program_tile *t, int64_t rows, int64_t cols)
{
    tile_ref written = t->ref;
    written.valid_rows = rows;
    written.valid_cols = cols;
    const tile_ref bytes = tile_as_bytes(&written);
    memset(marks_of(k, t), 0, tile_capacity_bytes(&t->ref));
    for (int64_t r = 0; r < bytes.valid_rows; r++) mark_row(marks_of(k, t), &bytes, r, bytes.valid_cols, 1);
}

/* The first element of the valid region that nothing wrote; of a mask the first byte. */
static bool find_unwritten(const kernel_run *k, const program_tile *t, int64_t *out_row, int64_t *out_col)
{
    const tile_ref bytes = tile_as_bytes(&t->ref);
    const int64_t size = (int64_t)element_bytes(bytes.dtype);
    const uint8_t *marks = marks_of(k, t);
    for (int64_t r = 0; r < bytes.valid_rows; r++) {
        for (int64_t c = 0; c < bytes.valid_cols;) {
            const tile_run run = tile_run_at(&bytes, r, c, (size_t)(bytes.valid_cols - c));
            for (size_t i = 0; i < run.count; i++) {
                const uint8_t *m = marks + (run.offset + (int64_t)i * run.stride) * size;
                bool all = true;
                for (int64_t b = 0; b < size; b++) all &= m[b] != 0;
                if (all) continue;
                *out_row = r;
                *out_col = c + (int64_t)i;
                return true;
            }
            c += (int64_t)run.count;
        }
    }
    return false;
}

static pto_status check_source(const kernel_run *k, const program_step *step, const program_tile *t, uint32_t place)
{
    int64_t row, col;
    if (!find_unwritten(k, t, &row, &col)) return PTO_OK;
    return pto_error(step->site->op, "pto.reference/unwritten-tile",
                     "`%.*s` in @%s reads element [%" PRId64 ", %" PRId64 "] of source %" PRIu32
                     ", of valid region %" PRId64 " x %" PRId64 " at byte %" PRId64
                     " of `%s`; no valid region that was written holds it",
                     PTO_FMT(step->site->op_name), step->site->function, row, col, place, t->ref.valid_rows,
                     t->ref.valid_cols, t->address, pto_space_name(k->in->run, t->ref.space));
}

/* ---- instructions ---- */

/* Nothing may rely on what a scratch operand holds, and sources that lie in it are lost. */
static void spoil_tmp(const kernel_run *k, const program_tile *t)
{
    const size_t bytes = tile_capacity_bytes(&t->ref);
    memset(t->ref.base, 0xff, bytes);
    memset(marks_of(k, t), 0, bytes);
}

static pto_status note_window(kernel_run *k, const program_step *step)
{
    /* Roots are numbers of parameters; see kernel_arguments. */
    const array *a = &k->fr->values[k->fr->f->parameters[step->gm_root].value].array;
    const pto_op at = step->site->op;
    if (step->dst != NULL) return instances_read_window(k->in, at, a->in, &step->gm);
    if (a->is_read_only)
        return pto_error(at, "pto.reference/read-only", "`%.*s` writes to memory that is only read here",
                         PTO_FMT(step->site->op_name));
    return instances_write_window(k->in, at, a->in, &step->gm);
}

static pto_status run_insn(kernel_run *k, program_state *s, const program_step *step)
{
    insn_call call = {0};
    if (step->tmp != NULL) spoil_tmp(k, step->tmp);
    for (uint32_t i = 0; i < step->src_count; i++) PTO_TRY(check_source(k, step, step->src[i], i + 1));
    if (step->has_gm) PTO_TRY(note_window(k, step));
    program_insn_call(step, &call);
    PTO_TRY(interp_insn(k->in, step->site->op, step->site->insn, &call));
    if (program_wants_scalar(step)) program_give_scalar(s, step, call.scalar);
    if (step->dst == NULL) return PTO_OK;
    const tile_ref *t = &step->dst->ref;
    const bool fills = step->has_pad;
    mark_written(k, step->dst, fills ? t->rows : t->valid_rows, fills ? t->cols : t->valid_cols);
    return PTO_OK;
}

static pto_status run_instance(kernel_run *k, program_state *s)
{
    program_step step;
    for (uint32_t i = 0; i < PTO_NAMES_MAX; i++) {
        if (k->marks[i] == NULL) continue;
        memset(k->frame.memory[i], 0xff, (size_t)k->frame.memory_bytes[i]);
        memset(k->marks[i], 0, (size_t)k->frame.memory_bytes[i]);
    }
    PTO_TRY(program_start(s, &k->frame));
    for (;;) {
        memset(&step, 0, sizeof step);
        PTO_TRY(program_next(s, &step));
        k->in->op_count++;
        switch (step.kind) {
        case STEP_END: return PTO_OK;
        case STEP_INSN: PTO_TRY(run_insn(k, s, &step)); break;
        case STEP_SET_FLAG:
        case STEP_WAIT_FLAG:
        case STEP_BARRIER: break;
        case STEP_READ:
        case STEP_DEBUG:
        case STEP_LAUNCH:
        case STEP_ALLOC:
        case STEP_FREE:
            return pto_error(step.site->op, "pto.reference/unsupported", "`%.*s` inside of a kernel",
                             PTO_FMT(step.site->op_name));
        }
    }
}

/* ---- the kernel ---- */

static pto_status kernel_symbols(kernel_run *k, const op_code *o)
{
    int64_t *values = PTO_SCRATCH(k->in->run, int64_t, k->p->symbol_count);
    for (uint32_t i = 0; i < k->p->symbol_count; i++) {
        const frame *from = k->fr;
        bool found = false;
        for (uint32_t depth = 0; depth < 2 && from != NULL && !found; depth++, from = from->caller) {
            for (uint32_t j = 0; j < from->f->all_symbol_count && !found; j++) {
                found = pto_str_same(from->f->symbol_names[j], k->p->symbols[i]);
                if (found) values[i] = from->slots[from->f->symbols[j]];
            }
        }
        if (!found)
            return pto_error(o->op, "pto.reference/arguments", "nothing says what $%.*s of @%s is",
                             PTO_FMT(k->p->symbols[i]), k->p->name);
    }
    k->frame.symbols = values;
    return PTO_OK;
}

static void kernel_arguments(kernel_run *k)
{
    const function_code *f = k->fr->f;
    program_argument *args = PTO_SCRATCH(k->in->run, program_argument, f->parameter_count);
    for (uint32_t i = 0; i < f->parameter_count; i++) {
        const value *v = &k->fr->values[f->parameters[i].value];
        if (v->kind != VALUE_ARRAY) {
            args[i].scalar = v->number;
            continue;
        }
        program_array *to = &args[i].array;
        *to = (program_array){.base = v->array.base,
                              .bytes = v->array.in->bytes - (size_t)(v->array.base - v->array.in->data),
                              .root = i,
                              .dtype = v->array.dtype,
                              .rank = v->array.rank};
        memcpy(to->dims, v->array.dims, sizeof to->dims);
        memcpy(to->strides, v->array.strides, sizeof to->strides);
    }
    k->frame.arguments = args;
}

static pto_status make_memory(kernel_run *k, const op_code *o)
{
    for (uint32_t i = 0; i < PTO_NAMES_MAX; i++) {
        const int64_t bytes = k->p->space_bytes[i];
        if (bytes <= 0) continue;
        k->memory_in[i] = storage_make(k->in->pool, (size_t)bytes);
        k->marks_in[i] = storage_make(k->in->pool, (size_t)bytes);
        if (k->memory_in[i] == NULL || k->marks_in[i] == NULL)
            return pto_error(o->op, "pto.reference/limit", "%" PRId64 " bytes of `%s`, the limit is 64 GiB", bytes,
                             pto_space_name(k->in->run, i));
        k->frame.memory[i] = k->memory_in[i]->data;
        k->frame.memory_bytes[i] = bytes;
        k->marks[i] = k->marks_in[i]->data;
    }
    return PTO_OK;
}

static pto_status run_instances(kernel_run *k)
{
    int64_t extents[PTO_MAX_DIMS] = {0};
    PTO_TRY(program_grid(k->p, k->frame.symbols, extents));
    instances *s = instances_begin(k->in, k->fr->f->op, k->p->grid_rank, extents);
    if (s == NULL) return PTO_FAILED;
    program_state *state = program_state_make(k->p);
    k->frame.grid = k->index;
    for (bool more = s->count != 0; more;) {
        instances_indices(s, k->index);
        PTO_TRY(run_instance(k, state));
        PTO_TRY(instances_next(k->in, s, &more));
    }
    instances_end(k->in, s);
    return PTO_OK;
}

pto_status interp_program(interp *in, frame *fr, const op_code *o)
{
    kernel_run k = {.in = in, .fr = fr, .p = fr->f->program};
    PTO_TRY(kernel_symbols(&k, o));
    kernel_arguments(&k);
    PTO_TRY(make_memory(&k, o));
    PTO_TRY(run_instances(&k));
    for (uint32_t i = 0; i < PTO_NAMES_MAX; i++) {
        if (k.memory_in[i] != NULL) storage_release(in->pool, k.memory_in[i]);
        if (k.marks_in[i] != NULL) storage_release(in->pool, k.marks_in[i]);
    }
    return PTO_OK;
}
