/* What kernels of one call cost: their times, what the CPU counted meanwhile, and what each thread did when. Only where
 * a report asks for it. */
#ifndef NATIVE_PROFILE_H
#define NATIVE_PROFILE_H

#include <pto/native.h>
#include <pto/plugin.h>

typedef struct native_profile native_profile;

/* For any number of calls of functions of `module` on so many threads, which stay the same, in memory that `run` keeps.
 * The end closes what the threads count by; of NULL it does nothing. */
native_profile *native_profile_make(const pto_run *run, const pto_native_module *module, uint32_t threads);
void native_profile_close(native_profile *p);

/* A call begins: what earlier ones cost is forgotten. */
void native_profile_begin(native_profile *p);

/* A launch of a kernel begins and ends, on the thread of the call. */
void native_profile_launch(native_profile *p, pto_native_kernel kernel);
void native_profile_launched(native_profile *p, int64_t instances);

/* Around a piece of work of that launch, on the thread that does it; `thread` is its number. */
void native_profile_piece(native_profile *p, uint32_t thread);
void native_profile_pieced(native_profile *p, uint32_t thread, int64_t from, int64_t to);

/* The call has ended: hands counters of kernels to the sink, and PTO_PROFILE_SWIMLANE where it asks for files. */
void native_profile_end(native_profile *p, const pto_run_sink *sink);

#endif
