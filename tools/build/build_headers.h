/* Headers that the C of a library includes, as this file was built with them. */
#ifndef TOOLS_BUILD_BUILD_HEADERS_H
#define TOOLS_BUILD_BUILD_HEADERS_H

#include "ir/base/text.h"

#include <native_headers.h>

/* Those of the backend are in native_headers.h. */
extern const native_header build_headers[];
extern const uint32_t build_header_count;

/* The text of <pto/dlpack.h>. */
str build_dlpack_text(void);

#endif
