/* Pipeline files, `pto-pipeline: 1`, and lists of passes from the command line: to steps with places.
 *
 * What `extends:` names is read first; a key of the extending file replaces the parent's, params merge by name, edits
 * apply in file order. Options of steps stay YAML nodes until the plugin's descriptors are known (option.h). All
 * memory lives in the arena that was given. */
#ifndef CORE_FILES_PIPELINE_H
#define CORE_FILES_PIPELINE_H

#include "core/files/option.h"
#include "core/files/schema.h"

enum { PIPELINE_CHAIN_MAX = 8, PIPELINE_STEPS_MAX = 4096, PIPELINE_OPTION_DEPTH_MAX = 26 };

typedef enum pipeline_verify { PIPELINE_VERIFY_OFF, PIPELINE_VERIFY_EACH, PIPELINE_VERIFY_PARANOID } pipeline_verify;
/* Their names in files and on the command line; ends in NULL. */
extern const char *const pipeline_verify_names[];
/* False when no mode has that name. */
bool pipeline_verify_by_name(str name, pipeline_verify *out);

typedef struct pipeline_step {
    const char *id;   /* unique */
    const char *pass; /* "acme.tile" */
    src_pos at;       /* of the pass id */
    yaml_node *with;  /* mapping or NULL */
} pipeline_step;

typedef struct pipeline_param {
    const char *name, *doc; /* doc may be NULL */
    value_kind type;
    const char *min, *max;      /* as written, or NULL */
    const char *const *choices; /* or NULL */
    yaml_node *value_node;      /* the default, or what replaced it */
    value value;
    src_pos at;     /* of the name */
    src_pos set_at; /* what gave it another value than the default; file NULL: nothing */
    bool is_read;   /* by an option of a step or the backend, at the end of a file since it was set, or in the end */
} pipeline_param;

typedef struct pipeline {
    const char *name, *doc; /* may be NULL */
    const char *file;       /* the file read first; "<command line>" for a list */
    const char *machine;    /* path of the machine file, found; NULL when none is named */
    src_pos machine_at;
    const char *machine_why; /* a sentence, when a name such as `host` stands for it; or NULL */
    pipeline_verify verify;
    src_pos verify_at; /* no place: default */
    const pipeline_param *params;
    uint32_t param_count;
    const pipeline_step *steps;
    uint32_t step_count;
    const char *backend; /* id or NULL */
    src_pos backend_at;
    yaml_node *backend_with;
} pipeline;

typedef enum pipeline_change {
    PIPELINE_SET,           /* tile.with.vec-bytes=32KiB, params.x=V, backend.with.x=V */
    PIPELINE_REPLACE,       /* STEP=pass{x=1}; the id stays */
    PIPELINE_INSERT_BEFORE, /* STEP=pass{x=1} */
    PIPELINE_INSERT_AFTER,  /* STEP=pass{x=1} */
    PIPELINE_REMOVE         /* STEP */
} pipeline_change;

/* One option of the command line. `at` is the place of the first byte of `text`. */
typedef struct pipeline_override {
    pipeline_change change;
    str text;
    src_pos at;
} pipeline_override;

/* What a machine's name stands for that no file has: a path, and in a sentence why; NULL: for nothing. All of it in the
 * arena; `search` as in the request. */
typedef const char *(*pipeline_stands_for)(arena *a, const char *const *search, const char *name, const char **why);

typedef struct pipeline_request {
    const char *file;    /* either a file ... */
    str passes;          /* ... or a list: a,b{x=1,y=[1, 2]},c */
    src_pos passes_at;   /* place of its first byte, "<command line>:1:17" */
    const char *machine; /* wins over the file; relative to the working directory; or NULL */
    src_pos machine_at;
    const pipeline_override *overrides; /* in order; applied after all files */
    uint32_t override_count;
    const char *const *search;              /* folders where bare names are sought; ends in NULL; or NULL */
    pipeline_stands_for machine_stands_for; /* or NULL */
} pipeline_request;

extern const schema_file pipeline_schema;

/* Reads and composes. Fails after a diagnostic. */
MUST_CHECK status pipeline_read(arena *a, diag_engine *d, const pipeline_request *request,
                                const pipeline **out_pipeline);
/* The same with the first file's text in memory; `request->file` names it. */
MUST_CHECK status pipeline_read_text(arena *a, diag_engine *d, const pipeline_request *request, str text,
                                     const pipeline **out_pipeline);

/* The folders of PTO_PIPELINE_PATH (divided by `:`), then `installed`, which may be NULL; ends in NULL. */
const char *const *pipeline_search_folders(arena *a, const char *installed);
/* Finds a file as `extends:` and `machine:` do: from the folder of `from_file` (NULL: the working directory), then,
 * when the name is bare, in `search` and its machines/ folders; and all that again with `.yaml` after a bare name.
 * NULL when there is none; nothing is reported. */
const char *pipeline_find_file(arena *a, const char *const *search, const char *from_file, const char *name);

/* NULL when there is none. */
const pipeline_step *pipeline_step_by_id(const pipeline *p, str id);

#endif
