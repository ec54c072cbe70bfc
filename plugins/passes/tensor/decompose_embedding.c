/* pto.decompose-embedding: rows of a table by an index are slices along its first dim.
 *
 *     %y = tensor.embedding %t, %i    =>    %y = tensor.take %t, %i {axis = 0}
 *
 * Exact. An index that is out of range is a fault, as that of tensor.take.
 *
 * Requires tensor ops, of any form. Leaves no `tensor.embedding`. */
#include "composite.h"

#define KINDS(X)                     \
    X(EMBEDDING, "tensor.embedding") \
    X(TAKE, "tensor.take")
PTO_KINDS(KINDS);

#define STATS(X) X(DECOMPOSED, "decomposed")
PTO_STATS(STATS);

static pto_value expand_embedding(const pto_run *run, pto_op op)
{
    pto_spec s = composite_spec(op, pto_kind(run, KIND_TAKE), pto_value_type(pto_op_result(op, 0)), "");
    pto_spec_operand(&s, pto_op_operand(op, 0));
    pto_spec_operand(&s, pto_op_operand(op, 1));
    pto_spec_int(&s, PTO_STR("axis"), 0);
    return pto_spec_value(&s, pto_before(op));
}

static pto_status run_pass(const pto_run *run, pto_op function)
{
    return composite_expand_all(function, pto_kind(run, KIND_EMBEDDING), STAT_DECOMPOSED, expand_embedding);
}

static const pto_pass pass = {
    .struct_size = sizeof pass,
    .flags = PTO_PASS_NEEDED,
    .id = "pto.decompose-embedding",
    .summary = "Make slices of a table of the embedding",
    .scope = "function",
    .consumes = "tensor/1",
    .produces = "tensor/1",
    .kinds = pass_kinds,
    .stats = pass_stats,
    .run = run_pass,
};
PTO_PLUGIN("pto.decompose-embedding", "pass:pto.decompose-embedding rewrites:tensor.embedding", "", .version = "0.1.0",
           .license = "Apache-2.0", .passes = PTO_LIST(pto_pass, &pass));
