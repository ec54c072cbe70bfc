/* What kernels of one call cost: their times, what the CPU counted meanwhile, and what each thread did when. Only where
 * a report asks for it. */
#ifndef NATIVE_PROFILE_H
#define NATIVE_PROFILE_H

#include <pto/native.h>
#include <pto/plugin.h>

typedef struct native_profile native_profile;

/* Of a call of a function of `module` on so many threads, in scratch memory of the run. */
native_profile *native_profile_begin(const pto_run *run, const pto_native_module *module, uint32_t threads);

/* A launch of a kernel begins and ends, on the thread of the call. */
void native_profile_launch(native_profile *p, pto_native_kernel kernel);
void native_profile_launched(native_profile *p, int64_t instances);

/* Around a piece of work of that launch, on the thread that does it; `thread` is its number. */
void native_profile_piece(native_profile *p, uint32_t thread);
void native_profile_pieced(native_profile *p, uint32_t thread, int64_t from, int64_t to);

/* Hands counters of kernels and PTO_PROFILE_SWIMLANE to the sink, and ends what was counted. */
void native_profile_end(native_profile *p, const pto_run_sink *sink);

#endif
