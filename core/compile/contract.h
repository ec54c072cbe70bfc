/* The static check of a pipeline: levels and properties walked through all steps before anything runs. */
#ifndef CORE_COMPILE_CONTRACT_H
#define CORE_COMPILE_CONTRACT_H

#include "core/files/pipeline.h"

#include <pto/backend.h>

/* A step with its plugin, as the pass manager resolved it. */
typedef struct contract_step {
    const pipeline_step *step;
    const pto_pass *pass;
    const char *plugin; /* id of the plugin that provides the pass */
} contract_step;

enum { CONTRACT_LEVELS_MAX = 16 };

/* One level that is present, with the properties that hold for its functions. Text belongs to plugins or the module. */
typedef struct contract_level {
    const char *level;
    const char *const *properties; /* never changed: states share it */
    uint32_t property_count;
} contract_level;

typedef struct contract_state {
    uint32_t level_count;
    contract_level levels[CONTRACT_LEVELS_MAX];
} contract_state;

typedef struct contract {
    const contract_step *steps;
    uint32_t step_count;
    const pto_backend *backend; /* or NULL */
    const char *backend_id;
    src_pos backend_at;
    /* Writes the ids that can establish a property, for messages; from plugin notes. */
    void (*suppliers)(void *self, const char *property, text_buffer *out);
    void *self;
} contract;

/* Whether the property holds at the level; false when the level is not there. */
bool contract_state_has(const contract_state *s, const char *level, const char *property);
/* NULL when no op of the module is of that level. Lives as long as the state. */
const contract_level *contract_state_level(const contract_state *s, const char *level);
/* A note that names the first step from `index` on that works on a level which is there; nothing where none does. */
void contract_note_start(diag_engine *d, const contract *c, uint32_t index, const contract_state *s);
/* Nothing happens when it is there. `level` is kept, not copied. */
void contract_state_add_level(contract_state *s, const char *level);
/* The level must be there. Its list is made anew in `a`. */
void contract_state_add_property(arena *a, contract_state *s, const char *level, const char *property);

/* Walks all steps from the levels in `start`. Reports the first step that cannot work with its line, what is missing,
 * which step broke it and which passes could supply it. `states`, when not NULL, gets step_count + 1 states: before the
 * first step, and after each; their lists of properties are in `a`. */
MUST_CHECK status contract_check(arena *a, diag_engine *d, const contract *c, const contract_state *start,
                                 contract_state *states);

#endif
