/* Which pipe runs what, by the units of rows and the paths of the machine. */
#include "core/files/machine_pipe.h"

#include "ir/op_info.h"

/* The name of the space that a value is in; NULL: of none, or not yet decided. */
static const char *space_of(const machine *chip, const module *m, value_id v)
{
    const ir_context *c = module_context(m);
    const type_node *t = type_at(c, value_type(m, v));
    if (t->kind == TYPE_GM || t->kind == TYPE_TENSOR) return machine_global(chip)->name;
    return t->kind == TYPE_TILE && t->space != SPACE_NONE ? space_name(c, t->space) : NULL;
}

/* The spaces that an instruction, or value form, writes to and reads first, each NULL when there is none. What a target
 * starts with does not move. */
static void ends_of(const machine *chip, const module *m, op_id o, const char **out_from, const char **out_to)
{
    const uint32_t written = op_info_operands_with(op_info_of(m, o), OPERAND_WRITTEN),
                   continued = op_info_operands_with(op_info_of(m, o), OPERAND_CONTINUED);
    *out_from = NULL;
    *out_to = op_result_count(m, o) != 0 ? space_of(chip, m, op_result(m, o, 0)) : NULL;
    for (uint32_t i = op_value_operand_count(m, o); i-- > 0;) {
        const char *s = space_of(chip, m, op_operand(m, o, i));
        if (s != NULL && (continued >> i & 1) == 0) *((written >> i & 1) != 0 ? out_to : out_from) = s;
    }
}

/* The first pipe of the role in the core kind that owns the space. */
static const char *pipe_of_unit(const machine *chip, const char *where, unit_role role)
{
    const machine_space *s = where != NULL ? machine_space_by_name(chip, str_from(where)) : NULL;
    const machine_core *core = s != NULL && s->core != NULL ? machine_core_by_name(chip, str_from(s->core)) : NULL;
    for (uint32_t i = 0; core != NULL && i < core->pipe_count; i++) {
        const uint32_t id = role_names_find(chip->names, NAME_PIPE, str_from(core->pipes[i]));
        if (role_names_role(chip->names, NAME_PIPE, id) == role) return core->pipes[i];
    }
    return NULL;
}

const char *machine_pipe_of(const machine *chip, const module *m, op_id o)
{
    const op_info *info = op_info_of(m, o);
    const char *from, *to, *standard = NULL;
    if (info->rule == RULE_NONE) return NULL;
    /* Standard pipes have the numbers of their units. */
    if (info->unit != UNIT_NONE) standard = role_names_text(context_names(module_context(m)), NAME_PIPE, info->unit);
    if (chip == NULL) return standard;
    ends_of(chip, m, o, &from, &to);
    const char *pipe = pipe_of_unit(chip, to != NULL ? to : from, (unit_role)info->unit);
    if (info->unit != UNIT_NONE)
        return pipe != NULL || info->rule != RULE_FILL ? pipe : pipe_of_unit(chip, to, UNIT_LOAD);
    const machine_path *p =
        from != NULL && to != NULL ? machine_path_find(chip, str_from(from), str_from(to), NULL) : NULL;
    return p != NULL ? p->pipe : NULL;
}
