/* Floats below the least normal one on chips whose vector unit takes them as zeros, and makes zeros instead. */
#ifndef CPU_SIM_DENORMALS_H
#define CPU_SIM_DENORMALS_H

#include "semantics/insn_semantics.h"
#include "semantics/program.h"

/* Whether an instruction does so on the machine. */
bool denormals_are_zeros(const pto_run *run, const program_site *site);
/* Zeros of their sign in their places. */
void denormals_clear(const tile_ref *t);
/* Sources, and the scalar, without them: what has some is copied. */
void denormals_clear_sources(const pto_run *run, insn_call *call);

#endif
