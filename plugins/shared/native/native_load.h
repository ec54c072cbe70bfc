/* C text in, loaded library out: through the cache, or the compiler. */
#ifndef PTO_NATIVE_LOAD_H
#define PTO_NATIVE_LOAD_H

#include "native_compiler.h"
#include "native_digest.h"
#include "native_error.h"

#include <stdint.h>

/* A file that is put where the compiler looks for includes. */
typedef struct native_file {
    const char *name; /* "native.h", or in one folder: "pto/native.h" */
    const char *bytes;
    size_t byte_count;
} native_file;

/* What to compile. All of it is borrowed for the call. */
typedef struct native_request {
    /* Of one C file, `text_bytes` of them; in parts, as <pto/native.h> has them, or whole. NULL: what was made before
     * is asked for. */
    const char *text;
    size_t text_bytes;
    const char *key; /* what the text follows from, `key_bytes` of them; NULL: nothing is known but the text */
    size_t key_bytes;
    const char *const *flags;     /* before the name of the file; NULL-ended */
    const char *const *libraries; /* after it: "-lm"; NULL-ended, or NULL */
    const native_file *files;     /* that the text includes, `file_count` of them */
    uint32_t file_count;
    const char *symbol;       /* that the library must have; or NULL */
    const char *salt;         /* what else the library depends on, such as a version of a struct; or NULL */
    double seconds_max;       /* of a run of the compiler, two where there are parts; also how long another process that
                                 compiles the same is waited for */
    bool (*stop)(void *self); /* asked while time passes: whether to give up; or NULL */
    void *self;
    const char *cache_path; /* NULL: that of the user */
    uint64_t cache_bytes_max;
    bool uses_cache; /* false: nothing is looked up or kept */
} native_request;

typedef struct native_loaded {
    void *library;    /* for dlsym; dlclose it */
    bool is_compiled; /* false: it was in the cache */
    /* Not empty: the cache could not be used as asked, which cost time and nothing else. A sentence as of an error. */
    native_error warning;
} native_loaded;

/* Loads what `q` asks for, with `c`, the compiler that makes it when it must. Without a text it finds what was made
 * under the key, or leaves `library` NULL, with NATIVE_OK. What can fail: native_compiler_run,
 * native_scratch_begin, and NATIVE_NOT_LOADED: what the compiler made is not a library, or lacks the symbol; nothing of
 * it is kept. A cache that cannot be used is a warning. Keeps no file open and leaves no temporary file, except when
 * the process is killed, and then the next call removes it. [any thread] */
native_status native_load(const native_compiler *c, const native_request *q, native_loaded *loaded, native_error *e);

/* The key of a request in the cache: a digest of the compiler, all flags and files, and of `key`, or else the text. */
native_digest native_load_key(const native_compiler *c, const native_request *q);

#endif
