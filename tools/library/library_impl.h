/* What the files of libpto know of each other. */
#ifndef TOOLS_LIBRARY_LIBRARY_IMPL_H
#define TOOLS_LIBRARY_LIBRARY_IMPL_H

#include "core/compile/compile_stats.h"
#include "tools/library/library.h"
#include "tools/run/backend_exe.h"

#include <pto/pto.h>

#include <native/native_floats.h>

#include <locale.h>

struct pto_context {
    arena *arena;
    arena *report; /* what pto_diagnostic_at and the like return */
    diag_engine *diags;
    plugin_host *host; /* NULL: it could not be made */
    const char *const *search;
    flight_recorder *recorder;
    locale_t locale; /* C, as the tools have it */
    pto_program *programs;
};

struct pto_pipeline {
    pto_context *context;
    loaded_pipeline loaded;
};

struct pto_program {
    pto_context *context;
    const pto_pipeline *pipeline;
    arena *arena;
    ir_context *ir;
    module *m;
    compile_stats stats;
    const char *text; /* or NULL */
    pto_function_info **functions;
    uint32_t function_count;
    pto_callable *callables;
    pto_program *next;
};

/* The state of a thread before a function of the library. */
typedef struct library_scope {
    locale_t locale;
    native_floats floats;
} library_scope;

/* Begins a function that returns a pto_result: diagnostics anew, the locale C, floating point as programs begin with
 * it. NULL-safe, as is its end, which returns `code` as a result. */
library_scope library_enter(pto_context *c);
pto_result library_leave(pto_context *c, const library_scope *scope, exit_status code);

/* Whether an argument is there; false after a diagnostic that names the function and what is missing. */
bool library_needs(pto_context *c, const void *argument, const char *function, const char *what);

/* ---- library_tensor.c ---- */
/* What a DLTensor is for binding: `out` refers to its memory. `with_data`: that is looked at. Fails after a diagnostic
 * that names it as `info` does. */
MUST_CHECK status library_read_tensor(diag_engine *d, const pto_argument_info *info, const DLTensor *t, bool with_data,
                                      tensor_array *out);
/* ---- library_program.c ---- */
/* By its name; of NULL the only one; NULL: there is none. */
const pto_function_info *library_find_function(const pto_program *p, const char *name);

/* ---- library_callable.c ---- */
/* Destroys all of the program's. */
void library_destroy_callables(pto_program *p);

#endif
