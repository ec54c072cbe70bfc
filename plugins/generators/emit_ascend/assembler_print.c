/* A kernel as a function of the vendor's assembler: instructions, control flow as `scf`, and the file. */
#include "assembler_print.h"

#include "assembler_storage.h"
#include "assembler_text.h"

#include <pto/relation.h>

static const char *tile_type(assembler_printer *p, const ascend_tile_type *t)
{
    static const char *const boxes[] = {"none_box", "row_major", "col_major"};
    static const char *const places[] = {
#define PLACE(role, word, cpp) [PTO_ROLE_##role] = word,
#include "ascend_words.def"
    };
    return text_format(
        p->run,
        "!pto.tile_buf<loc=%s, dtype=%s, rows=%lld, cols=%lld, v_row=?, v_col=?, blayout=%s, slayout=%s, "
        "fractal=%d, pad=%u%s>",
        places[t->role], assembler_element(t->dtype), (long long)t->rows, (long long)t->columns,
        t->is_column_major ? "col_major" : "row_major", boxes[t->boxes], t->box_bytes, t->pad,
        t->is_compact ? ", compact=1" : "");
}

static const char *tile(assembler_printer *p, const ascend_tile *t)
{
    const char *base = assembler_value(p, pto_op_result(t->op, 0));
    return t->suffix[0] != 0 ? text_format(p->run, "%s%s_", base, t->suffix) : base;
}

/* ---- instructions ---- */

pto_status assembler_refuse(pto_op op, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const pto_status status = ascend_refuse_in(op, "the text of the vendor's assembler", format, args);
    va_end(args);
    return status;
}

static int is_one_row(const ascend_window *w)
{
    int64_t n = 0, step = 0;
    return pto_expr_is_const(w->rows, &n) && n == 1 && pto_expr_is_const(w->column_step, &step) && step == 1;
}

/* Whether the assembler sees that columns of the memory do not follow each other, as it asks for windows of columns. */
static int has_known_rows(pto_type memory)
{
    const uint32_t rank = pto_type_rank(memory);
    int64_t rows = 0, step = 0;
    return pto_expr_is_const(pto_type_dim(memory, rank - 2), &rows) && rows != 1 &&
           pto_expr_is_const(pto_type_stride(memory, rank - 2), &step) && step != 1;
}

static pto_expr elements_of(assembler_printer *p, pto_type memory)
{
    pto_expr all = pto_expr_const(p->run, 1);
    for (uint32_t d = 0; d < pto_type_rank(memory); d++) all = pto_expr_mul(all, pto_type_dim(memory, d));
    return all;
}

/* Of memory as one line, which is a row or a column there. */
static const char *line_window(assembler_printer *p, const ascend_window *w, const char **type)
{
    const pto_type memory = pto_value_type(w->memory);
    const int is_down = w->is_columns && !is_one_row(w);
    const char *e = assembler_element(pto_type_dtype(memory)), *view = assembler_temporary(p),
               *part = assembler_temporary(p);
    const char *one = assembler_constant(p, 1, "index"), *zero = assembler_constant(p, 0, "index");
    const char *length = assembler_index(p, elements_of(p, memory)), *start = assembler_index(p, w->offset);
    const char *size = assembler_index(p, is_down ? w->rows : w->columns);
    *type = text_format(p->run, "!pto.partition_tensor_view<?x?x%s>", e);
    assembler_line(p, "%s = pto.make_tensor_view %s, shape = [%s, %s], strides = [%s, %s]%s : !pto.tensor_view<?x?x%s>",
                   view, assembler_value(p, w->memory), is_down ? length : one, is_down ? one : length,
                   is_down ? one : length, is_down ? length : one, w->is_columns ? " {layout = #pto.layout<dn>}" : "",
                   e);
    assembler_line(
        p, "%s = pto.partition_view %s, offsets = [%s, %s], sizes = [%s, %s] : !pto.tensor_view<?x?x%s> -> %s", part,
        view, is_down ? start : zero, is_down ? zero : start, is_down ? size : one, is_down ? one : size, e, *type);
    return part;
}

/* A view of all of the memory, and the window as a part of it; its name and type. */
static const char *window(assembler_printer *p, const ascend_node *n, const ascend_window *w, const char **type)
{
    const pto_type memory = pto_value_type(w->memory);
    const uint32_t rank = pto_type_rank(memory);
    const char *e = assembler_element(pto_type_dtype(memory)), *view = assembler_temporary(p),
               *part = assembler_temporary(p);
    const int turns = pto_attr_bool_of(n->op, PTO_STR("transpose"), 0);
    text dims = {.run = p->run}, steps = {.run = p->run}, starts = {.run = p->run}, sizes = {.run = p->run},
         marks = {.run = p->run};
    if (rank == 1 || (w->is_columns && is_one_row(w) && has_known_rows(memory))) return line_window(p, w, type);
    for (uint32_t i = 0; i < rank; i++) {
        const uint32_t d = turns && rank > 1 && i + 2 >= rank ? 2 * rank - 3 - i : i;
        const char *comma = i != 0 ? ", " : "";
        text_put(&dims, "%s%s", comma, assembler_index(p, pto_type_dim(memory, d)));
        text_put(&steps, "%s%s", comma, assembler_index(p, pto_type_stride(memory, d)));
        text_put(&starts, "%s%s", comma, assembler_index(p, pto_expr_of(n->op, PTO_STR("offsets"), d)));
        text_put(&sizes, "%s%s", comma,
                 i + 1 == rank   ? assembler_index(p, w->columns)
                 : i + 2 == rank ? assembler_index(p, w->rows)
                                 : assembler_constant(p, 1, "index"));
        text_put(&marks, "?x");
    }
    assembler_line(p, "%s = pto.make_tensor_view %s, shape = [%s], strides = [%s]%s : !pto.tensor_view<%s%s>", view,
                   assembler_value(p, w->memory), text_end(&dims), text_end(&steps),
                   w->is_columns ? " {layout = #pto.layout<dn>}" : "", text_end(&marks), e);
    *type = text_format(p->run, "!pto.partition_tensor_view<%s%s>", text_end(&marks), e);
    assembler_line(p, "%s = pto.partition_view %s, offsets = [%s], sizes = [%s] : !pto.tensor_view<%s%s> -> %s", part,
                   view, text_end(&starts), text_end(&sizes), text_end(&marks), e, *type);
    return part;
}

static pto_status copy(assembler_printer *p, const ascend_node *n)
{
    const int is_load = n->operands[0].tile != NULL;
    const ascend_operand *memory = &n->operands[is_load ? 1 : 0], *other = &n->operands[is_load ? 0 : 1];
    const uint32_t rank = pto_type_rank(pto_value_type(memory->value));
    const char *type = NULL;
    if (rank < 1 || rank > 5) return assembler_refuse(n->op, "memory has 1 to 5 dims there");
    const int64_t elements = pto_expr_range(elements_of(p, pto_value_type(memory->value)), p->at, NULL).lo;
    if (elements > INT32_MAX)
        return assembler_refuse(n->op, "its index has 32 bits in C++, too few for memory of %lld elements",
                                (long long)elements);
    const int has_relu = pto_attr_bool_of(n->op, PTO_STR("relu"), 0);
    uint64_t word = 0;
    const int has_scale = ascend_scale(n, &word);
    const char *part = window(p, n, memory->window, &type), *t = tile(p, other->tile);
    const char *scale = has_scale ? text_format(p->run, ", %s : i64", assembler_constant(p, (int64_t)word, "i64")) : "";
    const ascend_tile *factors = n->operand_count > 2 ? n->operands[2].tile : NULL;
    if (factors != NULL && has_relu) return assembler_refuse(n->op, "it has no relu there");
    if (is_load)
        assembler_line(p, "pto.tload ins(%s : %s) outs(%s : %s)", part, type, t, tile_type(p, &other->tile->type));
    else if (factors != NULL)
        assembler_line(p, "pto.tstore_fp ins(%s, %s : %s, %s) outs(%s : %s)", t, tile(p, factors),
                       tile_type(p, &other->tile->type), tile_type(p, &factors->type), part, type);
    else
        assembler_line(p, "pto.tstore ins(%s : %s%s) outs(%s : %s)%s", t, tile_type(p, &other->tile->type), scale, part,
                       type, has_relu ? " {reluPreMode = #pto<relu_pre_mode normal_relu>}" : "");
    return PTO_OK;
}

/* An integer on the way to a scalar of a tile: the assembler has no form of a cast to 32 bits at once. */
static void integer(assembler_printer *p, pto_expr x, const char *name, const char *type)
{
    const char *wide = assembler_wide(p, x);
    if (strcmp(type, "i64") == 0)
        assembler_line(p, "%s = arith.addi %s, %s : i64", name, wide, assembler_constant(p, 0, "i64"));
    else
        assembler_line(p, "%s = arith.trunci %s : i64 to %s", name, wide, type);
}

/* An integer as f64, which has a place for all of them. */
static const char *integer_as_float(assembler_printer *p, pto_value v)
{
    const pto_op op = pto_value_op(v);
    const char *whole = assembler_value(p, v), *type = assembler_number_type(pto_type_dtype(pto_value_type(v))),
               *name = assembler_temporary(p);
    if (PTO_SOME(op) && ASCEND_IS(p->m, op, CONSTANT))
        assembler_line(p, "%s = arith.constant %.17e : f64", name,
                       (double)pto_attr_i64(pto_op_attr(op, PTO_STR("value"))));
    else
        assembler_line(p, "%s = arith.sitofp %s : %s to f64", name, whole, type);
    return name;
}

static const char *bits_of(assembler_printer *p, pto_value number, const char *type)
{
    const char *name = assembler_temporary(p), *own = assembler_element(pto_type_dtype(pto_value_type(number)));
    assembler_line(p, "%s = arith.bitcast %s : %s to %s", name, assembler_value(p, number), own, type);
    return name;
}

/* A byte twice in 16 bits. */
static const char *pair(assembler_printer *p, pto_value byte)
{
    const char *wide = assembler_temporary(p), *name = assembler_temporary(p);
    assembler_line(p, "%s = arith.extui %s : i8 to i16", wide, assembler_value(p, byte));
    assembler_line(p, "%s = arith.muli %s, %s : i16", name, wide, assembler_constant(p, 0x101, "i16"));
    return name;
}

/* A scalar operand in the element type of the tile; its name and type. */
static const char *scalar(assembler_printer *p, const ascend_node *n, pto_value v, const char **type)
{
    const pto_op op = pto_value_op(v);
    const pto_dtype t = ascend_scalar_type(n, v);
    *type = assembler_number_type(t);
    if ((n->insn->flags & ASCEND_FLOATS_IN_TEXT) != 0 && !pto_dtype_is_float(t)) {
        *type = "f64";
        return integer_as_float(p, v);
    }
    const pto_dtype own = pto_type_dtype(pto_value_type(v));
    const int is_pair = pto_dtype_bytes(own) == 1 && pto_dtype_bytes(t) == 2;
    if (!PTO_SOME(op) || !ASCEND_IS(p->m, op, CONSTANT)) {
        if (is_pair) return pair(p, v);
        if (pto_dtype_is_float(own) && !pto_dtype_is_float(t)) return bits_of(p, v, *type);
        *type = assembler_number_type(own);
        return assembler_value(p, v);
    }
    const pto_attr number = pto_op_attr(op, PTO_STR("value"));
    const uint32_t bits = ascend_bits(own, number);
    if (pto_dtype_is_float(own) && !pto_dtype_is_float(t))
        return assembler_constant(p, pto_dtype_bytes(t) == 4 ? (int32_t)bits : (int16_t)bits, *type);
    if (is_pair) return assembler_constant(p, (int16_t)(bits << 8 | bits), *type);
    if (!pto_dtype_is_float(t)) return assembler_constant(p, pto_attr_i64(number), *type);
    const char *name = assembler_temporary(p);
    assembler_line(p, "%s = arith.constant %.17e : %s", name, pto_attr_f64(number), *type);
    return name;
}

static pto_status read_element(assembler_printer *p, const ascend_node *n)
{
    const ascend_tile *t = n->operands[0].tile;
    const pto_value v = pto_op_result(n->op, 0);
    const pto_expr row = pto_expr_of(n->op, PTO_STR("offsets"), 0), column = pto_expr_of(n->op, PTO_STR("offsets"), 1);
    const char *at =
        assembler_index(p, t->type.is_column_major ? pto_expr_add(pto_expr_scale(column, t->type.rows), row)
                                                   : pto_expr_add(pto_expr_scale(row, t->type.columns), column));
    assembler_line(p, "%s = pto.tgetval ins(%s, %s : %s, index) outs : %s", assembler_value(p, v), tile(p, t), at,
                   tile_type(p, &t->type), assembler_number_type(pto_type_dtype(pto_value_type(v))));
    return PTO_OK;
}

/* What is between braces after the operands, from a word of a row; *type: of an operand that it is. NULL: no word. */
static const char *expand_word(assembler_printer *p, const ascend_node *n, const char *c, const char **type)
{
    *type = NULL;
    if (strncmp(c, "$round", 6) == 0)
        return text_format(p->run, "{rmode = #pto<round_mode %s>, sat_mode = #pto<saturation_mode %s>}",
                           ascend_rounding(n->op), pto_attr_bool_of(n->op, PTO_STR("saturate"), 0) ? "ON" : "OFF");
    if (strncmp(c, "$relation", 9) == 0)
        return text_format(p->run, " {cmpMode = #pto<cmp %s>}",
                           pto_relation_word(pto_relation_by_name(pto_attr_str_of(n->op, PTO_STR("relation")))));
    if (strncmp(c, "$second", 7) == 0) return ", {maskPattern = #pto.mask_pattern<P1010>}";
    if (strncmp(c, "$lists", 6) == 0) return " {exhausted = false}";
    if (strncmp(c, "$place", 6) == 0) {
        *type = "index, index";
        return text_format(p->run, ", %s, %s", assembler_index(p, pto_expr_of(n->op, PTO_STR("offsets"), 0)),
                           assembler_index(p, pto_expr_of(n->op, PTO_STR("offsets"), 1)));
    }
    if (strncmp(c, "$diagonal", 9) == 0) {
        const char *at = assembler_temporary(p);
        integer(p, ascend_diagonal(n->op), at, "i32");
        *type = "i32";
        return text_format(p->run, "%s {upperOrLower = %d : i32}", at, pto_attr_bool_of(n->op, PTO_STR("upper"), 0));
    }
    if (strncmp(c, "$run", 4) != 0) return NULL;
    *type = "i32";
    return text_format(p->run, ", %s", assembler_constant(p, 2 * pto_attr_int_of(n->op, PTO_STR("run"), 0), "i32"));
}

static pto_status check_pad(const ascend_node *n)
{
    for (uint32_t i = 0; i < n->operand_count; i++)
        if (n->operands[i].tile != NULL && n->operands[i].tile->type.pad == ASCEND_PAD_NUMBER)
            return assembler_refuse(n->op, "its `pad` is 0, or the greatest or least of its element type there");
    return PTO_OK;
}

/* As the library does around its own loops of the scalar unit. */
/* `target` waits for `source`. */
static void put_pair(assembler_printer *p, const char *source, const char *target)
{
    assembler_line(p, "pto.set_flag[<%s>, <%s>, <EVENT_ID0>]", source, target);
    assembler_line(p, "pto.wait_flag[<%s>, <%s>, <EVENT_ID0>]", source, target);
}

static void put_wait(assembler_printer *p, const ascend_node *n, const char *source, const char *target)
{
    if ((n->insn->flags & ASCEND_SCALAR_UNIT) != 0 && p->is_placed && pto_str_is(p->m->arch, "a3"))
        put_pair(p, source, target);
}

/* Elements of a row at places of another row, one after the other: the library's own form begins with zeros. */
static void put_scatter(assembler_printer *p, const ascend_node *n)
{
    enum { TO = 0, FROM = 2, PLACES = 3 };
    const ascend_tile *to = n->operands[TO].tile, *from = n->operands[FROM].tile, *places = n->operands[PLACES].tile;
    const char *element = assembler_number_type(from->type.dtype), *place = assembler_number_type(places->type.dtype);
    const char *count = assembler_index(p, places->valid[1]), *zero = assembler_constant(p, 0, "index");
    const char *one = assembler_constant(p, 1, "index"), *i = assembler_temporary(p), *at = assembler_temporary(p);
    const char *index = assembler_temporary(p), *x = assembler_temporary(p), *wide = assembler_temporary(p);
    if (p->is_placed) put_pair(p, "PIPE_V", "PIPE_S");
    assembler_line(p, "scf.for %s = %s to %s step %s {", i, zero, count, one);
    p->depth++;
    assembler_line(p, "%s = pto.tgetval ins(%s, %s : %s, index) outs : %s", at, tile(p, places), i,
                   tile_type(p, &places->type), place);
    assembler_line(p, "%s = arith.extsi %s : %s to i64", wide, at, place);
    assembler_line(p, "%s = arith.index_cast %s : i64 to index", index, wide);
    assembler_line(p, "%s = pto.tgetval ins(%s, %s : %s, index) outs : %s", x, tile(p, from), i,
                   tile_type(p, &from->type), element);
    assembler_line(p, "pto.tsetval ins(%s, %s : index, %s) outs(%s : %s)", index, x, element, tile(p, to),
                   tile_type(p, &to->type));
    p->depth--;
    assembler_line(p, "}");
    if (p->is_placed) put_pair(p, "PIPE_S", "PIPE_V");
}

/* Infinities and NaN are no words of the C++ that the assembler writes. */
static pto_status check_numbers(const assembler_printer *p, const ascend_node *n)
{
    for (uint32_t i = 0; i < n->operand_count; i++) {
        const pto_value v = n->operands[i].value;
        if (n->operands[i].tile == NULL && ascend_is_special(p->m, v) && pto_dtype_is_float(ascend_scalar_type(n, v)))
            return assembler_refuse(n->op,
                                    "its scalar is not finite, and that is not a number of the C++ that it writes");
    }
    return PTO_OK;
}

/* The text for A5 has no scratch tile where rows meet values of rows. */
static int is_left_out(const assembler_printer *p, const ascend_node *n)
{
    return strncmp(n->insn->op, "trowexpand", 10) == 0 && pto_str_is(p->m->arch, "a5");
}

static void put_next(text *list, const char *word) { text_put(list, "%s%s", list->n != 0 ? ", " : "", word); }

static int is_said_after(const char *word)
{
    return strcmp(word, "$symmetric") == 0 || strcmp(word, "$asymmetric") == 0;
}

/* What a row says after all operands. */
static const char *quantization(const ascend_node *n)
{
    if (strstr(n->insn->op, "$symmetric") != NULL) return " {quant_type = #pto<quant_type INT8_SYM>}";
    return strstr(n->insn->op, "$asymmetric") != NULL ? " {quant_type = #pto<quant_type INT8_ASYM>}" : "";
}

/* What the op takes by the row of ascend.def, and the types of that. */
static void put_ins(assembler_printer *p, const ascend_node *n, text *names, text *types)
{
    for (const char *c = strchr(n->insn->op, ' '); c != NULL && *c != 0; c++) {
        if (*c != '$' || is_said_after(c)) continue;
        const char *type = NULL, *word = expand_word(p, n, c, &type);
        if (word != NULL) {
            text_put(names, "%s", word);
            if (type != NULL) put_next(types, type);
            return;
        }
        const int is_optional = c[1] == '?';
        uint32_t i = (uint32_t)(c[is_optional ? 2 : 1] - '0');
        if (is_optional && (i >= n->operand_count || is_left_out(p, n))) continue;
        if (c[2] == '|' && i >= n->operand_count) i = (uint32_t)(c[3] - '0');
        const ascend_operand *o = &n->operands[i];
        const char *name = o->tile != NULL ? tile(p, o->tile) : scalar(p, n, o->value, &type);
        if (o->tile != NULL) type = tile_type(p, &o->tile->type);
        put_next(names, name);
        put_next(types, type);
    }
}

/* What it writes; of merges also how many of each list were taken, which nobody reads. */
static const char *outs_of(assembler_printer *p, const ascend_node *n)
{
    const ascend_tile *to = n->operands[0].tile;
    if (!pto_op_writes(n->op, 0)) return "";
    if (strstr(n->insn->op, "$lists") == NULL)
        return text_format(p->run, " outs(%s : %s)", tile(p, to), tile_type(p, &to->type));
    const char *counts = assembler_at_head(p, "%c0_counts_", "dense<0>", "vector<4xi16>");
    return text_format(p->run, " outs(%s, %s : %s, vector<4xi16>)", tile(p, to), counts, tile_type(p, &to->type));
}

static void put_fill(assembler_printer *p, const ascend_node *n)
{
    const ascend_tile *all = n->operands[ASCEND_FILL_ALL].tile, *part = n->operands[ASCEND_FILL_PART].tile,
                      *copied = n->operands[ASCEND_FILL_COPIED].tile;
    const pto_dtype dtype = pto_type_dtype(pto_value_type(n->operands[0].value));
    const uint32_t bits = ascend_bits(dtype, pto_op_attr(n->op, PTO_STR("pad")));
    const char *type = assembler_number_type(all->type.dtype);
    const char *number = assembler_constant(p, pto_dtype_bytes(dtype) == 4 ? (int32_t)bits : (int16_t)bits, type);
    assembler_line(p, "pto.texpands ins(%s : %s) outs(%s : %s)", number, type, tile(p, all), tile_type(p, &all->type));
    if (p->is_placed && pto_str_is(p->m->arch, "a3")) assembler_line(p, "pto.barrier <PIPE_V>");
    assembler_line(p, "pto.tor ins(%s, %s : %s, %s) outs(%s : %s)", tile(p, copied), tile(p, copied),
                   tile_type(p, &copied->type), tile_type(p, &copied->type), tile(p, part), tile_type(p, &part->type));
}

/* By the row of ascend.def: the op, then what it takes. */
static pto_status insn(assembler_printer *p, const ascend_node *n)
{
    text names = {.run = p->run}, types = {.run = p->run};
    if (ASCEND_IS(p->m, n->op, TFILLPAD) && n->operand_count == ASCEND_FILL_COUNT) {
        put_fill(p, n);
        return PTO_OK;
    }
    if (pto_str_is(pto_op_name(n->op), "pto.tscatter")) {
        put_scatter(p, n);
        return PTO_OK;
    }
    if (n->insn->op[0] == 0) return assembler_refuse(n->op, "ascend.def has no op for it");
    PTO_TRY(check_pad(n));
    PTO_TRY(check_numbers(p, n));
    if (pto_str_is(pto_op_name(n->op), "pto.tgetval")) return read_element(p, n);
    if (ASCEND_IS(p->m, n->op, TLOAD) || n->operands[0].window != NULL) return copy(p, n);
    put_ins(p, n, &names, &types);
    put_wait(p, n, "PIPE_V", "PIPE_S");
    assembler_line(p, "pto.%.*s ins(%s : %s)%s%s", (int)strcspn(n->insn->op, " "), n->insn->op, text_end(&names),
                   text_end(&types), outs_of(p, n), quantization(n));
    put_wait(p, n, "PIPE_S", "PIPE_V");
    return PTO_OK;
}

/* Row `row` of the tile, as a tile of that many columns. */
static const ascend_tile *put_row(assembler_printer *p, const ascend_tile *of, const char *row, int64_t columns)
{
    ascend_tile *t = PTO_SCRATCH(p->run, ascend_tile, 1);
    const int64_t bytes = of->type.columns * pto_dtype_bytes(of->type.dtype);
    const char *start = assembler_index(p, pto_expr_offset(pto_expr_scale(of->stage, of->stage_bytes), of->address));
    const char *from = assembler_binary(p, "muli", row, assembler_constant(p, bytes, "index"));
    const char *at = assembler_binary(p, "addi", start, from);
    const char *valid = assembler_index(p, of->valid[1]);
    const char *address = assembler_temporary(p), *one = assembler_constant(p, 1, "index");
    *t = *of;
    t->type.rows = 1;
    t->type.columns = columns;
    t->suffix = text_format(p->run, "%s_row", of->suffix);
    assembler_line(p, "%s = arith.index_cast %s : index to i64", address, at);
    assembler_line(p, "%s = pto.alloc_tile addr = %s valid_row = %s valid_col = %s : %s", tile(p, t), address, one,
                   valid, tile_type(p, &t->type));
    return t;
}

/* Where the assembler asks for one capacity of tiles that have several: single rows can be given it, so that rows are
 * taken one after the other. */
static int goes_by_rows(const assembler_printer *p, const ascend_node *n)
{
    if ((n->insn->flags & ascend_even_flags(p->m)) == 0 || !p->is_placed) return 0;
    const ascend_tile *to = n->operands[0].tile;
    for (uint32_t i = 1; i < n->operand_count && to->type.rows != 1; i++) {
        const ascend_tile *t = n->operands[i].tile;
        if (t != NULL && !pto_op_is_scratch(n->op, i) && t->type.columns != to->type.columns) return 1;
    }
    return 0;
}

static pto_status insn_by_rows(assembler_printer *p, const ascend_node *n)
{
    const char *rows = assembler_index(p, n->operands[0].tile->valid[0]);
    const char *first = assembler_constant(p, 0, "index");
    const char *step = assembler_constant(p, 1, "index");
    const char *row = assembler_temporary(p);
    const uint32_t known = p->known.count;
    ascend_node one = *n;
    int64_t columns = 0;
    for (uint32_t i = 0; i < n->operand_count; i++)
        if (n->operands[i].tile->type.columns > columns) columns = n->operands[i].tile->type.columns;
    one.operands = PTO_SCRATCH(p->run, ascend_operand, n->operand_count);
    assembler_line(p, "scf.for %s = %s to %s step %s {", row, first, rows, step);
    p->depth++;
    for (uint32_t i = 0; i < n->operand_count; i++) {
        uint32_t same = 0;
        while (same < i && n->operands[same].tile != n->operands[i].tile) same++;
        one.operands[i] = same < i ? one.operands[same] : n->operands[i];
        if (same == i) one.operands[i].tile = put_row(p, n->operands[i].tile, row, columns);
    }
    PTO_TRY(insn(p, &one));
    p->depth--;
    assembler_line(p, "}");
    p->known.count = known;
    return PTO_OK;
}

/* ---- nodes ---- */

static const char *address_of(assembler_printer *p, const ascend_tile *t)
{
    int64_t stage = 0;
    if (!p->is_placed) return "";
    if (pto_expr_is_const(t->stage, &stage))
        return text_format(p->run, " addr = %s", assembler_constant(p, t->address + stage * t->stage_bytes, "i64"));
    const char *bytes = assembler_index(p, pto_expr_offset(pto_expr_scale(t->stage, t->stage_bytes), t->address));
    const char *address = assembler_temporary(p);
    assembler_line(p, "%s = arith.index_cast %s : index to i64", address, bytes);
    return text_format(p->run, " addr = %s", address);
}

/* The same bytes as those of `from`, which is of the type, as the tile. */
static void put_view(assembler_printer *p, const ascend_tile *t, const char *from, const ascend_tile_type *type)
{
    const char *rows = assembler_index(p, t->valid[0]), *columns = assembler_index(p, t->valid[1]);
    assembler_line(p, "%s = pto.treshape %s : %s -> %s", tile(p, t), from, tile_type(p, type), tile_type(p, &t->type));
    assembler_line(p, "pto.set_validshape %s, %s, %s : %s", tile(p, t), rows, columns, tile_type(p, &t->type));
}

static const char *base_name(assembler_printer *p, const assembler_base *b)
{
    return text_format(p->run, "%s_base_", assembler_value(p, pto_op_result(b->like->op, 0)));
}

static void put_bases(assembler_printer *p, const ascend_node *n)
{
    for (const assembler_base *b = p->bases; b != NULL; b = b->next) {
        if (b->before != n) continue;
        const ascend_tile_type *t = &b->like->type;
        assembler_line(p, "%s = pto.alloc_tile valid_row = %s valid_col = %s : %s", base_name(p, b),
                       assembler_constant(p, t->rows, "index"), assembler_constant(p, t->columns, "index"),
                       tile_type(p, t));
    }
}

static pto_status put_tile(assembler_printer *p, const ascend_node *n)
{
    const assembler_base *base = assembler_base_of(p->bases, n->tile);
    if (assembler_element(n->tile->type.dtype) == NULL) return assembler_refuse(n->op, "of its element type");
    for (const ascend_tile *t = n->tile; t != NULL; t = t->next_form) {
        if (base != NULL) {
            put_view(p, t, base_name(p, base), &base->like->type);
        } else if (t != n->tile && !p->is_placed) {
            put_view(p, t, tile(p, n->tile), &n->tile->type);
        } else {
            const char *address = address_of(p, t);
            const char *rows = assembler_index(p, t->valid[0]), *columns = assembler_index(p, t->valid[1]);
            assembler_line(p, "%s = pto.alloc_tile%s valid_row = %s valid_col = %s : %s", tile(p, t), address, rows,
                           columns, tile_type(p, &t->type));
        }
    }
    return PTO_OK;
}

static void put_order(assembler_printer *p, const ascend_node *n)
{
    if (!p->is_placed) return;
    if (n->kind == ASCEND_BARRIER) {
        assembler_line(p, "pto.barrier <%s>", ascend_pipe(n->op, "pipe"));
        return;
    }
    const pto_expr event = pto_expr_of(n->op, PTO_STR("event"), 0);
    const char *word = n->kind == ASCEND_SET ? "set_flag" : "wait_flag";
    const char *source = ascend_pipe(n->op, "src"), *target = ascend_pipe(n->op, "dst");
    int64_t id = 0;
    if (pto_expr_is_const(event, &id))
        assembler_line(p, "pto.%s[<%s>, <%s>, <EVENT_ID%lld>]", word, source, target, (long long)id);
    else
        assembler_line(p, "pto.%s_dyn [#pto.pipe<%s>, #pto.pipe<%s>, %s]", word, source, target,
                       assembler_index(p, event));
}

static pto_status put_scalar(assembler_printer *p, const ascend_node *n)
{
    if (ASCEND_IS(p->m, n->op, CONSTANT)) return PTO_OK; /* where it is used */
    if (ASCEND_IS(p->m, n->op, VIEW)) {
        const pto_dtype from = pto_type_dtype(pto_value_type(pto_op_operand(n->op, 0))),
                        to = pto_type_dtype(pto_value_type(pto_op_result(n->op, 0)));
        return from == to ? PTO_OK
                          : assembler_refuse(n->op, "memory of %s as %s: a pointer is of one element type",
                                             pto_dtype_name(from), pto_dtype_name(to));
    }
    const int is_bind = ASCEND_IS(p->m, n->op, BIND);
    const pto_expr x = pto_expr_of(n->op, is_bind ? PTO_STR("value") : PTO_STR("from"), 0);
    if (is_bind) {
        assembler_line(p, "%s = arith.addi %s, %s : index",
                       assembler_symbol(p, pto_attr_str_of(n->op, PTO_STR("symbol"))), assembler_index(p, x),
                       assembler_constant(p, 0, "index"));
        return PTO_OK;
    }
    const pto_value v = pto_op_result(n->op, 0);
    const pto_dtype t = pto_type_dtype(pto_value_type(v));
    if (assembler_element(t) == NULL) return assembler_refuse(n->op, "of its element type");
    if (pto_dtype_is_float(t)) {
        assembler_line(p, "%s = arith.sitofp %s : i64 to %s", assembler_value(p, v), assembler_wide(p, x),
                       assembler_element(t));
        return PTO_OK;
    }
    integer(p, x, assembler_value(p, v), assembler_number_type(t));
    return PTO_OK;
}

static pto_status put_nodes(assembler_printer *p, const ascend_node *first);

static pto_status put_inside(assembler_printer *p, const ascend_node *first)
{
    const uint32_t known = p->known.count;
    p->depth++;
    PTO_TRY(put_nodes(p, first));
    p->depth--;
    p->known.count = known;
    return PTO_OK;
}

static pto_status put_control(assembler_printer *p, const ascend_node *n)
{
    if (n->kind == ASCEND_FOR) {
        const char *from = assembler_index(p, pto_expr_of(n->op, PTO_STR("from"), 0));
        const char *to = assembler_index(p, pto_expr_of(n->op, PTO_STR("to"), 0));
        const char *step = assembler_index(p, pto_expr_of(n->op, PTO_STR("step"), 0));
        assembler_line(p, "scf.for %s = %s to %s step %s {", assembler_value(p, pto_block_arg(pto_body(n->op), 0)),
                       from, to, step);
        PTO_TRY(put_inside(p, n->first[0]));
        assembler_line(p, "}");
        return PTO_OK;
    }
    static const char *const predicates[] = {
        [PTO_RELATION_EQ] = "eq",  [PTO_RELATION_NE] = "ne",  [PTO_RELATION_LT] = "slt",
        [PTO_RELATION_LE] = "sle", [PTO_RELATION_GT] = "sgt", [PTO_RELATION_GE] = "sge"};
    const pto_relation r = pto_relation_by_name(pto_attr_str_of(n->op, PTO_STR("relation")));
    const pto_expr x = pto_expr_of(n->op, PTO_STR("left"), 0), y = pto_expr_of(n->op, PTO_STR("right"), 0);
    const int is_wide = assembler_needs_64_bits(x) || assembler_needs_64_bits(y);
    const char *left = is_wide ? assembler_wide(p, x) : assembler_index(p, x);
    const char *right = is_wide ? assembler_wide(p, y) : assembler_index(p, y), *holds = assembler_temporary(p);
    assembler_line(p, "%s = arith.cmpi %s, %s, %s : %s", holds, predicates[r], left, right, is_wide ? "i64" : "index");
    assembler_line(p, "scf.if %s {", holds);
    PTO_TRY(put_inside(p, n->first[0]));
    if (pto_op_block_count(n->op) > 1) {
        assembler_line(p, "} else {");
        PTO_TRY(put_inside(p, n->first[1]));
    }
    assembler_line(p, "}");
    return PTO_OK;
}

static pto_status put_nodes(assembler_printer *p, const ascend_node *first)
{
    for (const ascend_node *n = first; n != NULL; n = n->next) {
        p->at = n->op;
        put_bases(p, n);
        switch (n->kind) {
        case ASCEND_TILE: PTO_TRY(put_tile(p, n)); break;
        case ASCEND_SET:
        case ASCEND_WAIT:
        case ASCEND_BARRIER: put_order(p, n); break;
        case ASCEND_FOR:
        case ASCEND_IF: PTO_TRY(put_control(p, n)); break;
        case ASCEND_SCALAR: PTO_TRY(put_scalar(p, n)); break;
        default: PTO_TRY(goes_by_rows(p, n) ? insn_by_rows(p, n) : insn(p, n));
        }
    }
    return PTO_OK;
}

/* ---- the file ---- */

static pto_status put_head(assembler_printer *p, text *out)
{
    const ascend_kernel *k = p->k;
    const pto_block body = pto_body(k->op);
    text parameters = {.run = p->run};
    for (uint32_t i = k->rank; i < pto_block_arg_count(body); i++) {
        const pto_value v = pto_block_arg(body, i);
        const pto_type type = pto_value_type(v);
        const int is_memory = pto_type_kind_of(type) == PTO_TYPE_GM;
        const char *e = pto_type_dtype(type) == PTO_INDEX ? "index"
                        : is_memory                       ? assembler_element(pto_type_dtype(type))
                                                          : assembler_number_type(pto_type_dtype(type));
        if (e == NULL) return assembler_refuse(k->op, "a parameter has elements that it does not know");
        text_put(&parameters, is_memory ? "%s%s: !pto.ptr<%s>" : "%s%s: %s", parameters.n != 0 ? ", " : "",
                 assembler_value(p, v), e);
    }
    for (uint32_t i = 0; i < k->symbol_count; i++)
        text_put(&parameters, "%s%s: index", parameters.n != 0 ? ", " : "", assembler_symbol(p, k->symbols[i]));
    text_put(out, "// Kernel %.*s, written by pto.emit-ascend.\nmodule attributes {pto.target_arch = \"%.*s\"} {\n",
             PTO_FMT(pto_function_name(k->op)), PTO_FMT(p->m->arch));
    text_put(out, "  func.func @%s(%s) attributes {pto.kernel_kind = #pto.kernel_kind<%s>} {\n",
             text_identifier(p->run, pto_function_name(k->op)), text_end(&parameters), k->is_cube ? "cube" : "vector");
    return PTO_OK;
}

/* Indices of an instance, the last one fastest. */
static void put_grid(assembler_printer *p)
{
    const ascend_kernel *k = p->k;
    const pto_attr grid = pto_op_attr(k->op, PTO_STR("grid"));
    const char *block = assembler_temporary(p), *rest = assembler_temporary(p);
    if (k->rank == 0) return;
    assembler_line(p, "%s = pto.get_block_idx", block);
    assembler_line(p, "%s = arith.index_cast %s : i64 to index", rest, block);
    for (uint32_t i = k->rank; i-- > 0;) {
        const char *name = assembler_value(p, pto_block_arg(pto_body(k->op), i));
        if (i == 0) {
            assembler_line(p, "%s = arith.addi %s, %s : index", name, rest, assembler_constant(p, 0, "index"));
            return;
        }
        const char *extent = assembler_index(p, pto_attr_expr(pto_attr_item(grid, i, NULL)));
        assembler_line(p, "%s = arith.remsi %s, %s : index", name, rest, extent);
        rest = assembler_binary(p, "divsi", rest, extent);
    }
}

pto_status assembler_kernel(const ascend_module *m, const ascend_kernel *k, int level, text *out)
{
    text body = {.run = m->run}, constants = {.run = m->run};
    assembler_printer p = {
        .run = m->run, .m = m, .k = k, .out = &body, .constants = &constants, .depth = 2, .at = k->op};
    p.is_placed = level == 3;
    if (!p.is_placed) PTO_TRY(assembler_storage_make(k, &p.bases));
    PTO_TRY(put_head(&p, out));
    put_grid(&p);
    PTO_TRY(put_nodes(&p, k->first));
    if (p.is_placed) assembler_line(&p, "pto.barrier <PIPE_ALL>");
    assembler_line(&p, "return");
    text_put(out, "%s", text_end(&constants));
    text_bytes(out, text_end(&body), body.n);
    text_put(out, "  }\n}\n");
    return PTO_OK;
}
