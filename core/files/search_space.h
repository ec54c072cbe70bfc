/* What could be decided of a module: each decision that some pass asked the schedule about and made, with its legal
 * values, and for tiles what the strategy offers.
 * [one thread] */
#ifndef CORE_FILES_SEARCH_SPACE_H
#define CORE_FILES_SEARCH_SPACE_H

#include "core/files/schedule.h"

typedef struct space_offer {
    struct space_offer *next;
    int64_t values[SCHEDULE_VALUES_MAX];
    bool has_cost;
    double cost;
    const char *limit; /* or NULL */
} space_offer;

typedef struct space_choice {
    struct space_choice *next;
    str path;
    const char *name;
    schedule_form form;
    space_offer *first, *last;
} space_choice;

/* What was asked about and then not decided, of which schedule_decision_of knows nothing, is not there to be chosen. */
typedef struct search_space {
    arena *a;
    space_choice *first, *last;
    space_choice *kept; /* the last one that a restart leaves, or NULL */
} search_space;

/* Lives in `a`, texts included. */
search_space *search_space_create(arena *a);
/* A decision was asked about; from here on offers belong to it. */
void search_space_add(search_space *s, str path, const char *name, const schedule_form *form);
/* A value that fits: form.count numbers. `limit` may be NULL. */
void search_space_add_offer(search_space *s, const int64_t *values, bool has_cost, double cost, const char *limit);
/* As schedule_keep and schedule_restart. */
void search_space_keep(search_space *s);
void search_space_restart(search_space *s);

#endif
