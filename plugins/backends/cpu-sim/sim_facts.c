/* Facts of the chip that the meaning of instructions does not show (`facts` of the machine file): a kernel that every
 * simulator of the instructions runs well, and a chip does not, is refused where it goes wrong.
 *
 * Everything is looked at in the order in which the scalar unit issues, so what is found does not depend on timing. */
#include "cpu-sim/sim.h"

#include <pto/arithmetic.h>
#include <inttypes.h>

static const site_facts *facts_of(const sim *s, const sim_core *c)
{
    const program_site *site = c->step.site;
    const pto_kind_id kind = pto_op_kind(site->op);
    site_facts *f = &c->launch->kernel->facts[site->index];
    if (f->is_known) return f;
    f->is_known = true;
    f->in_place = machine_in_place(s->run, kind) != 0;
    f->rounds_scalar = c->step.has_scalar && c->step.dst != NULL &&
                       machine_scalar_through_f32(s->run, kind, c->step.dst->ref.dtype) != 0;
    f->pads_to = machine_pads_to(s->run, kind);
    const program_tile *of = c->step.src_count != 0 ? c->step.src[0] : c->step.dst;
    f->saturates = site->insn == INSN_TCVT && c->step.dst != NULL &&
                   machine_saturates(s->run, kind, c->step.src[0]->ref.dtype, c->step.dst->ref.dtype) != 0;
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

static pto_status check_padded(const sim_core *c, const program_tile *t)
{
    for (uint32_t i = 0; i < c->pad_count; i++) {
        const short_pad *p = &c->pads[i];
        if (!is_of_pad(p, t) || (t->ref.valid_rows <= p->rows && t->ref.valid_cols <= p->cols)) continue;
        pto_error(c->step.site->op, "pto.cpu-sim/pad",
                  "`%.*s` reads %" PRId64 " x %" PRId64 " elements of a tile of which a load has filled %" PRId64
                  " x %" PRId64 "; the rest is what was there before",
                  PTO_FMT(c->step.site->op_name), t->ref.valid_rows, t->ref.valid_cols, p->rows, p->cols);
        pto_note(p->load->op, "the load is here; `pad` fills rows to a multiple of some bytes on this machine, "
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
    c->pads[c->pad_count++] = (short_pad){.load = c->step.site,
                                          .space = t->ref.space,
                                          .lo = t->address,
                                          .hi = t->address + (int64_t)tile_capacity_bytes(&t->ref),
                                          .rows = t->ref.valid_rows,
                                          .cols = cols};
}

static pto_status check_pads(const sim *s, sim_core *c, const site_facts *f)
{
    const program_step *step = &c->step;
    for (uint32_t i = 0; c->pad_count != 0 && i < step->src_count; i++) PTO_TRY(check_padded(c, step->src[i]));
    if (step->dst == NULL) return PTO_OK;
    if (c->pad_count != 0) forget_pads(c, step->dst);
    if (step->has_pad && step->has_gm && f->pads_to > 0) note_pad(s, c, f->pads_to);
    return PTO_OK;
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
    PTO_TRY(check_sizes(s, c, &step->src[step->src_count - 2]->ref, &step->src[step->src_count - 1]->ref));
    for (uint32_t i = 0; s->machine->is_packed && i < step->src_count; i++) PTO_TRY(check_packed(s, c, step->src[i]));
    return s->machine->is_packed ? check_packed(s, c, step->dst) : PTO_OK;
}

pto_status check_facts(sim *s, sim_core *c)
{
    const site_facts *f = facts_of(s, c);
    if (!f->in_place) PTO_TRY(check_in_place(s, c));
    if (c->step.site->unit == PTO_UNIT_MATRIX) PTO_TRY(check_product(s, c));
    if (f->rounds_scalar) PTO_TRY(check_scalar(s, c));
    PTO_TRY(check_pads(s, c, f));
    return check_events(s, c, f);
}

/* ---- what the chip computes ---- */

static uint64_t count_other(const tile_ref *t, const uint8_t *before)
{
    uint64_t n = 0;
    int64_t a, b;
    tile_ref old = *t;
    old.base = (uint8_t *)(uintptr_t)before;
    for (int64_t r = 0; r < t->valid_rows; r++) {
        for (int64_t c = 0; c < t->valid_cols; c++) {
            tile_read_i64(t, r, c, 1, &a);
            tile_read_i64(&old, r, c, 1, &b);
            n += a != b;
        }
    }
    return n;
}

const uint8_t *chip_begin(sim *s, const sim_core *c, const program_site *site, insn_call *call)
{
    const site_facts *f = &c->launch->kernel->facts[site->index];
    if (!s->options.is_chip || !f->saturates || call->saturate) return NULL;
    insn_call meant = *call;
    meant.dst.bytes = tile_capacity_bytes(&call->dst);
    meant.dst.base = pto_scratch(s->run, meant.dst.bytes);
    if (insn_run(site->insn, &meant) != PTO_OK) return NULL; /* it is refused as it is */
    call->saturate = true;
    return meant.dst.base;
}

void chip_end(sim *s, const program_site *site, const insn_call *call, const uint8_t *meant)
{
    const uint64_t other = meant != NULL ? count_other(&call->dst, meant) : 0;
    if (other != 0 && s->other == NULL) s->other = site;
    s->other_elements += other;
}

void report_chip(const sim *s)
{
    if (s->other == NULL) return;
    pto_warning(s->other->op, "pto.cpu-sim/chip-differs",
                "%" PRIu64 " elements are other ones on machine `%s` than instructions mean, the first of `%.*s`: it "
                "clamps to the range of the target without being asked; say `saturate`, or keep to the range",
                s->other_elements, s->machine->name, PTO_FMT(s->other->op_name));
}
