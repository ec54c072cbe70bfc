/* Tile descriptors, windows of global memory, and the instructions on both. */
#include "ascend_build.h"
#include "c_types.h"
#include "float_bits.h"

/* ---- tiles ---- */

/* Whether less than all may be valid. */
static int is_partial(pto_op at, pto_expr valid, int64_t capacity)
{
    int64_t n = 0;
    if (pto_expr_is_const(valid, &n)) return n != capacity;
    return pto_extent_range(at, valid).lo < capacity;
}

/* A factor of a column and the word after it are one word of 64 bits. */
static void take_as_words(ascend_tile *t)
{
    t->type.columns /= 2;
    t->valid[1] = pto_expr_floordiv(t->valid[1], pto_expr_const(t->op.run, 2));
    t->type.dtype = PTO_I64;
}

/* What has elements there that the library has not: of bits their bytes, lines of which are blocks; of a record its
 * key and its index; of factors their words. */
static void take_as_elements(ascend_tile *t)
{
    ascend_tile_type *type = &t->type;
    if (type->dtype == PTO_MASK) {
        const uint32_t along = type->is_column_major ? 0 : 1;
        int64_t *const line = type->is_column_major ? &type->rows : &type->columns;
        *line = (*line + 255) / 256 * 32;
        t->valid[along] = pto_expr_ceildiv(t->valid[along], pto_expr_const(t->op.run, 8));
        type->dtype = PTO_U8;
    } else if (type->dtype == PTO_REC64) {
        type->columns *= 2;
        t->valid[1] = pto_expr_scale(t->valid[1], 2);
        type->dtype = PTO_F32;
    } else if (type->role == PTO_ROLE_SCALING && type->dtype == PTO_F32) {
        take_as_words(t);
    }
}

/* The row of a product of one row has boxes in its type, and lies without gaps. */
static pto_status take_as_vector(pto_op op, ascend_tile *t)
{
    const int64_t bytes = t->type.columns * pto_dtype_bytes(t->type.dtype);
    if (t->type.rows != 1 || bytes % t->type.box_bytes != 0)
        return ascend_refuse(op, "a tile without boxes in `left` is a row of a multiple of %d bytes",
                             t->type.box_bytes);
    t->type.boxes = PTO_LINES_ROW;
    t->type.is_compact = 0;
    return PTO_OK;
}

static pto_status tile_type(pto_op op, ascend_tile *t)
{
    const pto_run *run = op.run;
    const pto_type type = pto_value_type(pto_op_result(op, 0));
    const uint32_t order = pto_layout_order(run, pto_type_layout(type));
    ascend_tile_type *out = &t->type;
    out->role = pto_space_role(run, pto_type_space(type));
    out->dtype = pto_type_dtype(type);
    if (!pto_expr_is_const(pto_type_dim(type, 0), &out->rows) ||
        !pto_expr_is_const(pto_type_dim(type, 1), &out->columns))
        return ascend_refuse(op, "the capacity of the tile is not a number");
    const uint32_t outer = pto_order_boxes(order), inner = pto_order_elements(order);
    out->boxes = outer == PTO_LINES_NONE ? PTO_LINES_NONE : inner;
    out->is_column_major = (outer == PTO_LINES_NONE ? inner : outer) == PTO_LINES_COLUMN;
    out->box_bytes = out->role == PTO_ROLE_ACCUMULATOR ? 1024 : 512;
    const int is_operand =
        out->role == PTO_ROLE_LEFT || out->role == PTO_ROLE_RIGHT || out->role == PTO_ROLE_ACCUMULATOR;
    out->is_compact =
        is_operand && (is_partial(op, t->valid[0], out->rows) || is_partial(op, t->valid[1], out->columns));
    if (out->role == PTO_ROLE_LEFT && out->boxes == PTO_LINES_NONE) PTO_TRY(take_as_vector(op, t));
    take_as_elements(t);
    /* A line of elements is a whole number of blocks. */
    const int64_t line = (out->is_column_major ? out->rows : out->columns) * pto_dtype_bytes(out->dtype);
    if (out->boxes == PTO_LINES_NONE && line % 32 != 0)
        return ascend_refuse(op, "a line of the tile has %lld bytes, and must have a multiple of 32", (long long)line);
    return PTO_OK;
}

static ascend_tile *find_tile(ascend_builder *b, pto_value v)
{
    return v.index < b->tile_capacity ? b->tiles[v.index] : NULL;
}

static void note_tile(ascend_builder *b, pto_value v, ascend_tile *t)
{
    if (v.index >= b->tile_capacity) {
        const uint32_t capacity = 2 * v.index + 64;
        ascend_tile **bigger = PTO_SCRATCH(v.run, ascend_tile *, capacity);
        if (b->tile_capacity != 0) memcpy(bigger, b->tiles, b->tile_capacity * sizeof *bigger);
        b->tiles = bigger;
        b->tile_capacity = capacity;
    }
    b->tiles[v.index] = t;
}

pto_status ascend_add_tile(ascend_builder *b, pto_op op)
{
    const pto_op buffer = pto_value_op(pto_op_operand(op, 0));
    ascend_tile *t = PTO_SCRATCH(op.run, ascend_tile, 1);
    const int64_t address = pto_attr_int_of(buffer, PTO_STR("addr"), -1);
    if (address < 0) return ascend_refuse(op, "its buffer has no address");
    t->op = op;
    t->suffix = "";
    t->address = address + pto_attr_int_of(op, PTO_STR("offset"), 0);
    t->stage_bytes = pto_attr_int_of(buffer, PTO_STR("bytes_per_stage"), 0);
    t->stage = pto_expr_of(op, PTO_STR("stage"), 0);
    for (uint32_t i = 0; i < 2; i++) t->valid[i] = pto_expr_of(op, PTO_STR("valid"), i);
    PTO_TRY(tile_type(op, t));
    note_tile(b, pto_op_result(op, 0), t);
    ascend_node_add(b, ASCEND_TILE, op)->tile = t;
    return PTO_OK;
}

/* A form of a tile, made from another one of its forms, by its suffix; a new one is as that. */
static ascend_tile *form_of(ascend_tile *t, const ascend_tile *from, const char *suffix, int *is_new)
{
    ascend_tile **form = &t->next_form;
    suffix = text_format(t->op.run, "%s%s", from->suffix, suffix);
    for (*is_new = 0; *form != NULL; form = &(*form)->next_form)
        if (strcmp((*form)->suffix, suffix) == 0) return *form;
    ascend_tile *f = PTO_SCRATCH(t->op.run, ascend_tile, 1);
    *f = *from;
    f->suffix = suffix;
    f->next_form = NULL;
    *is_new = 1;
    *form = f;
    return f;
}

static int is_one(pto_expr x)
{
    int64_t n = 0;
    return pto_expr_is_const(x, &n) && n == 1;
}

static int is_down(const ascend_tile *t) { return t->type.is_column_major && t->type.boxes == PTO_LINES_NONE; }

/* The tile with rows and columns exchanged, which are the same bytes. */
static const ascend_tile *exchanged(ascend_tile *t)
{
    int is_new = 0;
    ascend_tile *f = form_of(t, t, "_turned", &is_new);
    if (!is_new) return f;
    f->type.rows = t->type.columns;
    f->type.columns = t->type.rows;
    f->type.is_column_major = !t->type.is_column_major;
    f->valid[0] = t->valid[1];
    f->valid[1] = t->valid[0];
    return f;
}

static int is_single_column(const ascend_tile *t) { return is_down(t) && is_one(t->valid[1]); }

/* The tile as a row-major one. */
static const ascend_tile *turned(ascend_tile *t) { return is_down(t) ? exchanged(t) : t; }

/* A form of the tile as if all of it was valid. */
static const ascend_tile *whole(ascend_tile *t, const ascend_tile *from)
{
    int is_new = 0;
    ascend_tile *f = form_of(t, from, "_whole", &is_new);
    f->valid[0] = pto_expr_const(t->op.run, f->type.rows);
    f->valid[1] = pto_expr_const(t->op.run, f->type.columns);
    return f;
}

/* The tile with more rows, of which none is valid: the row values that it goes with fill whole blocks. */
static const ascend_tile *taller(ascend_builder *b, const ascend_operand *o, int64_t rows)
{
    int is_new = 0;
    ascend_tile *t = b->tiles[o->value.index],
                *f = form_of(t, o->tile, text_format(t->op.run, "_of_%lld", (long long)rows), &is_new);
    f->type.rows = rows;
    return f;
}

/* The tile with more columns, of which as many are valid. */
static const ascend_tile *wider(ascend_builder *b, const ascend_operand *o, int64_t columns)
{
    int is_new = 0;
    ascend_tile *t = b->tiles[o->value.index],
                *f = form_of(t, o->tile, text_format(t->op.run, "_to_%lld", (long long)columns), &is_new);
    f->type.columns = columns;
    return f;
}

/* The tile with elements of another type of as many bits. */
static const ascend_tile *in_type(ascend_tile *t, const ascend_tile *from, pto_dtype dtype)
{
    int is_new = 0;
    if (from->type.dtype == dtype) return from;
    ascend_tile *f = form_of(t, from, text_format(t->op.run, "_%s", pto_dtype_name(dtype)), &is_new);
    f->type.dtype = dtype;
    return f;
}

/* The tile as i16, two for each of its words and one for two of its bytes, along what is contiguous: a last single byte
 * takes the one after it along, as in the library. */
static const ascend_tile *in_halves(ascend_tile *t, const ascend_tile *from)
{
    int is_new = 0;
    const int64_t bytes = pto_dtype_bytes(from->type.dtype);
    ascend_tile *f = form_of(t, from, "_halves", &is_new);
    if (!is_new) return f;
    const int is_down = f->type.boxes == PTO_LINES_NONE ? f->type.is_column_major : f->type.boxes == PTO_LINES_COLUMN;
    int64_t *const line = is_down ? &f->type.rows : &f->type.columns;
    pto_expr *const valid = &f->valid[is_down ? 0 : 1];
    *line = *line * bytes / 2;
    *valid = pto_expr_ceildiv(pto_expr_scale(*valid, bytes), pto_expr_const(t->op.run, 2));
    f->type.dtype = PTO_I16;
    return f;
}

/* The tile with its factors as words. */
static const ascend_tile *in_words(ascend_tile *t, const ascend_tile *from)
{
    int is_new = 0;
    ascend_tile *f = form_of(t, from, "_words", &is_new);
    if (is_new) take_as_words(f);
    return f;
}

/* ---- what is beyond the valid region ---- */

double ascend_rounded(double x, pto_dtype t) { return (double)float_bits_rounded(t, x); }

uint32_t ascend_bits(pto_dtype t, pto_attr number)
{
    if (!pto_dtype_is_float(t)) {
        const uint64_t n = (uint64_t)pto_attr_i64(number);
        return (uint32_t)(pto_dtype_bytes(t) < 4 ? n & ((UINT64_C(1) << 8 * pto_dtype_bytes(t)) - 1) : n);
    }
    return float_bits_of(t, pto_attr_f64(number));
}

/* Which word the library has for it: one for infinities of f32, and for the limits of integers. */
static uint32_t pad_of(pto_dtype t, uint32_t bits)
{
    const uint32_t width = 8 * (uint32_t)pto_dtype_bytes(t);
    const int is_signed = c_type_is_signed(t) && width <= 32;
    if (bits == 0) return ASCEND_PAD_ZERO;
    if (t == PTO_F32)
        return bits == 0x7f800000u ? ASCEND_PAD_MAX : bits == 0xff800000u ? ASCEND_PAD_MIN : ASCEND_PAD_NUMBER;
    if (is_signed && bits == UINT32_C(1) << (width - 1)) return ASCEND_PAD_MIN;
    if (is_signed && bits == (UINT32_C(1) << (width - 1)) - 1) return ASCEND_PAD_MAX;
    return ASCEND_PAD_NUMBER;
}

/* The tile with what is to be beyond its valid region, by its bits. */
static const ascend_tile *padded(ascend_tile *t, const ascend_tile *from, uint32_t bits)
{
    static const char *const words[] = {[ASCEND_PAD_ZERO] = "zero", [ASCEND_PAD_MAX] = "max", [ASCEND_PAD_MIN] = "min"};
    int is_new = 0;
    const uint32_t word = pad_of(from->type.dtype, bits);
    ascend_tile *f = form_of(t, from,
                             word == ASCEND_PAD_NUMBER ? text_format(t->op.run, "_padded_%x", (unsigned)bits)
                                                       : text_format(t->op.run, "_padded_%s", words[word]),
                             &is_new);
    f->type.pad = word;
    f->type.pad_bits = bits;
    return f;
}

/* ---- windows ---- */

/* What a copy moves: the valid region of the tile, in memory from the offsets on. */
static pto_status make_window(pto_op op, pto_value memory, const ascend_tile *t, ascend_window *w)
{
    const pto_run *run = op.run;
    const pto_type type = pto_value_type(memory);
    const uint32_t rank = pto_type_rank(type);
    const int is_transposed = pto_attr_bool_of(op, PTO_STR("transpose"), 0);
    const pto_expr one = pto_expr_const(run, 1);
    w->memory = memory;
    w->offset = pto_expr_const(run, 0);
    for (uint32_t d = 0; d < rank && PTO_SOME(w->offset); d++)
        w->offset =
            pto_expr_add(w->offset, pto_expr_mul(pto_expr_of(op, PTO_STR("offsets"), d), pto_type_stride(type, d)));
    w->rows = t->valid[0];
    w->columns = t->valid[1];
    w->row_step = rank > 1 ? pto_type_stride(type, rank - 2) : one;
    w->column_step = rank > 0 ? pto_type_stride(type, rank - 1) : one;
    if (is_transposed) {
        const pto_expr step = w->row_step;
        w->row_step = w->column_step;
        w->column_step = step;
    }
    if (!PTO_SOME(w->offset) || !PTO_SOME(w->row_step) || !PTO_SOME(w->column_step))
        return ascend_refuse(op, "where the window begins is more than 63 bits");
    if (is_transposed && t->type.boxes == PTO_LINES_NONE)
        return ascend_refuse(op, "tiles without boxes are not transposed on the way from global memory");
    const int is_column = t->type.is_column_major && t->type.boxes == PTO_LINES_NONE;
    w->is_columns = is_column || is_transposed;
    if (is_column && is_one(w->rows)) w->row_step = one; /* no other element follows in it */
    if (!is_one(w->is_columns ? w->row_step : w->column_step))
        return ascend_refuse(op, "the elements of a %s of the window do not follow each other in memory",
                             w->is_columns ? "column" : "row");
    return PTO_OK;
}

/* ---- instructions ---- */

static int is_tile(pto_value v) { return pto_type_kind_of(pto_value_type(v)) == PTO_TYPE_TILE; }

int ascend_is_special(const ascend_module *m, pto_value v)
{
    const pto_op made = pto_value_op(v);
    return PTO_SOME(made) && ASCEND_IS(m, made, CONSTANT) && pto_dtype_is_float(pto_type_dtype(pto_value_type(v))) &&
           !isfinite(pto_attr_f64(pto_op_attr(made, PTO_STR("value"))));
}

static int has_special(const ascend_builder *b, pto_op op)
{
    for (uint32_t i = 0; i < pto_op_operand_count(op); i++)
        if (!is_tile(pto_op_operand(op, i)) && ascend_is_special(b->m, pto_op_operand(op, i))) return 1;
    return 0;
}

/* Integers with a sign of as many bytes, at most four. */
static pto_dtype signed_of(pto_dtype t)
{
    const int64_t bytes = pto_dtype_bytes(t);
    return bytes == 1 ? PTO_I8 : bytes == 2 ? PTO_I16 : PTO_I32;
}

static int is_equality(pto_attr relation)
{
    const pto_str word = pto_attr_str(relation);
    return pto_str_is(word, "eq") || pto_str_is(word, "ne");
}

/* Whether the text says an instruction on such a tile of integers of the same bits: numbers there have a sign. */
static int is_in_bits(const ascend_builder *b, const ascend_node *n, const ascend_tile *t)
{
    const pto_dtype dtype = t->type.dtype;
    const pto_attr relation = pto_op_attr(n->op, PTO_STR("relation"));
    if (!b->m->is_text || (n->insn->flags & ASCEND_BITS_IN_TEXT) == 0) return 0;
    if (PTO_SOME(relation)) return dtype == PTO_F32 && is_equality(relation) && has_special(b, n->op);
    const pto_dtype own = pto_type_dtype(pto_value_type(pto_op_result(t->op, 0))); /* a mask has bytes there */
    if (pto_dtype_class(own) == PTO_CLASS_UINT) return pto_dtype_bytes(own) <= 4;
    return dtype == PTO_BF16 || ((dtype == PTO_F32 || dtype == PTO_F16) && has_special(b, n->op));
}

/* Whether the text says an instruction on such a tile of 16 bits: a number that fills words is not halves that are
 * alike. */
static int is_in_halves(const ascend_builder *b, const ascend_node *n, const ascend_tile *t)
{
    const int64_t bytes = pto_dtype_bytes(t->type.dtype);
    const int is_fill = (n->insn->flags & ASCEND_BITS_IN_TEXT) != 0;
    return b->m->is_text && (n->insn->flags & ASCEND_HALVES_IN_TEXT) != 0 && pto_str_is(b->m->arch, "a3") &&
           (bytes == 1 || (bytes == 4 && !is_fill));
}

/* Whether the text fills with NaN, for which the assembler has no word: the greatest integer has the bits of one. */
static int is_nan_fill(const ascend_builder *b, pto_op op)
{
    if (!b->m->is_text || !ASCEND_IS(b->m, op, TFILLPAD)) return 0;
    const pto_dtype dtype = pto_type_dtype(pto_value_type(pto_op_operand(op, 0)));
    const int64_t bytes = pto_dtype_bytes(dtype);
    return pto_dtype_is_float(dtype) && (bytes == 2 || bytes == 4) &&
           isnan(pto_attr_f64(pto_op_attr(op, PTO_STR("pad"))));
}

/* With the padding that the op asks for. */
static pto_status pad_operand(const ascend_builder *b, const ascend_node *n, ascend_operand *o, ascend_tile *t)
{
    const pto_attr pad = pto_op_attr(n->op, PTO_STR("pad"));
    const int64_t bytes = pto_dtype_bytes(t->type.dtype);
    if (!PTO_SOME(pad)) return PTO_OK;
    if (bytes > 4) return ascend_refuse(n->op, "of elements of %s", pto_dtype_name(t->type.dtype));
    const uint32_t nan = bytes == 4 ? INT32_MAX : INT16_MAX;
    o->tile = padded(t, o->tile, is_nan_fill(b, n->op) ? nan : ascend_bits(o->tile->type.dtype, pad));
    return PTO_OK;
}

/* Whether no byte is of both tiles, as far as addresses say it. */
static int lie_apart(const ascend_tile *a, const ascend_tile *b)
{
    const int64_t bytes_a = a->type.rows * a->type.columns * pto_dtype_bytes(a->type.dtype);
    const int64_t bytes_b = b->type.rows * b->type.columns * pto_dtype_bytes(b->type.dtype);
    return pto_op_operand(a->op, 0).index != pto_op_operand(b->op, 0).index &&
           (a->address + bytes_a <= b->address || b->address + bytes_b <= a->address);
}

/* Whether a fill is with a number that the assembler has no word for, in two steps there. */
static int is_split_fill(ascend_builder *b, pto_op op)
{
    if (!b->m->is_text || !ASCEND_IS(b->m, op, TFILLPAD) || is_nan_fill(b, op)) return 0;
    const ascend_tile *to = find_tile(b, pto_op_operand(op, 0)), *from = find_tile(b, pto_op_operand(op, 1));
    if (to == NULL || from == NULL) return 0;
    const pto_dtype dtype = to->type.dtype;
    const int64_t bytes = pto_dtype_bytes(dtype);
    return (bytes == 2 || bytes == 4) && to->type.role == PTO_ROLE_SCRATCHPAD && lie_apart(to, from) &&
           pad_of(dtype, ascend_bits(dtype, pto_op_attr(op, PTO_STR("pad")))) == ASCEND_PAD_NUMBER;
}

static pto_status make_operand(ascend_builder *b, ascend_node *n, uint32_t i)
{
    const pto_value v = pto_op_operand(n->op, i);
    ascend_operand *o = &n->operands[i];
    o->value = v;
    if (!is_tile(v)) return PTO_OK;
    ascend_tile *t = find_tile(b, v);
    if (t == NULL) return ascend_refuse(n->op, "operand %u is not a tile of this kernel", i);
    o->tile = (n->insn->flags & ASCEND_COLUMNS_TURN) != 0 ? turned(t) : t;
    if ((n->insn->flags & ASCEND_UNSIGNED) != 0 && o->tile->type.dtype == PTO_I32)
        o->tile = in_type(t, o->tile, PTO_U32);
    if ((n->insn->flags & ASCEND_SAME_TYPE) != 0 && i == 1)
        o->tile = in_type(t, o->tile, n->operands[0].tile->type.dtype);
    if (i == 1 && n->operands[0].tile != NULL && n->operands[0].tile->type.role == PTO_ROLE_SCALING)
        o->tile = in_words(t, o->tile);
    if (is_in_bits(b, n, o->tile) || is_nan_fill(b, n->op))
        o->tile = in_type(t, o->tile, signed_of(o->tile->type.dtype));
    if (is_in_halves(b, n, o->tile)) o->tile = in_halves(t, o->tile);
    if ((n->insn->flags & ASCEND_WHOLE) != 0 && i == 0) o->tile = whole(t, o->tile);
    const int is_padded = (n->insn->flags & ASCEND_PADDED) != 0 && i == 0 && !is_split_fill(b, n->op);
    return is_padded ? pad_operand(b, n, o, t) : PTO_OK;
}

pto_dtype ascend_scalar_type(const ascend_node *n, pto_value scalar)
{
    for (uint32_t i = 0; i < n->operand_count; i++) {
        const ascend_tile *t = n->operands[i].tile;
        if (t != NULL && pto_type_dtype(pto_value_type(n->operands[i].value)) != PTO_MASK) return t->type.dtype;
    }
    return pto_type_dtype(pto_value_type(scalar));
}

pto_expr ascend_diagonal(pto_op op)
{
    return pto_expr_sub(pto_expr_of(op, PTO_STR("offsets"), 0), pto_expr_of(op, PTO_STR("offsets"), 1));
}

/* A merge of up to four runs of which some are short, or of which only the first is kept: the form with a list for
 * each, which stops where the target ends. */
static pto_status split_runs(ascend_builder *b, ascend_node *n)
{
    enum { LISTS_MAX = 4, FIRST = 3 };
    const pto_run *run = n->op.run;
    ascend_tile *src = b->tiles[n->operands[1].value.index];
    const int64_t length = 2 * pto_attr_int_of(n->op, PTO_STR("run"), 0);
    int64_t all = 0, kept = 0;
    if (length <= 0 || !pto_expr_is_const(src->valid[1], &all) ||
        !pto_expr_is_const(n->operands[0].tile->valid[1], &kept))
        return ascend_refuse(n->op, "it is not known how many runs there are");
    if (kept == all && all % (LISTS_MAX * length) == 0) return PTO_OK;
    const int64_t lists = (all + length - 1) / length;
    if (lists < 2 || lists > LISTS_MAX || n->operand_count < FIRST)
        return ascend_refuse(n->op, "it has %lld runs, of which not all are whole and kept", (long long)lists);
    ascend_operand *operands = PTO_SCRATCH(run, ascend_operand, FIRST + LISTS_MAX);
    memcpy(operands, n->operands, FIRST * sizeof *operands);
    for (uint32_t i = 0; i < (uint32_t)lists; i++) {
        int is_new = 0;
        const int64_t rest = all - (int64_t)i * length;
        ascend_tile *f = form_of(src, src, text_format(run, "_run_%u_of_%lld", i, (long long)length / 2), &is_new);
        f->address = src->address + (int64_t)i * length * pto_dtype_bytes(PTO_F32);
        f->type.columns = length;
        f->valid[1] = pto_expr_const(run, rest < length ? rest : length);
        operands[FIRST + i] = (ascend_operand){.tile = f, .value = n->operands[1].value};
    }
    n->operands = operands;
    n->operand_count = FIRST + (uint32_t)lists;
    n->insn = ascend_insn_by_name(PTO_STR("tmrgsort_runs"));
    return PTO_OK;
}

/* Where columns are one after the other the library has no work along rows or columns: what is along one is along the
 * other with rows and columns exchanged. Sums of 16-bit floats along rows have f32 inside, and none along columns. */
static pto_status turn_work(ascend_builder *b, ascend_node *n, int64_t rule)
{
    const pto_str name = pto_op_name(n->op);
    const int is_row = rule == PTO_RULE_ROW_REDUCE || rule == PTO_RULE_ROW_BINARY || rule == PTO_RULE_ROW_EXPAND,
              is_reduce = rule == PTO_RULE_ROW_REDUCE || rule == PTO_RULE_COL_REDUCE;
    const uint32_t along = rule == PTO_RULE_ROW_BINARY || rule == PTO_RULE_COL_BINARY ? 2 : is_reduce ? 0 : 1;
    const ascend_tile *work = n->operands[is_reduce ? 1 : 0].tile;
    if (!is_down(work)) return PTO_OK;
    n->insn = ascend_insn_by_name(
        pto_s(text_format(n->op.run, "t%s%.*s", is_row ? "col" : "row", (int)name.n - 8, name.p + 8)));
    if (n->insn == NULL || (is_reduce && (!is_row || (!is_one(work->valid[1]) && work->type.dtype != PTO_F32))))
        return ascend_refuse(n->op, "its tiles have their columns one after the other");
    for (uint32_t i = 0; i < n->operand_count; i++) {
        ascend_tile *t = b->tiles[n->operands[i].value.index];
        n->operands[i].tile = i != along ? turned(t) : is_row || !is_single_column(t) ? exchanged(t) : t;
    }
    return PTO_OK;
}

/* The library asks for one number of rows where tiles of rows meet values of rows. */
static void level_rows(ascend_builder *b, ascend_node *n)
{
    int64_t most = 0;
    for (uint32_t i = 0; i < n->operand_count; i++)
        if (!pto_op_is_scratch(n->op, i) && n->operands[i].tile->type.rows > most)
            most = n->operands[i].tile->type.rows;
    for (uint32_t i = 0; i < n->operand_count; i++) {
        const ascend_tile_type *t = &n->operands[i].tile->type;
        if (pto_op_is_scratch(n->op, i) || t->is_column_major || t->rows == most) continue;
        n->operands[i].tile = taller(b, &n->operands[i], most);
    }
}

/* All of the target is filled, and the source comes over it. */
static void split_fill(ascend_builder *b, ascend_node *n)
{
    int is_new = 0;
    ascend_tile *to = b->tiles[n->operands[0].value.index], *from = b->tiles[n->operands[1].value.index];
    const ascend_tile *source = n->operands[1].tile, *target = turned(to);
    ascend_operand *operands = PTO_SCRATCH(n->op.run, ascend_operand, ASCEND_FILL_COUNT);
    ascend_tile *part = form_of(to, target, "_part", &is_new);
    part->valid[0] = source->valid[0];
    part->valid[1] = source->valid[1];
    memcpy(operands, n->operands, 2 * sizeof *operands);
    operands[ASCEND_FILL_ALL].tile = whole(to, in_type(to, target, signed_of(to->type.dtype)));
    operands[ASCEND_FILL_PART].tile = in_halves(to, part);
    operands[ASCEND_FILL_COPIED].tile = in_halves(from, source);
    n->operands = operands;
    n->operand_count = ASCEND_FILL_COUNT;
}

/* The assembler asks for one capacity of a merged list and of the scratch tile that the merge goes through. */
static void level_lists(ascend_builder *b, ascend_node *n)
{
    for (uint32_t i = 1; i < n->operand_count; i++) {
        ascend_operand *to = &n->operands[0], *through = &n->operands[i];
        if (!pto_op_is_scratch(n->op, i)) continue;
        if (to->tile->type.columns < through->tile->type.columns)
            to->tile = wider(b, to, through->tile->type.columns);
        else if (through->tile->type.columns < to->tile->type.columns)
            through->tile = wider(b, through, to->tile->type.columns);
        return;
    }
}

/* The assembler asks for one capacity of tiles where lines of their elements have others, as blocks have: a single row
 * has what the longest has. */
static void level_columns(ascend_builder *b, ascend_node *n)
{
    int64_t most = 0;
    for (uint32_t i = 0; i < n->operand_count; i++) {
        const ascend_tile *t = n->operands[i].tile;
        if (t == NULL || pto_op_is_scratch(n->op, i)) continue;
        if (t->type.rows != 1) return;
        if (t->type.columns > most) most = t->type.columns;
    }
    for (uint32_t i = 0; i < n->operand_count; i++) {
        ascend_operand *o = &n->operands[i];
        if (o->tile != NULL && !pto_op_is_scratch(n->op, i) && o->tile->type.columns < most)
            o->tile = wider(b, o, most);
    }
}

/* The library transposes tiles of rows into tiles of rows. Columns that become columns are rows that become rows; where
 * one of the two has rows, the bytes stay as they are. */
static void turn_transposition(ascend_builder *b, ascend_node *n)
{
    enum { MOVED = 2 };
    const ascend_tile *to = b->tiles[n->operands[0].value.index], *from = b->tiles[n->operands[1].value.index];
    if (is_down(to) != is_down(from)) {
        n->insn = ascend_insn_by_name(PTO_STR("tmov"));
        n->operand_count = MOVED;
    }
    for (uint32_t i = 0; i < n->operand_count; i++) n->operands[i].tile = turned(b->tiles[n->operands[i].value.index]);
    if (b->m->is_text && n->operand_count == MOVED) level_columns(b, n);
}

/* Shapes that the library has otherwise. */
static pto_status fit_shapes(ascend_builder *b, ascend_node *n)
{
    const int64_t rule = pto_kind_column(n->op.run, pto_op_kind(n->op), PTO_COLUMN_RULE);
    switch (rule) {
    case PTO_RULE_ROW_REDUCE:
    case PTO_RULE_ROW_BINARY:
    case PTO_RULE_ROW_EXPAND:
    case PTO_RULE_COL_REDUCE:
    case PTO_RULE_COL_BINARY:
    case PTO_RULE_COL_EXPAND:
        PTO_TRY(turn_work(b, n, rule));
        if (strncmp(n->insn->name, "trow", 4) == 0) level_rows(b, n);
        return PTO_OK;
    case PTO_RULE_TRANSPOSE: turn_transposition(b, n); return PTO_OK;
    case PTO_RULE_SEQUENCE:
        return n->operands[0].tile->type.rows == 1 ? PTO_OK
                                                   : ascend_refuse(n->op, "the capacity of its tile is not one row");
    default: return PTO_OK;
    }
}

/* Of copies to and from global memory: the window takes the place of the memory. */
static pto_status add_window(ascend_node *n, uint32_t memory, uint32_t tile)
{
    ascend_window *w = PTO_SCRATCH(n->op.run, ascend_window, 1);
    PTO_TRY(make_window(n->op, n->operands[memory].value, n->operands[tile].tile, w));
    n->operands[memory].window = w;
    return PTO_OK;
}

int ascend_scale(const ascend_node *n, uint64_t *word)
{
    enum { SIGNED_BIT = 46 };
    const pto_attr scale = pto_op_attr(n->op, PTO_STR("scale"));
    uint32_t bits;
    if (!PTO_SOME(scale)) return 0;
    const float number = (float)pto_attr_f64(scale);
    memcpy(&bits, &number, sizeof bits);
    const int is_signed = pto_type_dtype(pto_value_type(n->operands[0].value)) == PTO_I8;
    *word = bits | (uint64_t)is_signed << SIGNED_BIT;
    return 1;
}

uint32_t ascend_even_flags(const ascend_module *m)
{
    return ASCEND_EVEN_IN_TEXT | (pto_str_is(m->arch, "a5") ? ASCEND_EVEN_ON_A5_IN_TEXT : 0u);
}

pto_status ascend_add_insn(ascend_builder *b, pto_op op)
{
    const ascend_insn *insn = ascend_insn_of(op);
    if (insn == NULL) return ascend_refuse(op, "ascend.def has no row for it");
    ascend_node *n = ascend_node_add(b, ASCEND_INSN, op);
    n->insn = insn;
    n->operand_count = pto_op_operand_count(op);
    n->operands = PTO_SCRATCH(op.run, ascend_operand, n->operand_count);
    for (uint32_t i = 0; i < n->operand_count; i++) PTO_TRY(make_operand(b, n, i));
    PTO_TRY(fit_shapes(b, n));
    if (ASCEND_IS(b->m, op, TLOAD)) return add_window(n, 1, 0);
    if (ASCEND_IS(b->m, op, TSTORE) || ASCEND_IS(b->m, op, TSTORE_FP)) return add_window(n, 0, 1);
    if (ASCEND_IS(b->m, op, TMRGSORT)) PTO_TRY(split_runs(b, n));
    if (is_split_fill(b, op)) split_fill(b, n);
    if (b->m->is_text && strstr(n->insn->op, "$lists") != NULL) level_lists(b, n);
    if (b->m->is_text && (n->insn->flags & ascend_even_flags(b->m)) != 0) level_columns(b, n);
    return PTO_OK;
}
