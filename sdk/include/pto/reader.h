/* Readers: make a module of a file in another language than that of modules.
 *
 * A tool asks the reader of which a suffix is that of the file, or the one that `--reader` names. */
#ifndef PTO_READER_H
#define PTO_READER_H

#include <pto/abi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The descriptor. */
typedef struct pto_reader {
    uint32_t struct_size, reserved;
    const char *id, *summary;
    const pto_option *const *options;
    const char *const *suffixes; /* of the names of such files, from a point on: ".pto"; NULL-ended */
    /* Makes functions and kernels in the module of the run, which is empty, of `text`; ops have locations of
     * pto_loc_make. Any text may come: what is not understood is reported where it stands, never skipped. The module is
     * verified after it. PTO_FAILED after a diagnostic. */
    pto_status (*read)(const pto_run *run, pto_str text);
} pto_reader;

#ifdef __cplusplus
}
#endif
#endif
