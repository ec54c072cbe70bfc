/* Options of plugins: from the YAML below `with:` and the descriptors of <pto/abi.h> to an array of typed values. */
#ifndef CORE_FILES_OPTION_H
#define CORE_FILES_OPTION_H

#include "core/files/typed_value.h"

#include <pto/abi.h>

/* `options` is NULL or ends in NULL, as in descriptors. */
uint32_t option_count(const pto_option *const *options);
/* -1 when there is none of that name. */
int32_t option_index_by_name(const pto_option *const *options, str name);

/* Checks what a plugin declares: names, types, and that defaults and limits read as their type and agree. `owner` is
 * the plugin's text for messages: "plugin `acme.fuse`"; `at` is the place that made us load it. */
MUST_CHECK status options_check(arena *a, diag_engine *d, src_pos at, const char *owner,
                                const pto_option *const *options);

/* One value for each descriptor, in its order. `with` is a mapping or NULL; `at` is blamed for what is missing; `owner`
 * is for messages: "pass `acme.fuse`". All mistakes are reported before it fails. Options of a plugin reference stay in
 * `value.with`: the code that resolves the reference reads them with the descriptors of that plugin. */
MUST_CHECK status options_read(arena *a, diag_engine *d, const char *owner, const pto_option *const *options,
                               const yaml_node *with, src_pos at, value **out_values);

#endif
