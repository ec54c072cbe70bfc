/* The headers that generated C includes, as this file was built with them: what is compiled does not depend on where
 * the SDK is installed. */
#ifndef NATIVE_HEADERS_H
#define NATIVE_HEADERS_H

#include <stdint.h>

typedef struct native_header {
    const char *name; /* "pto/native.h" */
    const char *begin, *end;
} native_header;

extern const native_header native_headers[];
extern const uint32_t native_header_count;

#endif
