/* What an attention is, and whether a nest can be made of it. */
#include "attention_nest.h"

#include <math.h>

enum { EXTENT_MAX = 1024 }; /* of elements and values: a tile has a row of them */

static int64_t known_extent(pto_expr extent)
{
    int64_t n = 0;
    return pto_expr_is_const(extent, &n) ? n : -1;
}

static int is_one(pto_expr extent) { return known_extent(extent) == 1; }

/* The extent of the mask at dim `d` of the scores; 1 where it has no such dim. */
static pto_expr mask_extent(const attention *a, uint32_t d)
{
    const pto_type type = pto_value_type(a->mask);
    const uint32_t missing = a->rank - pto_type_rank(type);
    return d < missing ? pto_expr_const(a->run, 1) : pto_type_dim(type, d - missing);
}

/* Queries of heads that share keys are one product when nothing tells them apart. */
static void fold_heads(attention *a)
{
    if (a->rank < 3) return;
    const uint32_t at = a->rank - 3;
    const pto_expr heads = pto_type_dim(a->q, at), shared = pto_type_dim(a->k, at);
    const int has_mask = PTO_SOME(a->mask);
    if (pto_expr_equal(heads, shared)) return;
    a->shares_heads = 1;
    if (a->is_causal) return;
    if (has_mask && !(is_one(mask_extent(a, at)) && is_one(mask_extent(a, at + 1)))) return;
    a->queries = pto_expr_mul(pto_expr_floordiv(heads, shared), a->queries);
    a->q = pto_type_with_dim(a->run, pto_type_with_dim(a->run, a->q, at, shared), at + 1, a->queries);
    a->result = pto_type_with_dim(a->run, pto_type_with_dim(a->run, a->result, at, shared), at + 1, a->queries);
    a->is_folded = 1;
    a->shares_heads = 0;
}

static const char *check_mask(const attention *a)
{
    if (!PTO_SOME(a->mask)) return NULL;
    const pto_expr keys = mask_extent(a, a->rank - 1);
    return is_one(keys) && a->static_keys != 1 ? "its mask has one element for all keys" : NULL;
}

static int is_extent_of_tile(int64_t n) { return n >= 1 && n <= EXTENT_MAX; }

const char *attention_read(pto_op op, attention *a)
{
    const pto_run *run = op.run;
    *a = (attention){.run = run, .op = op, .mask = pto_value_none(run)};
    a->q = pto_value_type(pto_op_operand(op, 0));
    a->k = pto_value_type(pto_op_operand(op, 1));
    a->v = pto_value_type(pto_op_operand(op, 2));
    a->result = pto_value_type(pto_op_result(op, 0));
    if (pto_op_operand_count(op) > 3) a->mask = pto_op_operand(op, 3);
    a->rank = pto_type_rank(a->q);
    a->queries = pto_type_dim(a->q, a->rank - 2);
    a->keys = pto_type_dim(a->k, a->rank - 2);
    a->elements = known_extent(pto_type_dim(a->q, a->rank - 1));
    a->values = known_extent(pto_type_dim(a->v, a->rank - 1));
    if (!is_extent_of_tile(a->elements) || !is_extent_of_tile(a->values))
        return "a row of q or v has a number of elements that is not known, or none, or more than 1024";
    /* The last query sees all keys. */
    a->is_causal = pto_attr_bool_of(op, PTO_STR("causal"), 0) && !is_one(a->queries);
    a->scale = pto_attr_float_of(op, PTO_STR("scale"), 1.0 / sqrt((double)a->elements));
    a->static_keys = known_extent(a->keys);
    fold_heads(a);
    if (a->static_keys == 0 || known_extent(a->queries) == 0) return "it has no queries or no keys";
    if (a->static_keys == 1 || a->elements == 1 || a->values == 1)
        return "it has one key, or rows of one element: a tile of one column lies otherwise than products take it";
    const pto_dtype t = pto_type_dtype(a->q);
    if (!pto_dtype_is_float(t) || pto_dtype_is_byte_float(t)) return "its element type has no product";
    return check_mask(a);
}
