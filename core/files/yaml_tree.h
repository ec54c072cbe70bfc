/* YAML subset: one document of mappings, sequences and scalars as a tree with places.
 *
 * Refused, each with its own message: anchors, aliases, merge keys, tags, directives, several documents, duplicate
 * keys, keys that are not scalars, tabs, byte order marks, control and direction characters, null and missing values.
 * Limits: 256 KiB, depth 32, 20,000 nodes, 64 KiB a scalar, 128 bytes a key. Scalars stay text: types come from the
 * reader. A tree and all its text live in the arena it was read into, not in the source text. */
#ifndef CORE_FILES_YAML_TREE_H
#define CORE_FILES_YAML_TREE_H

#include "ir/base/arena.h"
#include "ir/base/diag.h"
#include "ir/base/status.h"
#include "ir/base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    YAML_FILE_BYTES_MAX = 256 * 1024,
    YAML_NODES_MAX = 20000,
    /* Of files that tools write and read again. */
    YAML_WRITTEN_BYTES_MAX = 256 * 1024 * 1024,
    YAML_WRITTEN_NODES_MAX = 16 * 1000 * 1000,
    YAML_DEPTH_MAX = 32,
    YAML_SCALAR_BYTES_MAX = 64 * 1024,
    YAML_KEY_BYTES_MAX = 128
};

typedef enum yaml_kind { YAML_NONE, YAML_SCALAR, YAML_SEQUENCE, YAML_MAPPING } yaml_kind;

typedef struct yaml_node yaml_node;

typedef struct yaml_pair {
    str key;
    src_pos key_at;
    yaml_node *value;
} yaml_pair;

/* `quoted` is set for quoted and block scalars: these are text, whatever they look like. */
struct yaml_node {
    yaml_kind kind;
    bool quoted;
    src_pos at;
    str text;          /* scalar; a NUL follows it */
    uint32_t count;    /* of items or pairs */
    yaml_node **items; /* sequence */
    yaml_pair *pairs;  /* mapping, in file order */
    /* A `$params.x` scalar whose parameter was found: the parameter's value. Set by pipeline.c. */
    const yaml_node *refers;
    const char *refers_type; /* and its type as written: "bytes" */
};

/* Reads `source`. `start` is the place of its first byte and names the file in all places; its `file` is kept, not
 * copied. Fails after a diagnostic. */
MUST_CHECK status yaml_read_text(arena *a, diag_engine *d, src_pos start, str source, yaml_node **out_root);
/* Reads a file; `path` is copied. */
MUST_CHECK status yaml_read_file(arena *a, diag_engine *d, const char *path, yaml_node **out_root);
/* The same of a file that a tool may have written, and that grows with the module. */
MUST_CHECK status yaml_read_written(arena *a, diag_engine *d, const char *path, yaml_node **out_root);

/* The value of a key, or NULL. `map` may be NULL or no mapping. */
yaml_node *yaml_find(const yaml_node *map, const char *key);
yaml_pair *yaml_find_pair(const yaml_node *map, str key);

/* Nodes made by hand; text and nodes are not copied. */
yaml_node *yaml_new_scalar(arena *a, src_pos at, str text, bool quoted);
yaml_node *yaml_new_mapping(arena *a, src_pos at);
/* Sets or replaces the value of a key; returns the pair. */
yaml_pair *yaml_set(arena *a, yaml_node *map, str key, src_pos key_at, yaml_node *value);

/* Whether plain text stands for nothing: empty, `~` or `null`. */
bool yaml_is_null(str s);
/* "a mapping", "a sequence", "a scalar"; for messages. */
const char *yaml_kind_text(yaml_kind kind);

/* Writes a key or an id, quoted when it must be. */
void yaml_write_name(text_buffer *t, str name);

#endif
