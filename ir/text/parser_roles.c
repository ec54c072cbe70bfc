/* Memory spaces, pipes and layouts of other names than those of ir/ops: the attributes `spaces`, `pipes` and `layouts`
 * of a module declare them, `{smem = "scratchpad"}`. What a text means does not depend on the machine of the session.
 */
#include "ir/text/parser_state.h"

bool is_declared(const parser *p, name_kind kind, uint32_t id)
{
    return role_names_is_standard(kind, id) || (p->declared[kind] >> id & 1) != 0;
}

static status fail_role(parser *p, src_pos at, name_kind kind, str name)
{
    text_buffer words;
    text_init(&words);
    for (const char *const *w = name_role_words(kind); *w != NULL; w++) text_printf(&words, " `%s`", *w);
    if (may_report(p))
        diag_error(p->diags, at, &E0314, "`%s` must say the role of `%.*s`, one of%s", name_kind_attribute(kind),
                   (int)(name.n > 40 ? 40 : name.n), name.p, words.p);
    text_fini(&words);
    return FAILED;
}

static status declare_kind(parser *p, src_pos at, name_kind kind, attr_id list)
{
    const attr_node *n = attr_at(p->c, list);
    const src_pos kept = {string_of(p->c, p->file_id).p, at.line, at.column};
    if (list == 0) return OK;
    if (n->kind != ATTR_DICT)
        FAIL(p, at, E0314, "the attribute `%s` of a module is a map from names to roles", name_kind_attribute(kind));
    for (uint32_t i = 0; i < n->count; i++) {
        const str name = string_of(p->c, n->keys[i]);
        const attr_node *value = attr_at(p->c, n->items[i]);
        const uint32_t role = value->kind == ATTR_STRING ? name_role_by_word(kind, string_of(p->c, value->id)) : 0;
        if (role == 0) return fail_role(p, at, kind, name);
        const uint32_t id = role_names_add(context_names(p->c), p->diags, kept, kind, name, role);
        if (id == 0) {
            p->errors++;
            return FAILED;
        }
        p->declared[kind] |= UINT32_C(1) << id;
    }
    return OK;
}

status declare_names(parser *p, src_pos at, attr_id attrs)
{
    for (uint32_t k = NAME_NONE + 1; k < NAME_KIND_COUNT; k++)
        TRY(declare_kind(p, at, (name_kind)k,
                         attr_get(p->c, attrs, string_intern_z(p->c, name_kind_attribute((name_kind)k)))));
    return OK;
}

status parse_declared_name(parser *p, name_kind kind, uint8_t *out)
{
    const role_names *n = context_names(p->c);
    const uint32_t id = p->tok.kind == TOK_WORD ? role_names_find(n, kind, text_of(&p->tok)) : 0;
    if (id != 0 && is_declared(p, kind, id)) {
        *out = (uint8_t)id;
        next(p);
        return OK;
    }
    const char *declared[NAME_IDS] = {NULL};
    uint32_t count = 0;
    for (uint32_t i = 1; i < role_names_count(n, kind); i++)
        if (is_declared(p, kind, i)) declared[count++] = role_names_text(n, kind, i);
    return fail_name(p, &E0205, name_kind_words(kind), declared);
}

bool allows_word(const parser *p, const attr_spec *spec, str word)
{
    const name_kind kind = (name_kind)spec->names;
    const uint32_t id = kind == NAME_NONE ? 0 : role_names_find(context_names(p->c), kind, word);
    return id != 0 ? is_declared(p, kind, id) : attr_spec_allows(spec, context_names(p->c), word);
}
