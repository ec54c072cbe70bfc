#include "native_headers.h"

/* NATIVE_INCLUDE: the folder that holds `pto`, from the build. */
#define EMBED(symbol, file)                                                                               \
    __asm__(".pushsection .rodata\n" #symbol "_begin:\n.incbin \"" NATIVE_INCLUDE "/" file "\"\n" #symbol \
            "_end:\n.byte 0\n.popsection\n");                                                             \
    extern const char symbol##_begin[] __attribute__((visibility("hidden")));                             \
    extern const char symbol##_end[] __attribute__((visibility("hidden")))

EMBED(native_h, "pto/native.h");

const native_header native_headers[] = {{"pto/native.h", native_h_begin, native_h_end}};
const uint32_t native_header_count = sizeof native_headers / sizeof native_headers[0];
