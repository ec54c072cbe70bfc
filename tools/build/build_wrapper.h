/* C functions around a compiled module, one for each public function, that take tensors of DLPack. */
#ifndef TOOLS_BUILD_BUILD_WRAPPER_H
#define TOOLS_BUILD_BUILD_WRAPPER_H

#include "ir/module.h"

/* Whether a text is the name of a C function or a part of one: letters, digits, `_`, not first a digit. */
bool build_is_name(str text);

/* Writes the C, which follows the module's own in one file or refers to it from another, the header, and the names of
 * all functions that a library exports, a line each. `name` begins these, with `_`. Fails after a diagnostic: there is
 * no public function, names clash, there are debug ops or too many arguments. */
MUST_CHECK status build_wrapper_write(arena *a, module *m, const char *name, text_buffer *source, text_buffer *header,
                                      text_buffer *exports);

#endif
