/* Rows of op-sets, checked: what a row says must be something that the IR can hold, print and read back. */
#include "core/host/plugin_loader.h"
#include "ir/base/text.h"
#include "ir/op_table.h"

#include <pto/insn.h>
#include <pto/opset.h>

#include <ctype.h>
#include <string.h>

enum { TYPES_ALL = PTO_OF_TENSOR | PTO_OF_GM | PTO_OF_TILE | PTO_OF_SCALAR | PTO_OF_INDEX };

/* A letter, then letters, digits and `_`. */
static bool is_name(const char *p, size_t n)
{
    if (n == 0 || n > 64 || !islower((unsigned char)p[0])) return false;
    for (size_t i = 0; i < n; i++)
        if (!islower((unsigned char)p[i]) && !isdigit((unsigned char)p[i]) && p[i] != '_') return false;
    return true;
}

static bool is_word(const char *text) { return text != NULL && is_name(text, strlen(text)); }

/* Names with dots between. */
static bool is_dotted(const char *p)
{
    size_t n = strcspn(p, ".");
    for (; is_name(p, n) && p[n] == '.'; n = strcspn(p, ".")) p += n + 1;
    return p[n] == '\0' && is_name(p, n);
}

static bool begins_with_part(const char *text, const char *part)
{
    const size_t n = strlen(part);
    return strncmp(text, part, n) == 0 && text[n] == '.';
}

static bool are_dtypes(uint32_t set) { return (set & 1u) == 0 && set >> PTO_DTYPE_COUNT == 0; }

static bool are_types(uint32_t set) { return set != 0 && (set & ~(uint32_t)TYPES_ALL) == 0; }

static status copy_operands(const loader *l, pto_op_row *row)
{
    uint32_t n = 0;
    TRY(loader_count(l, (const void *const *)row->operands, "operands", &n));
    if (n > PTO_OP_OPERANDS_MAX)
        return loader_refuse(l, "op `%s` has %u operands; the most is %d", row->name, n, PTO_OP_OPERANDS_MAX);
    const pto_row_operand **copies = arena_array(l->a, (size_t)n + 1, sizeof *copies);
    for (uint32_t i = 0; i < n; i++) {
        if (!PTO_HAS(row->operands[i], name))
            return loader_refuse(l, "operand %u of op `%s` is too short a struct", i, row->name);
        const pto_row_operand *o = copies[i] = loader_copy(l, row->operands[i], sizeof *o);
        if (!is_word(o->name)) return loader_refuse(l, "operand %u of op `%s` has no usable name", i, row->name);
        if (!are_types(o->types) || !are_dtypes(o->dtypes) || o->reserved != 0)
            return loader_refuse(l, "operand `%s` of op `%s` is of no types that this core knows", o->name, row->name);
    }
    row->operands = copies;
    return OK;
}

static bool is_quoted(const char *text)
{
    const size_t n = strlen(text);
    return n >= 2 && text[0] == '"' && text[n - 1] == '"' && strcspn(text + 1, "\"\\") == n - 2;
}

static bool is_choice(const pto_row_attr *a, const char *word, size_t n)
{
    for (const char *const *c = a->choices; *c != NULL; c++)
        if (str_is((str){word, n}, *c)) return true;
    return false;
}

static bool is_default(const pto_row_attr *a)
{
    const str text = str_from(a->def);
    int64_t i;
    double f;
    switch (a->type) {
    case PTO_ROW_BOOL: return str_is(text, "true") || str_is(text, "false");
    case PTO_ROW_INT:
    case PTO_ROW_INTS: return str_to_i64(text, &i) == OK;
    case PTO_ROW_FLOAT: return str_to_f64(text, &f) == OK;
    case PTO_ROW_STRING: return is_quoted(text.p);
    case PTO_ROW_ENUM: return is_quoted(text.p) && is_choice(a, text.p + 1, text.n - 2);
    default: return false;
    }
}

static status check_choices(const loader *l, const char *op, pto_row_attr *a)
{
    uint32_t n = 0;
    TRY(loader_count(l, (const void *const *)a->choices, "choices", &n));
    if ((n != 0) != (a->type == PTO_ROW_ENUM))
        return loader_refuse(l, "attribute `%s` of op `%s` %s", a->name, op,
                             n != 0 ? "has choices, but is not an enum" : "lacks its choices");
    for (uint32_t i = 0; i < n; i++)
        if (!is_word(a->choices[i]))
            return loader_refuse(l, "attribute `%s` of op `%s` has a choice that is not a word", a->name, op);
    if (n == 0) a->choices = NULL;
    return OK;
}

static status copy_attr(const loader *l, const char *op, const pto_row_attr *theirs, const pto_row_attr **out)
{
    if (!PTO_HAS(theirs, choices)) return loader_refuse(l, "an attribute of op `%s` is too short a struct", op);
    pto_row_attr *a = loader_copy(l, theirs, sizeof *a);
    if (!is_word(a->name)) return loader_refuse(l, "an attribute of op `%s` has no usable name", op);
    if (a->doc == NULL || a->type == PTO_ROW_NONE || a->type > PTO_ROW_INTS || a->required > 1 || a->reserved != 0)
        return loader_refuse(l, "attribute `%s` of op `%s` lacks its doc or type", a->name, op);
    TRY(loader_check_text(l, op, "the doc of an attribute", a->doc));
    TRY(check_choices(l, op, a));
    if (a->def != NULL && (a->required != 0 || !is_default(a)))
        return loader_refuse(l, "attribute `%s` of op `%s` has the default `%s`, which it cannot have", a->name, op,
                             str_is_plain_line(str_from(a->def)) ? a->def : "?");
    *out = a;
    return OK;
}

static status copy_attrs(const loader *l, pto_op_row *row)
{
    uint32_t n = 0;
    TRY(loader_count(l, (const void *const *)row->attrs, "attributes", &n));
    if (n > PTO_OP_ATTRS_MAX)
        return loader_refuse(l, "op `%s` has %u attributes; the most is %d", row->name, n, PTO_OP_ATTRS_MAX);
    const pto_row_attr **copies = arena_array(l->a, (size_t)n + 1, sizeof *copies);
    for (uint32_t i = 0; i < n; i++) {
        TRY(copy_attr(l, row->name, row->attrs[i], &copies[i]));
        for (uint32_t k = 0; k < i; k++)
            if (strcmp(copies[k]->name, copies[i]->name) == 0)
                return loader_refuse(l, "two attributes of op `%s` are called `%s`", row->name, copies[i]->name);
    }
    row->attrs = copies;
    return OK;
}

/* What op_iteration reads must be there. */
static bool iteration_fits(const pto_op_row *row)
{
    uint32_t operands = 0;
    bool has_axis = false, has_perm = false;
    while (row->operands[operands] != NULL) operands++;
    for (uint32_t i = 0; row->attrs[i] != NULL; i++) {
        has_axis |= strcmp(row->attrs[i]->name, "axis") == 0 && row->attrs[i]->type == PTO_ROW_INTS;
        has_perm |= strcmp(row->attrs[i]->name, "perm") == 0 && row->attrs[i]->type == PTO_ROW_INTS;
    }
    if (row->iteration != PTO_ITER_NONE && (row->result_count != 1 || row->result_types != PTO_OF_TENSOR)) return false;
    for (uint32_t i = 0; i < operands && row->iteration != PTO_ITER_NONE; i++)
        if (row->operands[i]->types != PTO_OF_TENSOR) return false;
    switch (row->iteration) {
    case PTO_ITER_NONE: return true;
    case PTO_ITER_ELEMENTWISE: return operands >= 1;
    case PTO_ITER_REDUCE: return operands == 1 && has_axis;
    case PTO_ITER_TRANSPOSE: return operands == 1 && has_perm;
    case PTO_ITER_BROADCAST:
    case PTO_ITER_RESHAPE: return operands == 1;
    default: return operands == (row->iteration == PTO_ITER_MATMUL ? 2 : 0) && row->iteration <= PTO_ITER_FILL;
    }
}

static status check_row(const loader *l, const pto_op_row *row)
{
    const bool is_commutative = (row->traits & PTO_TRAIT_COMMUTATIVE) != 0, has_results = row->result_count != 0;
    const struct {
        bool is_wrong;
        const char *what;
    } checks[] = {
        {row->doc == NULL, "lacks its doc"},
        {(row->traits & ~(uint32_t)(PTO_TRAIT_PURE | PTO_TRAIT_COMMUTATIVE)) != 0,
         "has traits that an op of a plugin cannot have"},
        {is_commutative && (row->operands[0] == NULL || row->operands[1] == NULL),
         "is commutative and has less than two operands"},
        {!are_dtypes(row->dtypes), "names element types that this core does not know"},
        {row->result_count > PTO_OP_RESULTS_MAX || (has_results && !are_types(row->result_types)),
         "has results of no number or types that this core knows"},
        {has_results && row->infer == NULL, "has results and lacks its infer"},
        {!iteration_fits(row), "has an iteration that does not fit its operands, results and attributes"},
        {row->ulp > UINT8_MAX || row->argument_ulp > UINT8_MAX, "is off by more than 255 units"},
    };
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++)
        if (checks[i].is_wrong) return loader_refuse(l, "op `%s` %s", row->name, checks[i].what);
    return OK;
}

static status copy_row(const loader *l, const pto_opset *set, const pto_op_row *theirs, const pto_op_row **out)
{
    if (!PTO_HAS(theirs, evaluate)) return loader_refuse(l, "a row of op-set `%s` is too short a struct", set->id);
    pto_op_row *row = loader_copy(l, theirs, sizeof *row);
    if (row->name == NULL || !begins_with_part(row->name, set->id) || !is_word(row->name + strlen(set->id) + 1))
        return loader_refuse(l, "an op of op-set `%s` is not called `%s.` and a word", set->id, set->id);
    TRY(loader_check_text(l, row->name, "the doc", row->doc));
    TRY(loader_check_text(l, row->name, "the numerics", row->numerics));
    TRY(copy_operands(l, row));
    TRY(copy_attrs(l, row));
    *out = row;
    return check_row(l, row);
}

status opset_copy(const loader *l, const pto_opset *theirs, const pto_opset **out)
{
    const char *plugin = l->file->note.id;
    if (!PTO_HAS(theirs, rows)) return loader_refuse(l, "an op-set is too short a struct");
    pto_opset *set = loader_copy(l, theirs, sizeof *set);
    if (set->id == NULL || !is_dotted(set->id) || op_dialect_is_ours((str){set->id, strcspn(set->id, ".")}))
        return loader_refuse(l, "an op-set has no id that ops of a plugin can begin with");
    if (strcmp(plugin, set->id) != 0 && !begins_with_part(plugin, set->id))
        return loader_refuse(l, "its op-set is called `%s`, which its own id does not begin with", set->id);
    TRY(loader_check_level(l, set->id, set->level));
    if (level_by_name(NULL, str_from(set->level)) == LEVEL_NONE &&
        strncmp(set->level, set->id, strcspn(set->level, "/")) != 0)
        return loader_refuse(l, "op-set `%s` declares the level `%s`, which its id does not begin", set->id,
                             set->level);
    uint32_t n = 0;
    TRY(loader_count(l, (const void *const *)set->rows, "ops", &n));
    const pto_op_row **copies = arena_array(l->a, (size_t)n + 1, sizeof *copies);
    for (uint32_t i = 0; i < n; i++) {
        TRY(copy_row(l, set, set->rows[i], &copies[i]));
        for (uint32_t k = 0; k < i; k++)
            if (strcmp(copies[k]->name, copies[i]->name) == 0)
                return loader_refuse(l, "two of its ops are called `%s`", copies[i]->name);
    }
    set->rows = copies;
    *out = set;
    return OK;
}
