/* Ops that are other instructions of ours, or two of them, and those that say nothing of a result. */
#include "import.h"

static pto_status operand(importer *im, mlir_cursor *in, uint32_t kinds, const char *what, const import_name **out)
{
    const mlir_node *name = NULL;
    if (mlir_take(in, MLIR_VALUE, &name)) return import_find(im, name, kinds, what, out);
    (void)mlir_expected(in, what);
    return PTO_FAILED;
}

/* `: type, type` */
static pto_status types(mlir_cursor *in, uint32_t count)
{
    const mlir_node *type = NULL;
    if (!mlir_take_mark(in, ':')) return mlir_expected(in, "`:` and types");
    for (uint32_t i = 0; i < count; i++) {
        if (i != 0 && !mlir_take_mark(in, ',')) return mlir_expected(in, "`,` and a type for each operand");
        PTO_TRY(import_take_type(in, &type));
    }
    return mlir_at_end(in);
}

/* `outs(%t : type)` */
static pto_status target(importer *im, mlir_cursor *c, import_tile **out)
{
    mlir_cursor in;
    const import_name *name;
    if (!mlir_take_word(c, "outs") || !mlir_enter(c, '(', &in)) {
        (void)mlir_expected(c, "`outs(`");
        return PTO_FAILED;
    }
    PTO_TRY(operand(im, &in, 1 << IMPORT_TILE, "a tile", &name));
    *out = name->tile;
    PTO_TRY(types(&in, 1));
    return mlir_at_end(c);
}

static pto_status build(importer *im, const mlir_op *op, uint32_t kind, uint32_t count, import_tile *const *tiles)
{
    pto_spec s = pto_spec_make(im->run, im->kinds[kind]);
    im->loc = import_loc(im, op);
    for (uint32_t i = 0; i < count; i++) {
        const pto_value v = import_tile_value(im, tiles[i]);
        PTO_NEED(v);
        pto_spec_operand(&s, v);
    }
    return PTO_SOME(import_build(im, &s)) ? PTO_OK : PTO_FAILED;
}

/* `pto.taddc ins(%a, %b, %c : types) outs(%d : type)`: a + b, then + c. */
static pto_status add_three(importer *im, const mlir_op *op)
{
    mlir_cursor c = mlir_arguments(im->run, op), in;
    const import_name *from[3];
    import_tile *to;
    if (!mlir_take_word(&c, "ins") || !mlir_enter(&c, '(', &in)) return mlir_expected(&c, "`ins(`");
    for (uint32_t i = 0; i < 3; i++) {
        if (i != 0 && !mlir_take_mark(&in, ',')) return mlir_expected(&in, "`,` and a tile");
        PTO_TRY(operand(im, &in, 1 << IMPORT_TILE, "a tile", &from[i]));
    }
    PTO_TRY(types(&in, 3));
    PTO_TRY(target(im, &c, &to));
    if (to == from[2]->tile)
        return import_refuse(im, op,
                             "has its last operand as its target, which is not read: the sum of the first two "
                             "would be in its place; exchange operands");
    for (uint32_t i = 0; i < 3; i++) import_use_tile(im, from[i]->tile, 0);
    import_use_tile(im, to, to != from[0]->tile && to != from[1]->tile);
    if (!im->builds) return PTO_OK;
    import_tile *const first[] = {to, from[0]->tile, from[1]->tile}, *const second[] = {to, to, from[2]->tile};
    PTO_TRY(build(im, op, KIND_TADD, 3, first));
    return build(im, op, KIND_TADD, 3, second);
}

static int is_zero(pto_expr x)
{
    int64_t n;
    return PTO_SOME(x) && pto_expr_is_const(x, &n) && n == 0;
}

/* A part of a tile from a row and a column on is taken out of another one, or put into it; of an accumulator with
 * factors of columns or without. */
typedef struct tile_part {
    int puts, is_scaled;
    import_tile *to, *from, *factors;
    pto_expr at[2];
} tile_part;

static pto_status build_part(importer *im, const mlir_op *op, const tile_part *p)
{
    import_tile *const tiles[] = {p->to, p->puts ? p->to : NULL, p->from, p->factors};
    im->loc = import_loc(im, op);
    pto_spec s = p->is_scaled ? (p->puts ? IMPORT_SPEC(im, TINSERT_FP) : IMPORT_SPEC(im, TEXTRACT_FP))
                 : p->puts    ? IMPORT_SPEC(im, TINSERT)
                              : IMPORT_SPEC(im, TEXTRACT);
    for (size_t i = 0; i < sizeof tiles / sizeof *tiles; i++) {
        if (tiles[i] == NULL) continue;
        const pto_value v = import_tile_value(im, tiles[i]);
        PTO_NEED(v);
        pto_spec_operand(&s, v);
    }
    pto_spec_exprs(&s, PTO_STR("offsets"), 2, p->at);
    return PTO_SOME(import_build(im, &s)) ? PTO_OK : PTO_FAILED;
}

/* `ins(%t, %row, %column : types) outs(%d : type)`, with `%factors` after the tile */
static pto_status read_part(importer *im, const mlir_op *op, tile_part *p)
{
    mlir_cursor c = mlir_arguments(im->run, op), in;
    const import_name *name = NULL;
    if (!mlir_take_word(&c, "ins") || !mlir_enter(&c, '(', &in)) return mlir_expected(&c, "`ins(`");
    PTO_TRY(operand(im, &in, 1 << IMPORT_TILE, "a tile", &name));
    p->from = name->tile;
    if (p->is_scaled) {
        if (!mlir_take_mark(&in, ',')) return mlir_expected(&in, "`,` and factors");
        PTO_TRY(operand(im, &in, 1 << IMPORT_TILE, "a tile", &name));
        p->factors = name->tile;
    }
    for (uint32_t i = 0; i < 2; i++) {
        if (!mlir_take_mark(&in, ',')) return mlir_expected(&in, "`,` and an integer");
        PTO_TRY(import_index(im, &in, &p->at[i]));
    }
    PTO_TRY(types(&in, p->is_scaled ? 4 : 3));
    return target(im, &c, &p->to);
}

static int is_whole(const tile_part *p)
{
    return is_zero(p->at[0]) && is_zero(p->at[1]) && pto_expr_same(p->from->valid[0], p->to->valid[0]) &&
           pto_expr_same(p->from->valid[1], p->to->valid[1]);
}

/* What is taken of all of a tile is a move. */
static pto_status part(importer *im, const mlir_op *op, int puts, int is_scaled)
{
    tile_part p = {.puts = puts, .is_scaled = is_scaled};
    PTO_TRY(read_part(im, op, &p));
    if (p.from == NULL || p.to == NULL) return PTO_FAILED;
    import_use_tile(im, p.from, 0);
    if (p.factors != NULL) import_use_tile(im, p.factors, 0);
    import_use_tile(im, p.to, !puts);
    if (!im->builds) return PTO_OK;
    if (puts || is_scaled || !is_whole(&p)) return build_part(im, op, &p);
    import_tile *const tiles[] = {p.to, p.from};
    return build(im, op, KIND_TMOV, 2, tiles);
}

static pto_status extract(importer *im, const mlir_op *op) { return part(im, op, 0, 0); }
static pto_status insert(importer *im, const mlir_op *op) { return part(im, op, 1, 0); }
static pto_status extract_scaled(importer *im, const mlir_op *op) { return part(im, op, 0, 1); }
static pto_status insert_scaled(importer *im, const mlir_op *op) { return part(im, op, 1, 1); }

/* `pto.ttri ins(%d {upperOrLower = 1 : i32} : i32) outs(%t : type)`: 1 up to column `row + %d`, or from it on. */
static pto_status triangle(importer *im, const mlir_op *op)
{
    mlir_cursor c = mlir_arguments(im->run, op), in, more;
    const mlir_node *upper = NULL;
    import_tile *to;
    pto_expr at[2] = {pto_expr_const(im->run, 0), pto_expr_const(im->run, 0)};
    if (!mlir_take_word(&c, "ins") || !mlir_enter(&c, '(', &in)) return mlir_expected(&c, "`ins(`");
    PTO_TRY(import_index(im, &in, &at[0]));
    if (mlir_enter(&in, '{', &more)) {
        if (!mlir_take_word(&more, "upperOrLower") || !mlir_take_mark(&more, '=') ||
            !mlir_take(&more, MLIR_NUMBER, &upper))
            return mlir_expected(&more, "`upperOrLower = 0` or 1");
        if (mlir_take_mark(&more, ':') && !mlir_take_word(&more, "i32")) return mlir_expected(&more, "`i32`");
        PTO_TRY(mlir_at_end(&more));
    }
    PTO_TRY(types(&in, 1));
    PTO_TRY(target(im, &c, &to));
    import_use_tile(im, to, 1);
    if (!im->builds) return PTO_OK;
    const pto_value value = import_tile_value(im, to);
    PTO_NEED(value);
    im->loc = import_loc(im, op);
    pto_spec s = IMPORT_SPEC(im, TTRI);
    pto_spec_operand(&s, value);
    pto_spec_exprs(&s, PTO_STR("offsets"), 2, at);
    if (upper != NULL && pto_str_is(upper->text, "1")) pto_spec_bool(&s, PTO_STR("upper"), 1);
    return PTO_SOME(import_build(im, &s)) ? PTO_OK : PTO_FAILED;
}

/* `pto.tprint ins(%t : type)`: what is not in the memory of vector cores is not printed, which changes no result. */
static pto_status print(importer *im, const mlir_op *op)
{
    mlir_cursor c = mlir_arguments(im->run, op), in;
    const import_name *what;
    if (!mlir_take_word(&c, "ins") || !mlir_enter(&c, '(', &in)) return mlir_expected(&c, "`ins(`");
    PTO_TRY(operand(im, &in, 1 << IMPORT_TILE | 1 << IMPORT_VIEW, "a tile or memory", &what));
    PTO_TRY(types(&in, 1));
    PTO_TRY(mlir_at_end(&c));
    const int is_tile = what->kind == IMPORT_TILE;
    if (is_tile) import_use_tile(im, what->tile, 0);
    if (is_tile && what->tile->type.role == PTO_ROLE_SCRATCHPAD)
        return im->builds ? build(im, op, KIND_TPRINT, 1, &what->tile) : PTO_OK;
    if (im->analyses)
        pto_diag(im->run, PTO_WARNING, import_loc(im, op), PTO_STR("pto.read-ascend/print"),
                 PTO_STR("`pto.tprint` prints tiles of vector cores here: of other memory it is left out; load or move "
                         "what is to be seen to such a tile"));
    return PTO_OK;
}

/* `pto.record_event[#pto.sync_op_type<TLOAD>, #pto.sync_op_type<TVEC>, <EVENT_ID0>]`: flags by kinds of instructions.
 */
pto_status import_pipe_of_kind(const importer *im, const mlir_node *kind, uint32_t *unit)
{
    static const struct {
        const char *word;
        uint32_t unit;
    } rows[] = {{"TLOAD", PTO_UNIT_LOAD},      {"TSTORE_VEC", PTO_UNIT_STORE}, {"TSTORE_ACC", PTO_UNIT_FIX},
                {"TMOV_M2L", PTO_UNIT_MOVE},   {"TMOV_M2B", PTO_UNIT_MOVE},    {"TMOV_M2S", PTO_UNIT_FIX},
                {"TMOV_M2V", PTO_UNIT_VECTOR}, {"TMOV_V2M", PTO_UNIT_FIX},     {"TMATMUL", PTO_UNIT_MATRIX},
                {"TVEC", PTO_UNIT_VECTOR}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (!pto_str_is(kind->body, rows[i].word)) continue;
        *unit = rows[i].unit;
        return PTO_OK;
    }
    return mlir_error(im->run, kind->line, kind->column, "pto.read-ascend/unsupported",
                      "`%.*s` is not a kind of instructions; read are TLOAD, TSTORE_VEC, TSTORE_ACC, TMOV_M2L, "
                      "TMOV_M2B, TMOV_M2S, TMOV_M2V, TMOV_V2M, TMATMUL and TVEC",
                      PTO_FMT(kind->body));
}

pto_status import_expanded(importer *im, const mlir_op *op, int *is_one)
{
    static const struct {
        const char *name;
        pto_status (*read)(importer *im, const mlir_op *op);
    } ops[] = {{"pto.taddc", add_three},
               {"pto.textract", extract},
               {"pto.tinsert", insert},
               {"pto.textract_fp", extract_scaled},
               {"pto.tinsert_fp", insert_scaled},
               {"pto.ttri", triangle},
               {"pto.tprint", print}};
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
        if (!pto_str_is(op->name, ops[i].name)) continue;
        *is_one = 1;
        if (op->results != NULL) return import_refuse(im, op, "has no result");
        return ops[i].read(im, op);
    }
    *is_one = 0;
    return PTO_OK;
}
