#include "ir/context/role_names.h"

#include <string.h>

typedef struct name_row {
    const char *text;
    uint32_t role;
    src_pos at; /* of the declaration; a row of ir/ops has none */
} name_row;

static const name_row standard_spaces[] = {
#define SPACE(ID, text, role, doc) {text, SPACE_ROLE_##role, {0}},
#include "ir/ops/types.def"
};
static const name_row standard_pipes[] = {
#define UNIT(ID, role, pipe, doc) {pipe, UNIT_##ID, {0}},
#include "ir/ops/units.def"
};
static const name_row standard_layouts[] = {
#define LAYOUT(ID, text, order, doc) {text, ORDER_##order, {0}},
#include "ir/ops/types.def"
};

static const char *const space_role_words[] = {
#define SPACE_ROLE(ID, text, doc) text,
#include "ir/ops/types.def"
    NULL};
static const char *const unit_role_words[] = {
#define UNIT(ID, role, pipe, doc) role,
#include "ir/ops/units.def"
    NULL};
static const char *const order_words[] = {
#define LAYOUT_ORDER(ID, text, ...) text,
#include "ir/ops/types.def"
    NULL};

#define ROWS(roles, rows) (roles), (rows), sizeof(rows) / sizeof(rows)[0]
#define ROWS_SPACE ROWS(space_role_words, standard_spaces)
#define ROWS_PIPE ROWS(unit_role_words, standard_pipes)
#define ROWS_LAYOUT ROWS(order_words, standard_layouts)
static const struct {
    const char *words, *attribute;
    const char *const *roles;
    const name_row *rows;
    uint32_t count;
} kinds[NAME_KIND_COUNT] = {
#define NAME_KIND(ID, words, attribute) [NAME_##ID] = {words, attribute, ROWS_##ID},
#include "ir/ops/kinds.def"
};

struct role_names {
    arena *a;
    uint32_t count[NAME_KIND_COUNT];
    name_row rows[NAME_KIND_COUNT][NAME_IDS];
};

role_names *role_names_create(arena *a)
{
    role_names *n = arena_alloc(a, sizeof *n);
    n->a = a;
    for (uint32_t k = NAME_NONE + 1; k < NAME_KIND_COUNT; k++) {
        n->count[k] = kinds[k].count + 1;
        memcpy(&n->rows[k][1], kinds[k].rows, kinds[k].count * sizeof(name_row));
    }
    return n;
}

uint32_t role_names_count(const role_names *n, name_kind kind) { return n->count[kind]; }

uint32_t role_names_find(const role_names *n, name_kind kind, str name)
{
    for (uint32_t i = 1; i < n->count[kind]; i++) {
        const char *text = n->rows[kind][i].text;
        if (name.n != 0 && text[0] == name.p[0] && str_is(name, text)) return i;
    }
    return 0;
}

static const name_row *row_at(const role_names *n, name_kind kind, uint32_t id)
{
    BUG_IF(id == 0 || id >= n->count[kind], "there is no %s number %u", kinds[kind].words, id);
    return &n->rows[kind][id];
}

const char *role_names_text(const role_names *n, name_kind kind, uint32_t id) { return row_at(n, kind, id)->text; }

uint32_t role_names_role(const role_names *n, name_kind kind, uint32_t id) { return row_at(n, kind, id)->role; }

bool role_names_is_standard(name_kind kind, uint32_t id) { return id <= kinds[kind].count; }

bool name_is_possible(str name)
{
    if (name.n == 0 || name.n > NAME_MAX_BYTES) return false;
    for (size_t i = 0; i < name.n; i++) {
        const char c = name.p[i];
        const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!is_letter && (i == 0 || c < '0' || c > '9')) return false;
    }
    return true;
}

status name_check(diag_engine *d, src_pos at, const char *what, const char *taken, str name)
{
    if (name_is_possible(name) && (taken == NULL || !str_is(name, taken))) return OK;
    diag_error(
        d, at, &E0230,
        "`%.*s` cannot be the name of a %s; a name is at most %d letters, digits and `_`, not a digit first%s%s%s",
        (int)(name.n > 40 ? 40 : name.n), name.p, what, NAME_MAX_BYTES, taken != NULL ? ", and not `" : "",
        taken != NULL ? taken : "", taken != NULL ? "`" : "");
    return FAILED;
}

static uint32_t role_conflict(const role_names *n, diag_engine *d, src_pos at, name_kind kind, uint32_t id,
                              uint32_t role)
{
    const name_row *row = row_at(n, kind, id);
    const char *const *words = kinds[kind].roles;
    diag_error(d, at, &E0229, "the %s `%s` has the role `%s`; `%s` is not possible beside it", kinds[kind].words,
               row->text, words[row->role - 1], words[role - 1]);
    if (row->at.file != NULL) {
        diag_note(d, row->at, "its role is declared here");
    } else {
        diag_note(d, at, "`%s` is a standard name", row->text);
    }
    return 0;
}

uint32_t role_names_add(role_names *n, diag_engine *d, src_pos at, name_kind kind, str name, uint32_t role)
{
    const uint32_t known = role_names_find(n, kind, name);
    if (known != 0 && n->rows[kind][known].role == role) return known;
    if (known != 0) return role_conflict(n, d, at, kind, known, role);
    if (name_check(d, at, kinds[kind].words, kind == NAME_PIPE ? "all" : NULL, name) != OK) return 0;
    const uint32_t id = n->count[kind];
    if (id > NAME_MAX_ID) {
        diag_error(d, at, &E0231, "`%.*s` would be the %s number %u; %u standard names and %u others are possible",
                   (int)name.n, name.p, kinds[kind].words, id, kinds[kind].count, NAME_MAX_ID - kinds[kind].count);
        return 0;
    }
    n->rows[kind][id] = (name_row){arena_strndup(n->a, name.p, name.n), role, at};
    n->count[kind] = id + 1;
    return id;
}

status role_names_add_all(role_names *n, diag_engine *d, const role_names *from)
{
    bool failed = false;
    for (uint32_t k = NAME_NONE + 1; k < NAME_KIND_COUNT; k++) {
        for (uint32_t i = kinds[k].count + 1; i < from->count[k]; i++) {
            const name_row *row = &from->rows[k][i];
            failed |= role_names_add(n, d, row->at, (name_kind)k, str_from(row->text), row->role) == 0;
        }
    }
    return failed ? FAILED : OK;
}

const char *name_kind_words(name_kind kind) { return kinds[kind].words; }

const char *name_kind_attribute(name_kind kind) { return kinds[kind].attribute; }

name_kind name_kind_by_attribute(str name)
{
    for (uint32_t k = NAME_NONE + 1; k < NAME_KIND_COUNT; k++)
        if (str_is(name, kinds[k].attribute)) return (name_kind)k;
    return NAME_NONE;
}

const char *const *name_role_words(name_kind kind) { return kinds[kind].roles; }

uint32_t name_role_by_word(name_kind kind, str word)
{
    for (uint32_t i = 0; kinds[kind].roles[i] != NULL; i++)
        if (str_is(word, kinds[kind].roles[i])) return i + 1;
    return 0;
}

enum { LINES_NONE, LINES_ROW, LINES_COLUMN };
static const struct {
    uint8_t boxes, elements;
} orders[ORDER_COUNT] = {
#define LAYOUT_ORDER(ID, text, boxes, elements, doc) [ORDER_##ID] = {LINES_##boxes, LINES_##elements},
#include "ir/ops/types.def"
};

bool order_has_boxes(layout_order o) { return orders[o].boxes != LINES_NONE; }

bool order_boxes_down(layout_order o) { return orders[o].boxes == LINES_COLUMN; }

bool order_elements_down(layout_order o) { return orders[o].elements == LINES_COLUMN; }
