/* Edits of a pipeline: those of a file that extends another, and those of the command line. */
#include "core/core_diag.h"
#include "core/files/pipeline_builder.h"

#include <stdio.h>
#include <string.h>

enum { PATH_SEGMENTS_MAX = 32 };

/* The position of a step, after a diagnostic -1. */
static int64_t step_position(pipeline_builder *b, str id, src_pos at)
{
    for (uint32_t i = 0; i < b->p->step_count; i++) {
        if (str_is(id, b->steps[i].id)) return i;
    }
    const char **ids = arena_array(b->a, (size_t)b->p->step_count + 1, sizeof *ids);
    for (uint32_t i = 0; i < b->p->step_count; i++) ids[i] = b->steps[i].id;
    schema_unknown(b->d, at, &E1109, "step", id, ids);
    return -1;
}

static status remove_step(pipeline_builder *b, str id, src_pos at)
{
    const int64_t position = step_position(b, id, at);
    if (position < 0) return FAILED;
    pipeline_step *step = b->steps + position;
    memmove(step, step + 1, (size_t)(--b->p->step_count - position) * sizeof *step);
    return OK;
}

static status replace_step(pipeline_builder *b, str id, src_pos at, const yaml_node *node)
{
    int64_t position = step_position(b, id, at);
    if (position < 0) return FAILED;
    pipeline_step step;
    TRY(pipeline_step_from_node(b, node, b->steps[position].id, &step));
    TRY(remove_step(b, id, at));
    return pipeline_insert_step(b, (uint32_t)position, &step);
}

/* The second and later steps of one pass get the ids x-2, x-3: the command line has no place for ids. */
static void number_repeated(pipeline_builder *b, pipeline_step *step)
{
    const char *base = step->id;
    for (uint32_t n = 2; pipeline_step_by_id(b->p, str_from(step->id)) != NULL; n++)
        step->id = text_format(b->a, "%s-%u", base, n);
}

static status insert_step(pipeline_builder *b, str id, src_pos at, int64_t distance, const yaml_node *node,
                          bool numbers)
{
    int64_t position = step_position(b, id, at);
    if (position < 0) return FAILED;
    pipeline_step step;
    TRY(pipeline_step_from_node(b, node, NULL, &step));
    if (numbers) number_repeated(b, &step);
    return pipeline_insert_step(b, (uint32_t)(position + distance), &step);
}

static status bad_path(pipeline_builder *b, str path, src_pos at)
{
    int shown = path.n > 60 ? 60 : (int)path.n;
    diag_error(
        b->d, at, &E1107,
        "`%.*s` is not a path of a value; write STEP.with.OPTION, params.NAME, backend.with.OPTION or backend.use",
        shown, path.p);
    return FAILED;
}

static uint32_t split_path(str path, str *segments)
{
    uint32_t count = 0;
    size_t start = 0;
    for (size_t i = 0; i <= path.n; i++) {
        if (i < path.n && path.p[i] != '.') continue;
        if (count == PATH_SEGMENTS_MAX || i == start || i - start > YAML_KEY_BYTES_MAX) return 0;
        segments[count++] = (str){path.p + start, i - start};
        start = i + 1;
    }
    return count;
}

pipeline_param *pipeline_find_param(pipeline_builder *b, str name, src_pos at, const diag_code_info *code)
{
    for (uint32_t i = 0; i < b->p->param_count; i++) {
        if (str_is(name, b->params[i].name)) return &b->params[i];
    }
    const char **names = arena_array(b->a, (size_t)b->p->param_count + 1, sizeof *names);
    for (uint32_t i = 0; i < b->p->param_count; i++) names[i] = b->params[i].name;
    schema_unknown(b->d, at, code, "parameter", name, names);
    return NULL;
}

static status set_param(pipeline_builder *b, str name, src_pos at, yaml_node *to)
{
    pipeline_param *param = pipeline_find_param(b, name, at, &E1107);
    if (param == NULL) return FAILED;
    param->value_node = to;
    param->set_at = at;
    param->is_read = false;
    return OK;
}

/* Sets a value below a `with` mapping; mappings on the way are made, and the short form of a plugin reference becomes
 * the long one when its options are meant. */
static status set_below(pipeline_builder *b, yaml_node **with, const str *segments, uint32_t count, src_pos at,
                        yaml_node *to)
{
    if (*with == NULL) *with = yaml_new_mapping(b->a, at);
    yaml_node *map = *with;
    for (uint32_t i = 0; i + 1 < count; i++) {
        yaml_node *child = yaml_find(map, arena_strndup(b->a, segments[i].p, segments[i].n));
        bool is_reference = child != NULL && child->kind == YAML_SCALAR &&
                            (str_is(segments[i + 1], "with") || str_is(segments[i + 1], "use"));
        if (child == NULL || is_reference) {
            yaml_node *made = yaml_new_mapping(b->a, at);
            if (is_reference) yaml_set(b->a, made, STR("use"), child->at, child);
            str key = {arena_strndup(b->a, segments[i].p, segments[i].n), segments[i].n};
            yaml_set(b->a, map, key, at, made);
            child = made;
        }
        if (child->kind != YAML_MAPPING) {
            diag_error(b->d, at, &E1107, "`%.*s` is %s and has no keys to set", (int)segments[i].n, segments[i].p,
                       yaml_kind_text(child->kind));
            diag_note(b->d, child->at, "it is here");
            return FAILED;
        }
        map = child;
    }
    str last = segments[count - 1];
    /* Options belong to the plugin that they were written for. */
    const yaml_node *used = count > 1 && str_is(last, "use") ? yaml_find(map, "use") : NULL;
    if (used != NULL && used->kind == YAML_SCALAR && to->kind == YAML_SCALAR && !str_eq(used->text, to->text))
        yaml_set(b->a, map, STR("with"), at, yaml_new_mapping(b->a, at));
    yaml_set(b->a, map, (str){arena_strndup(b->a, last.p, last.n), last.n}, at, to);
    return OK;
}

static status set_path(pipeline_builder *b, str path, src_pos at, yaml_node *to)
{
    str segments[PATH_SEGMENTS_MAX];
    uint32_t count = split_path(path, segments);
    if (count < 2) return bad_path(b, path, at);
    if (str_is(segments[0], "params")) return count == 2 ? set_param(b, segments[1], at, to) : bad_path(b, path, at);
    bool is_backend = str_is(segments[0], "backend");
    if (is_backend && count == 2 && str_is(segments[1], "use") && to->kind == YAML_SCALAR) {
        TRY(pipeline_check_id(b->d, "backend id", to->text, true, to->at));
        /* Options belong to the backend that they were written for. */
        if (b->p->backend == NULL || !str_is(to->text, b->p->backend)) b->p->backend_with = NULL;
        b->p->backend = to->text.p;
        b->p->backend_at = to->at;
        return OK;
    }
    if (count < 3 || !str_is(segments[1], "with")) return bad_path(b, path, at);
    if (is_backend) {
        if (b->p->backend == NULL) return bad_path(b, path, at);
        return set_below(b, &b->p->backend_with, segments + 2, count - 2, at, to);
    }
    int64_t position = step_position(b, segments[0], at);
    if (position < 0) return FAILED;
    return set_below(b, &b->steps[position].with, segments + 2, count - 2, at, to);
}

/* Which of `with` and `to` an edit takes: the schema knows each key, not their company. */
static status check_company(pipeline_builder *b, const yaml_node *edit, const char *verb, bool takes_with,
                            bool takes_to)
{
    const bool takes[] = {takes_with, takes_to};
    const char *const keys[] = {"with", "to"};
    for (int i = 0; i < 2; i++) {
        const yaml_pair *pair = yaml_find_pair(edit, str_from(keys[i]));
        if ((pair != NULL) == takes[i]) continue;
        diag_error(b->d, pair == NULL ? edit->at : pair->key_at, &E1106, "`%s` %s `%s:`", verb,
                   pair == NULL ? "needs the key" : "does not take the key", keys[i]);
        return FAILED;
    }
    return OK;
}

status pipeline_apply_edit(pipeline_builder *b, const yaml_node *edit)
{
    static const char *const verbs[] = {"replace", "insert-before", "insert-after", "remove", "set"};
    enum { REPLACE, INSERT_BEFORE, INSERT_AFTER, REMOVE, SET };
    int verb = 0;
    while (yaml_find(edit, verbs[verb]) == NULL) verb++;
    const yaml_node *target = yaml_find(edit, verbs[verb]);
    TRY(check_company(b, edit, verbs[verb], verb < REMOVE, verb == SET));
    const yaml_node *with = yaml_find(edit, "with");
    if (verb == REPLACE) return replace_step(b, target->text, target->at, with);
    if (verb == INSERT_BEFORE) return insert_step(b, target->text, target->at, 0, with, false);
    if (verb == INSERT_AFTER) return insert_step(b, target->text, target->at, 1, with, false);
    if (verb == SET) return set_path(b, target->text, target->at, yaml_find(edit, "to"));
    return remove_step(b, target->text, target->at);
}

/* ---- command line ---- */

static src_pos place_in(src_pos at, size_t offset)
{
    at.column += (uint32_t)offset;
    return at;
}

static status bad_list(pipeline_builder *b, src_pos at, size_t offset, const char *what)
{
    diag_error(b->d, place_in(at, offset), &E1113, "%s; a list of passes looks like a,b{x=1,y=2}", what);
    return FAILED;
}

/* The end of a YAML value in `a{x=<value>,..}`: the next `,` or `}` outside of quotes and brackets. */
static size_t value_end(str s, size_t from)
{
    size_t depth = 0;
    char quote = 0;
    for (size_t i = from; i < s.n; i++) {
        char c = s.p[i];
        if (quote != 0) {
            if (c == '\\' && quote == '"') i++;
            if (c == quote) quote = 0;
        } else if (c == '"' || c == '\'') {
            quote = c;
        } else if (c == '[' || c == '{') {
            depth++;
        } else if (depth == 0 && (c == ',' || c == '}')) {
            return i;
        } else if (c == ']' || c == '}') {
            depth -= depth > 0;
        }
    }
    return s.n;
}

/* `{x=1,y=2}` from *cursor, which is at the brace, to after it: becomes `with` of the step. */
static status read_inline_options(pipeline_builder *b, str list, src_pos at, size_t *cursor, yaml_node *step)
{
    yaml_node *with = yaml_new_mapping(b->a, place_in(at, *cursor));
    size_t i = *cursor + 1;
    while (i < list.n && list.p[i] != '}') {
        const char *equals = memchr(list.p + i, '=', list.n - i);
        if (equals == NULL) return bad_list(b, at, i, "an option has no `=`");
        str key = {list.p + i, (size_t)(equals - list.p) - i};
        TRY(pipeline_check_id(b->d, "option name", key, false, place_in(at, i)));
        if (yaml_find_pair(with, key) != NULL) return bad_list(b, at, i, "an option is given twice");
        size_t start = i + key.n + 1;
        size_t end = value_end(list, start);
        yaml_node *node = NULL;
        TRY(yaml_read_text(b->a, b->d, place_in(at, start), (str){list.p + start, end - start}, &node));
        yaml_set(b->a, with, (str){arena_strndup(b->a, key.p, key.n), key.n}, place_in(at, i), node);
        i = end;
        if (i < list.n && list.p[i] == ',') i++;
    }
    if (i == list.n) return bad_list(b, at, *cursor, "this brace is not closed");
    *cursor = i + 1;
    yaml_set(b->a, step, STR("with"), with->at, with);
    return OK;
}

/* One `pass{..}` from *cursor to after it, as a step node. */
static status read_list_item(pipeline_builder *b, str list, src_pos at, size_t *cursor, yaml_node **out_node)
{
    size_t start = *cursor;
    size_t end = start;
    while (end < list.n && list.p[end] != ',' && list.p[end] != '{') end++;
    str id = {arena_strndup(b->a, list.p + start, end - start), end - start};
    TRY(pipeline_check_id(b->d, "pass id", id, true, place_in(at, start)));
    yaml_node *node = yaml_new_mapping(b->a, place_in(at, start));
    yaml_set(b->a, node, STR("pass"), node->at, yaml_new_scalar(b->a, node->at, id, false));
    *cursor = end;
    if (end < list.n && list.p[end] == '{') TRY(read_inline_options(b, list, at, cursor, node));
    *out_node = node;
    return OK;
}

status pipeline_add_list(pipeline_builder *b, str list, src_pos at)
{
    size_t cursor = 0;
    while (cursor < list.n) {
        yaml_node *node;
        TRY(read_list_item(b, list, at, &cursor, &node));
        pipeline_step step;
        TRY(pipeline_step_from_node(b, node, NULL, &step));
        number_repeated(b, &step);
        TRY(pipeline_insert_step(b, b->p->step_count, &step));
        if (cursor == list.n) return OK;
        if (list.p[cursor] != ',') return bad_list(b, at, cursor, "a comma is missing");
        cursor++;
        if (cursor == list.n) return bad_list(b, at, cursor - 1, "nothing follows the last comma");
    }
    return OK;
}

/* Splits K=V at the first `=`. */
static status split_assignment(pipeline_builder *b, const pipeline_override *o, str *out_key, size_t *out_value)
{
    const char *equals = o->text.n == 0 ? NULL : memchr(o->text.p, '=', o->text.n);
    if (equals == NULL) {
        diag_error(b->d, o->at, &E1113, "`%.*s` has no `=`", o->text.n > 60 ? 60 : (int)o->text.n, o->text.p);
        return FAILED;
    }
    *out_key = (str){o->text.p, (size_t)(equals - o->text.p)};
    *out_value = out_key->n + 1;
    return OK;
}

status pipeline_apply_override(pipeline_builder *b, const pipeline_override *o)
{
    if (o->change == PIPELINE_REMOVE) return remove_step(b, o->text, o->at);
    str key;
    size_t start;
    TRY(split_assignment(b, o, &key, &start));
    yaml_node *node;
    if (o->change == PIPELINE_SET) {
        str text = {o->text.p + start, o->text.n - start};
        TRY(yaml_read_text(b->a, b->d, place_in(o->at, start), text, &node));
        return set_path(b, key, o->at, node);
    }
    size_t cursor = start;
    TRY(read_list_item(b, o->text, o->at, &cursor, &node));
    if (cursor != o->text.n) return bad_list(b, o->at, cursor, "one pass was expected");
    if (o->change == PIPELINE_REPLACE) return replace_step(b, key, o->at, node);
    return insert_step(b, key, o->at, o->change == PIPELINE_INSERT_AFTER, node, true);
}
