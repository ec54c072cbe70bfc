/* Finds plugins by what they provide, accepts or refuses them, loads them.
 *
 * Searched, in this order: files given one by one, given folders, PTO_PLUGIN_PATH, $XDG_DATA_HOME/pto/plugins-1, and
 * ../lib/pto/plugins-1 beside the executable; never the working directory. Searching reads notes only (elf_note.h); a
 * file is loaded when something that it alone provides is asked for, and stays loaded until the process ends.
 * Everything handed out lives in the arena given to plugin_host_create. One thread at a time. */
#ifndef CORE_HOST_PLUGIN_HOST_H
#define CORE_HOST_PLUGIN_HOST_H

#include "core/host/elf_note.h"
#include "core/host/flight_recorder.h"
#include "ir/base/diag.h"
#include "ir/op_table.h"

#include <pto/backend.h>
#include <pto/generator.h>
#include <pto/reader.h>
#include <pto/tiling.h>

#include <stdbool.h>

typedef struct plugin_host plugin_host;
typedef struct run_registry run_registry; /* run_context.h */

/* A file that may not be loaded, since that was tried. */
typedef struct plugin_refusal {
    uint64_t device, inode;
    const char *why; /* goes on after "its code " */
    const struct plugin_refusal *next;
} plugin_refusal;

typedef struct plugin_host_params {
    uint32_t abi_minor; /* of this host, and whether it is a draft: plugin_host_defaults returns those of this build */
    bool draft;
    bool only_given;            /* no environment, no default folders */
    const char *const *files;   /* loaded first; NULL-ended or NULL */
    const char *const *folders; /* sought before all others; NULL-ended or NULL */
    const char *prefix;         /* in place of that of the executable; or NULL */
    const plugin_refusal *refused;
    bool goes_on;              /* a file of `files` that cannot be used is reported and is not a failure */
    flight_recorder *recorder; /* told which plugin is being loaded; or NULL */
} plugin_host_params;

/* No files, no folders but those of the environment and the installation, the ABI of this build. */
plugin_host_params plugin_host_defaults(void);

/* Reads the notes of `files` at once and refuses unfit ones; folders are read when first needed. `p` is copied, what it
 * points at is not. Fails after a diagnostic. */
MUST_CHECK status plugin_host_create(arena *a, diag_engine *d, const plugin_host_params *p, plugin_host **out_host);
/* When no module is left whose ops may be asked about. NULL is fine. */
void plugin_host_close(plugin_host *h);
/* Whether `files` can all be used, as far as is known; of a host that goes on when they cannot. */
bool plugin_host_is_whole(const plugin_host *h);
uint32_t plugin_host_abi_minor(const plugin_host *h);
/* The ops of ir/ops and those that its plugins add: contexts of modules that they work on are given it. */
op_table *plugin_host_ops(const plugin_host *h);
/* What the run sessions of its plugins share. */
run_registry *plugin_host_runs(const plugin_host *h);

/* One file with a readable note. */
typedef struct plugin_file {
    const char *path;
    elf_note note;
    bool given;          /* one of `files` */
    const char *refusal; /* why it cannot be used, NULL when it can; a sentence that begins with the plugin */
    const diag_code_info *refusal_code;
    const pto_plugin
        *plugin; /* once loaded: a copy of the descriptor, whole and at this host's size, as are all parts */
    struct plugin_identity {
        uint64_t device, inode;
    } identity;
    bool load_failed; /* was reported; `refusal` says why */
} plugin_file;

/* Descriptor of what is asked for, loading its file. NULL after a diagnostic at `at`, the place that names it.
 * `out_file` may be NULL. */
const pto_pass *plugin_host_pass(plugin_host *h, src_pos at, str id, const plugin_file **out_file);
/* The same for a step without options, but when the note of the plugin says that the pass rewrites some ops only, its
 * file is not loaded, and what comes back is what the note promises: `run` is NULL, and `kinds` are these ops. */
const pto_pass *plugin_host_pass_to_come(plugin_host *h, src_pos at, str id, const plugin_file **out_file);
const pto_property *plugin_host_property(plugin_host *h, src_pos at, str id, const plugin_file **out_file);
const pto_tiling *plugin_host_tiling(plugin_host *h, src_pos at, str id, const plugin_file **out_file);
const pto_cost *plugin_host_cost(plugin_host *h, src_pos at, str id, const plugin_file **out_file);
const pto_generator *plugin_host_generator(plugin_host *h, src_pos at, str id, const plugin_file **out_file);
const pto_reader *plugin_host_reader(plugin_host *h, src_pos at, str id, const plugin_file **out_file);
const pto_backend *plugin_host_backend(plugin_host *h, src_pos at, str id, const plugin_file **out_file);
/* Loads one file. */
MUST_CHECK status plugin_host_load(plugin_host *h, src_pos at, const plugin_file *file);
/* Whether any readable note provides the id; loads and reports nothing. */
bool plugin_host_has(plugin_host *h, plugin_kind kind, str id);
/* Whether a readable note provides ops whose names are `dialect`, a dot and a word. */
bool plugin_host_has_dialect(plugin_host *h, str dialect);

/* Why what was asked for and could not be loaded was refused; NULL when that is not known. */
const char *plugin_host_refusal(plugin_host *h, plugin_kind kind, str id);

/* Ids of the passes whose notes establish a property, sorted, NULL-ended. */
const char *const *plugin_host_suppliers(plugin_host *h, str property);
/* All files with a readable note, in the order of search and by name in a folder; refused ones too. */
uint32_t plugin_host_file_count(plugin_host *h);
const plugin_file *plugin_host_file_at(plugin_host *h, uint32_t index);
/* Folders that were searched, NULL-ended. */
const char *const *plugin_host_folders(plugin_host *h);
/* Ids of one kind that notes provide, sorted, NULL-ended. */
const char *const *plugin_host_ids(plugin_host *h, plugin_kind kind);

#endif
