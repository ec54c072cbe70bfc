/* Text of MLIR as a tree: ops with what stands after their names, and regions. Which ops there are is not known here:
 * what an op takes is a list of nodes, to be read with a cursor. All memory is scratch of the run; texts are parts of
 * the source. */
#ifndef MLIR_TREE_H
#define MLIR_TREE_H

#include <pto/plugin.h>

enum {
    MLIR_DEPTH_MAX = 64,      /* regions and brackets in each other */
    MLIR_TEXT_MAX = 16 << 20, /* bytes of a file */
    MLIR_NAME_MAX = 256       /* bytes of a name */
};

typedef enum mlir_kind {
    MLIR_END,
    MLIR_VALUE,     /* %name; text without the `%`, with `#1` if it is there */
    MLIR_SYMBOL,    /* @name */
    MLIR_WORD,      /* ins, index, pto.tload */
    MLIR_NUMBER,    /* -1, 0x7F, 1.5e+00 */
    MLIR_STRING,    /* without quotes */
    MLIR_TYPE,      /* !pto.ptr<f32> or memref<..>: text is the name, body what is between `<` and `>` */
    MLIR_ATTRIBUTE, /* #pto.layout<nd> */
    MLIR_ANGLE,     /* <PIPE_V>: the text is empty */
    MLIR_GROUP,     /* ( ), [ ] or { }: mark is the opening one, first what is inside */
    MLIR_MARK       /* , : = or ->, which is '>' */
} mlir_kind;

typedef struct mlir_node {
    mlir_kind kind;
    char mark;
    uint32_t line, column;
    pto_str text, body;
    struct mlir_node *first, *next;
} mlir_node;

typedef struct mlir_region {
    mlir_node *arguments; /* the `( )` of a label before the first op; NULL: none */
    struct mlir_op *first;
    struct mlir_region *next;
} mlir_region;

typedef struct mlir_op {
    uint32_t line, column;
    pto_str name;
    mlir_node *results;   /* VALUE and, after a `:`, NUMBER nodes in the order of the text; NULL: none */
    mlir_node *arguments; /* what stands after the name, regions left out */
    mlir_region *regions;
    struct mlir_op *next;
} mlir_op;

/* The ops of a file. PTO_FAILED after `pto.read-ascend/syntax`. */
pto_status mlir_parse(const pto_run *run, pto_str text, mlir_op **out);

/* ---- reading what an op takes ---- */

typedef struct mlir_cursor {
    const pto_run *run;
    const mlir_op *op;
    const mlir_node *at;   /* NULL at the end */
    uint32_t line, column; /* of the last node that was taken, or of the op */
} mlir_cursor;

/* At the first node after the name of an op. */
mlir_cursor mlir_arguments(const pto_run *run, const mlir_op *op);
/* 1 and past it when the next node is that mark or word. */
int mlir_take_mark(mlir_cursor *c, char mark);
int mlir_take_word(mlir_cursor *c, const char *word);
/* 1 and past it when the next node is of that kind. */
int mlir_take(mlir_cursor *c, mlir_kind kind, const mlir_node **out);
/* 1, past it and `*inside` at its first node when the next node is that bracket. */
int mlir_enter(mlir_cursor *c, char open, mlir_cursor *inside);
/* PTO_FAILED after a diagnostic at the next node: what was expected. */
pto_status mlir_expected(const mlir_cursor *c, const char *what);
/* PTO_FAILED after a diagnostic when something is left. */
pto_status mlir_at_end(const mlir_cursor *c);

/* Reports at a place of the text; PTO_FAILED. */
PTO_PRINTF_LIKE(5, 6)
pto_status mlir_error(const pto_run *run, uint32_t line, uint32_t column, const char *code, const char *format, ...);

#endif
