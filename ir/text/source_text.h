/* The bytes of a text while it is parsed. Beside a module of a million ops its text would be half of the memory, so the
 * pages that the parser has passed go back to the system. Large files are mapped, not copied: one that somebody
 * shortens meanwhile ends the process with SIGBUS. */
#ifndef IR_TEXT_SOURCE_TEXT_H
#define IR_TEXT_SOURCE_TEXT_H

#include "ir/base/status.h"
#include "ir/base/text.h"

#include <stdbool.h>

typedef struct source_text {
    char *bytes; /* NUL-terminated after the last of `n` */
    size_t n;
    size_t mapped;  /* bytes of address space */
    size_t dropped; /* bytes at the front whose contents are gone */
    bool is_mapped; /* what is not written comes from the file, again where need be */
} source_text;

/* Reads a descriptor to its end, or not far beyond its first NUL or `limit`; of a pipe until nobody writes to it any
 * more. `expected`: how many bytes there probably are.
 * Fails with errno set; close it in either case. */
MUST_CHECK status source_text_read(source_text *t, int fd, size_t expected, size_t limit);
/* What is between offsets `from` and `to` is not read soon: memory that can be read from the file again goes back. */
void source_text_rest(source_text *t, size_t from, size_t to);
/* What is before `at` is not read any more. True when contents were dropped now; they read as zeros. */
bool source_text_drop(source_text *t, const char *at);
void source_text_close(source_text *t);

#endif
