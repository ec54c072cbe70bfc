/* From a module to machine code in this process: a code generator writes it as C, which is compiled or was before. */
#ifndef NATIVE_BUILD_H
#define NATIVE_BUILD_H

#include <pto/plugin.h>

typedef struct native_build_options {
    uint32_t generator;   /* which option of the run names it */
    const char *compiler; /* path or name; empty: the first that is found */
    double seconds_max;   /* of the compiler */
    int uses_cache;
    const char *cache_folder; /* empty: that of the user */
    uint64_t cache_bytes_max;
    uint32_t vector_bytes; /* widest vector that there may be instructions for; this CPU has them */
    int rounds_to_bf16;    /* and one that rounds vectors of 64 bytes to bf16 */
} native_build_options;

/* The pto_native_module that a library has. */
#define NATIVE_MODULE_SYMBOL "pto_native_module_v1"

/* Loads what the generator makes of the module into `*library`, for dlsym and dlclose. PTO_MISSING: there is no
 * compiler. A cache that cannot be used, and a machine with wider vectors, is a warning at `function`. */
pto_status native_build(const pto_run *run, pto_op function, const native_build_options *o, void **library);

#endif
