/* Closed key tables: what may be in a file of ours, checked with places, printed as JSON Schema.
 *
 * A table is an array of schema_key that ends in a row without name. One check goes through the whole tree and reports
 * every mistake; after it, the getters below cannot fail. */
#ifndef CORE_FILES_SCHEMA_H
#define CORE_FILES_SCHEMA_H

#include "core/files/typed_value.h"

typedef enum schema_kind {
    SCHEMA_VALUE,    /* a typed value: `type`, `def`, `min`, `max`, `choices` */
    SCHEMA_MAPPING,  /* `keys` */
    SCHEMA_NAMED,    /* a mapping from free names (or `choices`) to `element` */
    SCHEMA_SEQUENCE, /* of `element`; `or_named`, a SCHEMA_NAMED, may stand in its place */
    SCHEMA_ANY       /* anything; checked by its reader */
} schema_kind;

typedef struct schema_key schema_key;
struct schema_key {
    const char *name; /* NULL ends a table */
    schema_kind kind;
    value_kind type;
    bool is_required;
    bool may_be_scalar;          /* a mapping with a short form: one plain scalar */
    uint8_t group;               /* not 0: exactly one key of the group must be in the mapping */
    const char *def, *min, *max; /* YAML text, NULL: none */
    const char *const *choices;  /* ends in NULL */
    const schema_key *keys, *element, *or_named;
    const char *unit, *doc;
};

/* A kind of file. The first key of each is its version key, as `pto-pipeline: 1`. */
typedef struct schema_file {
    const char *kind;        /* "pipeline" */
    const char *version_key; /* "pto-pipeline" */
    int64_t version;
    const schema_key *keys;
    const char *doc;
} schema_file;

/* The version key, of files of which there is one version. */
#define SCHEMA_VERSION_1(key) \
    {.name = (key), .type = VALUE_I64, .is_required = true, .min = "1", .max = "1", .doc = "version of the key list"}

/* Checks a whole file. Fails after at least one diagnostic. `a` holds what messages need. */
MUST_CHECK status schema_check(arena *a, diag_engine *d, const schema_file *file, const yaml_node *root);

/* The value of the key `name` of a checked mapping, its default when it is absent. False: neither. A name that is not
 * in the table is a bug. */
bool schema_value(arena *a, diag_engine *d, const schema_key *keys, const yaml_node *map, const char *name,
                  value *out_value);
/* The same, for keys that are required or have a default. */
int64_t schema_i64(arena *a, diag_engine *d, const schema_key *keys, const yaml_node *map, const char *name);
double schema_f64(arena *a, diag_engine *d, const schema_key *keys, const yaml_node *map, const char *name);
/* NULL when absent without default. */
const char *schema_str(arena *a, diag_engine *d, const schema_key *keys, const yaml_node *map, const char *name);

/* Reports an unknown word: "unknown key `x`; did you mean `y`?" and the legal ones in a note. `candidates` ends in
 * NULL. */
void schema_unknown(diag_engine *d, src_pos at, const diag_code_info *code, const char *what, str word,
                    const char *const *candidates);

#endif
