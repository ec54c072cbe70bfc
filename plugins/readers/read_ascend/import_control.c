/* Ops in order, loops and branches. */
#include "import.h"

enum { RESULTS_MAX = 16 };

/* What a region hands over, or what an op has as results. */
typedef struct handed {
    import_name items[RESULTS_MAX];
    uint32_t count;
} handed;

/* ---- values that regions hand over: views and tiles, the same ones from everywhere ---- */

static int same_windows(const import_window *a, const import_window *b)
{
    int is_same = a->pointer == b->pointer && a->memory == b->memory && a->is_turned == b->is_turned;
    for (uint32_t d = 0; is_same && d < a->rank; d++)
        is_same = pto_expr_same(a->offsets[d], b->offsets[d]) && pto_expr_same(a->sizes[d], b->sizes[d]);
    return is_same;
}

static int are_same(const import_name *a, const import_name *b)
{
    if (a->kind != b->kind) return 0;
    if (a->kind == IMPORT_VIEW) return same_windows(a->window, b->window);
    if (a->kind == IMPORT_TILE) return a->tile == b->tile;
    return a->kind == IMPORT_INDEX && PTO_SOME(a->index) && PTO_SOME(b->index) && pto_expr_same(a->index, b->index);
}

/* `scf.yield %a, %b : types`; no operands without one. */
static pto_status read_yield(importer *im, const mlir_op *first, handed *out)
{
    const mlir_op *last = first;
    const mlir_node *name = NULL, *type = NULL;
    enum { ANY = 0xffff };
    while (last != NULL && last->next != NULL) last = last->next;
    out->count = 0;
    if (last == NULL || !pto_str_is(last->name, "scf.yield") || last->arguments == NULL) return PTO_OK;
    mlir_cursor c = mlir_arguments(im->run, last);
    do {
        const import_name *what;
        if (out->count == RESULTS_MAX) return import_refuse(im, last, "hands over more than %d values", RESULTS_MAX);
        if (!mlir_take(&c, MLIR_VALUE, &name)) return mlir_expected(&c, "a value");
        PTO_TRY(import_find(im, name, ANY, "a value", &what));
        out->items[out->count++] = *what;
    } while (mlir_take_mark(&c, ','));
    if (!mlir_take_mark(&c, ':')) return mlir_expected(&c, "`:` and types");
    do PTO_TRY(import_take_type(&c, &type));
    while (mlir_take_mark(&c, ','));
    return mlir_at_end(&c);
}

/* `%a, %b =`, or `%a:2 =`, of which the first is `%a#0`. */
static pto_status define_results(importer *im, const mlir_op *op, const handed *from)
{
    uint32_t i = 0;
    for (const mlir_node *n = op->results; n != NULL; n = n->next) {
        int64_t count = 1;
        const int is_many = n->next != NULL && n->next->kind == MLIR_NUMBER;
        if (is_many) PTO_TRY(import_number_of(im, n->next, &count));
        for (int64_t k = 0; k < count; k++, i++) {
            mlir_node name = *n;
            char *text = PTO_SCRATCH(im->run, char, n->text.n + 24);
            memcpy(text, n->text.p, n->text.n);
            if (is_many)
                name.text =
                    pto_str_make(text, n->text.n + (size_t)snprintf(text + n->text.n, 24, "#%lld", (long long)k));
            if (i >= from->count) return import_refuse(im, op, "has more results than its regions hand over");
            PTO_TRY(import_define(im, &name, from->items[i]));
        }
        if (is_many) n = n->next;
    }
    return i == from->count ? PTO_OK : import_refuse(im, op, "has fewer results than its regions hand over");
}

static pto_status inside(importer *im, const mlir_region *region, pto_block block, handed *out)
{
    const uint32_t mark = import_open(im);
    const pto_block outer = im->block;
    im->block = block;
    im->depth++;
    PTO_TRY(import_ops(im, region->first));
    PTO_TRY(read_yield(im, region->first, out));
    if (im->builds) {
        pto_spec end = IMPORT_SPEC(im, YIELD);
        PTO_NEED(import_build(im, &end));
    }
    im->depth--;
    im->block = outer;
    import_close(im, mark);
    return PTO_OK;
}

/* A region that is gone through once, where it stands. */
static pto_status in_place(importer *im, const mlir_region *region, handed *out)
{
    const uint32_t mark = import_open(im);
    PTO_TRY(import_ops(im, region->first));
    PTO_TRY(read_yield(im, region->first, out));
    import_close(im, mark);
    return PTO_OK;
}

/* ---- loops and branches ---- */

/* `-> (types)` */
static pto_status skip_types(mlir_cursor *c)
{
    mlir_cursor in;
    const mlir_node *type = NULL;
    if (!mlir_take_mark(c, '>')) return PTO_OK;
    if (!mlir_enter(c, '(', &in)) return import_take_type(c, &type);
    do PTO_TRY(import_take_type(&in, &type));
    while (mlir_take_mark(&in, ','));
    return mlir_at_end(&in);
}

/* `iter_args(%a = %b) -> (types)`: what is carried, and the names of it. */
static pto_status read_carried(importer *im, mlir_cursor *c, const mlir_node *names[RESULTS_MAX], handed *out)
{
    mlir_cursor in;
    const mlir_node *init = NULL;
    enum { LEGAL = 1 << IMPORT_VIEW | 1 << IMPORT_TILE | 1 << IMPORT_INDEX };
    out->count = 0;
    if (!mlir_take_word(c, "iter_args")) return PTO_OK;
    if (!mlir_enter(c, '(', &in)) return mlir_expected(c, "`(`");
    do {
        const import_name *what;
        if (out->count == RESULTS_MAX) return mlir_expected(&in, "no more than 16 values");
        if (!mlir_take(&in, MLIR_VALUE, &names[out->count])) return mlir_expected(&in, "a name");
        if (!mlir_take_mark(&in, '=') || !mlir_take(&in, MLIR_VALUE, &init))
            return mlir_expected(&in, "`=` and a value");
        PTO_TRY(import_find(im, init, LEGAL, "a view, a tile or an integer: loops carry no others", &what));
        out->items[out->count++] = *what;
    } while (mlir_take_mark(&in, ','));
    PTO_TRY(mlir_at_end(&in));
    return skip_types(c);
}

static pto_status check_handed(const importer *im, const mlir_op *op, const handed *a, const handed *b)
{
    if (a->count != b->count) return import_refuse(im, op, "hands over %u values and %u", a->count, b->count);
    for (uint32_t i = 0; i < a->count; i++)
        if (!are_same(&a->items[i], &b->items[i]))
            return import_refuse(im, op, "hands over value %u, which is not one view or tile whichever way is taken",
                                 i);
    return PTO_OK;
}

/* Loops that carry integers, and those of which a round belongs to several kernels, are read round by round. */
static int goes_by_rounds(const importer *im, const mlir_op *op, const handed *carried)
{
    for (uint32_t i = 0; i < carried->count; i++)
        if (carried->items[i].kind == IMPORT_INDEX) return 1;
    return im->depth == 0 && im->is_mixed && import_is_mixed(import_units_of(op->regions->first));
}

static pto_status loop_by_rounds(importer *im, const mlir_op *op, const pto_expr range[3], const mlir_node *index,
                                 const mlir_node *const *names, handed *carried)
{
    int64_t from, to, step;
    handed next;
    const int is_known = PTO_SOME(range[0]) && PTO_SOME(range[1]) && PTO_SOME(range[2]) &&
                         pto_expr_is_const(range[0], &from) && pto_expr_is_const(range[1], &to) &&
                         pto_expr_is_const(range[2], &step);
    if (!is_known || step < 1 || to - from > step * IMPORT_ROUNDS_MAX)
        return import_refuse(im, op,
                             "carries integers, or works on several units; what is read of such loops has bounds and a "
                             "step that are numbers, and at most %d rounds",
                             IMPORT_ROUNDS_MAX);
    for (int64_t i = from; i < to; i += step) {
        const uint32_t mark = import_open(im);
        const import_name at = {.kind = IMPORT_INDEX, .dtype = PTO_INDEX, .index = pto_expr_const(im->run, i)};
        PTO_TRY(import_define(im, index, at));
        for (uint32_t k = 0; k < carried->count; k++) PTO_TRY(import_define(im, names[k], carried->items[k]));
        PTO_TRY(in_place(im, op->regions, &next));
        import_close(im, mark);
        if (next.count != carried->count)
            return import_refuse(im, op, "hands over %u values and %u", carried->count, next.count);
        *carried = next;
    }
    return define_results(im, op, carried);
}

static pto_status build_loop(importer *im, const mlir_op *op, const pto_expr range[3], const mlir_node *index,
                             import_name *out, pto_block *body)
{
    static const char *const words[] = {"from", "to", "step"};
    if (!import_is_at_least(im, range[2], 1))
        return import_refuse(im, op, "has a step that is not known to be above 0");
    im->loc = import_loc(im, op);
    pto_spec s = IMPORT_SPEC(im, FOR);
    for (uint32_t i = 0; i < 3; i++) pto_spec_exprs(&s, pto_s(words[i]), 1, &range[i]);
    pto_spec_blocks(&s, 1);
    const pto_op made = import_build(im, &s);
    PTO_NEED(made);
    *body = pto_body(made);
    out->value = pto_block_add_arg(*body, pto_type_scalar(im->run, PTO_INDEX), import_plain_name(im, index->text));
    PTO_NEED(out->value);
    out->index = pto_expr_value(out->value);
    return PTO_OK;
}

static pto_status loop(importer *im, const mlir_op *op)
{
    mlir_cursor c = mlir_arguments(im->run, op);
    const mlir_node *index = NULL, *names[RESULTS_MAX], *type = NULL;
    pto_expr range[3];
    handed carried, yielded;
    if (!mlir_take(&c, MLIR_VALUE, &index)) return mlir_expected(&c, "the name of the index");
    if (!mlir_take_mark(&c, '=')) return mlir_expected(&c, "`=`");
    PTO_TRY(import_index(im, &c, &range[0]));
    if (!mlir_take_word(&c, "to")) return mlir_expected(&c, "`to`");
    PTO_TRY(import_index(im, &c, &range[1]));
    if (!mlir_take_word(&c, "step")) return mlir_expected(&c, "`step`");
    PTO_TRY(import_index(im, &c, &range[2]));
    PTO_TRY(read_carried(im, &c, names, &carried));
    if (mlir_take_mark(&c, ':')) PTO_TRY(import_take_type(&c, &type));
    PTO_TRY(mlir_at_end(&c));
    if (op->regions == NULL || op->regions->next != NULL) return import_refuse(im, op, "has one region");
    if (goes_by_rounds(im, op, &carried)) return loop_by_rounds(im, op, range, index, names, &carried);
    const uint32_t mark = import_open(im);
    import_name i = {.kind = IMPORT_INDEX, .dtype = PTO_INDEX, .index = pto_expr_none(im->run)};
    pto_block body = im->block;
    if (im->builds) PTO_TRY(build_loop(im, op, range, index, &i, &body));
    PTO_TRY(import_define(im, index, i));
    for (uint32_t k = 0; k < carried.count; k++) PTO_TRY(import_define(im, names[k], carried.items[k]));
    PTO_TRY(inside(im, op->regions, body, &yielded));
    import_close(im, mark);
    PTO_TRY(check_handed(im, op, &carried, &yielded));
    return define_results(im, op, &carried);
}

static pto_status build_branch(importer *im, const mlir_op *op, const import_name *holds, uint32_t blocks, pto_op *made)
{
    const pto_relation r = holds->kind == IMPORT_CONDITION ? holds->relation : PTO_RELATION_NE;
    const pto_expr left = holds->kind == IMPORT_SCALAR ? pto_expr_value(holds->value) : holds->index,
                   right = holds->kind == IMPORT_CONDITION ? holds->right : pto_expr_const(im->run, 0);
    im->loc = import_loc(im, op);
    pto_spec s = IMPORT_SPEC(im, IF);
    pto_spec_str(&s, PTO_STR("relation"), pto_s(pto_relation_word(r)));
    pto_spec_exprs(&s, PTO_STR("left"), 1, &left);
    pto_spec_exprs(&s, PTO_STR("right"), 1, &right);
    pto_spec_blocks(&s, blocks);
    *made = import_build(im, &s);
    return PTO_SOME(*made) ? PTO_OK : PTO_FAILED;
}

/* What comes out of both sides of a branch: one view or tile, or integers of which the condition tells which. */
static pto_status join(importer *im, const mlir_op *op, const import_name *holds, handed *a, const handed *b)
{
    if (a->count != b->count) return import_refuse(im, op, "hands over %u values and %u", a->count, b->count);
    const pto_expr truth = import_truth(im, holds);
    for (uint32_t i = 0; i < a->count; i++) {
        import_name *x = &a->items[i];
        const import_name *y = &b->items[i];
        if (x->kind == IMPORT_TILE && y->kind == IMPORT_TILE && x->tile != y->tile &&
            import_same_type(x->tile, y->tile))
            x->tile = import_choice(im, truth, x->tile, y->tile);
        if (x->kind != IMPORT_INDEX || y->kind != IMPORT_INDEX || are_same(x, y)) continue;
        const int is_known = PTO_SOME(truth) && PTO_SOME(x->index) && PTO_SOME(y->index);
        x->index = is_known ? import_choose(truth, x->index, y->index) : pto_expr_none(im->run);
        if (is_known && !PTO_SOME(x->index))
            return import_refuse(im, op, "hands over value %u, which is not a number or a sum of names on both sides",
                                 i);
    }
    return PTO_OK;
}

static int is_choice(const import_name *n) { return n->kind == IMPORT_TILE && n->tile->sides[0] != NULL; }

static pto_status check_joined(const importer *im, const mlir_op *op, const handed *a, const handed *b)
{
    for (uint32_t i = 0; i < a->count; i++)
        if (a->items[i].kind != b->items[i].kind ||
            (a->items[i].kind != IMPORT_INDEX && !is_choice(&a->items[i]) && !are_same(&a->items[i], &b->items[i])))
            return import_refuse(im, op, "hands over value %u, which is not one view or tile whichever way is taken",
                                 i);
    return PTO_OK;
}

static pto_status branch(importer *im, const mlir_op *op)
{
    mlir_cursor c = mlir_arguments(im->run, op);
    const mlir_node *name = NULL;
    const import_name *holds;
    handed sides[2] = {{.count = 0}, {.count = 0}};
    pto_op made = pto_op_none(im->run);
    enum { LEGAL = 1 << IMPORT_CONDITION | 1 << IMPORT_INDEX | 1 << IMPORT_SCALAR };
    if (!mlir_take(&c, MLIR_VALUE, &name)) return mlir_expected(&c, "a condition");
    PTO_TRY(skip_types(&c));
    const int has_else = mlir_take_word(&c, "else");
    PTO_TRY(mlir_at_end(&c));
    const mlir_region *then = op->regions, *other = then != NULL ? then->next : NULL;
    if (then == NULL || (other != NULL) != has_else || (other != NULL && other->next != NULL))
        return import_refuse(im, op, "has one region, or two with `else` between");
    PTO_TRY(import_find(im, name, LEGAL, "a condition", &holds));
    const import_name condition = *holds;
    const pto_expr truth = import_truth(im, &condition);
    int64_t is_taken;
    if (PTO_SOME(truth) && pto_expr_is_const(truth, &is_taken)) {
        if (is_taken == 0 && other == NULL) return define_results(im, op, &sides[0]);
        PTO_TRY(in_place(im, is_taken != 0 ? then : other, &sides[0]));
        return define_results(im, op, &sides[0]);
    }
    if (im->builds) PTO_TRY(build_branch(im, op, holds, has_else ? 2 : 1, &made));
    PTO_TRY(inside(im, then, im->builds ? pto_op_block_at(made, 0) : im->block, &sides[0]));
    if (has_else) PTO_TRY(inside(im, other, im->builds ? pto_op_block_at(made, 1) : im->block, &sides[1]));
    PTO_TRY(join(im, op, &condition, &sides[0], &sides[1]));
    PTO_TRY(check_joined(im, op, &sides[0], &sides[1]));
    return define_results(im, op, &sides[0]);
}

/* ---- scf.while: round by round ---- */

/* `%a: type, %b: type`: names of what a region takes. */
static pto_status define_arguments(importer *im, const mlir_op *op, const mlir_node *group, const handed *from)
{
    mlir_cursor in = mlir_arguments(im->run, op);
    const mlir_node *name = NULL, *type = NULL;
    in.at = group != NULL ? group->first : NULL;
    for (uint32_t i = 0; i < from->count; i++) {
        if (i != 0 && !mlir_take_mark(&in, ',')) return mlir_expected(&in, "`,` and an argument for each value");
        if (!mlir_take(&in, MLIR_VALUE, &name)) return mlir_expected(&in, "an argument for each value");
        if (mlir_take_mark(&in, ':')) PTO_TRY(import_take_type(&in, &type));
        PTO_TRY(import_define(im, name, from->items[i]));
    }
    return mlir_at_end(&in);
}

/* `scf.condition(%go) %a, %b : types` at the end of the first region. */
static pto_status read_condition(importer *im, const mlir_op *op, const mlir_op *first, int64_t *goes_on, handed *out)
{
    mlir_cursor c, in;
    const mlir_node *name = NULL, *type = NULL;
    const import_name *what;
    const mlir_op *last = first;
    enum { ANY = 0xffff };
    while (last != NULL && last->next != NULL) last = last->next;
    if (last == NULL || !pto_str_is(last->name, "scf.condition"))
        return import_refuse(im, op, "has a first region that does not end with `scf.condition`");
    c = mlir_arguments(im->run, last);
    if (!mlir_enter(&c, '(', &in) || !mlir_take(&in, MLIR_VALUE, &name))
        return mlir_expected(&c, "`(` and a condition");
    PTO_TRY(
        import_find(im, name, 1 << IMPORT_CONDITION | 1 << IMPORT_INDEX | 1 << IMPORT_SCALAR, "a condition", &what));
    const pto_expr truth = import_truth(im, what);
    if (!PTO_SOME(truth) || !pto_expr_is_const(truth, goes_on))
        return import_refuse(im, op,
                             "goes on by a condition that numbers alone do not decide; what is read is gone "
                             "through round by round");
    for (out->count = 0; c.at != NULL && !mlir_take_mark(&c, ':'); (void)mlir_take_mark(&c, ',')) {
        if (out->count == RESULTS_MAX) return mlir_expected(&c, "no more than 16 values");
        if (!mlir_take(&c, MLIR_VALUE, &name)) return mlir_expected(&c, "a value");
        PTO_TRY(import_find(im, name, ANY, "a value", &what));
        out->items[out->count++] = *what;
    }
    for (uint32_t i = 0; i < out->count; i++) {
        if (i != 0 && !mlir_take_mark(&c, ',')) return mlir_expected(&c, "`,` and a type");
        PTO_TRY(import_take_type(&c, &type));
    }
    return mlir_at_end(&c);
}

/* `(%a = %b, ..) : (types) -> (types)`: the names of what is carried, and what it is at first. */
static pto_status read_first(importer *im, const mlir_op *op, const mlir_node *names[RESULTS_MAX], handed *out)
{
    mlir_cursor c = mlir_arguments(im->run, op), in;
    const mlir_node *init = NULL;
    const import_name *what;
    enum { ANY = 0xffff };
    out->count = 0;
    if (!mlir_enter(&c, '(', &in)) return mlir_expected(&c, "`(`");
    while (in.at != NULL) {
        if (out->count == RESULTS_MAX) return mlir_expected(&in, "no more than 16 values");
        if (!mlir_take(&in, MLIR_VALUE, &names[out->count]) || !mlir_take_mark(&in, '=') ||
            !mlir_take(&in, MLIR_VALUE, &init))
            return mlir_expected(&in, "a name, `=` and a value");
        PTO_TRY(import_find(im, init, ANY, "a value", &what));
        out->items[out->count++] = *what;
        if (in.at != NULL && !mlir_take_mark(&in, ',')) return mlir_expected(&in, "`,`");
    }
    return PTO_OK;
}

static pto_status repeat(importer *im, const mlir_op *op)
{
    const mlir_node *names[RESULTS_MAX];
    handed carried = {.count = 0}, passed = {.count = 0};
    PTO_TRY(read_first(im, op, names, &carried));
    if (op->regions == NULL || op->regions->next == NULL || op->regions->next->next != NULL)
        return import_refuse(im, op, "has two regions, with `do` between");
    for (uint32_t round = 0;; round++) {
        int64_t goes_on = 0;
        const uint32_t mark = import_open(im);
        for (uint32_t k = 0; k < carried.count; k++) PTO_TRY(import_define(im, names[k], carried.items[k]));
        PTO_TRY(import_ops(im, op->regions->first));
        PTO_TRY(read_condition(im, op, op->regions->first, &goes_on, &passed));
        import_close(im, mark);
        if (goes_on == 0) return define_results(im, op, &passed);
        if (round == IMPORT_ROUNDS_MAX) return import_refuse(im, op, "has more than %d rounds", IMPORT_ROUNDS_MAX);
        PTO_TRY(define_arguments(im, op, op->regions->next->arguments, &passed));
        PTO_TRY(in_place(im, op->regions->next, &carried));
        import_close(im, mark);
    }
}

/* `pto.section.vector { .. }`: what a core of that kind runs. */
static pto_status section(importer *im, const mlir_op *op)
{
    handed nothing;
    mlir_cursor c = mlir_arguments(im->run, op);
    PTO_TRY(mlir_at_end(&c));
    if (op->results != NULL || op->regions == NULL || op->regions->next != NULL)
        return import_refuse(im, op, "has one region");
    const int is_vector = pto_str_is(op->name, "pto.section.vector");
    const uint32_t outer = im->section;
    im->is_vector |= is_vector;
    im->is_cube |= !is_vector;
    im->section = is_vector ? IMPORT_VECTOR : IMPORT_CUBE;
    PTO_TRY(in_place(im, op->regions, &nothing));
    im->section = outer;
    return PTO_OK;
}

/* The number of the instance, or of the vector core in its cluster, or how many of these there are. */
static pto_status instance(importer *im, const mlir_op *op)
{
    mlir_cursor c = mlir_arguments(im->run, op);
    const int is_count = pto_str_is(op->name, "pto.get_subblock_num");
    const int is_sub = pto_str_is(op->name, "pto.get_subblock_idx");
    if (op->results == NULL || op->results->next != NULL) return import_refuse(im, op, "has one result");
    PTO_TRY(mlir_at_end(&c));
    im->uses_subblock |= is_sub;
    import_name made = {.kind = IMPORT_INDEX, .dtype = PTO_I64, .index = pto_expr_none(im->run)};
    if (im->builds && is_count)
        made.index = pto_expr_const(im->run, import_subblocks(im));
    else if (im->builds)
        made.index = is_sub ? import_subblock(im) : import_block(im);
    return import_define(im, op->results, made);
}

/* What describes memory and tiles, which every kernel of the function does for itself, and what is looked into. */
static pto_status read_description(importer *im, const mlir_op *op, int *is_one)
{
    static const struct {
        const char *name;
        pto_status (*read)(importer *im, const mlir_op *op);
    } ops[] = {{"func.call", import_call},
               {"pto.get_block_idx", instance},
               {"pto.get_subblock_idx", instance},
               {"pto.get_subblock_num", instance},
               {"pto.sync.set", import_signal},
               {"pto.sync.wait", import_signal},
               {"pto.make_tensor_view", import_make_view},
               {"pto.partition_view", import_partition},
               {"pto.subview", import_partition},
               {"pto.section.vector", section},
               {"pto.section.cube", section},
               {"pto.treshape", import_reshape},
               {"pto.set_validshape", import_set_valid},
               {"pto.reserve_buffer", import_queue_op},
               {"pto.import_reserved_buffer", import_queue_op},
               {"pto.aic_initialize_pipe", import_queue_op},
               {"pto.aiv_initialize_pipe", import_queue_op},
               {"pto.tfree_from_aic", import_queue_op},
               {"pto.tfree_from_aiv", import_queue_op},
               {"pto.alloc_tile", import_alloc_tile}};
    *is_one = 1;
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++)
        if (pto_str_is(op->name, ops[i].name)) return ops[i].read(im, op);
    if (op->name.n > 6 && memcmp(op->name.p, "arith.", 6) == 0) return import_arith(im, op);
    *is_one = 0;
    return PTO_OK;
}

static pto_status read_instruction(importer *im, const mlir_op *op)
{
    if (pto_str_is(op->name, "pto.tload")) return import_copy(im, op, 1);
    if (pto_str_is(op->name, "pto.tstore") || pto_str_is(op->name, "pto.tstore_fp")) return import_copy(im, op, 0);
    if (import_is_queue_op(op->name)) return import_queue_op(im, op);
    if (op->name.n > 4 && memcmp(op->name.p, "pto.", 4) == 0) return import_insn(im, op);
    return import_refuse(im, op, "is not read; ops of pto are, of arith, and func.call, scf.for, scf.if and scf.while");
}

static pto_status read_effect(importer *im, const mlir_op *op);

/* What is done with a tile that a branch chose is done with the one of each side. */
static pto_status read_for_both(importer *im, const mlir_op *op, uint32_t name)
{
    import_tile *const choice = im->names[name].tile;
    const import_name condition = {.kind = IMPORT_INDEX, .dtype = PTO_INDEX, .index = choice->truth};
    const pto_block outer = im->block;
    pto_op made = pto_op_none(im->run);
    PTO_TRY(build_branch(im, op, &condition, 2, &made));
    im->depth++;
    for (uint32_t i = 0; i < 2; i++) {
        im->block = pto_op_block_at(made, i);
        im->names[name].tile = choice->sides[i];
        PTO_TRY(read_effect(im, op));
        pto_spec end = IMPORT_SPEC(im, YIELD);
        PTO_NEED(import_build(im, &end));
    }
    im->depth--;
    im->names[name].tile = choice;
    im->block = outer;
    return PTO_OK;
}

static pto_status read_effect(importer *im, const mlir_op *op)
{
    import_use_unit(im, im->section);
    if (im->builds && im->has_choices && op->results == NULL && !import_is_queue_op(op->name)) {
        im->chosen = 0;
        im->builds = 0;
        im->is_dry = 1;
        PTO_TRY(read_instruction(im, op));
        im->builds = 1;
        im->is_dry = 0;
        if (im->chosen != 0) return read_for_both(im, op, im->chosen - 1);
    }
    return read_instruction(im, op);
}

static pto_status read_control(importer *im, const mlir_op *op)
{
    if (pto_str_is(op->name, "scf.while")) return repeat(im, op);
    return pto_str_is(op->name, "scf.for") ? loop(im, op) : branch(im, op);
}

/* A step, of which a kernel of another part has nothing but its names. Loops and branches that are read round by round
 * or on one side begin a step as well, which is empty. */
static pto_status read_step(importer *im, const mlir_op *op, pto_status (*read)(importer *im, const mlir_op *op))
{
    const int builds = im->builds;
    if (im->depth == 0) {
        int is_of_kernel;
        PTO_TRY(import_begin_step(im, op, &is_of_kernel));
        im->builds = builds && is_of_kernel;
    }
    PTO_TRY(read(im, op));
    im->builds = builds;
    return PTO_OK;
}

static pto_status read_op(importer *im, const mlir_op *op)
{
    int is_description = 0;
    PTO_TRY(read_description(im, op, &is_description));
    if (is_description) return PTO_OK;
    const int is_control =
        pto_str_is(op->name, "scf.for") || pto_str_is(op->name, "scf.if") || pto_str_is(op->name, "scf.while");
    return read_step(im, op, is_control ? read_control : read_effect);
}

/* Terminators build nothing; what `scf.yield` hands over is read with the region. */
static int is_end(const mlir_op *op)
{
    return op->next == NULL && ((op->arguments == NULL && pto_str_is(op->name, "return")) ||
                                pto_str_is(op->name, "scf.yield") || pto_str_is(op->name, "scf.condition"));
}

pto_status import_ops(importer *im, const mlir_op *first)
{
    for (const mlir_op *op = first; op != NULL; op = op->next) {
        PTO_TRY(pto_go_on(im->run));
        if (!is_end(op)) PTO_TRY(read_op(im, op));
    }
    return PTO_OK;
}
