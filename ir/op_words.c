#include "ir/op_words.h"

#include "ir/op_form.h"

const char *op_home_words(op_home home)
{
    switch (home) {
    case HOME_ANY: return "every level";
    case HOME_TENSOR: return "tensor/1";
    case HOME_TILE: return "tile/1, and kernels before selection";
    case HOME_BLOCK: return "block/1";
    case HOME_PTO: return "block/1, in kernels";
    case HOME_EXEC: return "exec/1";
    }
    return "none";
}

const char *space_rule_words(space_rule rule)
{
    switch (rule) {
    case ITER_NONE: return NULL;
    case ITER_ELEMENTWISE:
        return "dims of the result, all parallel; an operand dim of extent 1 or missing in front stays at its one "
               "element";
    case ITER_REDUCE: return "dims of the operand; those in `axis` are reduced, the rest is parallel";
    case ITER_MATMUL:
        return "dims of the result and k; k is reduced, a walks (.., m, k) and b (.., k, n), as transpose_a and "
               "transpose_b say";
    case ITER_TRANSPOSE: return "dims of the result, all parallel; operand dim perm[i] walks dim i";
    case ITER_BROADCAST:
        return "dims of the result, all parallel; an operand dim of extent 1 or missing in front stays at its one "
               "element";
    case ITER_RESHAPE: return "dims of the result, all parallel, when only extents of 1 come or go; no space otherwise";
    case ITER_FILL: return "dims of the result, all parallel; no operand";
    }
    return NULL;
}

const char *insn_rule_words(insn_rule rule)
{
    switch (rule) {
    case RULE_NONE: return NULL;
    case RULE_LOAD: return "dst (r, c) from a window; valid: its size, or the whole tile with `pad`";
    case RULE_STORE: return "the valid region of src into a window of its size";
    case RULE_FILL: return "dst (r, c); valid as stated, or the whole tile";
    case RULE_MOVE: return "dst, src: one valid region";
    case RULE_UNARY: return "dst, a: one shape, one valid region";
    case RULE_BINARY: return "dst, a, b: one shape, one valid region";
    case RULE_SCALAR: return "dst, a: one shape, one valid region; s is a scalar";
    case RULE_CONVERT: return "dst, a: one shape, one valid region; element types differ";
    case RULE_ROW_REDUCE: return "dst (r, 1), a (r, c); valid: the valid rows of a, 1";
    case RULE_COL_REDUCE: return "dst (1, c), a (r, c); valid: 1, the valid columns of a";
    case RULE_ROW_EXPAND: return "dst (r, c), v (r, 1); valid: the valid rows of v, all columns";
    case RULE_COL_EXPAND: return "dst (r, c), v (1, c); valid: all rows, the valid columns of v";
    case RULE_ROW_BINARY: return "dst (r, c), a (r, c), v (r, 1) with the valid rows of a; valid: that of a";
    case RULE_COL_BINARY: return "dst (r, c), a (r, c), v (1, c) with the valid columns of a; valid: that of a";
    case RULE_MATMUL:
        return "dst (m, n), l (m, k), r (k, n), valid columns of l = valid rows of r; valid: rows of l, columns of r";
    case RULE_MATMUL_ACC:
        return "dst and acc (m, n), l (m, k), r (k, n), valid columns of l = valid rows of r; valid: that of acc";
    case RULE_FILLPAD: return "dst, src: the valid region is copied and the rest filled; valid: the whole tile";
    case RULE_TRANSPOSE: return "dst (c, r), a (r, c); valid: that of a with rows and columns exchanged";
    }
    return NULL;
}

const char *insn_tmp_words(insn_tmp tmp)
{
    switch (tmp) {
    case TMP_NONE: return NULL;
    case TMP_LIKE_SRC: return "a tile like the source";
    case TMP_ROW_BLOCKS: return "256 bytes for each 8 rows, 7680 bytes from 256 rows on";
    case TMP_LIKE_DST: return "a tile like the destination";
    }
    return NULL;
}

const char *fold_rule_words(fold_rule rule)
{
    static const char *const words[] = {
        [FOLD_NONE] = NULL,
        [FOLD_ADD] = "the sum of constants",
        [FOLD_SUB] = "the difference of constants",
        [FOLD_MUL] = "the product of constants",
        [FOLD_DIV] = "the quotient of constants",
        [FOLD_MAXIMUM] = "the larger constant",
        [FOLD_MINIMUM] = "the smaller constant",
        [FOLD_NEG] = "minus a constant",
        [FOLD_CAST] = "a constant, rounded",
        [FOLD_RESHAPE] = "a constant under the new shape",
        [FOLD_TRANSPOSE] = "a constant with its elements in the new order",
    };
    return words[rule];
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
    const uint32_t most = sizeof info->in / sizeof info->in[0];
    return i < most && info->in[i].types != 0 ? info->in[i].name : "operand";
}

static void put_operands(const op_info *info, const op_form *f, text_buffer *out)
{
    const uint32_t most = sizeof info->in / sizeof info->in[0];
    const char *separator = "";
    for (uint32_t i = f->fixed_operands; i < most && info->in[i].types != 0; i++) {
        const bool is_last = i + 1 == most || info->in[i + 1].types == 0;
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
        if (info->in[0].types != 0) text_puts(out, " ");
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

void op_form_words(op_kind kind, text_buffer *out)
{
    const op_info *info = op_info_at(kind);
    if (op_has_own_form(kind)) return;
    op_form f = {0};
    op_form_of(&f, kind);
    if (info->out_count != 0) text_puts(out, info->out_count == OUT_ANY ? "%r, .. = " : "%r = ");
    text_puts(out, info->name);
    for (uint32_t i = 0; i < f.count; i++) put_item(info, &f, &f.items[i], out);
    if (info->blocks != 0) text_puts(out, " { .. }");
    if (info->out_count != 0) text_puts(out, info->out_count == OUT_ANY ? " : types" : " : type");
}
