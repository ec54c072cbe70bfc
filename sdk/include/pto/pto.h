/* libpto: compiles modules and calls their functions, inside of a program.
 *
 * Nothing is printed and the program is not ended: what is wrong is a result and a list of diagnostics of the context.
 * Two things are no results: when there is no memory for what it keeps of modules and compiles, or the library finds
 * itself in a state that must not be, it prints one line and ends the process. A call that finds no memory for
 * workspaces and scratch returns PTO_RESULT_FAILED. There is no state outside of contexts. Where a pointer must not be
 * NULL and is, the result is PTO_RESULT_USAGE, or there is none: NULL, "" or 0.
 *
 * Threads: a context, and all that is made of it, is of one thread at a time; any number of contexts may be used on
 * threads of their own at the same time. Calls of the C compiler of one process wait for each other; while it runs,
 * SIGCHLD has its default effect. Locale and floating-point environment of the calling thread are as before when a
 * function returns. The threads that compute belong to a callable, block all signals, and have ended when it is
 * destroyed. A child that a fork makes must not use what its parent made. */
#ifndef PTO_PTO_H
#define PTO_PTO_H

#include <pto/dlpack.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define PTO_API __attribute__((visibility("default")))
#else
#define PTO_API
#endif

/* What functions return; the numbers are the exit statuses of the tools. */
typedef enum pto_result {
    PTO_RESULT_OK = 0,
    PTO_RESULT_USAGE = 2,     /* a pipeline, a machine file, an argument of a function of this header */
    PTO_RESULT_PLUGIN = 3,    /* a plugin is missing or refused, or there is no C compiler */
    PTO_RESULT_INPUT = 4,     /* the text of a module, a tensor or a symbol */
    PTO_RESULT_FAILED = 5,    /* a pass or a backend reported an error */
    PTO_RESULT_BLAMED = 6,    /* a step broke what it declares */
    PTO_RESULT_RESOURCES = 75 /* the system has not what is needed */
} pto_result;

/* ---- contexts ---- */

typedef struct pto_context pto_context;

/* What a context is made with. Zeros and the size are the defaults; texts and lists are copied. */
typedef struct pto_context_params {
    uint32_t struct_size; /* sizeof(pto_context_params) */
    uint32_t reserved;    /* 0 */
    /* Where pto is installed, for plugins and pipelines. NULL: the prefix of the shared library; a program that is
     * linked with the static one names it, unless it lies in <prefix>/bin. */
    const char *prefix;
    /* As --plugin, --plugin-path and PTO_PIPELINE_PATH of the tools, sought before what these environment variables
     * name; NULL-ended or NULL. */
    const char *const *plugins;
    const char *const *plugin_folders;
    const char *const *pipeline_folders;
} pto_context_params;

/* Makes a context; `params` may be NULL. `*out` is set in any case but that `out` is NULL, and is to be destroyed: on
 * failure (PTO_RESULT_PLUGIN: a plugin of `plugins` cannot be used) it has the diagnostics. Reads the environment. */
PTO_API pto_result pto_context_create(const pto_context_params *params, pto_context **out);
/* Destroys it with all that was made of it and is left; NULL is none. */
PTO_API void pto_context_destroy(pto_context *c);
/* The version of the library, "0.1.0". Static. [any thread] */
PTO_API const char *pto_version(void);

typedef enum pto_severity {
    PTO_SEVERITY_NOTE,
    PTO_SEVERITY_WARNING,
    PTO_SEVERITY_ERROR,
    PTO_SEVERITY_REMARK
} pto_severity;

/* One sentence about one place; a note belongs to the diagnostic before it. */
typedef struct pto_diagnostic {
    uint32_t struct_size;
    pto_severity severity;
    const char *file;      /* NULL: no place */
    uint32_t line, column; /* from 1; 0: the file as a whole */
    const char *code;      /* "E0203", of which `pto-inspect errors` has a page; NULL of a note */
    const char *text;
    const char *path; /* of the op, "@softmax/y"; or NULL */
} pto_diagnostic;

/* What the last function on this context, or on what was made of it, reported: the functions that return a pto_result
 * begin anew. Texts live until the next of them. */
PTO_API uint32_t pto_diagnostic_count(const pto_context *c);
/* One of them, or NULL past the last. */
PTO_API const pto_diagnostic *pto_diagnostic_at(pto_context *c, uint32_t index);
/* All of them as the tools print them, a line each, without lines of source; "" when there are none. */
PTO_API const char *pto_diagnostics_text(pto_context *c);

/* ---- compiling ---- */

/* A pipeline with its plugins; lives as long as its context. */
typedef struct pto_pipeline pto_pipeline;

/* What is different from what its file says; all may be NULL. Texts are copied. */
typedef struct pto_pipeline_params {
    uint32_t struct_size; /* sizeof(pto_pipeline_params) */
    uint32_t reserved;    /* 0 */
    const char *machine;  /* as --machine of the tools: "cpu-avx512.yaml" */
    /* As --set: "tile.with.strategy=pto.tiling-heuristic", "backend.use=pto.reference"; NULL-ended. */
    const char *const *settings;
} pto_pipeline_params;

/* Reads a pipeline file, which is sought as the tools seek that of --pipeline: "native.yaml" is an installed one.
 * `params` may be NULL. `*out` is set on success. */
PTO_API pto_result pto_pipeline_read(pto_context *c, const char *path, const pto_pipeline_params *params,
                                     pto_pipeline **out);
/* The same of a text of `bytes` bytes; `name` stands for the file in diagnostics, and relative names count from where
 * that would be. */
PTO_API pto_result pto_pipeline_read_text(pto_context *c, const char *text, size_t bytes, const char *name,
                                          const pto_pipeline_params *params, pto_pipeline **out);

/* A compiled module. */
typedef struct pto_program pto_program;

/* Parses, verifies and compiles a module of `bytes` bytes; `name` stands for the file. `*out` is set on success. */
PTO_API pto_result pto_compile_text(pto_pipeline *p, const char *text, size_t bytes, const char *name,
                                    pto_program **out);
/* The same of a file. */
PTO_API pto_result pto_compile_file(pto_pipeline *p, const char *path, pto_program **out);
/* Destroys it with its callables; NULL is none. */
PTO_API void pto_program_destroy(pto_program *p);
/* The module as text, after the last step. Lives as long as the program. */
PTO_API const char *pto_program_text(pto_program *p);

/* ---- what functions take and return ---- */

typedef enum pto_role {
    PTO_ROLE_IN,    /* is read */
    PTO_ROLE_CONST, /* is read, and stays the same over calls: pto_callable_set_constant */
    PTO_ROLE_INOUT, /* is read and then written */
    PTO_ROLE_OUT    /* a result, or a parameter that is written only */
} pto_role;

/* A parameter or a result. */
typedef struct pto_argument_info {
    uint32_t struct_size;
    pto_role role;
    const char *name;        /* without `%` */
    const char *type;        /* of an element: "f32" */
    DLDataType dtype;        /* the same; 8-bit floats are also taken as u8, and bf16 as u16 */
    uint32_t rank;           /* 0 of a scalar, and of a tensor of one element */
    const int64_t *extents;  /* -1 where it depends on symbols */
    const char *const *dims; /* as the module says them: "$B", "2 * $B", "256" */
} pto_argument_info;

/* A public function, as the module was written. Lives as long as the program. */
typedef struct pto_function_info {
    uint32_t struct_size, input_count, constant_count, output_count, symbol_count, reserved;
    const char *name;                          /* without `@` */
    const pto_argument_info *const *inputs;    /* parameters that are in or inout */
    const pto_argument_info *const *constants; /* parameters that are const, those of its @f.init among them, and not
                                                * those that @f.init makes */
    const pto_argument_info *const *outputs;   /* out parameters, then results that are not the memory of an inout */
    const char *const *symbols;                /* without `$`, in the order of their first use in parameters */
} pto_function_info;

/* The public functions in the order of the module. NULL past the last. */
PTO_API const pto_function_info *pto_program_function(const pto_program *p, uint32_t index);

/* ---- calling ---- */

/* A function that is ready to run: machine code, threads and memory that stay from call to call. */
typedef struct pto_callable pto_callable;

/* Prepares the function `name`; NULL: the only public one. The pipeline names a backend. */
PTO_API pto_result pto_callable_create(pto_program *p, const char *name, pto_callable **out);
/* Ends its threads and frees its memory; NULL is none. */
PTO_API void pto_callable_destroy(pto_callable *c);
/* Binds a `const` parameter. The tensor's memory stays as it is until it is bound anew or the callable is destroyed:
 * what is computed from it once, by an @f.init, is computed at the next call. */
PTO_API pto_result pto_callable_set_constant(pto_callable *c, const char *name, const DLTensor *tensor);
/* Sets a symbol that no extent of a parameter is by itself. */
PTO_API pto_result pto_callable_set_symbol(pto_callable *c, const char *name, int64_t value);
/* The shapes of the outputs for inputs of these shapes, whose data is not looked at: fills `rank` and `extents` (space
 * for 8) of each output. All constants are bound. */
PTO_API pto_result pto_callable_shapes(pto_callable *c, const DLTensor *const *inputs, uint32_t input_count,
                                       uint32_t *ranks, int64_t (*extents)[8], uint32_t output_count);
/* Runs it. Inputs and outputs are in the order of pto_function_info. Tensors are dense and in the memory of the CPU,
 * elements at multiples of their size; inputs are used where they are and outputs written there. An output overlaps
 * only inputs that the function declares by `may_alias`. A scalar is a tensor of rank 0. On failure outputs hold
 * arbitrary values. */
PTO_API pto_result pto_callable_call(pto_callable *c, const DLTensor *const *inputs, uint32_t input_count,
                                     const DLTensor *const *outputs, uint32_t output_count);

#ifdef __cplusplus
}
#endif
#endif
