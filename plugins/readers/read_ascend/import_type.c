/* Types of the vendor's dialect. */
#include "import.h"

pto_dtype import_dtype(pto_str word)
{
    static const struct {
        const char *word;
        pto_dtype dtype;
    } rows[] = {{"f32", PTO_F32},  {"f16", PTO_F16},    {"bf16", PTO_BF16}, {"i8", PTO_I8},    {"i16", PTO_I16},
                {"i32", PTO_I32},  {"i64", PTO_I64},    {"ui8", PTO_U8},    {"ui16", PTO_U16}, {"ui32", PTO_U32},
                {"ui64", PTO_U64}, {"si8", PTO_I8},     {"si16", PTO_I16},  {"si32", PTO_I32}, {"si64", PTO_I64},
                {"i1", PTO_BOOL},  {"index", PTO_INDEX}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (pto_str_is(word, rows[i].word)) return rows[i].dtype;
    return PTO_DTYPE_NONE;
}

static pto_status bad_type(const importer *im, const mlir_node *type, const char *why, pto_str part)
{
    return mlir_error(im->run, type->line, type->column, "pto.read-ascend/type", "%s%s%.*s%s", why,
                      part.n != 0 ? ": `" : "", PTO_FMT(part), part.n != 0 ? "`" : "");
}

pto_status import_take_type(mlir_cursor *c, const mlir_node **out)
{
    if (mlir_take(c, MLIR_TYPE, out) || mlir_take(c, MLIR_ANGLE, out) || mlir_take(c, MLIR_WORD, out)) return PTO_OK;
    return mlir_expected(c, "a type");
}

/* ---- parts of a body ---- */

static pto_str trimmed(pto_str s)
{
    while (s.n != 0 && (s.p[0] == ' ' || s.p[0] == '\n' || s.p[0] == '\t' || s.p[0] == '\r')) {
        s.p++;
        s.n--;
    }
    while (s.n != 0 && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\n' || s.p[s.n - 1] == '\t' || s.p[s.n - 1] == '\r'))
        s.n--;
    return s;
}

/* Cuts what is before the first `mark` off `rest`. */
static pto_str cut(pto_str *rest, char mark)
{
    const char *at = rest->n != 0 ? memchr(rest->p, mark, rest->n) : NULL;
    const size_t n = at != NULL ? (size_t)(at - rest->p) : rest->n;
    const pto_str part = trimmed(pto_str_make(rest->p, n));
    rest->p += at != NULL ? n + 1 : n;
    rest->n -= at != NULL ? n + 1 : n;
    return part;
}

static int whole_number(pto_str s, int64_t *out)
{
    int64_t n = 0;
    if (s.n == 0 || s.n > 18) return 0;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] < '0' || s.p[i] > '9') return 0;
        n = 10 * n + (s.p[i] - '0');
    }
    *out = n;
    return 1;
}

/* ---- tiles ---- */

typedef struct tile_words {
    pto_str loc, dtype, rows, cols, v_row, v_col, blayout, slayout, fractal, pad, compact;
} tile_words;

static pto_status split(const importer *im, const mlir_node *type, tile_words *w)
{
    const struct {
        const char *key;
        pto_str *to;
    } keys[] = {{"loc", &w->loc},         {"dtype", &w->dtype}, {"rows", &w->rows},       {"cols", &w->cols},
                {"v_row", &w->v_row},     {"v_col", &w->v_col}, {"blayout", &w->blayout}, {"slayout", &w->slayout},
                {"fractal", &w->fractal}, {"pad", &w->pad},     {"compact", &w->compact}};
    pto_str rest = type->body;
    while (rest.n != 0) {
        pto_str pair = cut(&rest, ',');
        const pto_str whole = pair, key = cut(&pair, '=');
        size_t i = 0;
        while (i < sizeof keys / sizeof keys[0] && !pto_str_is(key, keys[i].key)) i++;
        if (i == sizeof keys / sizeof keys[0])
            return bad_type(im, type,
                            "a tile has loc, dtype, rows, cols, v_row, v_col, blayout, slayout, fractal, pad and "
                            "compact; this is another part",
                            whole);
        if (keys[i].to->n != 0 || trimmed(pair).n == 0)
            return bad_type(im, type, "a part of a tile that is given twice or is empty", whole);
        *keys[i].to = trimmed(pair);
    }
    return PTO_OK;
}

static int word_index(pto_str word, const char *const *words, uint32_t count, uint32_t *out)
{
    for (uint32_t i = 0; i < count; i++) {
        if (words[i] == NULL || !pto_str_is(word, words[i])) continue;
        *out = i;
        return 1;
    }
    return 0;
}

static pto_status orders(const importer *im, const mlir_node *type, const tile_words *w, import_tile_type *out)
{
    static const char *const lines[] = {"row_major", "col_major"}, *const boxes[] = {"none_box", "row_major",
                                                                                     "col_major"};
    static const uint32_t of[2][3] = {{PTO_ORDER_ROW, PTO_ORDER_ROW_ROW, PTO_ORDER_ROW_COLUMN},
                                      {PTO_ORDER_COLUMN, PTO_ORDER_COLUMN_ROW, PTO_ORDER_COLUMN_COLUMN}};
    uint32_t line = 0, box = 0;
    if (w->blayout.n != 0 && !word_index(w->blayout, lines, 2, &line))
        return bad_type(im, type, "blayout is row_major or col_major", w->blayout);
    if (w->slayout.n != 0 && !word_index(w->slayout, boxes, 3, &box))
        return bad_type(im, type, "slayout is none_box, row_major or col_major", w->slayout);
    out->order = of[line][box];
    return PTO_OK;
}

static pto_status extent(const importer *im, const mlir_node *type, pto_str word, int64_t least, int64_t most,
                         const char *what, int64_t *out)
{
    if (whole_number(word, out) && *out >= least && *out <= most) return PTO_OK;
    return bad_type(im, type, what, word);
}

/* `f8E4M3FN`, `f4E2M1FN` and the like. */
static int is_small_float(pto_str word)
{
    return word.n > 2 && word.p[0] == 'f' && (word.p[1] == '8' || word.p[1] == '4') && word.p[2] == 'E';
}

static void take_as_factors(import_tile_type *t)
{
    t->is_words = 1;
    t->dtype = PTO_F32;
    t->columns *= 2;
    if (t->valid[1] > 0) t->valid[1] *= 2;
}

pto_status import_tile_type_of(const importer *im, const mlir_node *type, import_tile_type *out)
{
    static const char *const places[] = {
#define PLACE(role, word, cpp) [PTO_ROLE_##role] = word,
#include "ascend_words.def"
    };
    enum { CAPACITY_MAX = 1 << 20 };
    tile_words w = {0};
    int64_t number = 0;
    *out = (import_tile_type){.valid = {-1, -1}};
    if (type->kind != MLIR_ANGLE && !pto_str_is(type->text, "pto.tile_buf"))
        return bad_type(im, type, "a tile is expected, `!pto.tile_buf<..>`; this is", type->text);
    PTO_TRY(split(im, type, &w));
    if (!word_index(w.loc, places, sizeof places / sizeof places[0], &out->role))
        return bad_type(im, type, "loc is vec, mat, left, right, acc, bias or scaling", w.loc);
    out->dtype = import_dtype(w.dtype);
    if (is_small_float(w.dtype))
        return bad_type(im, type,
                        "floats of 8 and 4 bits have a scale for each block on the chip, which is not read: make f16 "
                        "or bf16 of them, times their scales",
                        w.dtype);
    if (out->dtype == PTO_DTYPE_NONE || out->dtype == PTO_INDEX)
        return bad_type(im, type, "an element type that is not read", w.dtype);
    PTO_TRY(extent(im, type, w.rows, 1, CAPACITY_MAX, "rows is from 1 to 1048576", &out->rows));
    PTO_TRY(extent(im, type, w.cols, 1, CAPACITY_MAX, "cols is from 1 to 1048576", &out->columns));
    if (!pto_str_is(w.v_row, "?"))
        PTO_TRY(extent(im, type, w.v_row, 0, out->rows, "v_row is `?` or from 0 to rows", &out->valid[0]));
    if (!pto_str_is(w.v_col, "?"))
        PTO_TRY(extent(im, type, w.v_col, 0, out->columns, "v_col is `?` or from 0 to cols", &out->valid[1]));
    if (w.fractal.n != 0) PTO_TRY(extent(im, type, w.fractal, 16, 1024, "fractal is from 16 to 1024", &number));
    if (w.pad.n != 0) PTO_TRY(extent(im, type, w.pad, 0, 3, "pad is from 0 to 3", &out->pad));
    if (w.compact.n != 0) PTO_TRY(extent(im, type, w.compact, 0, 1, "compact is 0 or 1", &number));
    out->is_compact = w.compact.n != 0 && number == 1;
    if (out->role == PTO_ROLE_SCALING && pto_dtype_bytes(out->dtype) == 8) take_as_factors(out);
    return orders(im, type, &w, out);
}

pto_layout import_layout(const importer *im, const import_tile_type *t)
{
    const pto_space_facts facts = pto_space_facts_of(im->run, t->role);
    /* How left operands lie is a matter of the chip, and files for one are read for another. */
    if (t->role == PTO_ROLE_LEFT && facts != NULL) return facts->usual;
    return pto_layout_of_order(im->run, t->order);
}

int64_t import_tile_bytes(const import_tile_type *t)
{
    return t->rows * t->columns * pto_dtype_bytes(t->dtype); /* at most 2^43 */
}

/* ---- views ---- */

pto_status import_shaped_type(const importer *im, const mlir_node *type, uint32_t *rank, pto_dtype *dtype)
{
    pto_str rest = type->body;
    *rank = 0;
    for (;;) {
        const pto_str part = cut(&rest, 'x');
        int64_t n = 0;
        *dtype = import_dtype(part);
        if (*dtype != PTO_DTYPE_NONE && rest.n == 0) return PTO_OK;
        if (!pto_str_is(part, "?") && !whole_number(part, &n))
            return bad_type(im, type, "a shape is `?` or numbers and an element type with `x` between; this is not one",
                            type->body);
        if (++*rank > PTO_MAX_DIMS) return bad_type(im, type, "a shape of too many dims", type->body);
    }
}
