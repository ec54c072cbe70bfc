/* Instructions of the vendor's tile library: the table. */
#include "ascend_rows.h"

static const ascend_insn rows[] = {
#define PLAIN 0
#define TURN ASCEND_COLUMNS_TURN
#define UNSIGNED ASCEND_UNSIGNED
#define SAME_TYPE ASCEND_SAME_TYPE
#define PADDED ASCEND_PADDED
#define WHOLE ASCEND_WHOLE
#define SCALAR_UNIT ASCEND_SCALAR_UNIT
#define BITS_IN_TEXT ASCEND_BITS_IN_TEXT
#define HALVES_IN_TEXT ASCEND_HALVES_IN_TEXT
#define EVEN_IN_TEXT ASCEND_EVEN_IN_TEXT
#define EVEN_ON_A5_IN_TEXT ASCEND_EVEN_ON_A5_IN_TEXT
#define FLOATS_IN_TEXT ASCEND_FLOATS_IN_TEXT
#define INSN(name, call, op, flags) {name, call, op, flags},
#include "ascend.def"
#undef INSN
#undef FLOATS_IN_TEXT
#undef EVEN_ON_A5_IN_TEXT
#undef EVEN_IN_TEXT
#undef HALVES_IN_TEXT
#undef BITS_IN_TEXT
#undef SCALAR_UNIT
#undef WHOLE
#undef PADDED
#undef SAME_TYPE
#undef UNSIGNED
#undef TURN
#undef PLAIN
};

const ascend_insn *ascend_row_at(uint32_t i) { return i < sizeof rows / sizeof rows[0] ? &rows[i] : NULL; }

const ascend_insn *ascend_insn_by_name(pto_str name)
{
    const ascend_insn *row;
    for (uint32_t i = 0; (row = ascend_row_at(i)) != NULL; i++)
        if (pto_str_is(name, row->name)) return row;
    return NULL;
}
