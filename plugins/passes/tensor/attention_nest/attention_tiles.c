/* Ops of a nest. */
#include "attention_tiles.h"

static piece piece_of(const writer *w, pto_dtype dtype, int64_t rows, int64_t columns)
{
    return (piece){.value = pto_value_none(w->run), .dtype = dtype, .rows = rows, .columns = columns};
}

static pto_type type_of(const writer *w, const piece *p)
{
    return pto_type_tile(w->run, p->dtype, p->rows, p->columns, PTO_SPACE_NONE, PTO_LAYOUT_NONE);
}

static piece finish(writer *w, pto_spec *s, const char *name, piece p)
{
    pto_spec_result(s, type_of(w, &p));
    pto_spec_loc(s, w->loc);
    pto_spec_name(s, pto_s(name));
    p.value = pto_spec_value(s, pto_at_end(w->block));
    w->failed |= !PTO_SOME(p.value);
    return p;
}

static pto_spec spec_of(const writer *w, uint32_t kind) { return pto_spec_make(w->run, pto_kind(w->run, kind)); }

static pto_value finish_scalar(writer *w, pto_spec *s, pto_dtype dtype)
{
    pto_spec_result(s, pto_type_scalar(w->run, dtype));
    pto_spec_loc(s, w->loc);
    const pto_value v = pto_spec_value(s, pto_at_end(w->block));
    w->failed |= !PTO_SOME(v);
    return v;
}

pto_value write_number(writer *w, pto_dtype dtype, double number)
{
    pto_spec s = spec_of(w, KIND_CONSTANT);
    if (pto_dtype_is_float(dtype))
        pto_spec_float(&s, PTO_STR("value"), (double)(float)number);
    else
        pto_spec_int(&s, PTO_STR("value"), (int64_t)number);
    return finish_scalar(w, &s, dtype);
}

pto_value write_index(writer *w, pto_dtype dtype, pto_expr from)
{
    pto_spec s = spec_of(w, KIND_INDEX_CAST);
    pto_spec_exprs(&s, PTO_STR("from"), 1, &from);
    return finish_scalar(w, &s, dtype);
}

piece write_load(writer *w, const char *name, pto_value memory, const pto_expr *offsets, const pto_expr valid[2],
                 int64_t rows, int64_t columns, int turned)
{
    const pto_type type = pto_value_type(memory);
    pto_spec s = spec_of(w, KIND_LOAD);
    pto_spec_operand(&s, memory);
    pto_spec_exprs(&s, PTO_STR("offsets"), pto_type_rank(type), offsets);
    pto_spec_exprs(&s, PTO_STR("sizes"), 2, valid);
    if (turned) pto_spec_bool(&s, PTO_STR("transpose"), 1);
    return finish(w, &s, name, piece_of(w, pto_type_dtype(type), rows, columns));
}

void write_store(writer *w, piece tile, pto_value memory, const pto_expr *offsets)
{
    pto_spec s = spec_of(w, KIND_STORE);
    pto_spec_operand(&s, tile.value);
    pto_spec_operand(&s, memory);
    pto_spec_exprs(&s, PTO_STR("offsets"), pto_type_rank(pto_value_type(memory)), offsets);
    pto_spec_loc(&s, w->loc);
    w->failed |= !PTO_SOME(pto_spec_build(&s, pto_at_end(w->block)));
}

piece write_fill(writer *w, const char *name, pto_dtype dtype, pto_value scalar, const pto_expr valid[2], int64_t rows,
                 int64_t columns)
{
    pto_spec s = spec_of(w, KIND_FILL);
    pto_spec_operand(&s, scalar);
    pto_spec_exprs(&s, PTO_STR("valid"), 2, valid);
    return finish(w, &s, name, piece_of(w, dtype, rows, columns));
}

piece write_count(writer *w, const char *name, pto_value start, const pto_expr valid[2], int64_t columns)
{
    pto_spec s = spec_of(w, KIND_IOTA);
    pto_spec_operand(&s, start);
    pto_spec_exprs(&s, PTO_STR("valid"), 2, valid);
    return finish(w, &s, name, piece_of(w, PTO_I32, 1, columns));
}

static piece write_as(writer *w, uint32_t kind, const char *name, piece as, uint32_t count, const pto_value *operands)
{
    pto_spec s = spec_of(w, kind);
    pto_spec_operands(&s, count, operands);
    return finish(w, &s, name, as);
}

piece write_one(writer *w, uint32_t kind, const char *name, piece x) { return write_as(w, kind, name, x, 1, &x.value); }

piece write_two(writer *w, uint32_t kind, const char *name, piece x, piece y)
{
    const pto_value operands[2] = {x.value, y.value};
    return write_as(w, kind, name, x, 2, operands);
}

piece write_scalar(writer *w, uint32_t kind, const char *name, piece x, pto_value scalar)
{
    const pto_value operands[2] = {x.value, scalar};
    return write_as(w, kind, name, x, 2, operands);
}

piece write_reduce(writer *w, uint32_t kind, const char *name, piece x)
{
    return write_as(w, kind, name, piece_of(w, x.dtype, x.rows, 1), 1, &x.value);
}

piece write_cast(writer *w, const char *name, piece x, pto_dtype dtype)
{
    return x.dtype == dtype ? x : write_as(w, KIND_CAST, name, piece_of(w, dtype, x.rows, x.columns), 1, &x.value);
}

piece write_turned(writer *w, const char *name, piece x)
{
    return write_as(w, KIND_TRANSPOSE, name, piece_of(w, x.dtype, x.columns, x.rows), 1, &x.value);
}

piece write_product(writer *w, const char *name, piece x, piece y)
{
    const pto_value operands[2] = {x.value, y.value};
    return write_as(w, KIND_MATMUL, name, piece_of(w, PTO_F32, x.rows, y.columns), 2, operands);
}

piece write_compare(writer *w, const char *name, piece x, const char *relation, pto_value scalar)
{
    pto_spec s = spec_of(w, KIND_CMPS);
    pto_spec_operand(&s, x.value);
    pto_spec_operand(&s, scalar);
    pto_spec_str(&s, PTO_STR("relation"), pto_s(relation));
    return finish(w, &s, name, piece_of(w, PTO_MASK, x.rows, x.columns));
}

piece write_select(writer *w, const char *name, piece mask, piece x, pto_value scalar)
{
    const pto_value operands[3] = {mask.value, x.value, scalar};
    return write_as(w, KIND_SELECTS, name, x, 3, operands);
}

pto_op write_for(writer *w, pto_expr from, pto_expr to, uint32_t count, piece *carried, const pto_expr (*valid)[2],
                 pto_expr *index)
{
    const pto_expr one = pto_expr_const(w->run, 1);
    pto_attr *regions = PTO_SCRATCH(w->run, pto_attr, count);
    pto_spec s = spec_of(w, KIND_FOR);
    pto_spec_exprs(&s, PTO_STR("from"), 1, &from);
    pto_spec_exprs(&s, PTO_STR("to"), 1, &to);
    pto_spec_exprs(&s, PTO_STR("step"), 1, &one);
    for (uint32_t i = 0; i < count; i++) {
        pto_spec_operand(&s, carried[i].value);
        pto_spec_result(&s, type_of(w, &carried[i]));
        regions[i] = pto_attr_make_exprs(w->run, 2, valid[i]);
    }
    pto_spec_attr(&s, PTO_STR("valid"), pto_attr_make_list(w->run, count, regions));
    pto_spec_blocks(&s, 1);
    pto_spec_loc(&s, w->loc);
    const pto_op loop = pto_spec_build(&s, pto_at_end(w->block));
    *index = pto_expr_const(w->run, 0);
    if (!PTO_SOME(loop)) {
        w->failed = 1;
        return loop;
    }
    w->block = pto_body(loop);
    *index = pto_expr_value(pto_block_add_arg(w->block, pto_type_scalar(w->run, PTO_INDEX), PTO_STR("j")));
    for (uint32_t i = 0; i < count; i++)
        carried[i].value = pto_block_add_arg(w->block, type_of(w, &carried[i]), pto_value_name(carried[i].value));
    return loop;
}

void write_end(writer *w, pto_op loop, uint32_t count, piece *carried)
{
    pto_spec yield = spec_of(w, KIND_YIELD);
    for (uint32_t i = 0; i < count; i++) pto_spec_operand(&yield, carried[i].value);
    pto_spec_loc(&yield, w->loc);
    if (!PTO_SOME(loop) || !PTO_SOME(pto_spec_build(&yield, pto_at_end(w->block)))) {
        w->failed = 1;
        return;
    }
    w->block = pto_op_block(loop);
    for (uint32_t i = 0; i < count; i++) carried[i].value = pto_op_result(loop, i);
}
