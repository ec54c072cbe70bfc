/* What a program left when it said that all went well: whether it is a file of its kind, to its end. */
#ifndef TOOLS_BUILD_BUILD_MADE_H
#define TOOLS_BUILD_BUILD_MADE_H

#include "tools/build/build_link.h"

enum { BUILD_FLAW_BYTES = 200 };

/* Whether a path leads to a regular file which is an object, archive or shared library, by `kind`, and has all bytes
 * that its headers tell of. Otherwise `flaw`, of BUILD_FLAW_BYTES, goes on from the name of the file: "has 3000 bytes,
 * and what its headers tell of ends at 15784". */
MUST_CHECK bool build_is_made(const char *path, build_kind kind, char *flaw);

#endif
