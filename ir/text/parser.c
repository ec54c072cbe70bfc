/* Reading of texts: checks of the whole, the module around the functions, going on after errors. */
#include "ir/text/parser_state.h"
#include "ir/text/source_text.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIRST_READ_BYTES = 64 * 1024, FIRST_STACK = 64, OPS_UNASKED = 1024 };
static const size_t max_text_bytes = (size_t)2 << 30;

static src_pos place_of(const char *file, str text, size_t offset)
{
    uint32_t line = 1;
    size_t start = 0;
    for (;;) {
        const char *newline = memchr(text.p + start, '\n', offset - start);
        if (newline == NULL) break;
        line++;
        start = (size_t)(newline - text.p) + 1;
    }
    return (src_pos){.file = file, .line = line, .column = (uint32_t)(offset - start) + 1};
}

/* str_utf8_error in steps that end in a line's end, so that not the whole of a large file has to be in memory. */
static size_t utf8_error(str text, source_text *owner)
{
    enum { STEP = 8 * MAX_LINE_BYTES };
    size_t at = 0;
    while (text.n - at > STEP) {
        const char *newline = memrchr(text.p + at, '\n', STEP);
        const size_t end = newline == NULL ? text.n : (size_t)(newline - text.p) + 1;
        const size_t bad = str_utf8_error((str){text.p + at, end - at});
        if (bad != end - at) return at + bad;
        if (owner != NULL) source_text_rest(owner, at, end);
        at = end;
    }
    const size_t bad = at + str_utf8_error((str){text.p + at, text.n - at});
    if (owner != NULL && at != 0) source_text_rest(owner, at, text.n);
    return bad;
}

/* Text, lines of bearable length: what the lexer takes for granted. */
static status check_text(diag_engine *d, str text, source_text *owner, const char *file)
{
    if (text.n > max_text_bytes) {
        diag_error(d, (src_pos){.file = file}, &E0103, "the text has %zu bytes; the limit is %zu", text.n,
                   max_text_bytes);
        return FAILED;
    }
    /* From line start to line start in the largest steps that no longer line fits into. */
    for (size_t at = 0; text.n - at > MAX_LINE_BYTES;) {
        const char *newline = memrchr(text.p + at, '\n', MAX_LINE_BYTES + 1);
        if (newline == NULL) {
            newline = memchr(text.p + at, '\n', text.n - at);
            const size_t end = newline == NULL ? text.n : (size_t)(newline - text.p);
            diag_error(d, place_of(file, text, at), &E0103, "the line has %zu bytes; the limit is %d", end - at,
                       MAX_LINE_BYTES);
            return FAILED;
        }
        at = (size_t)(newline - text.p) + 1;
    }
    if (str_starts_with(text, "\xef\xbb\xbf")) {
        diag_error(d, place_of(file, text, 0), &E0101, "the text begins with a byte order mark; save it without one");
        return FAILED;
    }
    size_t bad = utf8_error(text, owner);
    if (bad == text.n) return OK;
    if (text.p[bad] == 0) {
        diag_error(d, place_of(file, text, bad), &E0101, "a NUL byte; the input is not text");
    } else {
        diag_error(d, place_of(file, text, bad), &E0101, "the byte 0x%02x is not valid UTF-8 here",
                   (unsigned)(unsigned char)text.p[bad]);
    }
    return FAILED;
}

/* ---- functions ---- */

static bool at_function(const parser *p)
{
    return p->tok.kind == TOK_STRING || at_word(p, "func") || at_word(p, "block.kernel");
}

static status fail_unclosed(parser *p)
{
    const frame *f = &p->frames[p->depth - 1];
    p->stop = true;
    /* After another error the braces may have been skipped. */
    if (p->errors++ != 0) return FAILED;
    diag_error(p->diags, pos_of(p, &p->tok), &E0106, "expected `}` before the end of the text");
    diag_note(p->diags, pos_at(p, f->line, f->column), "to close the block of `%s`", op_info_at(p->ops, f->kind)->name);
    return FAILED;
}

static status fail_late(parser *p)
{
    p->stop = true;
    p->errors++;
    diag_error(p->diags, pos_of(p, &p->tok), &E0117, "the time ran out while the text was read");
    return FAILED;
}

/* Ops and blocks until the function ends. */
static status parse_body(parser *p)
{
    while (p->depth != 0 && !p->stop) {
        if (++p->op_count % OPS_UNASKED == 0 && context_should_stop(p->c)) return fail_late(p);
        if (p->tok.kind == '}') {
            TRY(close_block(p));
        } else if (p->tok.kind == TOK_END) {
            return fail_unclosed(p);
        } else {
            TRY(parse_op(p));
        }
    }
    return p->stop ? FAILED : OK;
}

static status parse_function(parser *p)
{
    p->is_generic = false;
    p->poisoned = false;
    if (at_word(p, "func")) {
        TRY(parse_func(p));
    } else if (at_word(p, "block.kernel")) {
        TRY(parse_kernel(p));
    } else if (p->tok.kind == TOK_STRING) {
        TRY(parse_generic(p, p->results.count, 0));
    } else {
        return fail_expected(p, "`func`, `block.kernel` or the end of the module");
    }
    return parse_body(p);
}

/* Goes on at the next function that starts a line. */
static void skip_function(parser *p)
{
    p->depth = 0;
    p->brackets = 0;
    p->no_values = p->no_slots = false;
    p->operands.count = p->types.count = p->exprs.count = p->keys.count = p->attrs.count = 0;
    p->results.count = p->refs.count = 0;
    names_reset(p);
    uint32_t line = p->tok.line;
    while (p->tok.kind != TOK_END && (p->tok.line == line || !at_function(p) || p->tok.kind == TOK_STRING)) {
        line = p->tok.line;
        next(p);
    }
}

/* Between functions nothing points into the text before them but caches. */
static void drop_text(parser *p)
{
    if (p->text == NULL || !source_text_drop(p->text, p->tok.start)) return;
    memset(p->type_cache, 0, sizeof p->type_cache);
    memset(p->string_cache, 0, sizeof p->string_cache);
    diag_add_source(p->diags, p->file, (str){NULL, 0});
}

static void parse_functions(parser *p)
{
    while (!p->stop && p->tok.kind != TOK_END && p->tok.kind != '}') {
        if (parse_function(p) != OK && !p->stop) skip_function(p);
        drop_text(p);
    }
}

/* ---- the module ---- */

static const char dialect_prefix[] = "pto_core.";

/* MLIR requires a dialect's name before attributes of modules; it is not part of ours. */
static void strip_prefixes(parser *p, size_t from)
{
    for (size_t i = from; i < p->keys.count; i++) {
        str key = string_of(p->c, p->keys.items[i]);
        size_t n = sizeof dialect_prefix - 1;
        if (str_starts_with(key, dialect_prefix)) p->keys.items[i] = string_intern(p->c, (str){key.p + n, key.n - n});
    }
}

static status parse_module_dict(parser *p, bool is_mlir)
{
    p->is_generic = is_mlir;
    size_t from = p->keys.count;
    const src_pos at = pos_of(p, &p->tok);
    module_set_attrs_pos(p->m, at);
    TRY(parse_dict(p, NULL, 0, from));
    if (is_mlir) strip_prefixes(p, from);
    const attr_id attrs = pop_attrs(p, from);
    module_set_attrs(p->m, attrs);
    p->is_generic = false;
    return declare_names(p, at, attrs);
}

/* MLIR writes the attributes of a module after its body, which has names that they declare: they are read before it,
 * and then again in their place. */
static status read_attributes_ahead(parser *p)
{
    const lexer body = p->lex;
    const token first = p->tok;
    size_t open = 0;
    do {
        open += p->tok.kind == '{';
        open -= p->tok.kind == '}';
        next(p);
    } while (open != 0 && p->tok.kind != TOK_END);
    status s = OK;
    if (accept(p, ')') && p->tok.kind == '{') s = parse_module_dict(p, true);
    p->lex = body;
    p->tok = first;
    return s;
}

static status end_module(parser *p, const token *open)
{
    if (p->stop) return FAILED;
    TRY(expect_close(p, '}', open));
    return OK;
}

static status skip_loc(parser *p)
{
    loc_id unused = 0;
    return at_word(p, "loc") ? parse_loc(p, &unused) : OK;
}

static void rename_module(parser *p, str_id name)
{
    module_destroy(p->m);
    p->m = module_create(p->c, name);
    module_set_file(p->m, p->file_id);
}

/* `module @name {attributes} { ... }`, MLIR's `module @name attributes {..} { ... }` too. */
static status parse_wrapped(parser *p)
{
    next(p);
    if (p->tok.kind == TOK_AT) {
        str_id name;
        TRY(parse_symbol_name(p, &name));
        rename_module(p, name);
    }
    bool is_mlir = accept_word(p, "attributes");
    if (is_mlir || (p->tok.kind == '{' && at_dict(p))) TRY(parse_module_dict(p, is_mlir));
    token open = p->tok;
    TRY(expect(p, '{', "`{`"));
    parse_functions(p);
    TRY(end_module(p, &open));
    return skip_loc(p);
}

/* `"builtin.module"() <{sym_name = "n"}> ({ ... }) {attributes} : () -> ()` */
static status parse_builtin(parser *p)
{
    next(p);
    TRY(expect(p, '(', "`(`"));
    TRY(expect(p, ')', "`)`"));
    if (accept(p, '<')) {
        size_t from = p->keys.count;
        p->is_generic = true;
        TRY(parse_dict(p, NULL, 0, from));
        p->is_generic = false;
        TRY(expect(p, '>', "`>`"));
        attr_id dict = pop_attrs(p, from);
        attr_id name = dict == 0 ? 0 : attr_get(p->c, dict, string_intern_z(p->c, "sym_name"));
        if (name != 0 && attr_at(p->c, name)->kind == ATTR_STRING) {
            if (!lexer_is_name(string_of(p->c, attr_at(p->c, name)->id), true))
                return fail_expected(p, "a plain module name");
            rename_module(p, attr_at(p->c, name)->id);
        }
    }
    TRY(expect(p, '(', "`(`"));
    token open = p->tok;
    if (open.kind == '{') TRY(read_attributes_ahead(p));
    TRY(expect(p, '{', "`{`"));
    parse_functions(p);
    TRY(end_module(p, &open));
    TRY(expect(p, ')', "`)`"));
    if (p->tok.kind == '{') TRY(parse_module_dict(p, true));
    TRY(expect(p, ':', "`:`"));
    TRY(expect(p, '(', "`(`"));
    TRY(expect(p, ')', "`)`"));
    TRY(expect(p, TOK_ARROW, "`->`"));
    TRY(expect(p, '(', "`(`"));
    TRY(expect(p, ')', "`)`"));
    return skip_loc(p);
}

static status parse_top(parser *p)
{
    next(p);
    if (at_word(p, "module")) {
        TRY(parse_wrapped(p));
    } else if (p->tok.kind == TOK_STRING && str_is(text_of(&p->tok), "builtin.module")) {
        TRY(parse_builtin(p));
    } else {
        parse_functions(p);
    }
    if (p->errors == 0 && p->tok.kind != TOK_END) return fail_expected(p, "the end of the text");
    return p->errors == 0 ? OK : FAILED;
}

/* Stacks start with some capacity, so that a pointer to where an op's part begins is never one from NULL. */
static void parser_init(parser *p)
{
    id_stack *const stacks[] = {&p->operands, &p->types, &p->exprs, &p->keys, &p->attrs};
    for (size_t i = 0; i < sizeof stacks / sizeof stacks[0]; i++) {
        stacks[i]->items = table_grow(NULL, &stacks[i]->capacity, FIRST_STACK, sizeof(uint32_t));
    }
    p->results.items = table_grow(NULL, &p->results.capacity, FIRST_STACK, sizeof *p->results.items);
    p->refs.items = table_grow(NULL, &p->refs.capacity, FIRST_STACK, sizeof *p->refs.items);
    p->names.visible = table_grow(NULL, &p->names.visible_capacity, FIRST_STACK, sizeof *p->names.visible);
    names_reset(p);
}

static void parser_fini(parser *p)
{
    names_fini(p);
    table_free(p->operands.items);
    table_free(p->types.items);
    table_free(p->exprs.items);
    table_free(p->keys.items);
    table_free(p->attrs.items);
    table_free(p->results.items);
    table_free(p->refs.items);
    text_fini(&p->scratch);
}

/* `text` is NUL-terminated; `owner` holds it when parts may be dropped, and may be NULL. */
static status parse_terminated(ir_context *c, str text, const char *file, source_text *owner, module **out)
{
    diag_engine *d = context_diags(c);
    diag_add_source(d, file, text);
    status s = check_text(d, text, owner, file);
    if (s == OK) {
        arena *memory = arena_create("parser");
        parser *p = arena_alloc(memory, sizeof *p);
        p->c = c;
        p->ops = context_ops(c);
        p->diags = d;
        p->text = owner;
        p->file = file;
        p->file_id = string_intern_z(c, file);
        p->index_type = type_scalar(c, DTYPE_INDEX);
        loc_set_main_file(c, p->file_id);
        p->m = module_create(c, 0);
        module_set_file(p->m, p->file_id);
        parser_init(p);
        lexer_init(&p->lex, text.p);
        s = parse_top(p);
        if (p->errors == MAX_ERRORS) diag_note(d, NO_POS, "reading stops at the error number %d", MAX_ERRORS);
        if (s == OK) {
            if (p->needs_settle) module_settle(p->m);
            *out = p->m;
        } else {
            module_destroy(p->m);
        }
        parser_fini(p);
        arena_destroy(memory);
    }
    diag_add_source(d, file, (str){NULL, 0});
    return s;
}

status parse_module(ir_context *c, str text, const char *file, module **out)
{
    arena *copy = arena_create("text");
    str terminated = {arena_strndup(copy, text.p, text.n), text.n};
    status s = parse_terminated(c, terminated, file, NULL, out);
    arena_destroy(copy);
    return s;
}

static status fail_unreadable(ir_context *c, const char *file, const char *cause)
{
    diag_error(context_diags(c), (src_pos){.file = file}, &E0115, "cannot be read: %s", cause);
    return FAILED;
}

status parse_file(ir_context *c, const char *path, module **out)
{
    bool is_stdin = strcmp(path, "-") == 0;
    const char *file = is_stdin ? "<stdin>" : path;
    int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return fail_unreadable(c, file, strerrordesc_np(errno));
    struct stat info;
    status s = OK;
    bool is_file = false;
    size_t expected = FIRST_READ_BYTES;
    if (fstat(fd, &info) == 0) {
        if (S_ISDIR(info.st_mode)) s = fail_unreadable(c, file, "it is a directory");
        if (S_ISREG(info.st_mode) && (size_t)info.st_size > max_text_bytes) {
            s = fail_unreadable(c, file, "it is larger than 2 GB");
        } else if (S_ISREG(info.st_mode)) {
            expected = (size_t)info.st_size;
            is_file = !is_stdin;
        }
    }
    source_text text = {0};
    if (s == OK && source_text_read(&text, fd, expected, max_text_bytes) != OK)
        s = fail_unreadable(c, file, strerrordesc_np(errno));
    if (!is_stdin) close(fd);
    /* Carets of dropped lines are read from the file again; the standard input cannot be. */
    if (s == OK) s = parse_terminated(c, (str){text.bytes, text.n}, file, is_file ? &text : NULL, out);
    source_text_close(&text);
    return s;
}
