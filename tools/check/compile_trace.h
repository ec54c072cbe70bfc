/* --trace: what a compile spends its time on, as a trace that Perfetto and chrome://tracing show.
 *
 * Spans nest: tool, then parse, open, each step with its units, what is checked after it, print. Everything but the
 * times (microseconds from the start) is the same for the same run. All functions do nothing when the trace is NULL.
 * [one thread] */
#ifndef TOOLS_CHECK_COMPILE_TRACE_H
#define TOOLS_CHECK_COMPILE_TRACE_H

#include "core/compile/observer.h"

typedef struct compile_trace compile_trace;

/* Its clock starts now. */
compile_trace *compile_trace_create(arena *a, const char *tool);
/* Opens a span inside the one that is open: category "step", name "tile". Texts are copied; `detail` may be NULL. */
void compile_trace_begin(compile_trace *t, const char *category, str name, const char *detail);
/* A number of the span that is open; the name must be a literal. */
void compile_trace_number(compile_trace *t, const char *name, int64_t n);
/* Closes it. */
void compile_trace_end(compile_trace *t);
/* Adds the spans of a compile, and what each step left. */
compile_observer compile_trace_observer(compile_trace *t);
/* Closes all and writes the file. */
MUST_CHECK status compile_trace_write(compile_trace *t, diag_engine *d, const char *path);

#endif
