/* Global memory: pointers, views of them, windows, and what goes between them and tiles. */
#include "import.h"

/* ---- views ---- */

typedef struct shape {
    uint32_t rank;
    pto_expr extent[IMPORT_RANK_MAX], stride[IMPORT_RANK_MAX];
} shape;

static int is_number(pto_expr x, int64_t n)
{
    int64_t is;
    return pto_expr_is_const(x, &is) && is == n;
}

static void exchange(pto_expr *a, pto_expr *b)
{
    const pto_expr x = *a;
    *a = *b;
    *b = x;
}

/* The extent that an array has along dim `d` + 1 where lines of dim `d` are `stride` apart; none: it has no such
 * array. */
static pto_expr padded_extent(const shape *s, uint32_t d)
{
    int64_t outer, inner;
    if (is_number(s->stride[d + 1], 1)) return s->stride[d];
    if (pto_expr_is_const(s->stride[d], &outer) && pto_expr_is_const(s->stride[d + 1], &inner) && inner > 0 &&
        outer % inner == 0)
        return pto_expr_const(s->stride[d].run, outer / inner);
    return pto_expr_none(s->stride[d].run);
}

/* The extents of the array that a view shows, in row-major order; dims of 1 have any stride. PTO_FAILED: it shows none.
 * Lines further apart than they are long are of an array with longer lines. */
static pto_status array_of(shape *s, int *is_turned)
{
    const uint32_t last = s->rank - 1;
    *is_turned = 0;
    if (is_number(s->extent[last], 1)) s->stride[last] = pto_expr_const(s->extent[0].run, 1);
    if (!is_number(s->stride[last], 1)) {
        if (last == 0 || !is_number(s->stride[last - 1], 1)) return PTO_FAILED;
        exchange(&s->extent[last], &s->extent[last - 1]);
        exchange(&s->stride[last], &s->stride[last - 1]);
        *is_turned = 1;
    }
    for (uint32_t d = last; d-- > 0;) {
        const pto_expr need = pto_expr_mul(s->stride[d + 1], s->extent[d + 1]);
        int64_t longer, line;
        if (!PTO_SOME(need)) return PTO_FAILED;
        if (pto_expr_same(need, s->stride[d])) continue;
        if (is_number(s->extent[d], 1)) {
            s->stride[d] = need;
            continue;
        }
        const pto_expr whole = padded_extent(s, d);
        if (!PTO_SOME(whole)) return PTO_FAILED;
        if (pto_expr_is_const(whole, &longer) && pto_expr_is_const(s->extent[d + 1], &line) && longer < line)
            return PTO_FAILED;
        s->extent[d + 1] = whole;
    }
    return PTO_OK;
}

static void mark_symbols(importer *im, pto_expr x)
{
    if (pto_expr_kind_of(x) == PTO_EXPR_SYMBOL)
        for (uint32_t i = 0; i < im->parameter_count; i++)
            if (pto_str_same(import_plain_name(im, im->parameters[i].name), pto_expr_symbol_name(x)))
                im->parameters[i].is_symbol = 1;
    for (uint32_t i = 0; i < pto_expr_arg_count(x); i++) mark_symbols(im, pto_expr_arg(x, i));
}

/* The memory of a pointer with these extents; the first time it is made. */
static import_memory *memory_of(importer *im, uint32_t pointer, const shape *s)
{
    import_memory **end = &im->memories;
    for (; *end != NULL; end = &(*end)->next) {
        const import_memory *m = *end;
        int is_same = m->pointer == pointer && m->rank == s->rank;
        for (uint32_t d = 0; is_same && d < s->rank; d++) is_same = pto_expr_same(m->dims[d], s->extent[d]);
        if (is_same) return *end;
    }
    import_memory *made = PTO_SCRATCH(im->run, import_memory, 1);
    made->pointer = pointer;
    made->rank = s->rank;
    for (uint32_t d = 0; d < s->rank; d++) {
        made->dims[d] = s->extent[d];
        mark_symbols(im, s->extent[d]);
    }
    *end = made;
    return made;
}

static pto_status skip_layout(mlir_cursor *c)
{
    mlir_cursor in;
    const mlir_node *layout = NULL;
    if (!mlir_enter(c, '{', &in)) return PTO_OK;
    if (!mlir_take_word(&in, "layout") || !mlir_take_mark(&in, '=') || !mlir_take(&in, MLIR_ATTRIBUTE, &layout))
        return mlir_expected(&in, "`layout = #pto.layout<..>`");
    if (!pto_str_is(layout->body, "nd") && !pto_str_is(layout->body, "dn"))
        return mlir_error(c->run, layout->line, layout->column, "pto.read-ascend/unsupported",
                          "the layout `%.*s` of memory is not read; nd and dn are", PTO_FMT(layout->body));
    return mlir_at_end(&in);
}

static pto_status check_shape(const importer *im, const mlir_op *op, const shape *s)
{
    for (uint32_t d = 0; d < s->rank; d++)
        if (!PTO_SOME(s->extent[d]) || !PTO_SOME(s->stride[d]) || pto_expr_has_value(s->extent[d]) ||
            pto_expr_has_value(s->stride[d]))
            return import_refuse(im, op,
                                 "has a shape that depends on more than parameters and numbers; memory has one shape "
                                 "for all of a kernel");
    return PTO_OK;
}

pto_status import_make_view(importer *im, const mlir_op *op)
{
    mlir_cursor c = mlir_arguments(im->run, op);
    const mlir_node *base = NULL, *type = NULL;
    const import_name *pointer;
    shape s = {0};
    uint32_t strides = 0;
    int is_turned = 0;
    if (op->results == NULL || op->results->next != NULL) return import_refuse(im, op, "has one result");
    if (!mlir_take(&c, MLIR_VALUE, &base)) return mlir_expected(&c, "a pointer");
    PTO_TRY(import_find(im, base, 1 << IMPORT_POINTER, "a pointer", &pointer));
    const uint32_t number = pointer->pointer;
    if (!mlir_take_mark(&c, ',') || !mlir_take_word(&c, "shape") || !mlir_take_mark(&c, '='))
        return mlir_expected(&c, "`, shape = [..]`");
    PTO_TRY(import_index_list(im, &c, &s.rank, s.extent));
    if (!mlir_take_mark(&c, ',') || !mlir_take_word(&c, "strides") || !mlir_take_mark(&c, '='))
        return mlir_expected(&c, "`, strides = [..]`");
    PTO_TRY(import_index_list(im, &c, &strides, s.stride));
    PTO_TRY(skip_layout(&c));
    if (!mlir_take_mark(&c, ':')) return mlir_expected(&c, "`:` and a type");
    PTO_TRY(import_take_type(&c, &type));
    PTO_TRY(mlir_at_end(&c));
    if (strides != s.rank) return import_refuse(im, op, "has %u extents and %u strides", s.rank, strides);
    PTO_TRY(check_shape(im, op, &s));
    if (array_of(&s, &is_turned) != PTO_OK)
        return import_refuse(im, op,
                             "has strides that are not those of an array, nor of one with its last two dims "
                             "exchanged");
    import_window *w = PTO_SCRATCH(im->run, import_window, 1);
    *w = (import_window){.pointer = number, .rank = s.rank, .is_turned = is_turned};
    w->memory = memory_of(im, number, &s);
    for (uint32_t d = 0; d < s.rank; d++) {
        const uint32_t from = is_turned && d + 2 >= s.rank ? 2 * s.rank - 3 - d : d;
        w->offsets[d] = pto_expr_const(im->run, 0);
        w->sizes[d] = s.extent[from];
    }
    return import_define(im, op->results, (import_name){.kind = IMPORT_VIEW, .window = w});
}

/* Offsets of parts of parts add up. */
pto_status import_partition(importer *im, const mlir_op *op)
{
    mlir_cursor c = mlir_arguments(im->run, op);
    const mlir_node *base = NULL, *type = NULL;
    const import_name *view;
    uint32_t offsets = 0, sizes = 0;
    pto_expr from[IMPORT_RANK_MAX];
    if (op->results == NULL || op->results->next != NULL) return import_refuse(im, op, "has one result");
    if (!mlir_take(&c, MLIR_VALUE, &base)) return mlir_expected(&c, "a view");
    PTO_TRY(import_find(im, base, 1 << IMPORT_VIEW, "a view of memory", &view));
    import_window *w = PTO_SCRATCH(im->run, import_window, 1);
    *w = *view->window;
    if (!mlir_take_mark(&c, ',') || !mlir_take_word(&c, "offsets") || !mlir_take_mark(&c, '='))
        return mlir_expected(&c, "`, offsets = [..]`");
    PTO_TRY(import_index_list(im, &c, &offsets, from));
    if (!mlir_take_mark(&c, ',') || !mlir_take_word(&c, "sizes") || !mlir_take_mark(&c, '='))
        return mlir_expected(&c, "`, sizes = [..]`");
    PTO_TRY(import_index_list(im, &c, &sizes, w->sizes));
    if (!mlir_take_mark(&c, ':')) return mlir_expected(&c, "`:` and a type");
    PTO_TRY(import_take_type(&c, &type));
    if (!mlir_take_mark(&c, '>')) return mlir_expected(&c, "`->` and a type");
    PTO_TRY(import_take_type(&c, &type));
    PTO_TRY(mlir_at_end(&c));
    if (offsets != w->rank || sizes != w->rank)
        return import_refuse(im, op, "has %u offsets and %u sizes for %u dims", offsets, sizes, w->rank);
    for (uint32_t d = 0; d < w->rank; d++) {
        const int is_known = PTO_SOME(w->offsets[d]) && PTO_SOME(from[d]);
        w->offsets[d] = is_known ? pto_expr_add(w->offsets[d], from[d]) : pto_expr_none(im->run);
        if (is_known && !PTO_SOME(w->offsets[d])) return import_refuse(im, op, "has an offset out of range");
    }
    return import_define(im, op->results, (import_name){.kind = IMPORT_VIEW, .window = w});
}

/* ---- copies ---- */

/* `, %word : i64` after the tile of a store: the bits of the f32 that it is multiplied by, below those that say how. */
static pto_status read_scale(importer *im, mlir_cursor *in, import_leaving *out)
{
    const mlir_node *type = NULL;
    pto_expr word;
    int64_t number = 0;
    if (!mlir_take_mark(in, ',')) return PTO_OK;
    PTO_TRY(import_index(im, in, &word));
    if (!mlir_take_mark(in, ':')) return mlir_expected(in, "`:` and a type");
    PTO_TRY(import_take_type(in, &type));
    if (im->builds && (!PTO_SOME(word) || !pto_expr_is_const(word, &number)))
        return mlir_expected(in, "a number as scale");
    const uint32_t bits = (uint32_t)number;
    float scale;
    memcpy(&scale, &bits, sizeof scale);
    out->has_scale = 1;
    out->scale = (double)scale;
    return PTO_OK;
}

/* `, %factors` after the tile of a store by columns. */
static pto_status take_factors(importer *im, mlir_cursor *in, import_leaving *out)
{
    const mlir_node *name = NULL;
    const import_name *factors = NULL;
    if (!mlir_take_mark(in, ',') || !mlir_take(in, MLIR_VALUE, &name)) return mlir_expected(in, "`,` and factors");
    PTO_TRY(import_find(im, name, 1 << IMPORT_TILE, "a tile", &factors));
    out->factors = factors->tile;
    import_use_tile(im, factors->tile, 0);
    return PTO_OK;
}

/* `(%x : type)` after `ins` or `outs`. */
static pto_status operand(importer *im, mlir_cursor *c, const char *word, const import_name **out,
                          import_leaving *leaving)
{
    const mlir_node *name = NULL, *type = NULL;
    mlir_cursor in;
    if (!mlir_take_word(c, word) || !mlir_enter(c, '(', &in))
        return mlir_expected(c, strcmp(word, "ins") == 0 ? "`ins(`" : "`outs(`");
    if (!mlir_take(&in, MLIR_VALUE, &name)) return mlir_expected(&in, "an operand");
    const int has_factors = leaving != NULL && leaving->has_factors;
    if (has_factors) PTO_TRY(take_factors(im, &in, leaving));
    if (!mlir_take_mark(&in, ':')) return mlir_expected(&in, "`:` and a type");
    PTO_TRY(import_take_type(&in, &type));
    if (has_factors && !mlir_take_mark(&in, ',')) return mlir_expected(&in, "`,` and a type");
    if (has_factors) PTO_TRY(import_take_type(&in, &type));
    if (leaving != NULL && !has_factors) PTO_TRY(read_scale(im, &in, leaving));
    PTO_TRY(mlir_at_end(&in));
    return import_find(im, name, 1 << IMPORT_VIEW | 1 << IMPORT_TILE, "memory or a tile", out);
}

/* Rows of a tile that are in all but the last two dims of a window; 0: their number is not known. */
static int64_t outer_rows(const import_window *w)
{
    int64_t rows = 1;
    for (uint32_t d = 0; d + 2 < w->rank; d++) {
        int64_t n;
        if (!pto_expr_is_const(w->sizes[d], &n) || n < 1 || n > IMPORT_WINDOWS_MAX) return 0;
        rows *= n;
    }
    return rows <= IMPORT_WINDOWS_MAX ? rows : 0;
}

static pto_status check_rank(const importer *im, const mlir_op *op, const import_window *w, const import_tile *t)
{
    int64_t lines, columns;
    const int64_t outer = outer_rows(w);
    if (outer == 1) return PTO_OK;
    if (outer == 0 || w->is_turned || t->type.order != PTO_ORDER_ROW ||
        !pto_expr_is_const(w->sizes[w->rank - 2], &lines) || !pto_expr_is_const(w->sizes[w->rank - 1], &columns) ||
        !is_number(t->valid[0], outer * lines) || !is_number(t->valid[1], columns))
        return import_refuse(
            im, op,
            "moves a window of more than two dims; what is read has sizes that are numbers, at most %d "
            "rows of the last two dims, and a row-major tile whose valid rows are all of them",
            IMPORT_WINDOWS_MAX);
    return PTO_OK;
}

/* A window of more dims, one of the last two dims after the other: their rows are one below the other in the tile. */
static pto_status move_windows(importer *im, const mlir_op *op, const import_window *w, import_tile *tile, int is_load,
                               const import_leaving *leaving)
{
    int64_t lines = 0;
    const int64_t count = outer_rows(w);
    (void)pto_expr_is_const(w->sizes[w->rank - 2], &lines);
    for (int64_t i = 0; i < count; i++) {
        import_window one = *w;
        import_tile *part = NULL;
        int64_t rest = i;
        for (uint32_t d = w->rank - 2; d-- > 0;) {
            int64_t n = 1;
            (void)pto_expr_is_const(w->sizes[d], &n);
            one.offsets[d] = pto_expr_offset(w->offsets[d], rest % n);
            rest /= n;
        }
        PTO_TRY(import_part(im, op, tile, i * lines, lines, &part));
        PTO_TRY(import_move(im, op, &one, part, is_load, leaving));
    }
    return PTO_OK;
}

static int is_full(const import_tile *t)
{
    return is_number(t->valid[0], t->type.rows) && is_number(t->valid[1], t->type.columns);
}

/* What is moved is the valid region of the tile: a window of another size is a mistake. */
static pto_status check_sizes(const importer *im, const mlir_op *op, const import_window *w, const import_tile *t)
{
    for (uint32_t i = 0; i < 2 && i < w->rank; i++) {
        int64_t size, valid;
        const uint32_t d = w->rank - 1 - i;
        if (pto_expr_is_const(w->sizes[d], &size) && pto_expr_is_const(t->valid[1 - i], &valid) && size != valid)
            return import_refuse(im, op, "moves %lld %s of memory through a tile with %lld valid ones", (long long)size,
                                 i == 0 ? "columns" : "rows", (long long)valid);
    }
    return PTO_OK;
}

/* ` {reluPreMode = #pto<relu_pre_mode normal_relu>}` after a store. */
static pto_status read_relu(mlir_cursor *c, int *has_relu)
{
    mlir_cursor in;
    const mlir_node *mode = NULL;
    if (!mlir_enter(c, '{', &in)) return mlir_at_end(c);
    const int fits = mlir_take_word(&in, "reluPreMode") && mlir_take_mark(&in, '=') &&
                     mlir_take(&in, MLIR_ATTRIBUTE, &mode) && pto_str_is(mode->text, "pto");
    *has_relu = fits && pto_str_is(mode->body, "relu_pre_mode normal_relu");
    if (!*has_relu && (!fits || !pto_str_is(mode->body, "relu_pre_mode no_relu")))
        return mlir_expected(&in, "`reluPreMode = #pto<relu_pre_mode normal_relu>` or `no_relu`");
    PTO_TRY(mlir_at_end(&in));
    return mlir_at_end(c);
}

pto_status import_move(importer *im, const mlir_op *op, const import_window *w, import_tile *tile, int is_load,
                       const import_leaving *leaving)
{
    pto_expr offsets[IMPORT_RANK_MAX];
    for (uint32_t d = 0; d < w->rank; d++)
        offsets[d] = w->offsets[w->is_turned && d + 2 >= w->rank ? 2 * w->rank - 3 - d : d];
    const pto_value t = import_tile_value(im, tile);
    PTO_NEED(t);
    im->loc = import_loc(im, op);
    import_tile *factors = leaving != NULL ? leaving->factors : NULL;
    pto_spec s = is_load           ? IMPORT_SPEC(im, TLOAD)
                 : factors != NULL ? IMPORT_SPEC(im, TSTORE_FP)
                                   : IMPORT_SPEC(im, TSTORE);
    pto_spec_operand(&s, is_load ? t : w->memory->value);
    pto_spec_operand(&s, is_load ? w->memory->value : t);
    if (factors != NULL) {
        const pto_value f = import_tile_value(im, factors);
        PTO_NEED(f);
        pto_spec_operand(&s, f);
    }
    pto_spec_exprs(&s, PTO_STR("offsets"), w->rank, offsets);
    if (w->is_turned) pto_spec_bool(&s, PTO_STR("transpose"), 1);
    if (leaving != NULL && leaving->has_relu) pto_spec_bool(&s, PTO_STR("relu"), 1);
    if (leaving != NULL && leaving->has_scale) pto_spec_float(&s, PTO_STR("scale"), leaving->scale);
    return PTO_SOME(import_build(im, &s)) ? PTO_OK : PTO_FAILED;
}

pto_status import_copy(importer *im, const mlir_op *op, int is_load)
{
    mlir_cursor c = mlir_arguments(im->run, op);
    const import_name *from = NULL, *to = NULL;
    import_leaving leaving = {.has_factors = pto_str_is(op->name, "pto.tstore_fp")};
    PTO_TRY(operand(im, &c, "ins", &from, is_load ? NULL : &leaving));
    PTO_TRY(operand(im, &c, "outs", &to, NULL));
    PTO_TRY(is_load ? mlir_at_end(&c) : read_relu(&c, &leaving.has_relu));
    const import_name *memory = is_load ? from : to, *tile = is_load ? to : from;
    if (memory == NULL || memory->kind != IMPORT_VIEW || tile == NULL || tile->kind != IMPORT_TILE)
        return import_refuse(im, op, is_load ? "copies memory into a tile" : "copies a tile into memory");
    const import_window *w = memory->window;
    if (im->analyses) {
        w->memory->reads |= is_load;
        w->memory->writes |= !is_load;
    }
    import_use_tile(im, tile->tile, is_load);
    import_use_memory(im, w->memory, !is_load, -1);
    if (!im->builds) return PTO_OK;
    PTO_TRY(check_rank(im, op, w, tile->tile));
    if (outer_rows(w) != 1) return move_windows(im, op, w, tile->tile, is_load, &leaving);
    PTO_TRY(check_sizes(im, op, w, tile->tile));
    if (is_load && tile->tile->type.pad != 0 && !is_full(tile->tile))
        return import_refuse(im, op,
                             "fills its target beyond the valid region, which is not read; pto.tfillpad does it too");
    if (!is_load && w->is_turned)
        return import_refuse(im, op, "stores into a view whose last two dims are exchanged, which is not read");
    return import_move(im, op, w, tile->tile, is_load, &leaving);
}
