/* What could be decided of a module, as a file for a search. */
#ifndef TOOLS_SESSION_SPACE_FILE_H
#define TOOLS_SESSION_SPACE_FILE_H

#include "core/files/search_space.h"

/* `chosen` says what was decided. */
void space_file_write(const search_space *s, const schedule *chosen, text_buffer *out);

#endif
