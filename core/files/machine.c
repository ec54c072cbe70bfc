#include "core/files/machine.h"

#include "core/core_diag.h"

#include <inttypes.h>
#include <string.h>

/* What reading a checked part of the file takes. */
typedef struct builder {
    arena *a;
    diag_engine *d;
    machine *m;
    role_names *names;
    bool failed;
} builder;

#define REFUSE(b, at, ...) ((b)->failed = true, diag_error((b)->d, at, __VA_ARGS__))

static const schema_key *keys_of(const char *section)
{
    for (const schema_key *k = machine_schema.keys; k->name != NULL; k++) {
        if (strcmp(k->name, section) == 0) return k->element != NULL ? k->element->keys : k->keys;
    }
    BUG_IF(true, "no section `%s`", section);
}

static int64_t number(builder *b, const schema_key *keys, const yaml_node *map, const char *name)
{
    return schema_i64(b->a, b->d, keys, map, name);
}

static const char *const *names_of(builder *b, const yaml_node *sequence, uint32_t *out_count)
{
    *out_count = sequence == NULL ? 0 : sequence->count;
    const char **names = arena_array(b->a, *out_count + 1, sizeof *names);
    for (uint32_t i = 0; i < *out_count; i++) names[i] = sequence->items[i]->text.p;
    return sequence == NULL ? NULL : names;
}

static bool has_name(const char *const *names, uint32_t count, str name)
{
    for (uint32_t i = 0; i < count; i++) {
        if (str_is(name, names[i])) return true;
    }
    return false;
}

/* ---- names ---- */

/* The known names of a kind, for "did you mean". */
static const char *const *known_names(builder *b, name_kind kind)
{
    const char **known = arena_array(b->a, NAME_IDS, sizeof *known);
    for (uint32_t i = 1; i < role_names_count(b->names, kind); i++) known[i - 1] = role_names_text(b->names, kind, i);
    return known;
}

/* A name and its role; a standard name has one without. */
static void add_name(builder *b, name_kind kind, src_pos at, str name, const yaml_node *role)
{
    if (role != NULL) {
        const uint32_t number = name_role_by_word(kind, role->text);
        if (role_names_add(b->names, b->d, at, kind, name, number) == 0) b->failed = true;
        return;
    }
    if (role_names_find(b->names, kind, name) != 0) return;
    const char *near = str_nearest(name, known_names(b, kind));
    diag_error(b->d, at, &E1207, "the %s `%.*s` has no role%s%s%s", name_kind_words(kind),
               (int)(name.n > 40 ? 40 : name.n), name.p, near != NULL ? "; did you mean `" : "",
               near != NULL ? near : "", near != NULL ? "`?" : "");
    diag_note(b->d, at, "a name that is not standard says its role, as `%s`",
              kind == NAME_PIPE ? "pipes: { s: scalar, ldg: load }" : "role: scratchpad");
    b->failed = true;
}

static void read_layouts(builder *b, const yaml_node *map)
{
    for (uint32_t i = 0; map != NULL && i < map->count; i++)
        add_name(b, NAME_LAYOUT, map->pairs[i].key_at, map->pairs[i].key, map->pairs[i].value);
}

static const char *const *read_pipes(builder *b, const yaml_node *node, uint32_t *out_count)
{
    const char **pipes = arena_array(b->a, node->count, sizeof *pipes), *scalar = NULL;
    for (uint32_t i = 0; i < node->count; i++) {
        const bool has_role = node->kind == YAML_MAPPING;
        const str name = has_role ? node->pairs[i].key : node->items[i]->text;
        const src_pos at = has_role ? node->pairs[i].key_at : node->items[i]->at;
        add_name(b, NAME_PIPE, at, name, has_role ? node->pairs[i].value : NULL);
        pipes[i] = name.p;
        const uint32_t id = role_names_find(b->names, NAME_PIPE, name);
        if (id == 0 || role_names_role(b->names, NAME_PIPE, id) != UNIT_SCALAR) continue;
        if (scalar != NULL) {
            diag_error(b->d, at, &E1206, "`%s` and `%s` are both scalar; one pipe of a core issues to the others",
                       scalar, name.p);
            b->failed = true;
        }
        scalar = name.p;
    }
    *out_count = node->count;
    return pipes;
}

static void check_layouts(builder *b, const yaml_node *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        if (role_names_find(b->names, NAME_LAYOUT, list->items[i]->text) != 0) continue;
        schema_unknown(b->d, list->items[i]->at, &E1201, "layout", list->items[i]->text, known_names(b, NAME_LAYOUT));
        b->failed = true;
    }
}

/* ---- sections ---- */

static void read_cores(builder *b, const yaml_node *map)
{
    const schema_key *keys = keys_of("cores");
    machine_core *cores = arena_array(b->a, map->count, sizeof *cores);
    for (uint32_t i = 0; i < map->count; i++) {
        const yaml_node *node = map->pairs[i].value;
        machine_core *c = &cores[i];
        c->name = map->pairs[i].key.p;
        if (name_check(b->d, map->pairs[i].key_at, "kind of core", "any", map->pairs[i].key) != OK) b->failed = true;
        c->count = number(b, keys, node, "count");
        c->per_cluster = number(b, keys, node, "per-cluster");
        c->pipes = read_pipes(b, yaml_find(node, "pipes"), &c->pipe_count);
    }
    b->m->cores = cores;
    b->m->core_count = map->count;
}

/* The name of a core kind under `key`, after a check that the file defines it. */
static const char *core_name(builder *b, const yaml_node *map)
{
    const yaml_node *node = yaml_find(map, "core");
    if (node == NULL || machine_core_by_name(b->m, node->text) != NULL) return node == NULL ? NULL : node->text.p;
    const char **names = arena_array(b->a, b->m->core_count + 1, sizeof *names);
    for (uint32_t i = 0; i < b->m->core_count; i++) names[i] = b->m->cores[i].name;
    schema_unknown(b->d, node->at, &E1201, "core kind", node->text, names);
    b->failed = true;
    return NULL;
}

static void read_space(builder *b, const yaml_pair *pair, machine_space *s)
{
    const schema_key *keys = keys_of("spaces");
    const yaml_node *node = pair->value;
    s->name = pair->key.p;
    add_name(b, NAME_SPACE, pair->key_at, pair->key, yaml_find(node, "role"));
    s->core = core_name(b, node);
    s->bytes = number(b, keys, node, "bytes");
    s->reserved_bytes = number(b, keys, node, "reserved");
    s->align_bytes = number(b, keys, node, "align");
    s->alias = schema_str(b->a, b->d, keys, node, "alias");
    s->layouts = names_of(b, yaml_find(node, "layouts"), &s->layout_count);
    check_layouts(b, yaml_find(node, "layouts"));
    if (s->reserved_bytes >= s->bytes)
        REFUSE(b, yaml_find(node, "reserved")->at, &E1202,
               "`%s` reserves %" PRId64 " of its %" PRId64 " bytes; nothing is left for tiles", s->name,
               s->reserved_bytes, s->bytes);
    if ((s->align_bytes & (s->align_bytes - 1)) != 0)
        REFUSE(b, yaml_find(node, "align")->at, &E1203, "the alignment of `%s` is %" PRId64 ", not a power of two",
               s->name, s->align_bytes);
    if (s->layout_count == 0)
        REFUSE(b, yaml_find(node, "layouts")->at, &E1205, "`%s` needs at least one layout", s->name);
}

/* Types of memory do not say which one it is: there is one. */
static void check_global(builder *b, const yaml_node *map)
{
    const yaml_pair *found = NULL;
    for (uint32_t i = 0; i < map->count; i++) {
        const uint32_t id = role_names_find(b->names, NAME_SPACE, map->pairs[i].key);
        if (id == 0 || role_names_role(b->names, NAME_SPACE, id) != SPACE_ROLE_GLOBAL) continue;
        if (found != NULL)
            REFUSE(b, map->pairs[i].key_at, &E1206, "`%s` and `%s` are both global memory; a machine has one",
                   found->key.p, map->pairs[i].key.p);
        found = &map->pairs[i];
    }
    if (found != NULL) return;
    REFUSE(b, map->at, &E1206,
           "every machine has a space of the role `global`, such as `gm`: inputs and outputs live in it");
}

static void read_spaces(builder *b, const yaml_node *map)
{
    machine_space *spaces = arena_array(b->a, map->count, sizeof *spaces);
    for (uint32_t i = 0; i < map->count; i++) read_space(b, &map->pairs[i], &spaces[i]);
    b->m->spaces = spaces;
    b->m->space_count = map->count;
    for (uint32_t i = 0; i < map->count; i++) {
        if (spaces[i].alias == NULL || machine_space_by_name(b->m, str_from(spaces[i].alias)) != NULL) continue;
        REFUSE(b, yaml_find(map->pairs[i].value, "alias")->at, &E1201, "this machine has no space `%s`",
               spaces[i].alias);
    }
    check_global(b, map);
}

static const char *element_type_name(str name)
{
    static const char *const names[] = {
#define DTYPE(id, text, ...) text,
#include "ir/ops/types.def"
        NULL};
    for (size_t i = 0; names[i] != NULL; i++) {
        if (str_is(name, names[i])) return names[i];
    }
    return NULL;
}

/* The layout's name as the space has it, NULL when it has no such layout. */
static const char *layout_name(const machine_space *s, str name)
{
    for (uint32_t i = 0; s != NULL && i < s->layout_count; i++) {
        if (str_is(name, s->layouts[i])) return s->layouts[i];
    }
    return NULL;
}

/* Splits "nd-nz". */
static bool split_change(str text, str *out_from, str *out_to)
{
    const char *dash = memchr(text.p, '-', text.n);
    if (dash == NULL) return false;
    *out_from = (str){text.p, (size_t)(dash - text.p)};
    *out_to = (str){dash + 1, text.n - out_from->n - 1};
    return true;
}

static const machine_change *read_layout_changes(builder *b, const yaml_node *list, const machine_path *p,
                                                 uint32_t *out_count)
{
    const machine_space *from = machine_space_by_name(b->m, str_from(p->from));
    const machine_space *to = machine_space_by_name(b->m, str_from(p->to));
    machine_change *changes = arena_array(b->a, list->count, sizeof *changes);
    if (list->count == 0) REFUSE(b, list->at, &E1205, "a path needs at least one pair of layouts, as nd-nz");
    for (uint32_t i = 0; i < list->count; i++) {
        const yaml_node *item = list->items[i];
        str before, after;
        bool split = split_change(item->text, &before, &after);
        changes[i].from = split ? layout_name(from, before) : NULL;
        changes[i].to = split ? layout_name(to, after) : NULL;
        if (changes[i].from != NULL && changes[i].to != NULL) continue;
        if (from != NULL && to != NULL) {
            diag_error(b->d, item->at, &E1205, "`%s` is not a pair of a layout of `%s` and a layout of `%s`, as %s-%s",
                       item->text.p, p->from, p->to, from->layouts[0], to->layouts[0]);
        }
        b->failed = true;
    }
    *out_count = list->count;
    return changes;
}

static const machine_change *read_casts(builder *b, const yaml_node *list, uint32_t *out_count)
{
    *out_count = list == NULL ? 0 : list->count;
    machine_change *casts = arena_array(b->a, *out_count, sizeof *casts);
    for (uint32_t i = 0; i < *out_count; i++) {
        const yaml_node *item = list->items[i];
        str before, after;
        bool split = split_change(item->text, &before, &after);
        casts[i].from = split ? element_type_name(before) : NULL;
        casts[i].to = split ? element_type_name(after) : NULL;
        if (casts[i].from != NULL && casts[i].to != NULL) continue;
        REFUSE(b, item->at, &E1205, "`%s` is not a pair of element types, as f32-bf16", item->text.p);
    }
    return casts;
}

static void check_path(builder *b, const yaml_node *node, uint32_t index)
{
    const machine_path *p = &b->m->paths[index];
    static const char *const ends[] = {"from", "to"};
    for (int i = 0; i < 2; i++) {
        const yaml_node *end = yaml_find(node, ends[i]);
        if (machine_space_by_name(b->m, end->text) != NULL) continue;
        REFUSE(b, end->at, &E1201, "this machine has no space `%s`", end->text.p);
    }
    const machine_core *core = p->core == NULL ? NULL : machine_core_by_name(b->m, str_from(p->core));
    if (core != NULL && !has_name(core->pipes, core->pipe_count, str_from(p->pipe)))
        REFUSE(b, yaml_find(node, "pipe")->at, &E1201, "core kind `%s` has no pipe `%s`", p->core, p->pipe);
    for (uint32_t i = 0; i < index; i++) {
        const machine_path *o = &b->m->paths[i];
        if (p->core == NULL || o->core == NULL || strcmp(p->core, o->core) != 0) continue;
        if (strcmp(p->from, o->from) != 0 || strcmp(p->to, o->to) != 0) continue;
        REFUSE(b, node->at, &E1204, "a path from `%s` to `%s` of core kind `%s` is above already", p->from, p->to,
               p->core);
        return;
    }
}

static void read_paths(builder *b, const yaml_node *list)
{
    const schema_key *keys = keys_of("paths");
    machine_path *paths = arena_array(b->a, list->count, sizeof *paths);
    b->m->paths = paths;
    for (uint32_t i = 0; i < list->count; i++) {
        const yaml_node *node = list->items[i];
        machine_path *p = &paths[i];
        p->from = yaml_find(node, "from")->text.p;
        p->to = yaml_find(node, "to")->text.p;
        p->core = core_name(b, node);
        p->pipe = yaml_find(node, "pipe")->text.p;
        p->bytes_per_cycle = schema_f64(b->a, b->d, keys, node, "bytes-per-cycle");
        p->latency_cycles = number(b, keys, node, "latency");
        p->casts = read_casts(b, yaml_find(node, "casts"), &p->cast_count);
        check_path(b, node, i);
        p->layouts = read_layout_changes(b, yaml_find(node, "layouts"), p, &p->layout_count);
    }
    b->m->path_count = list->count;
}

static void check_costs(builder *b, const yaml_node *map)
{
    if (yaml_find(map, "default") != NULL) return;
    REFUSE(b, map->at, &E1206, "the cost class `default` is missing; it stands for every class without a row");
}

static void check_pipe(builder *b, src_pos at, str pipe)
{
    for (uint32_t k = 0; k < b->m->core_count; k++)
        if (has_name(b->m->cores[k].pipes, b->m->cores[k].pipe_count, pipe)) return;
    REFUSE(b, at, &E1201, "no core of this machine has a pipe `%.*s`", (int)pipe.n, pipe.p);
}

/* Events of instructions, as v-s-0, and conversions; pipes that need barriers. */
static void check_facts(builder *b, const yaml_node *map, const yaml_node *sync)
{
    const yaml_node *barriers = yaml_find(sync, "barriers");
    const int64_t ids = number(b, keys_of("sync"), sync, "event-ids");
    for (uint32_t i = 0; map != NULL && i < map->count; i++) {
        uint32_t count;
        (void)read_casts(b, yaml_find(map->pairs[i].value, "saturates"), &count);
        (void)read_casts(b, yaml_find(map->pairs[i].value, "odd"), &count);
        const yaml_node *list = yaml_find(map->pairs[i].value, "events");
        for (uint32_t k = 0; list != NULL && k < list->count; k++) {
            const yaml_node *item = list->items[k];
            str src, dst, rest, id;
            int64_t n = -1;
            if (split_change(item->text, &src, &rest) && split_change(rest, &dst, &id) && str_to_i64(id, &n) == OK &&
                n >= 0 && n < ids) {
                check_pipe(b, item->at, src);
                check_pipe(b, item->at, dst);
            } else {
                REFUSE(b, item->at, &E1205, "`%s` is not two pipes and an id below %" PRId64 ", as v-s-0", item->text.p,
                       ids);
            }
        }
    }
    for (uint32_t i = 0; barriers != NULL && i < barriers->count; i++)
        check_pipe(b, barriers->pairs[i].key_at, barriers->pairs[i].key);
}

static status machine_from_tree(arena *a, diag_engine *d, const char *file, const yaml_node *root,
                                const machine **out_machine)
{
    TRY(schema_check(a, d, &machine_schema, root));
    machine *m = arena_alloc(a, sizeof *m);
    builder b = {a, d, m, role_names_create(a), false};
    m->names = b.names;
    m->file = file;
    m->root = root;
    m->name = schema_str(a, d, machine_schema.keys, root, "name");
    m->doc = schema_str(a, d, machine_schema.keys, root, "doc");
    m->clock_hz = number(&b, machine_schema.keys, root, "clock-hz");
    read_layouts(&b, yaml_find(root, "layouts"));
    read_cores(&b, yaml_find(root, "cores"));
    read_spaces(&b, yaml_find(root, "spaces"));
    read_paths(&b, yaml_find(root, "paths"));
    m->shared_bytes_per_cycle = schema_f64(a, d, keys_of("shared"), yaml_find(root, "shared"), "gm-bytes-per-cycle");
    check_costs(&b, yaml_find(root, "instructions"));
    check_facts(&b, yaml_find(root, "facts"), yaml_find(root, "sync"));
    if (b.failed) return FAILED;
    *out_machine = m;
    return OK;
}

status machine_read(arena *a, diag_engine *d, const char *path, const machine **out_machine)
{
    yaml_node *root;
    TRY(yaml_read_file(a, d, path, &root));
    return machine_from_tree(a, d, root->at.file, root, out_machine);
}

status machine_read_text(arena *a, diag_engine *d, const char *file, str text, const machine **out_machine)
{
    yaml_node *root;
    TRY(yaml_read_text(a, d, (src_pos){file, 1, 1}, text, &root));
    return machine_from_tree(a, d, file, root, out_machine);
}

const machine_core *machine_core_by_name(const machine *m, str name)
{
    for (uint32_t i = 0; i < m->core_count; i++) {
        if (str_is(name, m->cores[i].name)) return &m->cores[i];
    }
    return NULL;
}

const machine_space *machine_space_by_name(const machine *m, str name)
{
    for (uint32_t i = 0; i < m->space_count; i++) {
        if (str_is(name, m->spaces[i].name)) return &m->spaces[i];
    }
    return NULL;
}

space_role machine_space_role(const machine *m, const char *name)
{
    const uint32_t id = role_names_find(m->names, NAME_SPACE, str_from(name));
    return id == 0 ? SPACE_ROLE_NONE : (space_role)role_names_role(m->names, NAME_SPACE, id);
}

const machine_space *machine_global(const machine *m)
{
    uint32_t i = 0;
    while (machine_space_role(m, m->spaces[i].name) != SPACE_ROLE_GLOBAL) i++;
    return &m->spaces[i];
}

const machine_path *machine_path_find(const machine *m, str from, str to, const char *core)
{
    for (uint32_t i = 0; i < m->path_count; i++) {
        const machine_path *p = &m->paths[i];
        if (!str_is(from, p->from) || !str_is(to, p->to)) continue;
        if (core == NULL || strcmp(core, p->core) == 0) return p;
    }
    return NULL;
}

int64_t machine_space_usable_bytes(const machine_space *s) { return s->bytes - s->reserved_bytes; }
