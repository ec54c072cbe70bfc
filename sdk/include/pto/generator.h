/* Code generators: write a module as text, such as a C file, or as a folder of such files.
 *
 * A backend names one in an option of the type plugin reference, whose choice is the kind "generator", and gets its
 * text by pto_generate; `pto-opt -o` with a name that ends in its suffix asks the one that the backend of the pipeline
 * names. */
#ifndef PTO_GENERATOR_H
#define PTO_GENERATOR_H

#include <pto/abi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where the text goes, piece by piece. */
typedef struct pto_text_sink {
    uint32_t struct_size, reserved;
    void *self;
    /* Takes `n` bytes, which it copies. PTO_FAILED: no more text is wanted, and the owner of the sink knows why. */
    pto_status (*write)(void *self, const char *text, size_t n);
    /* Begins a file of a folder, by its name in it, which has no `/`: what is written from now on goes there.
     * PTO_FAILED after a diagnostic. NULL: one text is asked for. */
    pto_status (*file)(void *self, const char *name);
} pto_text_sink;

/* The descriptor. */
typedef struct pto_generator {
    uint32_t struct_size, reserved;
    const char *id, *summary;
    const pto_option *const *options;
    const char *suffix; /* of the names of files with such text: ".c"; "/": it writes a folder */
    /* Writes the whole module, which it reads and does not change; the same text for the same module. PTO_FAILED after
     * a diagnostic at the op that has no text, or when the sink failed. */
    pto_status (*generate)(const pto_run *run, const pto_text_sink *sink);
    /* Writes what else the text follows from besides the module and the machine: its own code, such as the build id of
     * the library, and its options. Of one key, module and machine comes one text, up to locations in remarks, and a
     * successful `generate` reports nothing: a backend that has what it made of that text does not ask for it. NULL: it
     * always does. */
    pto_status (*key)(const pto_run *run, const pto_text_sink *sink);
} pto_generator;

#ifdef __cplusplus
}
#endif
#endif
