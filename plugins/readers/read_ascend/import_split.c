/* A function that works on vector and on matrix units becomes a kernel for each part of it that runs on one of them,
 * launched one after the other.
 *
 * The first time through, each op outside of loops and branches is a step. Steps that hand a tile on are of one kernel;
 * a step that another unit has to be done for, by memory or a queue, is of a later one. What is in a loop or a branch
 * is of the step of that. */
#include "import.h"

/* ---- what ops use, by their text ---- */

static int is_blank(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

/* Unit of the type of a tile: that of its `loc`. */
static uint32_t unit_of_type(pto_str body)
{
    for (size_t i = 0; i + 3 < body.n; i++) {
        if (memcmp(body.p + i, "loc", 3) != 0 || (i != 0 && body.p[i - 1] != ',' && !is_blank(body.p[i - 1]))) continue;
        size_t at = i + 3;
        while (at < body.n && (is_blank(body.p[at]) || body.p[at] == '=')) at++;
        return at + 3 <= body.n && memcmp(body.p + at, "vec", 3) == 0 ? IMPORT_VECTOR : IMPORT_CUBE;
    }
    return 0;
}

static uint32_t units_of_nodes(const mlir_node *first)
{
    uint32_t units = 0;
    for (const mlir_node *n = first; n != NULL; n = n->next) {
        if (n->kind == MLIR_TYPE || n->kind == MLIR_ANGLE) units |= unit_of_type(n->body);
        if (n->kind == MLIR_GROUP) units |= units_of_nodes(n->first); /* as deep as the parser lets brackets be */
    }
    return units;
}

int import_is_queue_op(pto_str name)
{
    return name.n > 9 && (memcmp(name.p, "pto.tpush", 9) == 0 || memcmp(name.p, "pto.tpop_", 9) == 0);
}

uint32_t import_units_of(const mlir_op *first)
{
    uint32_t units = 0;
    for (const mlir_op *op = first; op != NULL; op = op->next) {
        units |= units_of_nodes(op->arguments);
        if (import_is_queue_op(op->name)) units |= IMPORT_QUEUE;
        for (const mlir_region *r = op->regions; r != NULL; r = r->next) units |= import_units_of(r->first);
    }
    return units;
}

int import_is_mixed(uint32_t units)
{
    return (units & IMPORT_QUEUE) != 0 || (units & (IMPORT_VECTOR | IMPORT_CUBE)) == (IMPORT_VECTOR | IMPORT_CUBE);
}

/* ---- steps ---- */

pto_status import_begin_step(importer *im, const mlir_op *op, int *is_of_kernel)
{
    const uint32_t number = im->step_number++;
    im->step = number;
    *is_of_kernel = 1;
    if (im->analyses) {
        if (im->is_mixed && number == IMPORT_STEPS_MAX)
            return import_refuse(im, op,
                                 "comes after %d others in a function that works on several units, the most "
                                 "that are read",
                                 IMPORT_STEPS_MAX);
        PTO_GROW(im->run, im->steps, im->step_count, im->step_capacity);
        im->steps[im->step_count++] = (import_step){.op = op, .group = number};
    } else if (im->is_split) {
        const import_step *s = number < im->step_count ? &im->steps[number] : NULL;
        if (s == NULL || s->op != op)
            return import_refuse(im, op,
                                 "is reached by a condition that is not known at once, in a function that "
                                 "works on several units, which is not read");
        *is_of_kernel = s->units == 0 || (s->units == im->unit && im->steps[s->group].phase == im->phase);
    }
    return PTO_OK;
}

static uint32_t group_of(const importer *im, uint32_t step)
{
    while (im->steps[step].group != step) step = im->steps[step].group;
    return step;
}

void import_use_unit(importer *im, uint32_t unit)
{
    if (im->analyses && im->step_count != 0) im->steps[im->step].units |= unit;
}

void import_use_tile(importer *im, import_tile *t, int is_new)
{
    if (!im->analyses || im->step_count == 0) return;
    if (t->sides[0] != NULL) {
        import_use_tile(im, t->sides[0], 0);
        import_use_tile(im, t->sides[1], 0);
        return;
    }
    import_tile *root = t->root != NULL ? t->root : t;
    im->steps[im->step].touches = 1;
    import_use_unit(im, t->type.role == PTO_ROLE_SCRATCHPAD ? IMPORT_VECTOR : IMPORT_CUBE);
    /* A loop may run zero times, and tiles with addresses may lie on each other: what was there stays. */
    const int starts = is_new && im->depth == 0 && !PTO_SOME(root->address);
    uint32_t *last = PTO_SOME(root->address) ? &im->last_of_role[t->type.role] : &root->last_step;
    if (*last != 0 && !starts) {
        const uint32_t a = group_of(im, *last - 1), b = group_of(im, im->step);
        im->steps[a > b ? a : b].group = a > b ? b : a;
    }
    *last = im->step + 1;
}

void import_use_memory(importer *im, import_memory *m, int writes, int64_t slot)
{
    if (!im->analyses || im->step_count == 0) return;
    im->steps[im->step].touches = 1;
    PTO_GROW(im->run, im->accesses, im->access_count, im->access_capacity);
    im->accesses[im->access_count++] = (import_access){.step = im->step, .memory = m, .writes = writes, .slot = slot};
}

/* ---- phases ---- */

/* Whether `a` comes before `b`, which stands after it in the text; of a queue, what is pushed before it is popped. */
static int is_ordered(const import_access *a, const import_access *b)
{
    if (a->memory->pointer != b->memory->pointer || (!a->writes && !b->writes)) return 0;
    return a->slot < 0 || a->slot == b->slot;
}

/* 1: `to` has to be later than it was. */
static int push_back(importer *im, const import_access *from, const import_access *to)
{
    const import_step *a = &im->steps[from->step], *b = &im->steps[to->step];
    const uint32_t need = im->steps[group_of(im, from->step)].phase + (a->units != b->units);
    import_step *late = &im->steps[group_of(im, to->step)];
    if (late->phase >= need) return 0;
    late->phase = need;
    return 1;
}

static pto_status order_steps(importer *im)
{
    for (uint32_t round = 0, changed = 1; changed != 0; round++) {
        changed = 0;
        for (uint32_t j = 0; j < im->access_count; j++)
            for (uint32_t i = 0; i < j; i++) {
                const import_access *a = &im->accesses[i], *b = &im->accesses[j];
                if (!is_ordered(a, b)) continue;
                const int turns = a->slot >= 0 && b->writes;
                if (!push_back(im, turns ? b : a, turns ? a : b)) continue;
                changed = 1;
                if (round > im->step_count)
                    return import_refuse(im, im->steps[b->step].op,
                                         "keeps tiles from before what another unit does to after it, which is not "
                                         "read: write them to memory, or load them again");
            }
        PTO_TRY(pto_go_on(im->run));
    }
    return PTO_OK;
}

static pto_status check_steps(const importer *im)
{
    for (uint32_t i = 0; i < im->step_count; i++) {
        const import_step *s = &im->steps[i];
        if (s->units == (IMPORT_VECTOR | IMPORT_CUBE))
            return import_refuse(im, s->op,
                                 "works on vector and on matrix units in one piece; what is read are parts of which "
                                 "each works on one, and loops around them with constant bounds, of at most %d rounds",
                                 IMPORT_ROUNDS_MAX);
    }
    return PTO_OK;
}

/* Flags and barriers touch nothing: they are of the one kernel of their unit. */
static pto_status place_flags(importer *im)
{
    for (uint32_t i = 0; i < im->step_count; i++) {
        import_step *s = &im->steps[i];
        int is_known = 0;
        if (s->units == 0 || s->touches) continue;
        for (uint32_t k = 0; k < im->step_count; k++) {
            const import_step *of = &im->steps[k];
            if (of->units != s->units || !of->touches) continue;
            const uint32_t phase = im->steps[group_of(im, k)].phase;
            if (is_known && phase != s->phase)
                return import_refuse(im, s->op,
                                     "is in a function whose parts on its unit are several kernels, which "
                                     "is not read: leave flags and barriers out, the compiler adds them");
            is_known = 1;
            s->phase = phase;
        }
    }
    return PTO_OK;
}

pto_status import_split(importer *im)
{
    PTO_TRY(check_steps(im));
    PTO_TRY(order_steps(im));
    PTO_TRY(place_flags(im));
    for (uint32_t i = 0; i < im->step_count; i++) {
        im->steps[i].group = group_of(im, i);
        const uint32_t phase = im->steps[im->steps[i].group].phase;
        if (im->steps[i].units != 0 && phase >= im->phase_count) im->phase_count = phase + 1;
    }
    im->is_split = 1;
    return PTO_OK;
}

int import_has_kernel(const importer *im, uint32_t phase, uint32_t unit)
{
    if (im->phase_count == 0) return unit == IMPORT_VECTOR; /* nothing is done */
    for (uint32_t i = 0; i < im->step_count; i++)
        if (im->steps[i].units == unit && im->steps[im->steps[i].group].phase == phase) return 1;
    return 0;
}

void import_set_uses(importer *im, int of_all)
{
    if (!im->is_split) return;
    for (import_memory *m = im->memories; m != NULL; m = m->next) m->reads = m->writes = 0;
    for (uint32_t i = 0; i < im->access_count; i++) {
        const import_access *a = &im->accesses[i];
        const import_step *s = &im->steps[a->step];
        if (!of_all && (s->units != im->unit || im->steps[s->group].phase != im->phase)) continue;
        a->memory->reads |= !a->writes;
        a->memory->writes |= a->writes;
    }
}

/* ---- what the kernel of a part does not use ---- */

static pto_status drop_unused(const importer *im, pto_block block)
{
    pto_op op = pto_block_last(block);
    while (PTO_SOME(op)) {
        const pto_op before = pto_op_prev(op);
        const pto_kind_id kind = pto_op_kind(op);
        for (uint32_t i = 0; i < pto_op_block_count(op); i++) PTO_TRY(drop_unused(im, pto_op_block_at(op, i)));
        if ((kind == im->kinds[KIND_TILE] || kind == im->kinds[KIND_BUFFER]) && !pto_op_is_used(op))
            PTO_TRY(pto_op_erase(op));
        op = before;
    }
    return PTO_OK;
}

pto_status import_drop_unused(const importer *im) { return drop_unused(im, pto_body(im->kernel)); }
