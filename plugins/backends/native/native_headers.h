/* The headers that generated C includes, as this file was built with them: what is compiled does not depend on where
 * the SDK is installed. */
#ifndef NATIVE_HEADERS_H
#define NATIVE_HEADERS_H

#include <stdint.h>

/* Puts a header into the file that says so, from `symbol`_begin to `symbol`_end, where a 0 follows. NATIVE_INCLUDE: the
 * folder that holds `pto`, from the build. */
#define NATIVE_EMBED(symbol, file)                                                                        \
    __asm__(".pushsection .rodata\n" #symbol "_begin:\n.incbin \"" NATIVE_INCLUDE "/" file "\"\n" #symbol \
            "_end:\n.byte 0\n.popsection\n");                                                             \
    extern const char symbol##_begin[] __attribute__((visibility("hidden")));                             \
    extern const char symbol##_end[] __attribute__((visibility("hidden")))

typedef struct native_header {
    const char *name; /* "pto/native.h" */
    const char *begin, *end;
} native_header;

extern const native_header native_headers[];
extern const uint32_t native_header_count;

#endif
