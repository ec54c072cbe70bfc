/* From C to a library: the C compiler, and the programs that come with it. */
#ifndef TOOLS_BUILD_BUILD_LINK_H
#define TOOLS_BUILD_BUILD_LINK_H

#include "core/exit_status.h"
#include "ir/base/diag.h"

typedef enum build_kind {
    BUILD_NONE,
    BUILD_SOURCE, /* .c: all as one file, which needs headers and runtime of an installed pto */
    BUILD_OBJECT, /* .o */
    BUILD_STATIC, /* .a */
    BUILD_SHARED  /* .so */
} build_kind;

/* By the end of the name of a file. */
build_kind build_kind_of(const char *path);

/* What a library is made of. All of it is borrowed for the call. */
typedef struct build_request {
    const char *name;     /* what its functions begin with */
    str module, wrapper;  /* C */
    str exports;          /* names of the functions, a line each */
    const char *compiler; /* path or name; NULL: the first that is found */
    const char *runtime;  /* libpto_runtime.a */
    double seconds_max;   /* of each run of a program */
    int64_t vector_bytes; /* of the machine */
    uint32_t isa_bytes;   /* of the widest vector that there are instructions for, where the library runs */
    build_kind kind;
    const char *path; /* where it goes */
} build_request;

/* Compiles and links; the bytes of the library are in the arena. 3 without a compiler, 5 when it fails, 74
 * without a place for temporary files, after a diagnostic. */
MUST_CHECK exit_status build_library(arena *a, diag_engine *d, const build_request *q, str *out);

#endif
