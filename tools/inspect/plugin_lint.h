/* `pto-plugin lint`: whether a built plugin keeps the rules that the host does not enforce when it loads it. */
#ifndef TOOLS_INSPECT_PLUGIN_LINT_H
#define TOOLS_INSPECT_PLUGIN_LINT_H

#include "core/host/plugin_host.h"
#include "ir/base/text.h"

/* Reads symbols and sections of the file, then loads it and reads its descriptor. Appends one line for each finding to
 * `out` and counts them. Fails after a diagnostic when the file is not a plugin or the host refuses it. */
MUST_CHECK status plugin_lint(arena *a, diag_engine *d, flight_recorder *recorder, const plugin_refusal *refused,
                              const char *path, text_buffer *out, uint32_t *finding_count);

#endif
