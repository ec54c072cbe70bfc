/* Reading the text form (docs/language.md) and the MLIR generic
 * form, which may be mixed: an op that starts with a quoted name is generic.
 *
 * Limits, each with a diagnostic: 256 nested blocks, 64 nested brackets, 128 leaves in one expression, lines of 1 MB,
 * texts of 2 GB, 65535 operands, results or arguments, 256 entries in a dict. */
#ifndef IR_TEXT_PARSER_H
#define IR_TEXT_PARSER_H

#include "ir/module.h"

/* Parses a module; `file` names it in diagnostics and locations. Reports up to 20 errors, going on at the next op or
 * function after each; `*out` is set only on OK. Nothing is verified beyond what building needs: run the verifier.
 * The module is as module_settle leaves it, and the text is not needed afterwards. */
MUST_CHECK status parse_module(ir_context *c, str text, const char *file, module **out);
/* The same for a file; "-" is the standard input. Fails when it cannot be read, with path and cause. */
MUST_CHECK status parse_file(ir_context *c, const char *path, module **out);

#endif
