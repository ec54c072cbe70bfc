/* Where two texts differ first, as a piece of a unified difference. */
#ifndef TOOLS_CHECK_TEXT_DIFFERENCE_H
#define TOOLS_CHECK_TEXT_DIFFERENCE_H

#include "ir/base/text.h"

#include <stdbool.h>

enum {
    TEXT_DIFFERENCE_CONTEXT = 3, /* equal lines shown before it and after it */
    TEXT_DIFFERENCE_LINES = 24,  /* lines of either text shown at most */
    TEXT_DIFFERENCE_WINDOW = 200 /* how far apart the texts may be for them to be seen as equal again */
};

/* False, with nothing written, when the texts are the same bytes. `old_name` NULL: no head lines. */
bool text_difference(str old_text, str new_text, const char *old_name, const char *new_name, text_buffer *out);
/* The number of the first line that differs, from 1; 0: the texts are equal. */
uint32_t text_first_difference(str old_text, str new_text);

#endif
