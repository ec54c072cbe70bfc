/* Which pipe of a machine runs an op of a module. */
#ifndef CORE_FILES_MACHINE_PIPE_H
#define CORE_FILES_MACHINE_PIPE_H

#include "core/files/machine.h"
#include "ir/module.h"

/* The pipe that runs an instruction: of a move of data that of the path, of others the first one with the unit of the
 * row in the core kind that owns the space of its operands, of a fill where there is none the one that loads. `chip`
 * NULL: the standard name for the unit. NULL: there is none, or the op is not an instruction. */
const char *machine_pipe_of(const machine *chip, const module *m, op_id o);

#endif
