/* From files that extend each other, and a command line, to steps. */
#include "core/files/pipeline.h"

#include "core/core_diag.h"
#include "core/files/pipeline_builder.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *const *pipeline_search_folders(arena *a, const char *installed)
{
    const char *list = secure_getenv("PTO_PIPELINE_PATH");
    size_t most = 2;
    for (const char *p = list; p != NULL && *p != 0; p++) most += *p == ':';
    const char **folders = arena_array(a, most + 1, sizeof *folders);
    size_t count = 0;
    while (list != NULL && *list != 0) {
        size_t n = strcspn(list, ":");
        if (n != 0) folders[count++] = arena_strndup(a, list, n);
        list += n + (list[n] == ':');
    }
    if (installed != NULL) folders[count] = installed;
    return folders;
}

/* A name may be that of a folder here and of a file elsewhere: `is_folder` is what is looked for. */
static const char *join_if_is(bool is_folder, arena *a, const char *folder, size_t folder_len, const char *middle,
                              const char *name)
{
    text_buffer t;
    struct stat st;
    text_init(&t);
    text_put(&t, folder, folder_len);
    if (folder_len != 0 && folder[folder_len - 1] != '/') text_putc(&t, '/');
    text_puts(&t, middle);
    text_puts(&t, name);
    const bool is_there = *name != 0 && stat(t.p, &st) == 0 && S_ISDIR(st.st_mode) == is_folder;
    const char *found = is_there ? arena_strndup(a, t.p, t.n) : NULL;
    text_fini(&t);
    return found;
}

static bool is_bare(const char *name) { return strchr(name, '/') == NULL; }

static const char *find_beside(bool is_folder, arena *a, const char *from_file, const char *name)
{
    const char *slash = from_file == NULL || name[0] == '/' ? NULL : strrchr(from_file, '/');
    return join_if_is(is_folder, a, from_file, slash == NULL ? 0 : (size_t)(slash - from_file) + 1, "", name);
}

static const char *find_exactly(arena *a, const char *const *search, const char *from_file, const char *name)
{
    const char *found = find_beside(false, a, from_file, name);
    for (size_t i = 0; found == NULL && is_bare(name) && search != NULL && search[i] != NULL; i++) {
        found = join_if_is(false, a, search[i], strlen(search[i]), "", name);
        if (found == NULL) found = join_if_is(false, a, search[i], strlen(search[i]), "machines/", name);
    }
    return found;
}

const char *pipeline_find_file(arena *a, const char *const *search, const char *from_file, const char *name)
{
    const char *found = find_exactly(a, search, from_file, name);
    if (found != NULL || !is_bare(name) || *name == 0) return found;
    return find_exactly(a, search, from_file, text_format(a, "%s.yaml", name));
}

/* Where a name was sought. `from_file` as above. */
static void note_search(pipeline_builder *b, src_pos at, const char *from_file, const char *name)
{
    if (*name == 0) {
        diag_note(b->d, at, "the name is empty");
        return;
    }
    if (!is_bare(name)) {
        diag_note(b->d, at, "a path counts from %s",
                  from_file != NULL ? "the folder of the file it is in" : "the current folder");
        return;
    }
    text_buffer t;
    text_init(&t);
    text_printf(&t, "sought in the %s", from_file != NULL ? "folder of this file" : "current folder");
    const char *const *search = b->request->search;
    for (size_t i = 0; search != NULL && search[i] != NULL; i++) text_printf(&t, ", %s", search[i]);
    diag_note(b->d, at, "%s", t.p);
    text_fini(&t);
}

/* What a key or an option names, found and readable; all that can go wrong is said at its place. */
static status find_named(pipeline_builder *b, src_pos at, const char *what, const char *from_file, const char *name,
                         const char **out_path)
{
    *out_path = pipeline_find_file(b->a, b->request->search, from_file, name);
    const char *folder = *out_path == NULL ? find_beside(true, b->a, from_file, name) : NULL;
    if (*out_path == NULL && folder == NULL) {
        diag_error(b->d, at, &E1108, "cannot find the %s `%s`", what, name);
        note_search(b, at, from_file, name);
        return FAILED;
    }
    if (folder == NULL && access(*out_path, R_OK) == 0) return OK;
    diag_error(b->d, at, &E1501, "cannot read the %s `%s`: %s", what, folder != NULL ? folder : *out_path,
               strerror(folder != NULL ? EISDIR : errno));
    return FAILED;
}

static status find_named_file(pipeline_builder *b, const yaml_node *node, const char *what, const char **out_path)
{
    return find_named(b, node->at, what, node->at.file, node->text.p, out_path);
}

/* A name that no file has may stand for the machine of another. */
static status find_machine(pipeline_builder *b, src_pos at, const char *from_file, const char *name)
{
    const pipeline_request *r = b->request;
    pipeline *p = b->p;
    p->machine_at = at;
    p->machine_why = NULL;
    const bool has_file = pipeline_find_file(b->a, r->search, from_file, name) != NULL;
    p->machine = has_file || r->machine_stands_for == NULL
                     ? NULL
                     : r->machine_stands_for(b->a, r->search, name, &p->machine_why);
    return p->machine != NULL ? OK : find_named(b, at, "machine file", from_file, name, &p->machine);
}

/* ids are words of letters, digits, - and _, joined by dots where that is allowed. */
status pipeline_check_id(diag_engine *d, const char *what, str id, bool may_have_dots, src_pos at)
{
    bool word_begins = true;
    bool legal = id.n != 0;
    for (size_t i = 0; i < id.n && legal; i++) {
        char c = id.p[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (c == '.') {
            legal = may_have_dots && !word_begins;
            word_begins = true;
        } else {
            legal = letter || (!word_begins && (c == '-' || c == '_'));
            word_begins = false;
        }
    }
    if (legal && !word_begins) return OK;
    int shown = id.n > 60 ? 60 : (int)id.n;
    diag_error(d, at, &E1102, "`%.*s` is not a %s: letters, digits, - and _%s", shown, id.p, what,
               may_have_dots ? ", words joined by dots" : "");
    return FAILED;
}

static const char *default_step_id(const char *pass)
{
    const char *dot = strrchr(pass, '.');
    return dot == NULL ? pass : dot + 1;
}

status pipeline_step_from_node(pipeline_builder *b, const yaml_node *node, const char *kept_id, pipeline_step *out_step)
{
    bool is_short = node->kind == YAML_SCALAR;
    const yaml_node *pass = is_short ? node : yaml_find(node, "pass");
    const yaml_node *id = is_short ? NULL : yaml_find(node, "id");
    TRY(pipeline_check_id(b->d, "pass id", pass->text, true, pass->at));
    if (id != NULL) TRY(pipeline_check_id(b->d, "step id", id->text, false, id->at));
    *out_step = (pipeline_step){
        .pass = pass->text.p,
        .at = pass->at,
        .id = id != NULL        ? id->text.p
              : kept_id != NULL ? kept_id
                                : default_step_id(pass->text.p),
        .with = is_short ? NULL : yaml_find(node, "with"),
    };
    if (strcmp(out_step->id, "params") != 0 && strcmp(out_step->id, "backend") != 0) return OK;
    diag_error(b->d, pass->at, &E1102,
               "a step cannot be called `%s`, which begins other paths of `set`; give it an `id:`", out_step->id);
    return FAILED;
}

const pipeline_step *pipeline_step_by_id(const pipeline *p, str id)
{
    for (uint32_t i = 0; i < p->step_count; i++) {
        if (str_is(id, p->steps[i].id)) return &p->steps[i];
    }
    return NULL;
}

status pipeline_insert_step(pipeline_builder *b, uint32_t at, const pipeline_step *step)
{
    const pipeline_step *other = pipeline_step_by_id(b->p, str_from(step->id));
    if (other != NULL) {
        diag_error(b->d, step->at, &E1103, "a second step is called `%s`; give one of them an `id:`", step->id);
        diag_note(b->d, other->at, "the first one");
        return FAILED;
    }
    if (b->p->step_count == PIPELINE_STEPS_MAX) {
        diag_error(b->d, step->at, &E1112, "more than %d steps", PIPELINE_STEPS_MAX);
        return FAILED;
    }
    b->steps = table_grow(b->steps, &b->step_capacity, b->p->step_count + 1, sizeof *b->steps);
    memmove(b->steps + at + 1, b->steps + at, (b->p->step_count - at) * sizeof *b->steps);
    b->steps[at] = *step;
    b->p->steps = b->steps;
    b->p->step_count++;
    return OK;
}

static status read_passes(pipeline_builder *b, const yaml_node *list)
{
    b->p->step_count = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        pipeline_step step;
        TRY(pipeline_step_from_node(b, list->items[i], NULL, &step));
        TRY(pipeline_insert_step(b, b->p->step_count, &step));
    }
    return OK;
}

static const char *text_or_null(const yaml_node *node) { return node == NULL ? NULL : node->text.p; }

static status read_param(pipeline_builder *b, const yaml_pair *pair)
{
    TRY(pipeline_check_id(b->d, "parameter name", pair->key, false, pair->key_at));
    const yaml_node *node = pair->value;
    pipeline_param param = {
        .name = pair->key.p,
        .doc = text_or_null(yaml_find(node, "doc")),
        .type = value_type_by_name(yaml_find(node, "type")->text),
        .min = text_or_null(yaml_find(node, "min")),
        .max = text_or_null(yaml_find(node, "max")),
        .value_node = yaml_find(node, "default"),
        .at = pair->key_at,
    };
    const yaml_node *choices = yaml_find(node, "choices");
    if ((param.type == VALUE_ENUM) != (choices != NULL)) {
        diag_error(b->d, choices == NULL ? node->at : choices->at, &E1104,
                   "parameter `%s`: `choices` belong to the type enum, %s", param.name,
                   choices == NULL ? "which needs them" : "and to no other");
        return FAILED;
    }
    if (choices != NULL) {
        const char **names = arena_array(b->a, (size_t)choices->count + 1, sizeof *names);
        for (uint32_t i = 0; i < choices->count; i++) names[i] = choices->items[i]->text.p;
        param.choices = names;
    }
    const char *limits[] = {"min", "max"};
    for (int i = 0; i < 2; i++) {
        const yaml_node *limit = yaml_find(node, limits[i]);
        if (limit == NULL) continue;
        value_rule rule = {param.type == VALUE_LIST ? VALUE_I64 : param.type, NULL, NULL, NULL, limits[i]};
        if (rule.type != VALUE_I64 && rule.type != VALUE_F64 && rule.type != VALUE_BYTES) {
            diag_error(b->d, limit->at, &E1104, "parameter `%s`: only numbers have a `%s`", param.name, limits[i]);
            return FAILED;
        }
        value v;
        TRY(value_from_node(b->a, b->d, limit, &rule, &v));
    }
    for (uint32_t i = 0; i < b->p->param_count; i++) {
        if (strcmp(b->params[i].name, param.name) != 0) continue;
        b->params[i] = param;
        return OK;
    }
    b->params = table_grow(b->params, &b->param_capacity, b->p->param_count + 1, sizeof *b->params);
    b->params[b->p->param_count++] = param;
    b->p->params = b->params;
    return OK;
}

static status read_backend(pipeline_builder *b, yaml_node *node)
{
    const yaml_node *use = node->kind == YAML_SCALAR ? node : yaml_find(node, "use");
    TRY(pipeline_check_id(b->d, "backend id", use->text, true, use->at));
    b->p->backend = use->text.p;
    b->p->backend_at = use->at;
    b->p->backend_with = node->kind == YAML_SCALAR ? NULL : yaml_find(node, "with");
    return OK;
}

static status read_top_values(pipeline_builder *b, const yaml_node *root)
{
    pipeline *p = b->p;
    const yaml_node *name = yaml_find(root, "name");
    const yaml_node *doc = yaml_find(root, "doc");
    const yaml_node *machine = yaml_find(root, "machine");
    const yaml_node *verify = yaml_find(root, "verify");
    if (name != NULL) p->name = name->text.p;
    if (doc != NULL) p->doc = doc->text.p;
    if (verify != NULL) {
        BUG_IF(!pipeline_verify_by_name(verify->text, &p->verify), "the schema knows another word");
        p->verify_at = verify->at;
    }
    /* A machine that the command line replaces need not exist. */
    if (machine == NULL || b->request->machine != NULL) return OK;
    return find_machine(b, machine->at, machine->at.file, machine->text.p);
}

static status resolve_reference(pipeline_builder *b, yaml_node *node)
{
    if (node->quoted || !str_starts_with(node->text, "$")) return OK;
    if (!str_starts_with(node->text, "$params.")) {
        diag_error(b->d, node->at, &E1105, "`%s` is not a reference; write `$params.<name>`, or quote the text",
                   node->text.p);
        return FAILED;
    }
    const str name = str_from(node->text.p + strlen("$params."));
    pipeline_param *param = pipeline_find_param(b, name, node->at, &E1105);
    if (param == NULL) return FAILED;
    param->is_read = true;
    node->refers = param->value_node;
    node->refers_type = value_type_name(param->type);
    return OK;
}

/* Recursion ends at the limit, which is checked here because `set` can put deep values into deep places. */
static status resolve_references(pipeline_builder *b, yaml_node *node, int depth)
{
    if (node == NULL) return OK;
    if (node->kind == YAML_SCALAR) return resolve_reference(b, node);
    if (depth == PIPELINE_OPTION_DEPTH_MAX) {
        diag_error(b->d, node->at, &E1016, "options nested deeper than %d levels", PIPELINE_OPTION_DEPTH_MAX);
        return FAILED;
    }
    status result = OK;
    for (uint32_t i = 0; i < node->count; i++) {
        yaml_node *child = node->kind == YAML_SEQUENCE ? node->items[i] : node->pairs[i].value;
        if (resolve_references(b, child, depth + 1) != OK) result = FAILED;
    }
    return result;
}

static status resolve_all_references(pipeline_builder *b)
{
    status result = resolve_references(b, b->p->backend_with, 0);
    for (uint32_t i = 0; i < b->p->step_count; i++) {
        if (resolve_references(b, b->steps[i].with, 0) != OK) result = FAILED;
    }
    return result;
}

static status apply_document(pipeline_builder *b, const yaml_node *root)
{
    TRY(read_top_values(b, root));
    const yaml_node *params = yaml_find(root, "params");
    for (uint32_t i = 0; params != NULL && i < params->count; i++) TRY(read_param(b, &params->pairs[i]));
    yaml_node *backend = yaml_find(root, "backend");
    if (backend != NULL) TRY(read_backend(b, backend));
    const yaml_node *passes = yaml_find(root, "passes");
    if (passes != NULL) TRY(read_passes(b, passes));
    const yaml_node *edits = yaml_find(root, "edit");
    for (uint32_t i = 0; edits != NULL && i < edits->count; i++) TRY(pipeline_apply_edit(b, edits->items[i]));
    return resolve_all_references(b);
}

static bool same_file(const char *x, const char *y)
{
    char a[PATH_MAX], b[PATH_MAX];
    return realpath(x, a) != NULL && realpath(y, b) != NULL && strcmp(a, b) == 0;
}

/* Reads what `extends:` of the last document names as the next. */
static status read_parent(pipeline_builder *b, yaml_node **chain, uint32_t count)
{
    const yaml_node *extends = yaml_find(chain[count - 1], "extends");
    const char *path;
    TRY(find_named_file(b, extends, "pipeline file", &path));
    for (uint32_t i = 0; i < count; i++) {
        if (!same_file(path, chain[i]->at.file)) continue;
        diag_error(b->d, extends->at, &E1101, "`%s` extends itself%s", path,
                   i + 1 == count ? "" : " through other files");
        return FAILED;
    }
    if (count == PIPELINE_CHAIN_MAX) {
        diag_error(b->d, extends->at, &E1101, "more than %d files extend each other", PIPELINE_CHAIN_MAX);
        return FAILED;
    }
    TRY(yaml_read_file(b->a, b->d, path, &chain[count]));
    return schema_check(b->a, b->d, &pipeline_schema, chain[count]);
}

static status apply_files(pipeline_builder *b, yaml_node *root)
{
    yaml_node *chain[PIPELINE_CHAIN_MAX] = {root};
    TRY(schema_check(b->a, b->d, &pipeline_schema, root));
    uint32_t count = 1;
    while (yaml_find(chain[count - 1], "extends") != NULL) {
        TRY(read_parent(b, chain, count));
        count++;
    }
    if (yaml_find(chain[count - 1], "passes") == NULL) {
        diag_error(b->d, chain[count - 1]->at, &E1031,
                   "the key `passes` is missing here: a pipeline lists its passes or extends one that does");
        return FAILED;
    }
    while (count > 0) TRY(apply_document(b, chain[--count]));
    return OK;
}

static status check_param(pipeline_builder *b, pipeline_param *param)
{
    if (param->value_node == NULL) {
        diag_error(b->d, param->at, &E1104, "parameter `%s` has no value: give a default, or set params.%s=V",
                   param->name, param->name);
        return FAILED;
    }
    if (param->value_node->kind == YAML_SCALAR && !param->value_node->quoted &&
        str_starts_with(param->value_node->text, "$")) {
        diag_error(b->d, param->value_node->at, &E1105,
                   "a parameter cannot refer to another; references belong below `with`");
        return FAILED;
    }
    char what[YAML_KEY_BYTES_MAX + 20];
    snprintf(what, sizeof what, "parameter `%s`", param->name);
    value_rule rule = {param->type, param->min, param->max, param->choices, what};
    return value_from_node(b->a, b->d, param->value_node, &rule, &param->value);
}

/* A default that is not read is left over from a step that an edit took away, as is what a file sets and reads; another
 * value that was asked for would be ignored. */
static status refuse_without_reader(pipeline_builder *b, const pipeline_param *param)
{
    if (param->is_read || param->set_at.file == NULL) return OK;
    diag_error(b->d, param->set_at, &E1105,
               "parameter `%s` is set, but no option refers to it: write `$params.%s` below a `with`", param->name,
               param->name);
    return FAILED;
}

/* Parameters first: references are followed only into values that are legal. */
static status finish(pipeline_builder *b)
{
    status result = OK;
    for (uint32_t i = 0; i < b->p->param_count; i++) {
        if (check_param(b, &b->params[i]) != OK) result = FAILED;
    }
    TRY(result);
    TRY(resolve_all_references(b));
    for (uint32_t i = 0; i < b->p->param_count; i++) {
        if (refuse_without_reader(b, &b->params[i]) != OK) result = FAILED;
    }
    return result;
}

static status apply_machine_of_command_line(pipeline_builder *b)
{
    if (b->request->machine == NULL) return OK;
    return find_machine(b, b->request->machine_at, NULL, b->request->machine);
}

/* `root` NULL: a list of passes. */
static status compose(pipeline_builder *b, yaml_node *root)
{
    if (root != NULL) {
        TRY(apply_files(b, root));
    } else {
        TRY(pipeline_add_list(b, b->request->passes, b->request->passes_at));
    }
    for (uint32_t i = 0; i < b->request->override_count; i++)
        TRY(pipeline_apply_override(b, &b->request->overrides[i]));
    TRY(apply_machine_of_command_line(b));
    if (b->p->machine_why != NULL)
        diag_report(b->d, DIAG_REMARK, b->p->machine_at, E1114.code, str_from(b->p->machine_why));
    return finish(b);
}

static status build(arena *a, diag_engine *d, const pipeline_request *request, yaml_node *root,
                    const pipeline **out_pipeline)
{
    pipeline *p = arena_alloc(a, sizeof *p);
    pipeline_builder b = {.a = a, .d = d, .request = request, .p = p};
    p->file = root == NULL ? "<command line>" : root->at.file;
    p->verify = PIPELINE_VERIFY_EACH;
    status result = compose(&b, root);
    p->steps = arena_copy(a, b.steps, p->step_count * sizeof *b.steps);
    p->params = arena_copy(a, b.params, p->param_count * sizeof *b.params);
    table_free(b.steps);
    table_free(b.params);
    if (result == OK) *out_pipeline = p;
    return result;
}

status pipeline_read(arena *a, diag_engine *d, const pipeline_request *request, const pipeline **out_pipeline)
{
    if (request->file == NULL) return build(a, d, request, NULL, out_pipeline);
    const char *path = pipeline_find_file(a, request->search, NULL, request->file);
    yaml_node *root;
    if (yaml_read_file(a, d, path == NULL ? request->file : path, &root) == OK)
        return build(a, d, request, root, out_pipeline);
    if (path == NULL) note_search(&(pipeline_builder){.a = a, .d = d, .request = request}, NO_POS, NULL, request->file);
    return FAILED;
}

status pipeline_read_text(arena *a, diag_engine *d, const pipeline_request *request, str text,
                          const pipeline **out_pipeline)
{
    yaml_node *root;
    TRY(yaml_read_text(a, d, (src_pos){request->file, 1, 1}, text, &root));
    return build(a, d, request, root, out_pipeline);
}
