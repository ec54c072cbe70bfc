/* Headers that the C of a library includes, as this file was built with them. */
#ifndef TOOLS_BUILD_BUILD_HEADERS_H
#define TOOLS_BUILD_BUILD_HEADERS_H

#include "ir/base/text.h"

/* The text of the header number `index`, and its name, "pto/native.h"; its `p` is NULL past the last. Static. */
str build_header_at(uint32_t index, const char **name);
/* The text of <pto/dlpack.h>. */
str build_dlpack_text(void);

#endif
