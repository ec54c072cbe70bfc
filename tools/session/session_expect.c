/* --expect and the sizes of a case: what symbols most likely are, as the attribute `expect` of functions. */
#include "ir/verify/ranges.h"
#include "tools/base/tool_diag.h"
#include "tools/session/session.h"

static attr_id pair_of(ir_context *c, const given_symbol *g)
{
    const attr_id items[] = {attr_string(c, string_intern(c, g->name)), attr_int(c, g->value)};
    return attr_list(c, 2, items);
}

/* What the text expects of other symbols stays. */
static void expect_in(session *s, module *m, op_id f, const given_symbol *g)
{
    ir_context *c = s->context;
    const attr_id old = op_attr(m, f, "expect");
    const uint32_t old_count = old != 0 ? attr_at(c, old)->count : 0;
    attr_id *all = arena_array(s->arena, old_count + 1u, sizeof *all);
    uint32_t count = 0;
    for (uint32_t i = 0; i < old_count; i++) {
        const attr_id item = attr_at(c, old)->items[i];
        if (!str_eq(string_of(c, attr_at(c, attr_at(c, item)->items[0])->id), g->name)) all[count++] = item;
    }
    all[count++] = pair_of(c, g);
    op_set_attr(m, f, "expect", attr_list(c, count, all));
}

status session_expect(session *s, module *m, uint32_t count, const given_symbol *sizes, bool is_strict)
{
    for (uint32_t i = 0; i < count; i++) {
        bool is_found = false;
        BLOCK_EACH_OP(m, f, module_top(m)) {
            if (op_kind_of(m, f) != OP_FUNC || !is_parameter_symbol(m, f, string_intern(s->context, sizes[i].name)))
                continue;
            expect_in(s, m, f, &sizes[i]);
            is_found = true;
        }
        if (is_found || !is_strict) continue;
        diag_error(s->diags, (src_pos){s->line->tool, 0, 0}, &E1608,
                   "no function has a symbol $%.*s to expect a value of", (int)sizes[i].name.n, sizes[i].name.p);
        return FAILED;
    }
    return OK;
}
