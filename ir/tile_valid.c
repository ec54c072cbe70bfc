/* Valid regions of tiles. A region follows from the producer alone, and each of its two extents from at most one
 * extent of one other tile: so it is found by following a chain, without recursion. Answers are kept until something
 * changes. */
#include "ir/module_impl.h"

enum { VALID_UNKNOWN, VALID_RUNNING, VALID_DONE };
enum { ROWS, COLUMNS };

/* What an extent is: an expression, or that of another tile (`from`, `from_dim`); neither: unknown. */
typedef struct extent {
    expr_id expr;
    value_id from;
    uint32_t from_dim;
} extent;

static extent as_operand(const module *m, op_id o, uint32_t operand, uint32_t dim)
{
    if (operand >= op_operand_count(m, o)) return (extent){0};
    return (extent){.from = op_operand(m, o, operand), .from_dim = dim};
}

static extent as_capacity(const module *m, value_id tile, uint32_t dim)
{
    return (extent){.expr = type_at(m->context, value_type(m, tile))->dims[dim]};
}

static extent as_attribute(const module *m, op_id o, const char *name, uint32_t dim)
{
    return (extent){.expr = op_index_expr(m, o, name, dim)};
}

/* The result of a value form, by the shapes of its rule: an extent that a source has too is the source's, another one
 * is all of the capacity. */
static extent instruction_extent(const module *m, op_id o, value_id tile, uint32_t dim)
{
    const op_info *info = op_info_of(m, o);
    if (info->rule == RULE_NONE) return (extent){0};
    const insn_rule_row *rule = insn_rule_at((insn_rule)info->rule);
    const operand_spec *spec = insn_operands[info->rule];
    if (spec->shape[dim] == '1') return (extent){.expr = expr_const(m->context, 1)};
    for (uint32_t k = 1; spec[k].types != 0; k++)
        for (uint32_t d = 0; d < 2; d++)
            if (spec[k].shape[d] != 0 && spec[k].shape[d] == spec->shape[dim]) return as_operand(m, o, k - 1, d);
    const bool is_stated = rule->valid != NULL && op_attr(m, o, rule->valid) != 0 && op_attr(m, o, "pad") == 0;
    return is_stated ? as_attribute(m, o, rule->valid, dim) : as_capacity(m, tile, dim);
}

/* The region that a `for` states for its carried value number `index`: an entry of `valid`, which has one for each
 * carried value (empty for those that are not tiles) or one for each carried tile. */
static extent stated_extent(const module *m, op_id loop, uint32_t index, uint32_t dim)
{
    attr_id a = op_attr(m, loop, "valid");
    if (a == 0) return (extent){0};
    const attr_node *list = attr_at(m->context, a);
    uint32_t entry = index;
    if (list->count != op_result_count(m, loop)) {
        entry = 0;
        for (uint32_t i = 0; i < index; i++)
            entry += type_at(m->context, value_type(m, op_result(m, loop, i)))->kind == TYPE_TILE;
    }
    if (list->kind != ATTR_LIST || entry >= list->count) return (extent){0};
    return (extent){.expr = index_expr_of(m, loop, list->items[entry], dim)};
}

/* A carried value: as stated, else as it starts. */
static extent carried_extent(const module *m, op_id loop, uint32_t index, uint32_t dim)
{
    extent stated = op_kind_of(m, loop) == OP_FOR && index < op_result_count(m, loop)
                        ? stated_extent(m, loop, index, dim)
                        : (extent){0};
    if (stated.expr != 0) return stated;
    if (index >= op_value_operand_count(m, loop)) return (extent){0};
    return as_operand(m, loop, index, dim);
}

static extent argument_extent(const module *m, value_id tile, uint32_t dim)
{
    op_id owner = block_parent(m, value_block(m, tile));
    uint32_t index = value_index(m, tile);
    if (owner == 0) return (extent){0};
    if (op_kind_of(m, owner) == OP_FOR) return index == 0 ? (extent){0} : carried_extent(m, owner, index - 1, dim);
    if (op_kind_of(m, owner) == OP_WHILE) return carried_extent(m, owner, index, dim);
    return (extent){0};
}

/* What the first block yields; the two yields of an `if` agree (verifier). */
static extent yielded_extent(const module *m, op_id branch, uint32_t index, uint32_t dim)
{
    op_id yield = op_block_count(m, branch) == 0 ? 0 : block_last(m, op_block_at(m, branch, 0));
    if (yield == 0 || op_kind_of(m, yield) != OP_YIELD) return (extent){0};
    return as_operand(m, yield, index, dim);
}

static extent extent_of(const module *m, value_id tile, uint32_t dim)
{
    if (type_at(m->context, value_type(m, tile))->kind != TYPE_TILE) return (extent){0};
    op_id o = value_op(m, tile);
    if (o == 0) return argument_extent(m, tile, dim);
    switch (op_kind_of(m, o)) {
    case OP_FOR:
    case OP_WHILE: return carried_extent(m, o, value_index(m, tile), dim);
    case OP_IF:
    case OP_TILE_FUSED: return yielded_extent(m, o, value_index(m, tile), dim);
    case OP_TILE_ZERO_ACC:
    case OP_BLOCK_TILE: return as_attribute(m, o, "valid", dim);
    case OP_TILE_CONTRACT:
    case OP_TILE_CONTRACT_WEIGHTS: return as_operand(m, o, 0, dim);
    default: return instruction_extent(m, o, tile, dim);
    }
}

static valid_entry *entry_of(const module *m, value_id tile)
{
    module_caches *c = m->caches;
    if (tile >= c->valid_capacity) c->valid = table_grow(c->valid, &c->valid_capacity, tile + 1u, sizeof *c->valid);
    valid_entry *e = &c->valid[tile];
    if (e->epoch != m->valid_epoch) *e = (valid_entry){.epoch = m->valid_epoch};
    return e;
}

static expr_id find_extent(const module *m, value_id tile, uint32_t dim)
{
    module_caches *c = m->caches;
    size_t count = 0;
    expr_id found = 0;
    for (;;) {
        valid_entry *e = entry_of(m, tile);
        if (e->state[dim] != VALID_UNKNOWN) {
            found = e->expr[dim]; /* 0 while running: tiles that depend on themselves */
            break;
        }
        e->state[dim] = VALID_RUNNING;
        if (count == c->step_capacity) c->steps = table_grow(c->steps, &c->step_capacity, count + 1, sizeof *c->steps);
        c->steps[count++] = (valid_step){tile, dim};
        extent next = extent_of(m, tile, dim);
        found = next.expr;
        if (next.from == 0) break;
        tile = next.from;
        dim = next.from_dim;
    }
    while (count != 0) {
        valid_step step = c->steps[--count];
        valid_entry *e = entry_of(m, step.value);
        e->expr[step.dim] = found;
        e->state[step.dim] = VALID_DONE;
    }
    return found;
}

bool tile_valid(const module *m, value_id tile, expr_id out[2])
{
    out[ROWS] = find_extent(m, tile, ROWS);
    out[COLUMNS] = find_extent(m, tile, COLUMNS);
    return out[ROWS] != 0 && out[COLUMNS] != 0;
}
