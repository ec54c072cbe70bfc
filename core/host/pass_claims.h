/* What a pass declares of properties, against those properties. */
#ifndef CORE_HOST_PASS_CLAIMS_H
#define CORE_HOST_PASS_CLAIMS_H

#include "core/host/plugin_host.h"

/* Fails after a diagnostic at `at` when the pass requires, establishes or breaks a property of a level that it does not
 * consume or leave. Loads the plugins of the properties; of those that no plugin provides nothing is known. */
MUST_CHECK status pass_check_claims(diag_engine *d, plugin_host *host, src_pos at, const char *plugin,
                                    const pto_pass *pass);

#endif
