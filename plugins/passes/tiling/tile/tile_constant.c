/* Lowers a constant whose elements the program lists: one instance fills a tile for each run of equal elements and
 * stores it. There are 16 elements at most, as the reader of programs sees to.
 *
 *     forall (%i) to (1) out(%o = %e) {            dense [0.0, 0.0, 1.5]
 *       %0 = constant {value = 0.0} : f32
 *       %tk = tile.fill %0 valid(1, 2) : tile<1 x 2 x f32, ?>
 *       tile.store %tk, %o[0, 0]
 *       ..
 *     } */
#include "tile_nest.h"

#include <math.h>

/* A float of `mantissa` stored bits and an exponent of `width`, in the lowest bits. */
static double float_of(uint64_t bits, int mantissa, int width)
{
    const int bias = (1 << (width - 1)) - 1, top = (1 << width) - 1;
    const int exponent = (int)(bits >> mantissa) & top;
    const double fraction = (double)(bits & ((UINT64_C(1) << mantissa) - 1));
    const double sign = (bits >> (mantissa + width)) & 1 ? -1.0 : 1.0;
    if (exponent == top) return fraction != 0.0 ? (double)NAN : sign * HUGE_VAL;
    if (exponent == 0) return sign * ldexp(fraction, 1 - bias - mantissa);
    return sign * ldexp(fraction + ldexp(1.0, mantissa), exponent - bias - mantissa);
}

/* The element at `bytes`; 0: there is no scalar of its type. */
static int read_number(pto_dtype dtype, const uint8_t *bytes, tile_number *out)
{
    const int64_t size = pto_dtype_bytes(dtype);
    uint64_t bits = 0;
    if (size < 1 || size > 8) return 0;
    for (int64_t i = 0; i < size; i++) bits |= (uint64_t)bytes[i] << (8 * i);
    *out = (tile_number){0};
    switch (dtype) {
    case PTO_F32: out->real = float_of(bits, 23, 8); return 1;
    case PTO_F16: out->real = float_of(bits, 10, 5); return 1;
    case PTO_BF16: out->real = float_of(bits, 7, 8); return 1;
    default: break;
    }
    if (pto_dtype_is_float(dtype)) return 0;
    const int is_signed = dtype >= PTO_I8 && dtype <= PTO_I64, shift = 64 - 8 * (int)size;
    const uint64_t up = bits << shift;
    out->whole = is_signed ? (int64_t)up >> shift : (int64_t)bits;
    return 1;
}

static void emit_run(tile_nest *n, pto_value target, pto_dtype dtype, tile_number number, int64_t first, int64_t count)
{
    const pto_expr zero = pto_expr_const(n->run, 0);
    const pto_expr valid[2] = {pto_expr_const(n->run, 1), pto_expr_const(n->run, count)};
    const pto_expr offsets[2] = {zero, pto_expr_const(n->run, first)};
    const tile_piece p = tile_emit_fill(n, dtype, number, valid, 1, count);
    tile_emit_store(n, p, target, offsets);
}

int tile_is_listed(pto_op op)
{
    return pto_op_is(op, pto_kind(op.run, KIND_T_CONSTANT)) &&
           pto_attr_kind_of(pto_op_attr(op, "value")) == PTO_ATTR_DENSE;
}

pto_status tile_lower_constant(const pto_run *run, pto_op group, pto_op op)
{
    const pto_dtype dtype = pto_type_dtype(pto_value_type(pto_result(op, 0)));
    const int64_t size = pto_dtype_bytes(dtype);
    uint32_t bytes = 0;
    const uint8_t *data = pto_attr_bytes(pto_op_attr(op, "value"), &bytes);
    const int64_t count = size > 0 ? bytes / size : 0;
    tile_number number;
    if (count != 0 && !read_number(dtype, data, &number))
        return pto_error(op, "pto.tile/unsupported-type",
                         "`tensor.constant` lists elements of %s, of which there are no scalars; pass the array as a "
                         "parameter",
                         pto_dtype_name(dtype));
    const pto_expr one = pto_expr_const(run, 1), dims[2] = {one, pto_expr_const(run, count)};
    const pto_value empty = tile_empty(run, group, pto_type_tensor(run, dtype, 2, dims), pto_s("e"));
    PTO_NEED(empty);
    tile_nest n = tile_nest_make(run, NULL);
    n.loc = pto_op_loc(op);
    n.name = pto_value_name(pto_result(group, 0));
    const char *const name = "i";
    const pto_op forall = tile_begin_forall(&n, group, 1, &one, &name, 1, &empty);
    PTO_NEED(forall);
    const pto_value target = pto_block_arg(n.block, 1);
    for (int64_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && memcmp(data + end * size, data + first * size, (size_t)size) == 0; end++) {
        }
        (void)read_number(dtype, data + first * size, &number);
        emit_run(&n, target, dtype, number, first, end - first);
    }
    return tile_end_forall(&n, group, forall);
}
