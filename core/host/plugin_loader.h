/* What the readers of descriptors share: plugin_load.c and opset_load.c. */
#ifndef CORE_HOST_PLUGIN_LOADER_H
#define CORE_HOST_PLUGIN_LOADER_H

#include "core/host/plugin_host.h"

#include <pto/opset.h>

typedef struct loader {
    arena *a;
    diag_engine *diags;
    src_pos at;
    plugin_host *host;
    const plugin_file *file;
} loader;

/* Reports that the plugin describes itself wrongly; the text says how. FAILED. */
status loader_refuse(const loader *l, const char *format, ...) PRINTF_LIKE(2, 3);
/* Our copy of a struct that begins with struct_size: what the plugin does not have is 0, what we do not know is cut. */
void *loader_copy(const loader *l, const void *theirs, size_t our_bytes);
/* Length of a NULL-ended list; a list of NULL is empty. */
MUST_CHECK status loader_count(const loader *l, const void *const *list, const char *what, uint32_t *out);
/* What the tools print: UTF-8 without what controls a terminal, in one line. NULL is fine. */
MUST_CHECK status loader_check_text(const loader *l, const char *owner, const char *what, const char *text);
MUST_CHECK status loader_check_level(const loader *l, const char *owner, const char *level);

/* An op-set whose rows can be read without care (opset_load.c). */
MUST_CHECK status opset_copy(const loader *l, const pto_opset *theirs, const pto_opset **out);

#endif
