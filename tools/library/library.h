/* From files to a module that can be compiled: what the tools and libpto have in common. pass_manager_run compiles,
 * tools/run/ calls. */
#ifndef TOOLS_LIBRARY_LIBRARY_H
#define TOOLS_LIBRARY_LIBRARY_H

#include "core/compile/pass_manager.h"

#include <pto/dlpack.h>

/* "0.1.0". Static. */
const char *library_version(void);

/* The folder that this code is installed in: <prefix> of <prefix>/lib/libpto.so when it is in a shared library, of
 * <prefix>/bin/<tool> otherwise. NULL when the system does not say. In the arena. */
const char *library_prefix(arena *a);

/* Of a pipeline_request: the machine `host` is the file that `pto-inspect machine --probe` wrote for this host, when
 * the user keeps one as pto/cpu-host.yaml in $XDG_CACHE_HOME or ~/.cache, or else the one in `search` that suits the
 * CPU: by CPUID cpu-amx, cpu-avx512, cpu-avx2 or cpu-generic. Reads the environment. */
const char *library_host_machine(arena *a, const char *const *search, const char *name, const char **why);

/* Opens all plugins of a pipeline. `backend` as in pipeline_load. */
MUST_CHECK exit_status library_open_pipeline(arena *a, diag_engine *d, plugin_host *host, const pipeline *p,
                                             const char *backend, flight_recorder *recorder, loaded_pipeline *out);
/* Makes the names of the machine of a pipeline known to the modules of a context. */
MUST_CHECK status library_declare_names(ir_context *c, const loaded_pipeline *p);

/* Parses a file, or a text when `text` is not NULL, which `path` names then. */
MUST_CHECK status library_parse(ir_context *c, const char *path, const str *text, module **out);
/* ---- library_read.c ---- */
/* The reader of a file: the one that `named` names, by its id or as `{ use: ID, with: { OPTION: VALUE } }`, or else the
 * first of which a suffix is that of `path`. NULL: the file holds a module. */
MUST_CHECK exit_status library_find_reader(arena *a, diag_engine *d, plugin_host *h, const char *path,
                                           const char *named, const run_agent **out);
/* Reads a file, or a text as library_parse does, with a reader. */
MUST_CHECK status library_read(ir_context *c, const run_session_params *params, const run_agent *reader,
                               const char *path, const str *text, module **out);
/* ---- library.c ---- */
/* Whether it is right, and each `@f.init` fits its @f. */
MUST_CHECK status library_verify(module *m);
/* Whether it has what a pipeline can work on: what is empty is the user's mistake, and no step's. */
MUST_CHECK status library_check_functions(module *m);
/* ---- library_tensor.c ---- */
/* The element type in DLPack's terms; lanes are 0 for one that it has not. */
DLDataType library_dtype(dtype type);

#endif
