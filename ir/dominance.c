#include "ir/module.h"

bool value_dominates_op(const module *m, value_id v, op_id o)
{
    op_id def = value_op(m, v);
    block_id home = def != 0 ? op_block(m, def) : value_block(m, v);
    for (;;) {
        block_id block = op_block(m, o);
        if (block == home) return def == 0 || (def != o && op_is_before(m, def, o));
        o = block_parent(m, block);
        if (o == 0 || (op_info_of(m, o)->traits & TRAIT_FUNCTION) != 0) return false;
    }
}
