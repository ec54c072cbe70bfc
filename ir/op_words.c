#include "ir/op_words.h"

#include "ir/op_form.h"

#include <string.h>

const char *op_home_words(op_home home)
{
    static const char *const words[] = {
#define HOME(ID, words) words,
#include "ir/ops/kinds.def"
    };
    return words[home];
}

const char *space_rule_words(space_rule rule)
{
    static const char *const words[] = {
        NULL,
#define ITERATION_RULE(ID, doc) doc,
#include "ir/ops/kinds.def"
    };
    return words[rule];
}

const char *insn_rule_words(insn_rule rule) { return rule == RULE_NONE ? NULL : insn_rule_at(rule)->doc; }

const char *insn_tmp_words(insn_tmp tmp)
{
    static const char *const words[TMP_COUNT] = {
#define SCRATCH_SIZE(ID, text) [TMP_##ID] = (text),
#include "ir/ops/rules.def"
    };
    return words[tmp];
}

const char *fold_rule_words(fold_rule rule)
{
    switch (rule) {
    case FOLD_NONE: return NULL;
    case FOLD_ADD: return "the sum of constants";
    case FOLD_SUB: return "the difference of constants";
    case FOLD_MUL: return "the product of constants";
    case FOLD_DIV: return "the quotient of constants";
    case FOLD_MAXIMUM: return "the larger constant";
    case FOLD_MINIMUM: return "the smaller constant";
    case FOLD_NEG: return "minus a constant";
    case FOLD_CAST: return "a constant, rounded";
    case FOLD_RESHAPE: return "a constant under the new shape";
    case FOLD_TRANSPOSE: return "a constant with its elements in the new order";
    case FOLD_VIEW: return "a constant of the elements that it takes";
    default: return "what it makes of constants";
    }
}

const char *attr_spec_words(const attr_spec *spec)
{
    switch ((attr_spec_kind)spec->kind) {
    case SPEC_BOOL: return "true or false";
    case SPEC_INT: return "an integer";
    case SPEC_FLOAT:
    case SPEC_NUMBER: return "a number";
    case SPEC_ENUM:
    case SPEC_WORD: return "one of its words";
    case SPEC_STRING: return "a string";
    case SPEC_DTYPE: return "an element type";
    case SPEC_TYPES: return "a list of types";
    case SPEC_INTS: return "a list of integers";
    case SPEC_EXPRS: return "a list of index expressions";
    case SPEC_SYMBOL: return "a symbol (@name)";
    case SPEC_DENSE: return "a number, dense [..] or resource(\"file.npy\")";
    case SPEC_LIST: return "a list";
    case SPEC_DICT: return "a map";
    case SPEC_NONE: break;
    }
    return "another kind of value";
}

static bool has_attr(const op_info *info, str name)
{
    for (uint32_t i = 0; i < OP_INFO_ATTRS && info->attrs[i].name != NULL; i++)
        if (str_is(name, info->attrs[i].name)) return true;
    return false;
}

void attr_takers_print(const op_table *t, const op_info *info, str name, text_buffer *out)
{
    enum { TAKERS_MAX = 8 };
    const char *takers[TAKERS_MAX];
    const char *const dot = strchr(info->name, '.');
    const size_t dialect = dot == NULL ? 0 : (size_t)(dot - info->name) + 1;
    uint32_t count = 0;
    for (uint32_t k = OP_NONE + 1; k < op_kind_count(t); k++) {
        const op_info *row = op_info_at(t, (op_kind)k);
        if (strncmp(row->name, info->name, dialect) != 0 || !has_attr(row, name)) continue;
        if (count == TAKERS_MAX) return;
        takers[count++] = row->name;
    }
    for (uint32_t i = 0; i < count; i++) text_printf(out, "%s%s", i == 0 ? "; these have: " : ", ", takers[i]);
}

void type_classes_print(uint32_t classes, text_buffer *out)
{
    static const char *const names[] = {"tensor", "gm", "tile", "scalar", "index", "buffer", "channel"};
    const char *separator = "";
    if (classes == TY_ANY) {
        text_puts(out, "any");
        return;
    }
    for (uint32_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if ((classes & (1u << i)) == 0) continue;
        text_printf(out, "%s%s", separator, names[i]);
        separator = " or ";
    }
}

static const char *operand_name(const op_info *info, uint32_t i)
{
    return i < op_info_operands(info) ? info->in[i].name : "operand";
}

static void put_operands(const op_info *info, const op_form *f, text_buffer *out)
{
    const uint32_t count = op_info_operands(info);
    const char *separator = "";
    for (uint32_t i = f->fixed_operands; i < count; i++) {
        const bool is_last = i + 1 == count;
        text_printf(out, "%s%%%s%s", separator, info->in[i].name, is_last && info->in_variadic ? ", .." : "");
        separator = ", ";
    }
}

static bool has_dict(const op_info *info, const op_form *f)
{
    const uint32_t most = sizeof info->attrs / sizeof info->attrs[0];
    for (uint32_t i = 0; i < most && info->attrs[i].name != NULL; i++)
        if ((f->custom_attrs >> i & 1u) == 0) return true;
    return false;
}

static void put_item(const op_info *info, const op_form *f, const form_item *item, text_buffer *out)
{
    const char *attr = info->attrs[item->attr].name;
    switch ((form_item_kind)item->kind) {
    case FORM_OPERAND: text_printf(out, " %%%s", operand_name(info, item->operand)); break;
    case FORM_REST:
        if (op_info_operands(info) != 0) text_puts(out, " ");
        put_operands(info, f, out);
        break;
    case FORM_OPERANDS:
        text_printf(out, " %.*s(", (int)item->word.n, item->word.p);
        put_operands(info, f, out);
        text_puts(out, ")");
        break;
    case FORM_COMMA: text_puts(out, ","); break;
    case FORM_ARROW: text_puts(out, " ->"); break;
    case FORM_SYMBOL: text_printf(out, " @%s", attr); break;
    case FORM_STRING: text_printf(out, " \"%s\"", attr); break;
    case FORM_WORD: text_printf(out, " %s", attr); break;
    case FORM_INDEX: text_printf(out, "[%s]", attr); break;
    case FORM_CLAUSE: text_printf(out, " %.*s(%s)", (int)item->word.n, item->word.p, attr); break;
    case FORM_DICT:
        if (has_dict(info, f)) text_puts(out, " {..}");
        break;
    }
}

void op_form_words(const op_table *t, op_kind kind, text_buffer *out)
{
    const op_info *info = op_info_at(t, kind);
    if (op_has_own_form(kind)) return;
    op_form f = {0};
    op_form_fill(&f, info);
    if (info->out_count != 0) text_puts(out, info->out_count == OUT_ANY ? "%r, .. = " : "%r = ");
    text_puts(out, info->name);
    for (uint32_t i = 0; i < f.count; i++) put_item(info, &f, &f.items[i], out);
    if (info->blocks != 0) text_puts(out, " { .. }");
    if (info->out_count != 0) text_puts(out, info->out_count == OUT_ANY ? " : types" : " : type");
}
