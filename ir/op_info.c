#include "ir/op_table.h"

#include "ir/op_rules.h" /* IWYU pragma: keep (rows of the tables name the rules) */

#include <pthread.h>
#include <string.h>

/* Rows leave fields out. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

/* The operands of a row. */
#define IN(...) ((const operand_spec[]){__VA_ARGS__, {.types = 0}})

/* What the two forms of an instruction take from its rule: whether the instruction has a scratch operand; the results
 * of the value form, and whether they are all that it does. */
#define TILE(...) +0
#define SCALAR(...) +0
#define MEMORY(...) +0
#define SCRATCH(...) +1
#define TILE_OUT(...) 1
#define MEMORY_OUT(...) 0
#define SCALAR_OUT 1
#define NOTHING_OUT 0
enum {
#define RULE(ID, target, sources, ...) RULE_##ID##_SCRATCH = 0 sources, RULE_##ID##_RESULTS = target,
#include "ir/ops/rules.def"
};
#undef TILE_OUT
#define TILE_OUT(...) 0
#undef SCALAR_OUT
#define SCALAR_OUT 1
enum {
#define RULE(ID, target, sources, ...) RULE_##ID##_SCALARS = target,
#include "ir/ops/rules.def"
};
#undef SCRATCH
#define SCRATCH(...) +0
#undef MEMORY
#define MEMORY(...) +1
enum {
#define RULE(ID, target, sources, ...) \
    RULE_##ID##_TRAITS = (0 sources) == 0 && RULE_##ID##_RESULTS == 1 ? TRAIT_PURE : 0,
#include "ir/ops/rules.def"
};

static const char relation_words[] =
#define RELATION(ID, word, sign, compare) "|" word
#include "ir/ops/relations.def"
#undef RELATION
    ;
#define RELATIONS (relation_words + 1)
static const char function_words[] =
#define FUNCTION(word, ...) "|" #word
#include "ir/ops/functions.def"
    ;
#define FUNCTIONS (function_words + 1)
static const char function2_words[] =
#define FUNCTION2(word, ...) "|" #word
#include "ir/ops/functions.def"
    ;
#define FUNCTIONS2 (function2_words + 1)

const op_info op_rows[OP_KIND_COUNT] = {
#define OP(ID, mnemonic, sentence, ...) [OP_##ID] = {.name = mnemonic, .doc = sentence, __VA_ARGS__},
#include "ir/ops/block.def"
#include "ir/ops/core.def"
#include "ir/ops/exec.def"
#include "ir/ops/tensor.def"
#include "ir/ops/tile.def"
#undef OP

#define INSN(ID, mnemonic, TILE_ID, tile_mnemonic, sentence, RULE, ...) \
    [OP_PTO_##ID] = {.name = "pto." mnemonic,                           \
                     .doc = sentence,                                   \
                     .home = HOME_PTO,                                  \
                     .rule = RULE,                                      \
                     .partner = OP_TILE_##TILE_ID,                      \
                     .in = insn_operands[RULE],                         \
                     .in_optional = RULE##_SCRATCH,                     \
                     .out_count = RULE##_SCALARS,                       \
                     .out_types = TY_SCALAR,                            \
                     __VA_ARGS__},
#define INSN_ONLY(ID, mnemonic, sentence, ...) \
    [OP_PTO_##ID] = {.name = "pto." mnemonic, .doc = sentence, .home = HOME_PTO, __VA_ARGS__},
#define VALUE_FORM(...)
#define FORMS(insn, value) .syntax = (insn)
#include "ir/ops/pto.def"
#undef INSN
#undef INSN_ONLY
#undef VALUE_FORM
#undef FORMS

#define INSN(ID, mnemonic, TILE_ID, tile_mnemonic, sentence, RULE, ...)       \
    [OP_TILE_##TILE_ID] = {.name = "tile." tile_mnemonic,                     \
                           .doc = sentence,                                   \
                           .home = HOME_TILE,                                 \
                           .rule = RULE,                                      \
                           .partner = OP_PTO_##ID,                            \
                           .in = insn_value_operands[RULE],                   \
                           .out_count = RULE##_RESULTS,                       \
                           .out_types = RULE##_SCALARS ? TY_SCALAR : TY_TILE, \
                           .traits = RULE##_TRAITS,                           \
                           __VA_ARGS__},
#define INSN_ONLY(...)
#define VALUE_FORM(...) __VA_ARGS__,
#define FORMS(insn, value) .syntax = (value)
#include "ir/ops/pto.def"
#undef INSN
#undef INSN_ONLY
#undef VALUE_FORM
#undef FORMS
};

/* A name's length and three of its characters, so that a lookup compares numbers. The end of a name tells more than its
 * start. */
#define FROM_END(text, i) ((uint32_t)(unsigned char)(text)[sizeof(text) - 2 - (i)])
#define SIGNATURE(text)                                                                      \
    ((uint32_t)(sizeof(text) - 1) << 24 | FROM_END(text, 0) << 16 | FROM_END(text, 1) << 8 | \
     (uint32_t)(unsigned char)(text)[(sizeof(text) - 1) / 2])

static uint32_t signature_of(str name)
{
    const unsigned char *p = (const unsigned char *)name.p;
    return (uint32_t)name.n << 24 | (uint32_t)p[name.n - 1] << 16 | (uint32_t)p[name.n - 2] << 8 | p[name.n / 2];
}

static const uint32_t signatures[OP_KIND_COUNT] = {
#define OP(ID, mnemonic, ...) [OP_##ID] = SIGNATURE(mnemonic),
#include "ir/ops/block.def"
#include "ir/ops/core.def"
#include "ir/ops/exec.def"
#include "ir/ops/tensor.def"
#include "ir/ops/tile.def"
#undef OP
#define INSN(ID, mnemonic, TILE_ID, tile_mnemonic, ...) \
    [OP_PTO_##ID] = SIGNATURE("pto." mnemonic), [OP_TILE_##TILE_ID] = SIGNATURE("tile." tile_mnemonic),
#define INSN_ONLY(ID, mnemonic, ...) [OP_PTO_##ID] = SIGNATURE("pto." mnemonic),
#include "ir/ops/pto.def"
#undef INSN
#undef INSN_ONLY
};

/* Rows by their signatures, filled when the first name is looked up. */
enum { SLOT_BITS = 10, SLOT_COUNT = 1 << SLOT_BITS };
static uint16_t slots[SLOT_COUNT];
static pthread_once_t slots_once = PTHREAD_ONCE_INIT;
_Static_assert(OP_KIND_COUNT < SLOT_COUNT / 4 * 3, "the table of names is too full: make it larger");

static uint32_t slot_of(uint32_t signature) { return signature * 0x9E3779B1u >> (32 - SLOT_BITS); }

static uint32_t slot_after(uint32_t slot) { return (slot + 1) % SLOT_COUNT; }

static void fill_slots(void)
{
    for (uint32_t k = 1; k < OP_KIND_COUNT; k++) {
        uint32_t at = slot_of(signatures[k]);
        while (slots[at] != OP_NONE) at = slot_after(at);
        slots[at] = (uint16_t)k;
    }
}

op_kind op_kind_of_ours(str name)
{
    if (name.n < 2 || name.n > 255) return OP_NONE;
    pthread_once(&slots_once, fill_slots);
    const uint32_t signature = signature_of(name);
    for (uint32_t at = slot_of(signature); slots[at] != OP_NONE; at = slot_after(at)) {
        const uint32_t k = slots[at];
        if (signatures[k] == signature && memcmp(op_rows[k].name, name.p, name.n) == 0) return (op_kind)k;
    }
    return OP_NONE;
}

/* ---- rows that are added ---- */

typedef struct added_op {
    op_info info;
    op_form form;
} added_op;

struct op_table {
    arena *a;
    op_source source;
    const char *levels[LEVELS_MAX - LEVEL_COUNT]; /* added */
    uint32_t level_count;
    const added_op **added;
    size_t capacity;
    uint32_t count;
};

op_table *op_table_create(arena *a)
{
    op_table *t = arena_alloc(a, sizeof *t);
    t->a = a;
    return t;
}

void op_table_set_source(op_table *t, const op_source *source) { t->source = *source; }

bool op_dialect_is_ours(str dialect)
{
    static const char *const ours[] = {"core", "tensor", "tile", "block", "pto", "exec"};
    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++)
        if (str_is(dialect, ours[i])) return true;
    return false;
}

static bool is_ours(str name)
{
    const char *dot = memchr(name.p, '.', name.n);
    return dot == NULL || op_dialect_is_ours((str){name.p, (size_t)(dot - name.p)});
}

op_kind op_table_add(op_table *t, const op_info *row)
{
    const str name = str_from(row->name);
    BUG_IF(is_ours(name) || op_table_find_added(t, name) != OP_NONE, "op `%s` is added twice", row->name);
    BUG_IF(t->count == UINT16_MAX - OP_KIND_COUNT, "more ops than there are numbers for");
    if (t->count == t->capacity) {
        const size_t capacity = t->capacity == 0 ? 16 : 2 * t->capacity;
        const added_op **grown = arena_array(t->a, capacity, sizeof *grown);
        for (uint32_t i = 0; i < t->count; i++) grown[i] = t->added[i];
        t->added = grown;
        t->capacity = capacity;
    }
    added_op *op = arena_alloc(t->a, sizeof *op);
    op->info = *row;
    op_form_fill(&op->form, &op->info);
    t->added[t->count] = op;
    return (op_kind)(OP_KIND_COUNT + t->count++);
}

ir_level op_table_add_level(op_table *t, const char *name)
{
    const ir_level there = level_by_name(t, str_from(name));
    if (there != LEVEL_NONE || t->level_count == LEVELS_MAX - LEVEL_COUNT) return there;
    t->levels[t->level_count] = arena_strdup(t->a, name);
    return (ir_level)(LEVEL_COUNT + t->level_count++);
}

static const added_op *added_at(const op_table *t, op_kind kind)
{
    BUG_IF(t == NULL || kind < OP_KIND_COUNT || (uint32_t)(kind - OP_KIND_COUNT) >= t->count, "there is no op kind %u",
           kind);
    return t->added[kind - OP_KIND_COUNT];
}

const op_info *op_table_row(const op_table *t, op_kind kind) { return &added_at(t, kind)->info; }

const op_form *op_table_form(const op_table *t, op_kind kind) { return &added_at(t, kind)->form; }

op_kind op_table_find_added(const op_table *t, str name)
{
    for (uint32_t i = 0; t != NULL && i < t->count; i++)
        if (str_is(name, t->added[i]->info.name)) return (op_kind)(OP_KIND_COUNT + i);
    return OP_NONE;
}

op_kind op_kind_by_name(op_table *t, str name)
{
    op_kind kind = op_kind_of_ours(name);
    if (kind != OP_NONE || t == NULL || name.n == 0 || is_ours(name)) return kind;
    kind = op_table_find_added(t, name);
    if (kind != OP_NONE || t->source.find == NULL) return kind;
    t->source.find(t->source.self, t, name);
    return op_table_find_added(t, name);
}

ir_level op_level_by_name(op_table *t, str name)
{
    const op_kind kind = op_kind_by_name(t, name);
    return kind != OP_NONE ? op_home_level(op_info_at(t, kind)->home) : LEVEL_NONE;
}

uint32_t op_kind_count(const op_table *t) { return OP_KIND_COUNT + (t != NULL ? t->count : 0); }

const char *op_nearest_name(const op_table *t, str name)
{
    static const char *const nothing[] = {NULL};
    const char *const *more = t != NULL && t->source.names != NULL ? t->source.names(t->source.self) : nothing;
    uint32_t count = op_kind_count(t), n = 0;
    for (const char *const *p = more; *p != NULL; p++) count++;
    size_t capacity = 0;
    const char **names = table_grow(NULL, &capacity, count, sizeof *names);
    for (uint32_t k = OP_NONE + 1; k < op_kind_count(t); k++) names[n++] = op_info_at(t, (op_kind)k)->name;
    for (; *more != NULL; more++) /* the name itself: what has it cannot be used */
        if (!str_is(name, *more)) names[n++] = *more;
    names[n] = NULL;
    const char *near = str_nearest(name, names);
    table_free((void *)names);
    return near;
}

const char *op_table_excuse(const op_table *t, str name)
{
    return t == NULL || t->source.excuse == NULL || is_ours(name) ? NULL : t->source.excuse(t->source.self);
}

/* ---- what a row says ---- */

uint32_t op_info_operands(const op_info *info)
{
    uint32_t n = 0;
    while (info->in != NULL && info->in[n].types != 0) n++;
    return n;
}

const char *op_info_operand_name(const op_info *info, uint32_t i)
{
    return i < op_info_operands(info) ? info->in[i].name : NULL;
}

uint32_t op_info_operands_with(const op_info *info, uint32_t flags)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < op_info_operands(info); i++)
        if ((info->in[i].flags & flags) != 0) found |= 1u << i;
    return found;
}

op_kind op_typed_by(const op_info *info)
{
    if (info->typed_by != OP_NONE) return info->typed_by;
    if (info->tile[TILE_ALONG_COLUMNS] != OP_NONE) return info->tile[TILE_ALONG_COLUMNS];
    /* What a machine may have or not is computed in the type of the ops that it becomes otherwise. */
    return op_rows[info->tile[TILE_WHOLE]].is_stated ? OP_NONE : info->tile[TILE_WHOLE];
}

insn_tmp op_info_tmp(const op_info *info)
{
    return info->rule == RULE_NONE ? TMP_NONE : (insn_tmp)insn_rule_at((insn_rule)info->rule)->tmp;
}

uint32_t op_info_target_dtypes(const op_info *info)
{
    return info->target_dtypes != 0 ? info->target_dtypes : info->dtypes;
}

insn_transfer op_info_transfer(const op_info *info)
{
    if (info->rule == RULE_NONE || info->unit != UNIT_NONE) return TRANSFER_NONE;
    const operand_spec *in = insn_operands[info->rule];
    if (in[0].types == TY_GM) return TRANSFER_STORE;
    for (uint32_t i = 1; in[i].types != 0; i++)
        if (in[i].types == TY_GM) return TRANSFER_LOAD;
    return TRANSFER_MOVE;
}

uint32_t op_info_spaces(const op_info *info, uint32_t i)
{
    const uint32_t known = (1u << SPACE_ROLE_COUNT) - (1u << 1);
    return i < op_info_operands(info) ? info->in[i].spaces & known : 0;
}

const attr_spec *op_attr_spec(const op_info *info, str name)
{
    for (size_t i = 0; i < sizeof info->attrs / sizeof info->attrs[0] && info->attrs[i].name != NULL; i++) {
        if (str_is(name, info->attrs[i].name)) return &info->attrs[i];
    }
    return NULL;
}

bool op_has_hint(str name)
{
    for (uint32_t k = OP_NONE + 1; k < OP_KIND_COUNT; k++) {
        const attr_spec *spec = op_attr_spec(&op_rows[k], name);
        if (spec != NULL && spec->hint) return true;
    }
    return false;
}

bool attr_spec_limits(const attr_spec *spec)
{
    return spec->choices != NULL || spec->names != NAME_NONE || spec->kind == SPEC_WORD;
}

/* A word that is neither one of a list nor has a role. */
static bool is_free(const attr_spec *spec) { return spec->choices == NULL && spec->names == NAME_NONE; }

void attr_spec_print_legal(const attr_spec *spec, const role_names *names, uint32_t others, text_buffer *out)
{
    const char *separator = "";
    const name_kind kind = (name_kind)spec->names;
    for (uint32_t i = 1; kind != NAME_NONE && i < role_names_count(names, kind); i++) {
        if (!role_names_is_standard(kind, i) && (others >> i & 1) == 0) continue;
        text_printf(out, "%s%s", separator, role_names_text(names, kind, i));
        separator = "|";
    }
    if (spec->choices != NULL) text_printf(out, "%s%s", separator, spec->choices);
    if (is_free(spec)) text_puts(out, "the words of letters, digits and `_`");
}

bool attr_spec_allows(const attr_spec *spec, const role_names *names, str word)
{
    if (is_free(spec)) return name_is_possible(word);
    if (spec->names != NAME_NONE && role_names_find(names, (name_kind)spec->names, word) != 0) return true;
    for (const char *at = spec->choices; at != NULL;) {
        size_t n = strcspn(at, "|");
        if (str_eq(word, (str){at, n})) return true;
        at = at[n] == 0 ? NULL : at + n + 1;
    }
    return false;
}

#define LEVEL_NAME(ID, name, guest) [LEVEL_##ID] = (name),
#define LEVEL_GUEST(ID, name, guest) [LEVEL_##ID] = LEVEL_##guest,
static const char *const level_names[LEVEL_COUNT] = {[LEVEL_NONE] = "none", IR_LEVELS(LEVEL_NAME)};
static const uint8_t level_guests[LEVEL_COUNT] = {IR_LEVELS(LEVEL_GUEST)};

ir_level level_guest(ir_level l) { return l < LEVEL_COUNT ? level_guests[l] : LEVEL_NONE; }

ir_level op_home_level(op_home home)
{
    static const uint8_t levels[HOME_COUNT] = {
        [HOME_ANY] = LEVEL_NONE,    [HOME_TENSOR] = LEVEL_TENSOR, [HOME_TILE] = LEVEL_TILE,
        [HOME_BLOCK] = LEVEL_BLOCK, [HOME_PTO] = LEVEL_BLOCK,     [HOME_EXEC] = LEVEL_EXEC};
    return home < HOME_COUNT ? levels[home] : (ir_level)(LEVEL_COUNT + (home - HOME_COUNT));
}

op_home level_home(ir_level l)
{
    static const uint8_t homes[LEVEL_COUNT] = {HOME_ANY, HOME_TENSOR, HOME_TILE, HOME_BLOCK, HOME_EXEC};
    return l < LEVEL_COUNT ? homes[l] : (op_home)(HOME_COUNT + (l - LEVEL_COUNT));
}

static uint32_t level_end(const op_table *t) { return LEVEL_COUNT + (t != NULL ? t->level_count : 0); }

const char *level_name(const op_table *t, ir_level l)
{
    BUG_IF(l >= level_end(t), "there is no level %u", l);
    return l < LEVEL_COUNT ? level_names[l] : t->levels[l - LEVEL_COUNT];
}

ir_level level_by_name(const op_table *t, str s)
{
    for (uint32_t l = LEVEL_NONE + 1; l < level_end(t); l++)
        if (str_is(s, level_name(t, (ir_level)l))) return (ir_level)l;
    return LEVEL_NONE;
}
