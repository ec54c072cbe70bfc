/* Values of the columns PTO_COLUMN_RULE, PTO_COLUMN_TMP, PTO_COLUMN_PIPE and PTO_COLUMN_SPACE_RULE of op rows. */
#ifndef PTO_INSN_H
#define PTO_INSN_H

/* Operand shape of an instruction; V is the valid region. dst is the result of the tile value form. */
enum {
    PTO_RULE_NONE,
    PTO_RULE_LOAD,       /* dst tile, gm window */
    PTO_RULE_STORE,      /* gm window, src tile */
    PTO_RULE_FILL,       /* dst, scalar */
    PTO_RULE_MOVE,       /* dst, src: other space or layout */
    PTO_RULE_UNARY,      /* dst, a */
    PTO_RULE_BINARY,     /* dst, a, b: equal V */
    PTO_RULE_SCALAR,     /* dst, a, scalar */
    PTO_RULE_CONVERT,    /* dst, a: other dtype */
    PTO_RULE_ROW_REDUCE, /* dst [R,1], a [, tmp] */
    PTO_RULE_COL_REDUCE, /* dst [1,C], a */
    PTO_RULE_ROW_EXPAND, /* dst [R,C], v [R,1] */
    PTO_RULE_COL_EXPAND, /* dst [R,C], v [1,C] */
    PTO_RULE_ROW_BINARY, /* dst, a [R,C], v [R,1] [, tmp] */
    PTO_RULE_COL_BINARY, /* dst, a [R,C], v [1,C] */
    PTO_RULE_MATMUL,     /* acc, left, right */
    PTO_RULE_MATMUL_ACC, /* acc out, acc in, left, right */
    PTO_RULE_FILLPAD,    /* dst, src: V copied, the rest is the attribute `pad` */
    PTO_RULE_TRANSPOSE   /* dst [C,R], a [R,C] [, tmp] */
};

/* Scratch operand behind the sources. */
enum {
    PTO_TMP_NONE,
    PTO_TMP_LIKE_SRC,   /* capacity of the source tile */
    PTO_TMP_ROW_BLOCKS, /* ceil(R/8) * 256 bytes, 7680 for R >= 256 */
    PTO_TMP_LIKE_DST
};

/* How a tensor op maps its iteration space to its operands. */
enum {
    PTO_ITER_NONE, /* not a structured op */
    PTO_ITER_ELEMENTWISE,
    PTO_ITER_REDUCE,
    PTO_ITER_MATMUL,
    PTO_ITER_TRANSPOSE,
    PTO_ITER_BROADCAST,
    PTO_ITER_RESHAPE,
    PTO_ITER_FILL
};

#endif
