/* From an accepted file to a descriptor that the rest of core/ may read without care. */
#ifndef CORE_HOST_PLUGIN_LOAD_H
#define CORE_HOST_PLUGIN_LOAD_H

#include "core/host/plugin_host.h"

/* Loads the file, calls its entry, compares its descriptor with its note and sets f->plugin. The copy has this host's
 * sizes: members that the plugin's headers did not have are 0, lists are never NULL, text that must be there is. What
 * it changes of the process while it is loaded is put back (process_state.h); `recorder` may be NULL. `host` is asked
 * which ops there are. Fails after a diagnostic. */
MUST_CHECK status plugin_load(plugin_host *host, arena *a, diag_engine *d, src_pos at, flight_recorder *recorder,
                              plugin_file *f);

#endif
