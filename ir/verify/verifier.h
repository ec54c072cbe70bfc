/* The verifier: what every module must be, whatever made it.
 *
 * Each op against its row (operands, results, attributes, shape rule, own rule), SSA dominance and scoping, blocks
 * and their terminators, one level for each function, bound symbols, callees, and balanced event tokens. All problems
 * found are reported, each with the place of its op; the result is FAILED when there was one. Nothing is changed. */
#ifndef IR_VERIFY_VERIFIER_H
#define IR_VERIFY_VERIFIER_H

#include "ir/module.h"

/* What the parser takes: blocks in one function that one place is in, the body counted; attributes of an op. */
enum { VERIFIER_BLOCK_NESTING = 256, VERIFIER_ATTRS = 256 };

/* The whole module. FAILED after a diagnostic for each problem. */
MUST_CHECK status module_verify(module *m);
/* Some functions and kernels of the top block with everything inside them, and cycles of calls that go through them.
 * What is left out must have been verified and be as it was then, and so must be the name and the signature of every
 * function that it calls. */
MUST_CHECK status module_verify_functions(module *m, uint32_t count, const op_id *functions);
/* One op against its row: what can be said without its blocks, its users and its place. */
MUST_CHECK status op_verify(module *m, op_id o);

#endif
