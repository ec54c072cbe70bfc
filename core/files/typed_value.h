/* Typed values: the one place where the text of a YAML scalar becomes a boolean, a number, bytes, a choice or a list.
 * Used for keys of our files, for options of plugins, for their defaults and limits given as text, and for settings. */
#ifndef CORE_FILES_TYPED_VALUE_H
#define CORE_FILES_TYPED_VALUE_H

#include "core/files/yaml_tree.h"

/* Those of options, from <pto/options.def>. */
typedef enum value_kind {
    VALUE_NONE,
#define OPTION_TYPE(ID, name, words) VALUE_##ID,
#include <pto/options.def>
    VALUE_TYPE_COUNT
} value_kind;

enum { VALUE_LIST_MAX = 4096 };

/* What is asked of a value. Limits are YAML text; NULL means none; for lists they hold for each element. */
typedef struct value_rule {
    value_kind type;
    const char *min, *max;
    const char *const *choices; /* VALUE_ENUM: ends in NULL */
    const char *what;           /* for messages: "option `max-ops`", "`bytes`" */
} value_rule;

typedef struct value {
    value_kind type;
    int64_t i;            /* bool 0 or 1, i64, bytes, enum: index of the choice */
    double f;             /* f64 */
    str s;                /* str, enum, plugin id; a NUL follows it */
    const int64_t *items; /* list */
    uint32_t count;
    const yaml_node *with; /* plugin: its options, or NULL */
    src_pos at;            /* where it was written; no place for defaults */
    bool is_given;         /* by a file or the command line, not by default */
} value;

/* Reads `node` by `rule`; what the value points at lives in `a` or in the tree. A `$params.` reference that
 * pipeline.c resolved is followed, and its type must fit. Fails after a diagnostic. */
MUST_CHECK status value_from_node(arena *a, diag_engine *d, const yaml_node *node, const value_rule *rule,
                                  value *out_value);
/* The same from text in YAML spelling, as descriptors write defaults and limits. `at` is the place to blame. */
MUST_CHECK status value_from_text(arena *a, diag_engine *d, src_pos at, const char *text, const value_rule *rule,
                                  value *out_value);

/* "a boolean (true or false)"; for messages. */
const char *value_type_text(value_kind type);
/* "bool", "int", "float", "str", "enum", "bytes", "list", "plugin": the names in files; VALUE_NONE when unknown. */
const char *value_type_name(value_kind type);
value_kind value_type_by_name(str name);

#endif
