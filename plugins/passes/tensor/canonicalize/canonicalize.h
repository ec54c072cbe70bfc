/* What the files of pto.canonicalize share. */
#ifndef CANONICALIZE_H
#define CANONICALIZE_H

#include <pto/plugin.h>

#define CANONICALIZE_KINDS(X)        \
    X(CONSTANT, "tensor.constant")   \
    X(NEG, "tensor.neg")             \
    X(ADD, "tensor.add")             \
    X(SUB, "tensor.sub")             \
    X(MUL, "tensor.mul")             \
    X(DIV, "tensor.div")             \
    X(MAXIMUM, "tensor.maximum")     \
    X(MINIMUM, "tensor.minimum")     \
    X(CAST, "tensor.cast")           \
    X(RESHAPE, "tensor.reshape")     \
    X(TRANSPOSE, "tensor.transpose") \
    X(BROADCAST, "tensor.broadcast") \
    X(VIEW, "tensor.view")           \
    X(FLIP, "tensor.flip")           \
    X(SPLIT, "tensor.split")         \
    X(CONCAT, "tensor.concat")       \
    X(PAD, "tensor.pad")             \
    X(ASSEMBLE, "tensor.assemble")   \
    X(SQUEEZE, "tensor.squeeze")     \
    X(UNSQUEEZE, "tensor.unsqueeze") \
    X(DIM, "dim")                    \
    X(INDEX_CAST, "index_cast")      \
    X(FOR, "for")                    \
    X(IF, "if")                      \
    X(YIELD, "yield")
PTO_KINDS_AS(canonicalize_kinds, CANONICALIZE_KINDS);

/* Of ops that move elements: puts `*op` into its one form and shortens it. It may be replaced by an op before it, which
 * `*op` is then, or by values alone: then `*op` is none. Exact; other ops stay. */
pto_status canonicalize_move(const pto_run *run, pto_op *op);

#endif
