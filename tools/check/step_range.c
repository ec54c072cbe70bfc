#include "tools/check/step_range.h"

#include "tools/base/tool_diag.h"

#include <string.h>

static const src_pos command_line_pos = {"<command line>", 1, 1};

static void note_nearest(diag_engine *d, const contract *c, const char *id)
{
    arena *a = arena_create("step ids");
    const char **ids = arena_array(a, c->step_count + 1u, sizeof *ids);
    for (uint32_t i = 0; i < c->step_count; i++) ids[i] = c->steps[i].step->id;
    const char *near = str_nearest(str_from(id), ids);
    if (near != NULL) diag_note(d, NO_POS, "did you mean `%s`?", near);
    arena_destroy(a);
}

status step_by_id(diag_engine *d, const contract *c, const char *id, const char *option, uint32_t *out)
{
    for (uint32_t i = 0; i < c->step_count; i++) {
        if (strcmp(c->steps[i].step->id, id) != 0) continue;
        *out = i;
        return OK;
    }
    diag_error(d, command_line_pos, &E1704, "option `--%s` names step `%s`, which the pipeline does not have", option,
               id);
    note_nearest(d, c, id);
    return FAILED;
}

status step_range_find(diag_engine *d, const contract *c, const step_range *range, uint32_t *first, uint32_t *end)
{
    const char *from = range->only != NULL ? range->only : range->from,
               *until = range->only != NULL ? range->only : range->until;
    uint32_t index = 0;
    *first = 0;
    *end = c->step_count;
    if (range->only != NULL && (range->from != NULL || range->until != NULL)) {
        diag_error(d, command_line_pos, &E1504, "--only excludes --from and --until");
        return FAILED;
    }
    if (from != NULL) {
        TRY(step_by_id(d, c, from, range->only != NULL ? "only" : "from", &index));
        *first = index;
    }
    if (until != NULL) {
        TRY(step_by_id(d, c, until, range->only != NULL ? "only" : "until", &index));
        *end = index + 1;
    }
    if (*end > *first || c->step_count == 0) return OK;
    diag_error(d, command_line_pos, &E1504, "--until `%s` comes before --from `%s`", until, from);
    return FAILED;
}
