#include "native_headers.h"

/* NATIVE_INCLUDE: the folder that holds `pto`, from the build. */
#define EMBED(symbol, file)                                                                               \
    __asm__(".pushsection .rodata\n" #symbol "_begin:\n.incbin \"" NATIVE_INCLUDE "/" file "\"\n" #symbol \
            "_end:\n.byte 0\n.popsection\n");                                                             \
    extern const char symbol##_begin[] __attribute__((visibility("hidden")));                             \
    extern const char symbol##_end[] __attribute__((visibility("hidden")))

EMBED(native_h, "pto/native.h");
EMBED(native_vector_h, "pto/native_vector.h");
EMBED(native_vector_angle_h, "pto/native_vector_angle.h");
EMBED(native_vector_base_h, "pto/native_vector_base.h");
EMBED(native_vector_exp_h, "pto/native_vector_exp.h");
EMBED(native_vector_log_h, "pto/native_vector_log.h");
EMBED(native_vector_memory_h, "pto/native_vector_memory.h");
EMBED(native_vector_pow_h, "pto/native_vector_pow.h");
EMBED(native_vector_row_h, "pto/native_vector_row.h");
EMBED(native_vector_transpose_h, "pto/native_vector_transpose.h");

#define EMBEDDED(symbol, file) {file, symbol##_begin, symbol##_end}
const native_header native_headers[] = {
    EMBEDDED(native_h, "pto/native.h"),
    EMBEDDED(native_vector_h, "pto/native_vector.h"),
    EMBEDDED(native_vector_angle_h, "pto/native_vector_angle.h"),
    EMBEDDED(native_vector_base_h, "pto/native_vector_base.h"),
    EMBEDDED(native_vector_exp_h, "pto/native_vector_exp.h"),
    EMBEDDED(native_vector_log_h, "pto/native_vector_log.h"),
    EMBEDDED(native_vector_memory_h, "pto/native_vector_memory.h"),
    EMBEDDED(native_vector_pow_h, "pto/native_vector_pow.h"),
    EMBEDDED(native_vector_row_h, "pto/native_vector_row.h"),
    EMBEDDED(native_vector_transpose_h, "pto/native_vector_transpose.h"),
};
const uint32_t native_header_count = sizeof native_headers / sizeof native_headers[0];
