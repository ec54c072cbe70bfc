#include "core/files/yaml_tree.h"

#include "core/core_diag.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

/* A collection that is not closed yet; its parts wait on the heap until their number is known. */
typedef struct frame {
    yaml_node *node;
    yaml_node **items;
    yaml_pair *pairs;
    size_t capacity;
    bool has_key; /* a key was read and waits for its value */
} frame;

typedef struct reader {
    arena *a;
    diag_engine *d;
    src_pos start;
    str source;
    size_t *line_starts; /* byte offsets */
    size_t line_count, line_capacity;
    bool is_ascii; /* a column is a byte */
    struct {
        size_t line, column, bytes;
    } last; /* the last mark that was turned into a place: marks come in order, so lines are walked once */
    frame frames[YAML_DEPTH_MAX];
    uint32_t depth;
    uint32_t node_count, node_max, document_count;
    yaml_node *root;
} reader;

static src_pos place_at(const reader *r, size_t line, size_t column_bytes)
{
    size_t before = line == 0 ? r->start.column : 1;
    return (src_pos){r->start.file, (uint32_t)(r->start.line + line), (uint32_t)(before + column_bytes)};
}

static src_pos place_of_offset(const reader *r, size_t offset)
{
    size_t low = 0;
    size_t high = r->line_count;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        *(r->line_starts[middle] <= offset ? &low : &high) = middle;
    }
    return place_at(r, low, offset - r->line_starts[low]);
}

/* libyaml counts columns in characters; places count bytes. */
static src_pos place_of_mark(reader *r, yaml_mark_t mark)
{
    if (mark.line >= r->line_count) return place_of_offset(r, r->source.n);
    if (r->is_ascii) return place_at(r, mark.line, mark.column);
    if (mark.line != r->last.line || mark.column < r->last.column) {
        r->last.line = mark.line;
        r->last.column = 0;
        r->last.bytes = 0;
    }
    size_t line_start = r->line_starts[mark.line];
    while (r->last.column < mark.column && line_start + r->last.bytes < r->source.n) {
        size_t at = line_start + r->last.bytes;
        size_t len;
        str_utf8_decode((str){r->source.p + at, r->source.n - at}, &len);
        r->last.bytes += len;
        r->last.column++;
    }
    return place_at(r, mark.line, r->last.bytes);
}

static void find_lines(reader *r)
{
    size_t at = 0;
    for (;;) {
        r->line_starts = table_grow(r->line_starts, &r->line_capacity, r->line_count + 1, sizeof *r->line_starts);
        r->line_starts[r->line_count++] = at;
        const char *newline = at == r->source.n ? NULL : memchr(r->source.p + at, '\n', r->source.n - at);
        if (newline == NULL) return;
        at = (size_t)(newline - r->source.p) + 1;
    }
}

/* Refuses characters that no pipeline needs and that hide what a file says. */
static status check_characters(reader *r)
{
    size_t bad = str_utf8_error(r->source);
    if (bad != r->source.n) {
        diag_error(r->d, place_of_offset(r, bad), &E1002, "byte 0x%02x is not valid UTF-8 text; save the file as UTF-8",
                   (unsigned)(unsigned char)r->source.p[bad]);
        return FAILED;
    }
    r->is_ascii = true;
    for (size_t at = 0, len; at < r->source.n; at += len) {
        const str rest = {r->source.p + at, r->source.n - at};
        len = str_plain_prefix(rest);
        if (len > 0) continue;
        uint32_t c = str_utf8_decode(rest, &len);
        if (c >= 0x80) r->is_ascii = false;
        bool line_end = c == '\n' || (c == '\r' && at + 1 < r->source.n && r->source.p[at + 1] == '\n');
        if (line_end) continue;
        if (c == '\t') {
            diag_error(r->d, place_of_offset(r, at), &E1003,
                       "tabs are not allowed here; use spaces, or \\t in double quotes");
            return FAILED;
        }
        if (c == 0xFEFF) {
            diag_error(r->d, place_of_offset(r, at), &E1004,
                       "byte order marks are not allowed; save the file as UTF-8 without one");
            return FAILED;
        }
        if (utf8_is_deceptive(c)) {
            diag_error(r->d, place_of_offset(r, at), &E1005, "control character U+%04X is not allowed; remove it", c);
            return FAILED;
        }
    }
    return OK;
}

bool yaml_is_null(str s)
{
    return s.n == 0 || str_is(s, "~") || str_is(s, "null") || str_is(s, "Null") || str_is(s, "NULL");
}

static status refuse_anchor_and_tag(const reader *r, src_pos at, const yaml_char_t *anchor, const yaml_char_t *tag)
{
    if (anchor != NULL) {
        diag_error(r->d, at, &E1007, "anchors are not allowed: `&%s`; write the value where it is needed",
                   (const char *)anchor);
        return FAILED;
    }
    if (tag != NULL) {
        diag_error(r->d, at, &E1009, "tags are not allowed: `%s`; types come from the schema", (const char *)tag);
        return FAILED;
    }
    return OK;
}

static status check_scalar_text(const reader *r, src_pos at, str text)
{
    if (text.n > YAML_SCALAR_BYTES_MAX) {
        diag_error(r->d, at, &E1018, "a scalar of %zu bytes is too long; the limit is %d", text.n,
                   YAML_SCALAR_BYTES_MAX);
        return FAILED;
    }
    for (size_t i = str_plain_prefix(text), len; i < text.n; i += len) {
        uint32_t c = str_utf8_decode((str){text.p + i, text.n - i}, &len);
        if (!utf8_is_deceptive(c)) continue;
        diag_error(r->d, at, &E1005, "this scalar holds the control character U+%04X; remove the escape", c);
        return FAILED;
    }
    return OK;
}

static yaml_node *node_create(reader *r, yaml_kind kind, src_pos at)
{
    yaml_node *node = arena_alloc(r->a, sizeof *node);
    node->kind = kind;
    node->at = at;
    return node;
}

static status count_node(reader *r, src_pos at)
{
    if (++r->node_count <= r->node_max) return OK;
    diag_error(r->d, at, &E1017, "more than %" PRIu32 " values in one file", r->node_max);
    return FAILED;
}

/* Puts a finished or opened value where it belongs: root, next item, or value of the waiting key. */
static status place_value(reader *r, yaml_node *node)
{
    if (r->depth == 0) {
        r->root = node;
        return OK;
    }
    frame *f = &r->frames[r->depth - 1];
    if (f->node->kind == YAML_SEQUENCE) {
        f->items = table_grow(f->items, &f->capacity, f->node->count + 1, sizeof(yaml_node *));
        f->items[f->node->count++] = node;
        return OK;
    }
    if (!f->has_key) {
        diag_error(r->d, node->at, &E1014, "%s cannot be a key; keys are plain names", yaml_kind_text(node->kind));
        return FAILED;
    }
    f->pairs[f->node->count - 1].value = node;
    f->has_key = false;
    return OK;
}

static status take_key(reader *r, frame *f, src_pos at, str text, bool quoted)
{
    if (!quoted && str_is(text, "<<")) {
        diag_error(r->d, at, &E1012, "merge keys are not allowed; use `extends:` and `edit:`, or write the keys out");
        return FAILED;
    }
    if (text.n == 0 || (!quoted && yaml_is_null(text))) {
        diag_error(r->d, at, &E1014, "a key must be a name");
        return FAILED;
    }
    if (text.n > YAML_KEY_BYTES_MAX) {
        diag_error(r->d, at, &E1018, "a key of %zu bytes is too long; the limit is %d", text.n, YAML_KEY_BYTES_MAX);
        return FAILED;
    }
    f->pairs = table_grow(f->pairs, &f->capacity, f->node->count + 1, sizeof(yaml_pair));
    f->pairs[f->node->count++] = (yaml_pair){.key = {arena_strndup(r->a, text.p, text.n), text.n}, .key_at = at};
    f->has_key = true;
    return OK;
}

/* What begins after the first column is a part of something else, such as an option of the command line. */
static void nothing_there(reader *r, src_pos at)
{
    diag_error(r->d, at, &E1019, r->start.column > 1 ? "a value is missing here" : "the file has no content");
}

static status take_scalar(reader *r, src_pos at, const yaml_event_t *e)
{
    str text = {(const char *)e->data.scalar.value, e->data.scalar.length};
    bool quoted = e->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    TRY(refuse_anchor_and_tag(r, at, e->data.scalar.anchor, e->data.scalar.tag));
    TRY(check_scalar_text(r, at, text));
    frame *f = r->depth == 0 ? NULL : &r->frames[r->depth - 1];
    if (f != NULL && f->node->kind == YAML_MAPPING && !f->has_key) return take_key(r, f, at, text, quoted);
    if (!quoted && text.n == 0) {
        if (f == NULL) {
            nothing_there(r, at);
        } else if (f->node->kind == YAML_MAPPING) {
            yaml_pair *p = &f->pairs[f->node->count - 1];
            diag_error(r->d, p->key_at, &E1015, "`%s` has no value; write one, or leave the key out", p->key.p);
        } else {
            diag_error(r->d, at, &E1015, "this item has no value");
        }
        return FAILED;
    }
    if (!quoted && yaml_is_null(text)) {
        diag_error(r->d, at, &E1015, "`%.*s` is not a value here; leave the key out, or quote it to mean the text",
                   (int)text.n, text.p);
        return FAILED;
    }
    TRY(count_node(r, at));
    yaml_node *node = node_create(r, YAML_SCALAR, at);
    node->quoted = quoted;
    node->text = (str){arena_strndup(r->a, text.p, text.n), text.n};
    return place_value(r, node);
}

static status open_collection(reader *r, yaml_kind kind, src_pos at, const yaml_char_t *anchor, const yaml_char_t *tag)
{
    TRY(refuse_anchor_and_tag(r, at, anchor, tag));
    if (r->depth == YAML_DEPTH_MAX) {
        diag_error(r->d, at, &E1016, "nested deeper than %d levels", YAML_DEPTH_MAX);
        return FAILED;
    }
    TRY(count_node(r, at));
    yaml_node *node = node_create(r, kind, at);
    TRY(place_value(r, node));
    r->frames[r->depth++] = (frame){.node = node};
    return OK;
}

static int compare_pairs(const void *a, const void *b)
{
    const yaml_pair *x = *(const yaml_pair *const *)a;
    const yaml_pair *y = *(const yaml_pair *const *)b;
    const int order = str_order(x->key, y->key);
    return order != 0 ? order : (x > y) - (x < y);
}

static status refuse_duplicate_keys(const reader *r, const yaml_node *map)
{
    if (map->count < 2) return OK;
    size_t capacity = 0;
    const yaml_pair **sorted = table_grow(NULL, &capacity, map->count, sizeof(yaml_pair *));
    for (uint32_t i = 0; i < map->count; i++) sorted[i] = &map->pairs[i];
    qsort(sorted, map->count, sizeof(yaml_pair *), compare_pairs);
    const yaml_pair *first = NULL;
    const yaml_pair *again = NULL;
    for (uint32_t i = 1; i < map->count; i++) {
        if (!str_eq(sorted[i - 1]->key, sorted[i]->key) || (again != NULL && again < sorted[i])) continue;
        first = sorted[i - 1];
        again = sorted[i];
    }
    table_free(sorted);
    if (again == NULL) return OK;
    diag_error(r->d, again->key_at, &E1013, "`%s` occurs twice in this mapping; keep one", again->key.p);
    diag_note(r->d, first->key_at, "the first one");
    return FAILED;
}

static status close_collection(reader *r)
{
    frame *f = &r->frames[r->depth - 1];
    yaml_node *node = f->node;
    if (node->kind == YAML_SEQUENCE) {
        node->items = arena_copy(r->a, f->items, node->count * sizeof(yaml_node *));
        table_free(f->items);
    } else {
        node->pairs = arena_copy(r->a, f->pairs, node->count * sizeof(yaml_pair));
        table_free(f->pairs);
    }
    *f = (frame){0};
    r->depth--;
    return node->kind == YAML_MAPPING ? refuse_duplicate_keys(r, node) : OK;
}

static status start_document(reader *r, src_pos at, const yaml_event_t *e)
{
    if (e->data.document_start.version_directive != NULL ||
        e->data.document_start.tag_directives.start != e->data.document_start.tag_directives.end) {
        diag_error(r->d, at, &E1010, "directives (`%%YAML`, `%%TAG`) are not allowed; remove the line");
        return FAILED;
    }
    if (++r->document_count == 1) return OK;
    diag_error(r->d, at, &E1011, "a second document begins here; one file holds one document");
    return FAILED;
}

static status take_event(reader *r, const yaml_event_t *e)
{
    src_pos at = place_of_mark(r, e->start_mark);
    switch (e->type) {
    case YAML_DOCUMENT_START_EVENT: return start_document(r, at, e);
    case YAML_SCALAR_EVENT: return take_scalar(r, at, e);
    case YAML_SEQUENCE_START_EVENT:
        return open_collection(r, YAML_SEQUENCE, at, e->data.sequence_start.anchor, e->data.sequence_start.tag);
    case YAML_MAPPING_START_EVENT:
        return open_collection(r, YAML_MAPPING, at, e->data.mapping_start.anchor, e->data.mapping_start.tag);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT: return close_collection(r);
    case YAML_ALIAS_EVENT:
        diag_error(r->d, at, &E1008, "aliases are not allowed: `*%s`; write the value out, or use `$params.`",
                   (const char *)e->data.alias.anchor);
        return FAILED;
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_STREAM_END_EVENT:
    case YAML_DOCUMENT_END_EVENT: return OK;
    }
    return OK;
}

static status report_syntax(reader *r, const yaml_parser_t *parser)
{
    const char *problem = parser->problem == NULL ? "cannot be read" : parser->problem;
    if (parser->error == YAML_READER_ERROR) {
        size_t offset = parser->problem_offset < r->source.n ? parser->problem_offset : r->source.n;
        diag_error(r->d, place_of_offset(r, offset), &E1006, "%s", problem);
        return FAILED;
    }
    src_pos at = place_of_mark(r, parser->problem_mark);
    if (strcmp(problem, "found unknown directive name") == 0) {
        diag_error(r->d, at, &E1010, "directives are not allowed; remove the line that begins with `%%`");
    } else if (parser->context == NULL) {
        diag_error(r->d, at, &E1006, "%s", problem);
    } else {
        diag_error(r->d, at, &E1006, "%s %s", parser->context, problem);
    }
    return FAILED;
}

static status read_events(reader *r)
{
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser)) {
        diag_error(r->d, r->start, &E1006, "no memory for the YAML parser");
        return FAILED;
    }
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *)r->source.p, r->source.n);
    status result = OK;
    for (bool done = false; !done && result == OK;) {
        yaml_event_t event;
        if (!yaml_parser_parse(&parser, &event)) {
            result = report_syntax(r, &parser);
            break;
        }
        done = event.type == YAML_STREAM_END_EVENT;
        result = take_event(r, &event);
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    if (result == OK && r->root == NULL) {
        nothing_there(r, r->start);
        result = FAILED;
    }
    return result;
}

typedef struct limits {
    size_t bytes;
    uint32_t nodes;
} limits;
static const limits by_hand = {YAML_FILE_BYTES_MAX, YAML_NODES_MAX};
static const limits by_tools = {YAML_WRITTEN_BYTES_MAX, YAML_WRITTEN_NODES_MAX};

static status read_text(arena *a, diag_engine *d, src_pos start, str source, limits most, yaml_node **out_root)
{
    if (source.n > most.bytes) {
        diag_error(d, (src_pos){start.file, 0, 0}, &E1001, "the file has more than %zu bytes", most.bytes);
        return FAILED;
    }
    reader r = {.a = a, .d = d, .start = start, .source = source, .node_max = most.nodes};
    find_lines(&r);
    status result = check_characters(&r);
    if (result == OK) result = read_events(&r);
    for (uint32_t i = 0; i < r.depth; i++) {
        table_free(r.frames[i].items);
        table_free(r.frames[i].pairs);
    }
    table_free(r.line_starts);
    if (result == OK) *out_root = r.root;
    return result;
}

status yaml_read_text(arena *a, diag_engine *d, src_pos start, str source, yaml_node **out_root)
{
    return read_text(a, d, start, source, by_hand, out_root);
}

static status read_file(arena *a, diag_engine *d, const char *path, limits most, yaml_node **out_root)
{
    src_pos start = {arena_strdup(a, path), 1, 1};
    FILE *in = fopen(path, "rb");
    if (in == NULL) {
        diag_error(d, NO_POS, &E1501, "cannot open `%s`: %s", path, strerror(errno));
        return FAILED;
    }
    size_t capacity = 0, n = 0, got;
    char *bytes = NULL;
    /* One byte more than there may be: then it is too many. */
    do {
        bytes = table_grow(bytes, &capacity, n + 4096, 1);
        const size_t space = capacity - n, wanted = most.bytes + 1 - n;
        got = fread(bytes + n, 1, space < wanted ? space : wanted, in);
        n += got;
    } while (got != 0 && !feof(in) && !ferror(in) && n <= most.bytes);
    status result = OK;
    if (ferror(in)) {
        diag_error(d, NO_POS, &E1501, "cannot read `%s`: %s", path, strerror(errno));
        result = FAILED;
    }
    fclose(in);
    if (result == OK) result = read_text(a, d, start, (str){bytes, n}, most, out_root);
    table_free(bytes);
    return result;
}

status yaml_read_file(arena *a, diag_engine *d, const char *path, yaml_node **out_root)
{
    return read_file(a, d, path, by_hand, out_root);
}

status yaml_read_written(arena *a, diag_engine *d, const char *path, yaml_node **out_root)
{
    return read_file(a, d, path, by_tools, out_root);
}

yaml_pair *yaml_find_pair(const yaml_node *map, str key)
{
    if (map == NULL || map->kind != YAML_MAPPING) return NULL;
    for (uint32_t i = 0; i < map->count; i++) {
        if (str_eq(map->pairs[i].key, key)) return &map->pairs[i];
    }
    return NULL;
}

yaml_node *yaml_find(const yaml_node *map, const char *key)
{
    yaml_pair *pair = yaml_find_pair(map, str_from(key));
    return pair == NULL ? NULL : pair->value;
}

yaml_node *yaml_new_scalar(arena *a, src_pos at, str text, bool quoted)
{
    yaml_node *node = arena_alloc(a, sizeof *node);
    *node = (yaml_node){.kind = YAML_SCALAR, .quoted = quoted, .at = at, .text = text};
    return node;
}

yaml_node *yaml_new_mapping(arena *a, src_pos at)
{
    yaml_node *node = arena_alloc(a, sizeof *node);
    *node = (yaml_node){.kind = YAML_MAPPING, .at = at};
    return node;
}

yaml_pair *yaml_set(arena *a, yaml_node *map, str key, src_pos key_at, yaml_node *value)
{
    BUG_IF(map->kind != YAML_MAPPING, "a key is set in a node that is not a mapping");
    yaml_pair *pair = yaml_find_pair(map, key);
    if (pair == NULL) {
        yaml_pair *pairs = arena_array(a, map->count + 1, sizeof *pairs);
        if (map->count != 0) memcpy(pairs, map->pairs, map->count * sizeof *pairs);
        map->pairs = pairs;
        pair = &pairs[map->count++];
        pair->key = key;
    }
    pair->key_at = key_at;
    pair->value = value;
    return pair;
}

const char *yaml_kind_text(yaml_kind kind)
{
    switch (kind) {
    case YAML_SCALAR: return "a scalar";
    case YAML_SEQUENCE: return "a sequence";
    case YAML_MAPPING: return "a mapping";
    case YAML_NONE: break;
    }
    return "nothing";
}

static bool is_plain_key(str key)
{
    for (size_t i = 0; i < key.n; i++) {
        char c = key.p[i];
        bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        if (!word && (i == 0 || (c != '-' && c != '.'))) return false;
    }
    return key.n != 0 && !yaml_is_null(key);
}

void yaml_write_name(text_buffer *t, str name)
{
    if (is_plain_key(name)) {
        text_put(t, name.p, name.n);
    } else {
        text_put_quoted(t, name);
    }
}
