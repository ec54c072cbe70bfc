/* Listings of everything there is, out of descriptors, notes and tables; as text, JSON or Markdown. */
#ifndef TOOLS_INSPECT_INSPECT_H
#define TOOLS_INSPECT_INSPECT_H

#include "core/host/plugin_host.h"
#include "ir/base/text.h"

typedef enum inspect_format { INSPECT_TEXT, INSPECT_JSON, INSPECT_MARKDOWN } inspect_format;

typedef struct inspector {
    arena *arena;
    diag_engine *diags;
    inspect_format format;
    const char *const *search; /* folders of pipelines, NULL-ended */
    const char *host_machine;  /* file of the machine `host`, or NULL */
    const char *share;         /* folder of what is installed, or NULL */
    const char *cpu_files;     /* folder of the kernel's files about CPUs */
    plugin_host *host;         /* NULL for subjects that need none, and for codes that are of no plugin */
    text_buffer out;
    uint32_t entries; /* written so far */
} inspector;

/* Each shows all of a subject, or one in full when `name` is not NULL. Fails after a diagnostic: no such name, or a
 * plugin that cannot be loaded. */
MUST_CHECK status inspect_plugins(inspector *x, const char *name);
MUST_CHECK status inspect_passes(inspector *x, const char *name);
MUST_CHECK status inspect_tilings(inspector *x, const char *name);
MUST_CHECK status inspect_costs(inspector *x, const char *name);
MUST_CHECK status inspect_generators(inspector *x, const char *name);
MUST_CHECK status inspect_readers(inspector *x, const char *name);
MUST_CHECK status inspect_backends(inspector *x, const char *name);
MUST_CHECK status inspect_properties(inspector *x, const char *name);
MUST_CHECK status inspect_options(inspector *x, const char *name);
MUST_CHECK status inspect_ops(inspector *x, const char *name);
MUST_CHECK status inspect_machines(inspector *x, const char *name);
/* The text of a machine file of this host, which is measured for about two seconds; it has no name to give. Fails after
 * a diagnostic: a name, or no machine of its ISA that ships. */
MUST_CHECK status inspect_probed_machine(inspector *x, const char *name);
MUST_CHECK status inspect_errors(inspector *x, const char *name);
MUST_CHECK status inspect_counters(inspector *x, const char *name);
MUST_CHECK status inspect_host(inspector *x, const char *name);

/* FAILED, after a diagnostic: which other subject shows the name, when it is that of something else that plugins
 * provide, or else the beginning of a sentence that the name ends ("there is no op"), and a name like it or NULL. */
status inspect_unknown(inspector *x, const char *name, const char *absent, const char *near);

/* ---- output: a list of entries, each a title, a sentence and rows of key and value; values NULL are left out ---- */
/* Begins the list; begins an entry; adds a row to it. */
void inspect_begin(inspector *x);
void inspect_entry(inspector *x, const char *title, const char *sentence);
void inspect_row(inspector *x, const char *key, const char *value);
void inspect_rowf(inspector *x, const char *key, const char *format, ...) PRINTF_LIKE(3, 4);
/* A NULL-ended list, on one row; left out when empty. */
void inspect_list(inspector *x, const char *key, const char *const *items);
void inspect_entry_end(inspector *x);
/* The entry of what a plugin provides that is refused, in a list of all: the rest follows. */
void inspect_refused(inspector *x, plugin_kind kind, const char *id);
void inspect_end(inspector *x);

#endif
