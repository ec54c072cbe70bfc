/* The rows of ascend.def, for what writes instructions of the vendor's tile library and for what reads them. */
#ifndef ASCEND_ROWS_H
#define ASCEND_ROWS_H

#include <pto/plugin.h>

enum {
    ASCEND_COLUMNS_TURN = 1,  /* a column-major tile is taken as a row-major one, rows and columns exchanged */
    ASCEND_UNSIGNED = 2,      /* tiles of i32 are taken as u32 */
    ASCEND_SAME_TYPE = 4,     /* operand 1 is taken in the element type of operand 0 */
    ASCEND_PADDED = 8,        /* the target is taken with the padding that the op asks for */
    ASCEND_SCALAR_UNIT = 16,  /* on a3 the scalar unit does or begins it: the vector unit waits before and after it */
    ASCEND_WHOLE = 32,        /* the target is taken as if all of it was valid */
    ASCEND_BITS_IN_TEXT = 64, /* numbers that the assembler does not have are integers of the same bits */
    ASCEND_HALVES_IN_TEXT = 128,      /* on a3 the assembler has 16 bits here: pairs of bytes and halves of words */
    ASCEND_FLOATS_IN_TEXT = 256,      /* the assembler takes a scalar of a float here, of tiles of integers, too */
    ASCEND_EVEN_IN_TEXT = 512,        /* the assembler asks for one capacity of the tiles */
    ASCEND_EVEN_ON_A5_IN_TEXT = 1024, /* likewise, on a5 alone */
};

typedef struct ascend_insn {
    const char *name; /* of the instruction without `pto.` */
    const char *call; /* C++; ascend.def says how operands are in it */
    const char *op;   /* of the assembler, likewise; "": none */
    uint32_t flags;
} ascend_insn;

/* Row `i`; NULL: there are no more. */
const ascend_insn *ascend_row_at(uint32_t i);
/* The row of a name, without `pto.`; NULL: there is none. */
const ascend_insn *ascend_insn_by_name(pto_str name);

#endif
