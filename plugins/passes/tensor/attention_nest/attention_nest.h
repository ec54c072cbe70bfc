/* What the files of pto.attention-nest share: what an attention is, and the function of one nest that is made of it.
 * All memory is scratch of one run. */
#ifndef ATTENTION_NEST_H
#define ATTENTION_NEST_H

#include <pto/plugin.h>

#define ATTENTION_KINDS(X)               \
    X(ATTENTION, "tensor.attention")     \
    X(RESHAPE, "tensor.reshape")         \
    X(FUNC, "func")                      \
    X(CALL, "call")                      \
    X(RETURN, "return")                  \
    X(FORALL, "forall")                  \
    X(FOR, "for")                        \
    X(IF, "if")                          \
    X(YIELD, "yield")                    \
    X(CONSTANT, "constant")              \
    X(INDEX_CAST, "index_cast")          \
    X(LOAD, "tile.load")                 \
    X(STORE, "tile.store")               \
    X(FILL, "tile.fill")                 \
    X(IOTA, "tile.iota")                 \
    X(TRANSPOSE, "tile.transpose")       \
    X(CAST, "tile.cast")                 \
    X(MATMUL, "tile.matmul")             \
    X(ADD, "tile.add")                   \
    X(SUB, "tile.sub")                   \
    X(MUL, "tile.mul")                   \
    X(MAX, "tile.max")                   \
    X(EXP, "tile.exp")                   \
    X(MULS, "tile.muls")                 \
    X(MAXS, "tile.maxs")                 \
    X(RDIVS, "tile.rdivs")               \
    X(CMPS, "tile.cmps")                 \
    X(SELECTS, "tile.selects")           \
    X(ROWMAX, "tile.rowmax")             \
    X(ROWSUM, "tile.rowsum")             \
    X(RECIPROCAL, "tile.reciprocal")     \
    X(ROWEXPANDSUB, "tile.rowexpandsub") \
    X(ROWEXPANDMUL, "tile.rowexpandmul") \
    X(ROWEXPANDDIV, "tile.rowexpanddiv") \
    X(COLEXPANDADD, "tile.colexpandadd")
PTO_KINDS_AS(attention_kinds, ATTENTION_KINDS);

/* How weights are found: by other passes, of all keys of a query at once, or block of keys by block of keys. */
enum attention_form { FORM_COMPOSED, FORM_ROWS, FORM_ONLINE };

/* An attention as the nest sees it: heads of q that share those of k may have become rows of q. Extents are those of
 * the caller. */
typedef struct attention {
    const pto_run *run;
    pto_op op;
    pto_type q, k, v, result; /* of the nest */
    pto_value mask;           /* or none */
    uint32_t rank;
    pto_expr queries, keys;
    int64_t elements, values; /* extents */
    int64_t static_keys;      /* -1: not known */
    double scale;
    int is_causal;
    int is_folded;    /* heads became rows */
    int shares_heads; /* several heads of q have the same keys, each in a nest's instance of its own */
    int multiplies;   /* by one over a sum of weights, which is found once a row, instead of dividing by it */
} attention;

/* Reads an attention. Returns why no nest is made of it, or NULL; then `*a` is complete. */
const char *attention_read(pto_op op, attention *a);
/* Makes a function of the nest and calls it before the op. Returns what takes the op's place; none after a diagnostic.
 * `form` is not FORM_COMPOSED; `keys` are those of a block, all with FORM_ROWS. */
pto_value attention_write(const attention *a, enum attention_form form, int64_t rows, int64_t keys);

#endif
