/* What the files of pto.legalize-types share: element types, what the machine has, and casts. */
#ifndef LEGALIZE_TYPES_H
#define LEGALIZE_TYPES_H

#include "machine_types.h"

#define KINDS(X)                       \
    X(NEG, "tensor.neg")               \
    X(ABS, "tensor.abs")               \
    X(ADD, "tensor.add")               \
    X(SUB, "tensor.sub")               \
    X(MUL, "tensor.mul")               \
    X(MAXIMUM, "tensor.maximum")       \
    X(MINIMUM, "tensor.minimum")       \
    X(REDUCE_MAX, "tensor.reduce_max") \
    X(REDUCE_MIN, "tensor.reduce_min") \
    X(BROADCAST, "tensor.broadcast")   \
    X(CAST, "tensor.cast")             \
    X(MATMUL, "tensor.matmul")         \
    X(NE, "tensor.ne")                 \
    X(BITCAST, "tensor.bitcast")       \
    X(RESHAPE, "tensor.reshape")       \
    X(VIEW, "tensor.view")             \
    X(CONCAT, "tensor.concat")         \
    X(INDEX_ADD, "tensor.index_add")   \
    X(TRANSPOSE, "tensor.transpose")   \
    X(PAD, "tensor.pad")               \
    X(FULL, "tensor.full")             \
    X(INDEX_CAST, "tensor.index_cast") \
    X(CUMSUM, "tensor.cumsum")         \
    X(ASSEMBLE, "tensor.assemble")     \
    X(GATHER, "tensor.gather")         \
    X(SCATTER, "tensor.scatter")       \
    X(FOR, "for")                      \
    X(YIELD, "yield")                  \
    X(CONSTANT, "tensor.constant")
PTO_KINDS(KINDS);

#define STATS(X)                    \
    X(WIDENED, "widened")           \
    X(CASTS, "casts-made")          \
    X(CHAINED, "casts-chained")     \
    X(PRODUCTS, "products-changed") \
    X(INTEGERS, "integers-composed")
PTO_STATS(STATS);

/* Classes of element types, and the bits that one takes in memory. */
static inline int legalize_is_signed(pto_dtype t) { return t >= PTO_I8 && t <= PTO_I64; }
static inline int legalize_is_unsigned(pto_dtype t) { return t >= PTO_U8 && t <= PTO_U64; }
static inline int legalize_is_integer(pto_dtype t) { return legalize_is_signed(t) || legalize_is_unsigned(t); }
static inline int legalize_bits(pto_dtype t) { return 8 * (int)pto_dtype_bytes(t); }
/* Whether every value of `values` is one of `t`. */
int legalize_holds(pto_dtype t, pto_dtype values);

/* Conversions one after the other. */
typedef struct legalize_chain {
    uint32_t count; /* steps; 0: there is none */
    pto_dtype to[PTO_DTYPE_COUNT];
} legalize_chain;

/* The chain for numbers that all belong to `values`; none when only an inexact one exists. */
legalize_chain legalize_find_chain(const pto_run *run, pto_dtype from, pto_dtype to, pto_dtype values);

/* x in another type along a chain, before `at`. The last step has mode and saturation of `from`, the others are exact;
 * all of them have those when they narrow. `from` may be none. A cast of a constant becomes a constant. */
pto_value legalize_convert(pto_op at, pto_value x, const legalize_chain *c, pto_str name, pto_op from);
pto_value legalize_fold_constant(pto_value cast);

/* Whether a cast that no chain does has another exact way, and that way: a value in the place of the cast's result. */
int legalize_has_recipe(const pto_run *run, pto_dtype from, pto_dtype to);
pto_value legalize_follow_recipe(pto_op op);
/* Whether the machine converts, but not by the mode of the cast; and what does. */
int legalize_must_round(pto_op op);
pto_value legalize_rounded(pto_op op);

/* The ops that compute an op of integers of type t, or a cast, that nothing else does: a value in the place of its
 * result; none: there is no way. Those ops may need the same again. */
pto_value legalize_integer_op(pto_op op, pto_dtype t);
pto_value legalize_integer_cast(pto_op op);
/* The same for a cast from or to a float of one byte. */
pto_value legalize_float8_cast(pto_op op);
/* Whether the op's formula has a quotient that the machine lacks. */
int legalize_must_divide(pto_op op, pto_dtype t);
/* Whether it shifts by what the machine's instruction may not: amounts that are not known to be below the width. */
int legalize_must_limit(pto_op op, pto_dtype t);
/* Whether the machine has the op in t but does not repeat what its operands lack in extents; and the op of operands
 * that are repeated before, as signed ones. */
int legalize_must_spread(pto_op op, pto_dtype t);
pto_value legalize_spread(pto_op op, pto_dtype t);

/* The product of the operand of `op` along a dim, which stays with extent 1; all products of a tensor.cumprod; and what
 * a tensor.scatter that multiplies makes. All are values before `op`, of ops that multiply two numbers, and loops. */
pto_value legalize_product(pto_op op, uint32_t axis);
pto_value legalize_products_up_to(pto_op op);
pto_value legalize_products_at(pto_op op);

/* The sum of the operand of `op` along a dim, which stays with extent 1; and what an op makes that adds values at more
 * indices than one sum holds: operands `values` and, from `index` on, of indices; `in_lines`: as tensor.scatter adds,
 * each in its line along the axis. Both of ops of the same kind on fewer numbers. */
pto_value legalize_sum(pto_op op, uint32_t axis);
pto_value legalize_sums_at(pto_op op, uint32_t values, uint32_t index, int in_lines);

/* Bits of x as those of an integer or byte float of as many bits, before `op`. */
pto_value legalize_reinterpret(pto_op op, pto_value x, pto_dtype to, const char *suffix);
/* The lower, 0, or higher half, 1, of each number of 64 bits; and two halves as one number each. */
pto_value legalize_half_of(pto_op op, pto_value x, uint32_t half);
pto_value legalize_join(pto_op op, pto_value low, pto_value high, pto_dtype to);

/* Ops that move elements whose type the machine does not move so; and a value in the place of the result. */
int legalize_must_move(pto_op op);
pto_value legalize_move(pto_op op);
/* Whether the machine does not fill tiles with the number of a constant that its halves, or an integer, are. */
int legalize_must_fill(pto_op op);
pto_value legalize_fill(pto_op op);

#endif
