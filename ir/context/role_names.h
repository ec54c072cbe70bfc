/* Names that machines have for their memory spaces, pipes and layouts.
 *
 * Each has a role, which says what it is for: code asks for roles, never for names. The rows of ir/ops are in every
 * table from the start; machine files and modules add others. Names are kept per session: once added, a name keeps its
 * id and its role. Ids count from 1, the rows of ir/ops first; 0 is none. One thread at a time. */
#ifndef IR_CONTEXT_ROLE_NAMES_H
#define IR_CONTEXT_ROLE_NAMES_H

#include "ir/base/arena.h"
#include "ir/base/diag.h"
#include "ir/base/status.h"
#include "ir/base/text.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum name_kind {
    NAME_NONE,
#define NAME_KIND(ID, ...) NAME_##ID,
#include "ir/ops/kinds.def"
    NAME_KIND_COUNT
} name_kind;
/* Ids fit in 5 bits, so that a set of them is a uint32_t. */
enum {
#define LIMIT(ID, number, doc) NAME_LIMIT_##ID = number,
#include "ir/ops/kinds.def"
    NAME_IDS = NAME_LIMIT_NAMES_MAX,
    NAME_MAX_ID = NAME_IDS - 1,
    NAME_MAX_BYTES = 32
};

/* What a memory space is for. */
typedef enum space_role {
    SPACE_ROLE_NONE,
#define SPACE_ROLE(ID, text, doc) SPACE_ROLE_##ID,
#include "ir/ops/types.def"
    SPACE_ROLE_COUNT
} space_role;
/* The unit of a core that runs an instruction; a pipe feeds one. UNIT_NONE: the spaces of its operands decide. */
typedef enum unit_role {
    UNIT_NONE,
#define UNIT(ID, ...) UNIT_##ID,
#include "ir/ops/units.def"
    UNIT_COUNT
} unit_role;
/* How the elements of a tile lie: rows or columns one after the other, of boxes that are so themselves, or without. */
typedef enum layout_order {
    ORDER_NONE,
#define LAYOUT_ORDER(ID, ...) ORDER_##ID,
#include "ir/ops/types.def"
    ORDER_COUNT
} layout_order;

typedef struct role_names role_names;

/* The rows of ir/ops. It lives as long as the arena. */
role_names *role_names_create(arena *a);
/* Ids of a kind are below it. */
uint32_t role_names_count(const role_names *n, name_kind kind);
/* 0: there is none. */
uint32_t role_names_find(const role_names *n, name_kind kind, str name);
/* BUG for an id that is none. The text lives as long as the table. */
const char *role_names_text(const role_names *n, name_kind kind, uint32_t id);
/* A space_role, unit_role or layout_order. */
uint32_t role_names_role(const role_names *n, name_kind kind, uint32_t id);
/* Whether ir/ops has the name; others are declared by the modules that use them. */
bool role_names_is_standard(name_kind kind, uint32_t id);
/* Whether it can be a name: a word of the text form, a key of a machine file and a part of "nd-nz". */
bool name_is_possible(str name);
/* The same, with a diagnostic at `at`: what the name is of, "pipe"; and a word that is taken, or NULL. */
MUST_CHECK status name_check(diag_engine *d, src_pos at, const char *what, const char *taken, str name);
/* Adds a name, if it is not there yet, and returns its id. 0 after a diagnostic at `at`: it is not a name, it has
 * another role already, or there are NAME_MAX_ID of its kind. `at.file` outlives the table. */
uint32_t role_names_add(role_names *n, diag_engine *d, src_pos at, name_kind kind, str name, uint32_t role);
/* Adds all names of another table. */
MUST_CHECK status role_names_add_all(role_names *n, diag_engine *d, const role_names *from);

/* "memory space", "pipe", "layout" */
const char *name_kind_words(name_kind kind);
/* The attribute of modules that declares such names: "spaces", "pipes", "layouts". NAME_NONE when none does. */
const char *name_kind_attribute(name_kind kind);
name_kind name_kind_by_attribute(str name);
/* The words of the roles of a kind, NULL-ended: role r has word r - 1. */
const char *const *name_role_words(name_kind kind);
/* 0: there is none. */
uint32_t name_role_by_word(name_kind kind, str word);

/* Whether the elements lie in boxes; whether boxes, and whether elements (of a box, if there are any), lie column by
 * column. */
bool order_has_boxes(layout_order o);
bool order_boxes_down(layout_order o);
bool order_elements_down(layout_order o);

#endif
