/* What could be decided of a module: each decision that some pass asked the schedule about and made, with its legal
 * values, and for tiles what the strategy offers. A tool prints it for a search.
 * [one thread] */
#ifndef CORE_FILES_SEARCH_SPACE_H
#define CORE_FILES_SEARCH_SPACE_H

#include "core/files/schedule.h"

typedef struct search_space search_space;

/* Lives in `a`, texts included. */
search_space *search_space_create(arena *a);
/* A decision was asked about; from here on offers belong to it. */
void search_space_add(search_space *s, str path, const char *name, const schedule_form *form);
/* A value that fits: form.count numbers. `limit` may be NULL. */
void search_space_add_offer(search_space *s, const int64_t *values, bool has_cost, double cost, const char *limit);
/* As schedule_keep and schedule_restart. */
void search_space_keep(search_space *s);
void search_space_restart(search_space *s);

/* `chosen` says what was decided. What was asked about and then not decided is not there to be chosen. */
void search_space_write(const search_space *s, const schedule *chosen, text_buffer *out);

#endif
