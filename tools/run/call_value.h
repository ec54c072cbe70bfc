/* Scalars of a call as text: `--in s=0.5`, `inputs: { n: 12 }`. */
#ifndef TOOLS_RUN_CALL_VALUE_H
#define TOOLS_RUN_CALL_VALUE_H

#include "ir/base/diag.h"
#include "ir/base/status.h"
#include "ir/base/text.h"
#include "ir/context/context.h"

#include <stdint.h>

/* True when a text is a number, `inf`, `nan`, `true` or `false`: everything else is the name of a file. */
bool call_value_is_text(const char *text);
/* The bytes of a value of `type`, dtype_bytes(type) of them. A float is rounded to the nearest; what is beyond the
 * type, or is not a whole number where one is needed, is an error about `name` at `at`. */
MUST_CHECK status call_value_read(diag_engine *d, src_pos at, str name, dtype type, const char *text, uint8_t *out);

#endif
