/* Schedule files, `pto-schedule: 1`: what the compiler decided, and what the user pins.
 *
 *     decisions:
 *       - at: "@softmax/y"
 *         decide: tile
 *         value: { rows: 16, columns: 256 }
 *         pinned: true
 *
 * A decision is found by the path of the op it is about and by its name. Pinned ones are kept exactly or refused; of
 * the others the file is a record, and they are made anew. A schedule belongs to one compilation and one thread. */
#ifndef CORE_FILES_SCHEDULE_H
#define CORE_FILES_SCHEDULE_H

#include "core/files/schema.h"
#include "ir/module.h"

typedef struct schedule schedule;

enum { SCHEDULE_VALUES_MAX = 16 };

/* What may be the value of a decision; arrays have `count` items. Everything is borrowed for the call. */
typedef struct schedule_form {
    uint32_t count;
    const char *const *keys;  /* of a mapping; NULL: one value alone */
    const char *const *words; /* values are indices into these, NULL-ended; NULL: numbers */
    const int64_t *min, *max; /* NULL: no limit */
    const char *limit;        /* why words are not legal; NULL: nothing is said */
} schedule_form;

typedef struct schedule_record {
    str at;                /* path of the op */
    const char *name;      /* "tile" */
    schedule_form form;    /* without limits */
    const int64_t *values; /* form.count */
    const char *origin;    /* what decided: id of a strategy or pass; of a pinned one it is not read */
    const char *limit;     /* what bounds it, or NULL */
    double cost;           /* in the strategy's own unit, less is better */
    bool has_cost;
} schedule_record;

typedef enum schedule_answer { SCHEDULE_FREE, SCHEDULE_PINNED, SCHEDULE_REFUSED } schedule_answer;

extern const schema_file schedule_schema;

struct search_space;      /* search_space.h */
struct schedule_decision; /* schedule_impl.h */

/* Without pins. Texts live in `a`. */
schedule *schedule_create(arena *a, diag_engine *d);
/* What does not live in the arena; NULL is fine. */
void schedule_destroy(schedule *s);
/* As op_print_path; many paths of one function, while nothing changes, take little more than one. */
void schedule_print_path(schedule *s, const module *m, op_id o, text_buffer *out);
/* Reads pins from a file. */
MUST_CHECK status schedule_read(schedule *s, const char *path);
/* From text in memory; `file` names it in messages and is kept. */
MUST_CHECK status schedule_read_text(schedule *s, const char *file, str text);
/* Reports when the file is for another machine; NULL: the pipeline has none. */
MUST_CHECK status schedule_check_machine(schedule *s, const char *machine);

/* Every decision that is asked about is added to it. */
void schedule_set_space(schedule *s, struct search_space *to);
struct search_space *schedule_space(const schedule *s);

/* Whether the file pins decision `name` of the op at `path`; then `values` has what it says and `at` where. A value of
 * another form or out of its limits is reported and refused. */
schedule_answer schedule_find(schedule *s, str path, const char *name, const schedule_form *form, int64_t *values,
                              src_pos *at);
/* Whether the decision is what the file pins, if it pins it and it was asked for. */
bool schedule_keeps_pin(const schedule *s, const schedule_record *r);
/* A pin could not be kept: the compilation fails for what the file says. */
void schedule_set_refused(schedule *s);
bool schedule_is_refused(const schedule *s);
/* Takes down what was decided; texts are copied. A pin that was found for it is the origin. */
void schedule_record_decision(schedule *s, const schedule_record *r);
/* What was taken down up to here stays at a restart. */
void schedule_keep(schedule *s);
/* Forgets what was taken down since, before the steps that decided it run once more. */
void schedule_restart(schedule *s);
/* Pins that nothing asked about: an error when all steps ran (`is_complete`), else a warning. */
MUST_CHECK status schedule_check_asked(const schedule *s, bool is_complete);

/* NULL when it was not made. */
const struct schedule_decision *schedule_decision_of(const schedule *s, str path, const char *name);
/* The value as a schedule file has it. */
void schedule_put_value(text_buffer *t, const struct schedule_decision *d);
/* The file as it reads back. `machine` may be NULL. */
void schedule_write(const schedule *s, const char *machine, text_buffer *out);

#endif
