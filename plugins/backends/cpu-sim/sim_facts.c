/* Facts of the chip that the meaning of instructions does not show (`facts` of the machine file): a kernel that every
 * simulator of the instructions runs well, and a chip does not, is refused where it goes wrong.
 *
 * Everything is looked at in the order in which the scalar unit issues, so what is found does not depend on timing. */
#include "cpu-sim/denormals.h"
#include "cpu-sim/sim.h"

#include "machine_types.h"

#include <pto/arithmetic.h>
#include <inttypes.h>

/* The relation by which a comparison is made on the chip, where it is not the one that is asked for. */
static pto_relation other_relation(const sim *s, const sim_core *c, pto_dtype dtype)
{
    const pto_op op = c->step.site->op;
    const int64_t rule = pto_kind_column(s->run, pto_op_kind(op), PTO_COLUMN_RULE);
    if (rule != PTO_RULE_COMPARE && rule != PTO_RULE_COMPARE_SCALAR) return PTO_RELATION_NONE;
    const pto_str asked = pto_attr_str_of(op, PTO_STR("relation"));
    return pto_relation_by_name(machine_compares_as(s->run, pto_op_kind(op), dtype, asked));
}

/* What is computed here is exact. */
static void warn_of_approximation(const sim *s, const program_step *step)
{
    const pto_kind_id kind = pto_op_kind(step->site->op);
    if (step->tmp != NULL || !machine_approximate_without_scratch(s->run, kind)) return;
    pto_warning(step->site->op, "pto.cpu-sim/approximate",
                "`%.*s` has no scratch operand; its code on machine `%s` is then an approximation, unlike what is "
                "computed here: give it a tile as the last operand",
                PTO_FMT(step->site->op_name), s->machine->name);
}

static const site_facts *facts_of(const sim *s, const sim_core *c)
{
    const program_site *site = c->step.site;
    const pto_kind_id kind = pto_op_kind(site->op);
    site_facts *f = &c->launch->kernel->facts[site->index];
    if (f->is_known) return f;
    f->is_known = true;
    warn_of_approximation(s, &c->step);
    f->in_place = machine_in_place(s->run, kind) != 0;
    f->rounds_scalar = c->step.has_scalar && c->step.dst != NULL &&
                       machine_scalar_through_f32(s->run, kind, c->step.dst->ref.dtype) != 0;
    f->pads_to = machine_pads_to(s->run, kind);
    f->dense_lines = s->options.is_chip && c->step.has_gm && machine_dense_lines(s->run, kind) != 0;
    f->below_width = machine_below_width(s->run, kind) != 0;
    f->row_major = machine_row_major(s->run, kind) != 0;
    const program_tile *of = c->step.src_count != 0 ? c->step.src[0] : c->step.dst;
    const pto_dtype dtype = of != NULL ? of->ref.dtype : PTO_DTYPE_NONE;
    f->through_f32 = machine_through_f32(s->run, kind, dtype) != 0;
    f->destroys = machine_destroys(s->run, kind, dtype) != 0;
    f->relation = other_relation(s, c, dtype);
    f->saturates = site->insn == INSN_TCVT && c->step.dst != NULL &&
                   machine_saturates(s->run, kind, c->step.src[0]->ref.dtype, c->step.dst->ref.dtype) != 0;
    f->no_denormals = s->options.is_chip && denormals_are_zeros(s->run, site);
    f->event_count = of != NULL ? machine_events(s->run, kind, of->ref.dtype, f->events) : 0;
    return f;
}

/* ---- results in the place of operands ---- */

static pto_status check_in_place(const sim *s, const sim_core *c)
{
    const program_step *step = &c->step;
    const program_tile *to = step->dst;
    for (uint32_t i = 0; to != NULL && i < step->src_count; i++) {
        const program_tile *from = step->src[i];
        const int64_t lo = from->address > to->address ? from->address : to->address,
                      hi = from->end < to->end ? from->end : to->end;
        if (from->ref.space != to->ref.space || lo >= hi) continue;
        return pto_error(step->site->op, "pto.cpu-sim/in-place",
                         "`%.*s` writes bytes %" PRId64 " to %" PRId64
                         " of `%s`, which it reads; on machine `%s` its result may not take the place of an operand: "
                         "give it a tile of its own",
                         PTO_FMT(step->site->op_name), lo, hi, pto_space_name(s->run, to->ref.space), s->machine->name);
    }
    return PTO_OK;
}

/* ---- scalars ---- */

static pto_status check_scalar(const sim *s, const sim_core *c)
{
    const number n = c->step.scalar;
    if (!n.is_int || (int64_t)(float)n.i == n.i) return PTO_OK;
    return pto_error(c->step.site->op, "pto.cpu-sim/rounded-scalar",
                     "the scalar of `%.*s` is %" PRId64
                     "; on machine `%s` it passes through an f32, which makes %" PRId64
                     " of it: use `pto.tadds` with the negative number",
                     PTO_FMT(c->step.site->op_name), n.i, s->machine->name, (int64_t)(float)n.i);
}

/* ---- padding ---- */

static bool is_of_pad(const short_pad *p, const program_tile *t)
{
    return t->ref.space == p->space && t->address < p->hi && t->end > p->lo;
}

static pto_status report_destroyed(const sim *s, const sim_core *c, const short_pad *p)
{
    pto_error(c->step.site->op, "pto.cpu-sim/destroyed",
              "`%.*s` reads a tile of which `%.*s` has left nothing on machine `%s`: read it before, or a copy",
              PTO_FMT(c->step.site->op_name), PTO_FMT(p->site->op_name), s->machine->name);
    pto_note(p->site->op, "it works in the place of this source");
    return PTO_FAILED;
}

static pto_status check_padded(const sim *s, const sim_core *c, const program_tile *t)
{
    for (uint32_t i = 0; i < c->pad_count; i++) {
        const short_pad *p = &c->pads[i];
        if (!is_of_pad(p, t) || (t->ref.valid_rows <= p->rows && t->ref.valid_cols <= p->cols)) continue;
        if (p->is_destroyed) return report_destroyed(s, c, p);
        pto_error(c->step.site->op, "pto.cpu-sim/pad",
                  "`%.*s` reads %" PRId64 " x %" PRId64 " elements of a tile of which a load has filled %" PRId64
                  " x %" PRId64 "; the rest is what was there before",
                  PTO_FMT(c->step.site->op_name), t->ref.valid_rows, t->ref.valid_cols, p->rows, p->cols);
        pto_note(p->site->op, "the load is here; `pad` fills rows to a multiple of some bytes on this machine, "
                              "`pto.tfillpad` after it fills the tile");
        return PTO_FAILED;
    }
    return PTO_OK;
}

/* What is written anew holds no longer what a load left. */
static void forget_pads(sim_core *c, const program_tile *t)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < c->pad_count; i++)
        if (!is_of_pad(&c->pads[i], t)) c->pads[kept++] = c->pads[i];
    c->pad_count = kept;
}

/* A load with `pad`, of rows that lie one after the other. */
static void note_pad(const sim *s, sim_core *c, int64_t pads_to)
{
    const program_tile *t = c->step.dst;
    const int64_t size = (int64_t)element_bytes(t->ref.dtype),
                  cols = pto_ceil_div(t->ref.valid_cols * size, pads_to) * pads_to / size;
    if (t->ref.valid_rows == t->ref.rows && cols >= t->ref.cols) return;
    PTO_GROW(s->run, c->pads, c->pad_count, c->pad_capacity);
    c->pads[c->pad_count++] = (short_pad){.site = c->step.site,
                                          .space = t->ref.space,
                                          .lo = t->address,
                                          .hi = t->address + (int64_t)tile_capacity_bytes(&t->ref),
                                          .rows = t->ref.valid_rows,
                                          .cols = cols};
}

static void note_destroyed(const sim *s, sim_core *c, const program_tile *t)
{
    PTO_GROW(s->run, c->pads, c->pad_count, c->pad_capacity);
    c->pads[c->pad_count++] = (short_pad){.site = c->step.site,
                                          .space = t->ref.space,
                                          .lo = t->address,
                                          .hi = t->address + (int64_t)tile_capacity_bytes(&t->ref),
                                          .is_destroyed = true};
}

/* The code of an instruction without its scratch operand takes a source for it; which one holds nothing afterwards, or
 * NULL. Reductions of short rows need none. */
static const program_tile *taken_for_scratch(const sim *s, const program_step *step)
{
    const int64_t rule = pto_kind_column(s->run, pto_op_kind(step->site->op), PTO_COLUMN_RULE);
    if (!s->machine->wants_scratch || step->tmp != NULL) return NULL;
    if (rule == PTO_RULE_GATHER) return element_bytes(step->dst->ref.dtype) == 2 ? step->src[1] : NULL;
    if (rule != PTO_RULE_ROW_REDUCE || !element_is_float(step->dst->ref.dtype)) return NULL;
    const tile_ref *t = &step->src[0]->ref;
    return t->valid_cols * (int64_t)element_bytes(t->dtype) > s->machine->repeat_bytes ? step->src[0] : NULL;
}

/* Remainders leave their divisor as floats; what becomes 8 bits is multiplied in its place. */
static uint32_t destroyed_source(const sim *s, const program_step *step)
{
    const int64_t rule = pto_kind_column(s->run, pto_op_kind(step->site->op), PTO_COLUMN_RULE);
    return rule == PTO_RULE_QUANTIZE || rule == PTO_RULE_QUANTIZE_FROM ? 0 : step->src_count - 1;
}

static pto_status check_pads(const sim *s, sim_core *c, const site_facts *f)
{
    const program_step *step = &c->step;
    const program_tile *taken = taken_for_scratch(s, step);
    for (uint32_t i = 0; c->pad_count != 0 && i < step->src_count; i++) PTO_TRY(check_padded(s, c, step->src[i]));
    if (step->dst == NULL) return PTO_OK;
    if (c->pad_count != 0) forget_pads(c, step->dst);
    if (step->has_pad && step->has_gm && f->pads_to > 0) note_pad(s, c, f->pads_to);
    if (f->destroys) note_destroyed(s, c, step->src[destroyed_source(s, step)]);
    if (taken != NULL) note_destroyed(s, c, taken);
    return PTO_OK;
}

/* Without it a source would be taken, and be gone before it is read. */
static pto_status check_scratch(const sim *s, const sim_core *c)
{
    const program_step *step = &c->step;
    const insn_id id = step->site->insn;
    if (!s->machine->wants_scratch || step->tmp != NULL) return PTO_OK;
    switch (pto_kind_column(s->run, pto_op_kind(step->site->op), PTO_COLUMN_RULE)) {
    case PTO_RULE_REMAINDER:
    case PTO_RULE_REMAINDER_SCALAR:
        if (id == INSN_TFMOD || id == INSN_TFMODS) return PTO_OK; /* their code has none */
        break;
    case PTO_RULE_ROW_REDUCE:
        if (id != INSN_TROWPROD) return PTO_OK;
        break;
    case PTO_RULE_SELECT:
    case PTO_RULE_SELECT_SCALAR:
    case PTO_RULE_ROW_ARGUMENT:
    case PTO_RULE_COL_ARGUMENT:
    case PTO_RULE_SLOPES:
    case PTO_RULE_QUANTIZE:
    case PTO_RULE_QUANTIZE_FROM:
    case PTO_RULE_TRANSPOSE:
    case PTO_RULE_MERGE: break;
    default: return PTO_OK;
    }
    return pto_error(step->site->op, "pto.cpu-sim/no-scratch",
                     "`%.*s` has no scratch operand; its code on machine `%s` needs one: give it a tile as the last "
                     "operand",
                     PTO_FMT(step->site->op_name), s->machine->name);
}

/* ---- events of the library ---- */

/* Entries of a queue that set, or wait for, an event. */
static int64_t count_queued(const sim *s, const sim_pipe *p, step_kind kind, uint32_t src, uint32_t dst, uint32_t id)
{
    int64_t n = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        const sim_entry *e = &p->ring[(p->head + i) % s->options.queue_depth];
        n += e->kind == kind && e->pipe == src && e->dst_pipe == dst && e->event == id;
    }
    return n;
}

/* Tokens of an event that are there when everything that was issued has been done. */
static int64_t count_issued(const sim *s, sim_core *c, uint32_t src, uint32_t dst, uint32_t id)
{
    int64_t n = 0;
    for (const sim_token *t = core_event(c, src, dst, id)->first; t != NULL; t = t->next) n++;
    return n + count_queued(s, &c->pipes[src], STEP_SET_FLAG, src, dst, id) -
           count_queued(s, &c->pipes[dst], STEP_WAIT_FLAG, src, dst, id);
}

static pto_status check_events(const sim *s, sim_core *c, const site_facts *f)
{
    for (uint32_t i = 0; i < f->event_count; i++) {
        const machine_event *e = &f->events[i];
        const uint32_t src = sim_pipe_number(c->kind, e->src), dst = sim_pipe_number(c->kind, e->dst);
        if (src == NO_PIPE || dst == NO_PIPE || count_issued(s, c, src, dst, e->id) <= 0) continue;
        return pto_error(c->step.site->op, "pto.cpu-sim/event-in-use",
                         "the code of `%.*s` uses event %" PRIu32
                         " of %s -> %s on machine `%s`, and a token that the kernel has set is there: take another id",
                         PTO_FMT(c->step.site->op_name), e->id, c->kind->pipe_names[src], c->kind->pipe_names[dst],
                         s->machine->name);
    }
    return PTO_OK;
}

/* ---- products ---- */

static pto_status check_sizes(const sim *s, const sim_core *c, const tile_ref *left, const tile_ref *right)
{
    const int64_t dims[] = {left->valid_rows, left->valid_cols, right->valid_cols};
    for (uint32_t i = 0; i < 3; i++) {
        if (dims[i] >= s->machine->dim_min && dims[i] <= s->machine->dim_max) continue;
        return pto_error(c->step.site->op, "pto.cpu-sim/product-size",
                         "%c of `%.*s` is %" PRId64 "; machine `%s` takes %" PRId64 " to %" PRId64, "mkn"[i],
                         PTO_FMT(c->step.site->op_name), dims[i], s -> machine -> name, s -> machine -> dim_min,
                         s -> machine -> dim_max);
    }
    return PTO_OK;
}

static bool is_compact(const sim_core *c, const program_tile *t)
{
    site_facts *f = &c->launch->kernel->facts[t->site->index];
    if (!f->is_known) f->is_compact = pto_attr_bool_of(t->site->op, PTO_STR("compact"), 0) != 0;
    f->is_known = true;
    return f->is_compact;
}

/* Boxes lie one after the other, so lines of them begin elsewhere when there are fewer in a line. `along`: elements of
 * a line of boxes, `across`: those over all lines. */
static bool is_shifted(int64_t along, int64_t along_capacity, int64_t along_box, int64_t across, int64_t across_box)
{
    return across > across_box && pto_ceil_div(along, along_box) != pto_ceil_div(along_capacity, along_box);
}

/* Whether the matrix unit, which takes lines of boxes for as long as valid, finds other elements than lie there. */
static bool finds_others(const sim_machine *m, const tile_ref *t)
{
    const int64_t wide = m->matrix_row_bytes / (int64_t)element_bytes(t->dtype);
    if (t->role == PTO_ROLE_LEFT) return is_shifted(t->valid_cols, t->cols, wide, t->valid_rows, m->matrix_rows);
    if (t->role == PTO_ROLE_RIGHT) return is_shifted(t->valid_cols, t->cols, m->matrix_rows, t->valid_rows, wide);
    return is_shifted(t->valid_rows, t->rows, m->acc_rows, t->valid_cols, m->acc_cols);
}

static pto_status check_packed(const sim *s, const sim_core *c, const program_tile *t)
{
    const tile_ref *r = &t->ref;
    if (!finds_others(s->machine, r) || is_compact(c, t)) return PTO_OK;
    pto_error(c->step.site->op, "pto.cpu-sim/not-compact",
              "%" PRId64 " x %" PRId64 " of the %" PRId64 " x %" PRId64
              " elements of a tile in `%s` are valid; `%.*s` on "
              "machine `%s` takes them as if they lay without gaps, and finds others",
              r->valid_rows, r->valid_cols, r->rows, r->cols, pto_space_name(s->run, r->space),
              PTO_FMT(c->step.site->op_name), s->machine->name);
    pto_note(t->site->op, "the tile is described here: say `{compact = true}`, and so wherever it is moved or stored");
    return PTO_FAILED;
}

static pto_status check_product(const sim *s, const sim_core *c)
{
    const program_step *step = &c->step;
    PTO_TRY(check_sizes(s, c, &factors_of(step)[0]->ref, &factors_of(step)[1]->ref));
    for (uint32_t i = 0; s->machine->is_packed && i < step->src_count; i++) PTO_TRY(check_packed(s, c, step->src[i]));
    return s->machine->is_packed ? check_packed(s, c, step->dst) : PTO_OK;
}

/* ---- element types ---- */

static pto_status check_in_list(const sim *s, const program_site *site, pto_dtype own, bool through_f32)
{
    const pto_kind_id kind = pto_op_kind(site->op);
    const pto_dtype t = own == PTO_MASK ? PTO_U16 : own; /* rows of bits are words */
    const pto_str has = machine_dtypes(s->run, kind), cost = pto_kind_cost(s->run, kind);
    if (machine_lacks(s->run, kind))
        return pto_error(site->op, "pto.cpu-sim/no-instruction",
                         "machine `%s` has no `%.*s`, since its file has no `instructions.%.*s.dtypes`: write it with "
                         "other instructions, or let passes make them of a tensor op",
                         s->machine->name, PTO_FMT(site->op_name), PTO_FMT(cost));
    if (has.n == 0 || through_f32 || machine_lists(has, pto_dtype_name(t))) return PTO_OK;
    return pto_error(site->op, "pto.cpu-sim/no-instruction",
                     "machine `%s` has no `%.*s` in %s, only in %.*s: compute in one of these", s->machine->name,
                     PTO_FMT(site->op_name), pto_dtype_name(t), PTO_FMT(has));
}

/* That of the first tile that it reads and that is not bits; of bits alone theirs; of nothing that of the result. */
static const program_tile *computed_tile(const program_step *step)
{
    for (uint32_t i = 0; i < step->src_count; i++)
        if (step->src[i]->ref.dtype != PTO_MASK) return step->src[i];
    return step->src_count != 0 ? step->src[0] : step->dst;
}

/* The chip does nothing for a conversion that it does not have, and its compiler refuses other types. */
static pto_status check_types(const sim *s, const sim_core *c, const site_facts *f)
{
    const program_step *step = &c->step;
    const program_site *site = step->site;
    const program_tile *from = computed_tile(step);
    if (site->unit != PTO_UNIT_VECTOR || from == NULL) return PTO_OK;
    PTO_TRY(check_in_list(s, site, from->ref.dtype, f->through_f32));
    if (site->insn != INSN_TCVT) return PTO_OK;
    PTO_TRY(check_in_list(s, site, step->dst->ref.dtype, false));
    if (step->mode == ROUND_ODD &&
        !machine_rounds_to_odd(s->run, pto_op_kind(site->op), from->ref.dtype, step->dst->ref.dtype))
        return pto_error(site->op, "pto.cpu-sim/no-rounding",
                         "machine `%s` does not round %s to %s by `odd`: choose another mode", s->machine->name,
                         pto_dtype_name(from->ref.dtype), pto_dtype_name(step->dst->ref.dtype));
    const pto_str has = machine_conversions(s->run, from->ref.dtype);
    if (machine_lists(has, pto_dtype_name(step->dst->ref.dtype))) return PTO_OK;
    return pto_error(site->op, "pto.cpu-sim/no-conversion",
                     "machine `%s` converts %s to %.*s and not to %s: convert in steps", s->machine->name,
                     pto_dtype_name(from->ref.dtype), PTO_FMT(has.n != 0 ? has : PTO_STR("nothing")),
                     pto_dtype_name(step->dst->ref.dtype));
}

static pto_status check_relation(const sim *s, const sim_core *c, const site_facts *f)
{
    const program_step *step = &c->step;
    if (f->relation == PTO_RELATION_NONE || s->options.is_chip) return PTO_OK;
    const pto_dtype dtype = step->src[0]->ref.dtype;
    const pto_str asked = pto_attr_str_of(step->site->op, PTO_STR("relation")),
                  made = machine_compares_as(s->run, pto_op_kind(step->site->op), dtype, asked);
    return pto_error(step->site->op, "pto.cpu-sim/relation",
                     "`%.*s` asks whether %s are `%.*s`; machine `%s` finds out whether they are `%.*s`: compare what "
                     "`pto.tmax` or `pto.tmin` makes of both with one of them",
                     PTO_FMT(step->site->op_name), pto_dtype_name(dtype), PTO_FMT(asked), s->machine->name,
                     PTO_FMT(made));
}

/* ---- lines ---- */

/* Tiles that are neither a row nor a column. */
static pto_status check_row_major(const sim *s, const sim_core *c)
{
    const program_step *step = &c->step;
    for (uint32_t i = 0; i <= step->src_count; i++) {
        const program_tile *t = i == step->src_count ? step->dst : step->src[i];
        if (t == NULL || t->ref.role != PTO_ROLE_SCRATCHPAD || t->ref.rows == 1 || t->ref.cols == 1 ||
            t->ref.order == PTO_ORDER_ROW)
            continue;
        return pto_error(step->site->op, "pto.cpu-sim/row-major",
                         "`%.*s` takes a tile of %" PRId64 " x %" PRId64
                         " elements whose columns are one after the other; on machine `%s` it takes tiles of rows",
                         PTO_FMT(step->site->op_name), t->ref.rows, t->ref.cols, s->machine->name);
    }
    return PTO_OK;
}

/* Elements from one to the next of a line of the tile, or of either in tiles of boxes. */
static pto_status check_dense(const sim *s, const sim_core *c)
{
    const program_step *step = &c->step;
    const gm_window *w = &step->gm;
    const tile_ref *t = step->dst != NULL ? &step->dst->ref : &step->src[0]->ref;
    if (w->rank == 0) return PTO_OK;
    const int64_t last = w->strides[w->rank - 1], before = w->rank > 1 ? w->strides[w->rank - 2] : last;
    const int64_t right = w->transpose ? before : last, down = w->transpose ? last : before;
    const bool is_row = w->cols <= 1 || right == 1, is_column = w->rows <= 1 || down == 1;
    const bool fits = t->order == PTO_ORDER_ROW      ? is_row
                      : t->order == PTO_ORDER_COLUMN ? is_column
                                                     : is_row || is_column;
    if (fits) return PTO_OK;
    return pto_error(step->site->op, "pto.cpu-sim/dense-lines",
                     "elements of a %s of the tile of `%.*s` are %" PRId64
                     " apart in global memory; on machine `%s` they follow each other: copy lines that do, and "
                     "transpose on chip",
                     t->order == PTO_ORDER_COLUMN ? "column" : "row", PTO_FMT(step->site->op_name),
                     t->order == PTO_ORDER_COLUMN ? down : right, s->machine->name);
}

pto_status check_facts(sim *s, sim_core *c)
{
    const bool is_first = !c->launch->kernel->facts[c->step.site->index].is_known;
    const site_facts *f = facts_of(s, c);
    if (is_first) {
        PTO_TRY(check_types(s, c, f));
        PTO_TRY(check_relation(s, c, f));
        PTO_TRY(check_scratch(s, c));
    }
    if (!f->in_place) PTO_TRY(check_in_place(s, c));
    if (f->row_major) PTO_TRY(check_row_major(s, c));
    if (f->dense_lines) PTO_TRY(check_dense(s, c));
    if (c->step.site->unit == PTO_UNIT_MATRIX) PTO_TRY(check_product(s, c));
    if (f->rounds_scalar || (f->through_f32 && c->step.has_scalar)) PTO_TRY(check_scalar(s, c));
    PTO_TRY(check_pads(s, c, f));
    return check_events(s, c, f);
}

/* Integers that an instruction takes to f32. */
static pto_status check_rounded(const sim *s, const program_site *site, const tile_ref *t, uint32_t source)
{
    int64_t x;
    for (int64_t r = 0; r < t->valid_rows; r++) {
        for (int64_t c = 0; c < t->valid_cols; c++) {
            tile_read_i64(t, r, c, 1, &x);
            if ((int64_t)(float)x == x) continue;
            return pto_error(site->op, "pto.cpu-sim/rounded-element",
                             "`%.*s` reads %" PRId64 " in row %" PRId64 ", column %" PRId64 " of its source %" PRIu32
                             "; on machine `%s` it computes in f32, which makes %" PRId64
                             " of it: keep to 2^24, or divide in steps",
                             PTO_FMT(site->op_name), x, r, c, source + 1, s->machine->name, (int64_t)(float)x);
        }
    }
    return PTO_OK;
}

/* Amounts of shifts, in its second source. */
static pto_status check_shifts(const sim *s, const program_site *site, const tile_ref *t)
{
    const int64_t width = 8 * (int64_t)element_bytes(t->dtype);
    int64_t x;
    for (int64_t r = 0; r < t->valid_rows; r++) {
        for (int64_t c = 0; c < t->valid_cols; c++) {
            tile_read_i64(t, r, c, 1, &x);
            if (x >= 0 && x < width) continue;
            return pto_error(site->op, "pto.cpu-sim/shift",
                             "`%.*s` shifts by %" PRId64 " in row %" PRId64 ", column %" PRId64
                             "; on machine `%s` it shifts %s by 0 to %" PRId64
                             ": choose between results with `pto.tsel`",
                             PTO_FMT(site->op_name), x, r, c, s->machine->name, pto_dtype_name(t->dtype), width - 1);
        }
    }
    return PTO_OK;
}

pto_status check_elements(const sim *s, const sim_core *c, const program_site *site, const insn_call *call)
{
    const site_facts *f = &c->launch->kernel->facts[site->index];
    const uint32_t count =
        pto_kind_column(s->run, pto_op_kind(site->op), PTO_COLUMN_RULE) == PTO_RULE_REMAINDER ? 2 : 1;
    for (uint32_t i = 0; f->through_f32 && i < count; i++) PTO_TRY(check_rounded(s, site, &call->src[i], i));
    return f->below_width ? check_shifts(s, site, &call->src[1]) : PTO_OK;
}

/* ---- what the chip computes ---- */

static bool is_other(const tile_ref *a, const tile_ref *b, int64_t r, int64_t c)
{
    if (a->dtype == PTO_MASK) {
        uint8_t x, y;
        tile_read_bits(a, r, c, 1, &x);
        tile_read_bits(b, r, c, 1, &y);
        return x != y;
    }
    int64_t x, y;
    tile_read_i64(a, r, c, 1, &x);
    tile_read_i64(b, r, c, 1, &y);
    return x != y;
}

static uint64_t count_other(const tile_ref *t, const uint8_t *before)
{
    uint64_t n = 0;
    tile_ref now = *t, old = *t;
    old.base = (uint8_t *)(uintptr_t)before;
    if (t->dtype != PTO_MASK) now.dtype = old.dtype = element_bits_type(t->dtype);
    for (int64_t r = 0; r < t->valid_rows; r++)
        for (int64_t c = 0; c < t->valid_cols; c++) n += is_other(&now, &old, r, c);
    return n;
}

const uint8_t *chip_begin(sim *s, const sim_core *c, const program_site *site, insn_call *call)
{
    const site_facts *f = &c->launch->kernel->facts[site->index];
    const bool clamps = f->saturates && !call->saturate, compares = f->relation != PTO_RELATION_NONE;
    if (!s->options.is_chip || (!clamps && !compares && !f->no_denormals)) return NULL;
    insn_call meant = *call;
    meant.dst.bytes = tile_capacity_bytes(&call->dst);
    meant.dst.base = pto_scratch(s->run, meant.dst.bytes);
    if (insn_run(site->insn, &meant) != PTO_OK) return NULL; /* it is refused as it is */
    if (clamps) call->saturate = true;
    if (compares) call->relation = f->relation;
    if (f->no_denormals) denormals_clear_sources(s->run, call);
    return meant.dst.base;
}

void chip_end(sim *s, const sim_core *c, const program_site *site, const insn_call *call, const uint8_t *meant)
{
    const site_facts *f = &c->launch->kernel->facts[site->index];
    if (meant != NULL && f->no_denormals) denormals_clear(&call->dst);
    const uint64_t other = meant != NULL ? count_other(&call->dst, meant) : 0;
    if (other != 0 && s->other == NULL) {
        s->other = site;
        s->other_why = f->relation != PTO_RELATION_NONE ? "it compares these elements by another relation than is asked"
                       : f->saturates
                           ? "it clamps to the range of the target without being asked; say `saturate`, or "
                             "keep to the range"
                           : "it takes numbers below the least normal one for zeros, and makes zeros instead";
    }
    s->other_elements += other;
}

void report_chip(const sim *s)
{
    if (s->other == NULL) return;
    pto_warning(s->other->op, "pto.cpu-sim/chip-differs",
                "%" PRIu64 " elements are other ones on machine `%s` than instructions mean, the first of `%.*s`: %s",
                s->other_elements, s->machine->name, PTO_FMT(s->other->op_name), s->other_why);
}
