#include "native_headers.h"

NATIVE_EMBED(native_h, "pto/native.h");
NATIVE_EMBED(native_vector_h, "pto/native_vector.h");
NATIVE_EMBED(native_vector_angle_h, "pto/native_vector_angle.h");
NATIVE_EMBED(native_vector_base_h, "pto/native_vector_base.h");
NATIVE_EMBED(native_vector_exp_h, "pto/native_vector_exp.h");
NATIVE_EMBED(native_vector_log_h, "pto/native_vector_log.h");
NATIVE_EMBED(native_vector_memory_h, "pto/native_vector_memory.h");
NATIVE_EMBED(native_vector_pow_h, "pto/native_vector_pow.h");
NATIVE_EMBED(native_vector_row_h, "pto/native_vector_row.h");
NATIVE_EMBED(native_vector_sort_h, "pto/native_vector_sort.h");
NATIVE_EMBED(native_vector_transpose_h, "pto/native_vector_transpose.h");

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
    EMBEDDED(native_vector_sort_h, "pto/native_vector_sort.h"),
    EMBEDDED(native_vector_transpose_h, "pto/native_vector_transpose.h"),
};
const uint32_t native_header_count = sizeof native_headers / sizeof native_headers[0];
