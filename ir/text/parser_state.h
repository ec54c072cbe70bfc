/* What the parts of the parser share; only for ir/parser*.c. */
#ifndef IR_TEXT_PARSER_STATE_H
#define IR_TEXT_PARSER_STATE_H

#include "ir/op_form.h"
#include "ir/op_table.h"
#include "ir/text/lexer.h"
#include "ir/text/parser.h"
#include "ir/verify/verifier.h"

enum {
    MAX_BLOCK_NESTING = VERIFIER_BLOCK_NESTING,
    MAX_BRACKET_NESTING = 64,
    MAX_EXPR_LEAVES = 128,
    MAX_LINE_BYTES = 1 << 20,
    MAX_COUNT = 65535,
    MAX_DICT_ENTRIES = VERIFIER_ATTRS,
    MAX_ERRORS = 20
};

/* The value of a name whose definition failed: uses of it are not reported again. */
#define POISON_VALUE 0xffffffffu

typedef struct id_stack {
    uint32_t *items;
    size_t count, capacity;
} id_stack;

/* A name as it was written, before or after it has a value. */
typedef struct name_ref {
    value_name name;
    uint32_t line, column;
} name_ref;

typedef struct name_stack {
    name_ref *items;
    size_t count, capacity;
} name_stack;

/* What a name stands for. `value` 0 with a line: a name that is not visible here any more; line 0: none yet. */
typedef struct name_entry {
    value_id value;
    uint32_t line; /* of the definition */
} name_entry;

typedef struct name_slot {
    value_name name; /* base 0 with VALUE_NO_NUMBER: empty */
    name_entry entry;
} name_slot;

/* Names of one base whose numbers count up without large gaps, by number. */
typedef struct name_series {
    str_id base;
    uint32_t end; /* entries before it may be in use */
    uint32_t used;
    name_entry *entries;
    size_t capacity;
} name_series;

enum { NAME_SERIES = 8 };

/* The first few numbered bases of a function are series; all other names are in an open-addressing table. */
typedef struct name_table {
    name_series series[NAME_SERIES];
    uint32_t series_count;
    name_slot *slots;
    size_t capacity; /* of the memory */
    size_t mask, used;
    value_name *visible; /* in order of definition, for leaving scopes */
    size_t visible_count, visible_capacity;
} name_table;

/* An op whose block is open. */
typedef struct frame {
    op_id op;
    op_kind kind;
    bool is_generic;
    uint8_t block_index;
    block_id block;
    size_t scope;             /* visible names when the block opened */
    size_t names, name_count; /* in p->results */
    uint32_t line, column;    /* of the `{` */
    size_t generic_operands;  /* generic: first in `operands` */
    uint32_t op_line, op_column;
} frame;

enum { TYPE_CACHE_SIZE = 256, KIND_CACHE_SIZE = 512, STRING_CACHE_SIZE = 256 };

typedef struct type_cache_entry {
    const char *p;
    uint32_t n;
    type_id type;
} type_cache_entry;

typedef struct kind_cache_entry {
    op_kind kind;
    uint32_t n; /* length of its name */
} kind_cache_entry;

typedef struct string_cache_entry {
    const char *p;
    uint32_t n;
    str_id id;
} string_cache_entry;

typedef struct parser {
    ir_context *c;
    op_table *ops;
    diag_engine *diags;
    module *m;
    struct source_text *text; /* NULL: the text is kept */
    const char *file;
    str_id file_id;
    uint32_t declared[NAME_KIND_COUNT]; /* by the attributes of the module: 1 << id for each name */
    lexer lex;
    token tok;
    uint32_t errors;
    bool stop;         /* nothing more is parsed */
    uint32_t op_count; /* to ask now and then whether the time is up */
    bool is_generic;   /* inside of a generic op: MLIR's escapes and types */
    uint32_t brackets;
    uint32_t leaves;   /* of the expression being read */
    bool no_values;    /* expressions over symbols only */
    bool no_slots;     /* generic: the attribute cannot mention operands */
    size_t slot_base;  /* generic: where the operands begin that slots count */
    bool keep_slots;   /* generic: slots count the grid indices of a kernel */
    bool needs_settle; /* names or use lists are not as module_settle leaves them */
    bool poisoned;     /* the op being read uses a poisoned name */
    name_table names;
    id_stack operands, types, exprs, keys, attrs;
    name_stack results, refs;
    frame frames[MAX_BLOCK_NESTING];
    uint32_t depth;
    type_cache_entry type_cache[TYPE_CACHE_SIZE];
    const type_cache_entry *last_type; /* found last; NULL at first */
    string_cache_entry string_cache[STRING_CACHE_SIZE];
    kind_cache_entry kind_cache[KIND_CACHE_SIZE];
    op_form forms[OP_KIND_COUNT];
    text_buffer scratch;
    type_id index_type;
} parser;

/* Functions that return a status fail after a diagnostic. */

/* ---- parser_tokens.c: tokens, errors ---- */
/* Takes the token at hand; the place of a token in the text; its own text, in the buffer that is parsed. */
static inline void next(parser *p) { lexer_next(&p->lex, &p->tok); }
src_pos pos_of(const parser *p, const token *t);
src_pos pos_at(const parser *p, uint32_t line, uint32_t column);
static inline str text_of(const token *t) { return (str){t->p, t->n}; }
/* The token as it is shown in a message: "`x`", "the end of the text". Valid until the next call. */
const char *shown(parser *p, const token *t);
/* Counts an error; true when it may be reported. */
bool may_report(parser *p);
#define FAIL(p, at, code, ...)                                                 \
    do {                                                                       \
        if (may_report(p)) diag_error((p)->diags, (at), &(code), __VA_ARGS__); \
        return FAILED;                                                         \
    } while (0)
#define FAIL_HERE(p, code, ...) FAIL(p, pos_of((p), &(p)->tok), code, __VA_ARGS__)
/* "expected <what> but found <token>", or what is wrong with the token itself. */
MUST_CHECK status fail_expected(parser *p, const char *what);
MUST_CHECK status expect(parser *p, uint32_t kind, const char *what);
/* The same for a closing bracket, with a note at the one that opened. */
MUST_CHECK status expect_close(parser *p, uint32_t kind, const token *open);
static inline bool at_word(const parser *p, const char *word)
{
    return p->tok.kind == TOK_WORD && str_is(text_of(&p->tok), word);
}
static inline bool accept(parser *p, uint32_t kind)
{
    if (p->tok.kind != kind) return false;
    next(p);
    return true;
}
bool accept_word(parser *p, const char *word);
MUST_CHECK status expect_word(parser *p, const char *word);
/* Enters and leaves a bracket, a nested list or an argument list. */
MUST_CHECK status enter_bracket(parser *p);
static inline void leave_bracket(parser *p) { p->brackets--; }
/* The token after the current one. */
token peek(const parser *p);
static inline void push_id(id_stack *s, uint32_t id)
{
    if (s->count == s->capacity) s->items = table_grow(s->items, &s->capacity, s->count + 1, sizeof *s->items);
    s->items[s->count++] = id;
}
void push_name(name_stack *s, const token *t, value_name name);
str_id intern_text(parser *p, str s);
/* An integer token with an optional minus before it that was taken already. */
MUST_CHECK status parse_int(parser *p, bool is_negative, int64_t *out);
/* Whether it is a decimal number that u64 has and i64 has not. */
bool token_is_large(const token *t, int64_t *out_bits);
MUST_CHECK status parse_string(parser *p, str_id *out);
/* `@name` */
MUST_CHECK status parse_symbol_name(parser *p, str_id *out);

/* ---- parser_names.c: value names and scopes ---- */
/* Reads a `%name`, in the generic form also `%name#n`. */
MUST_CHECK status parse_value_name(parser *p, name_ref *out);
void names_reset(parser *p);
void names_fini(parser *p);
/* The value of a name; POISON_VALUE sets p->poisoned. Reports when there is none. */
MUST_CHECK status names_find(parser *p, const name_ref *ref, value_id *out);
/* Reads a name and looks it up. */
MUST_CHECK status parse_value(parser *p, value_id *out);
/* Makes the name visible, as that of the value. */
MUST_CHECK status names_define(parser *p, const name_ref *ref, value_id v);
void names_leave(parser *p, size_t scope);

/* ---- parser_types.c ---- */
/* At the first token of a type. */
MUST_CHECK status parse_type(parser *p, type_id *out);
/* "unknown `what`", with the nearest of `names` or all of them; they end in NULL. */
MUST_CHECK status fail_name(parser *p, const diag_code_info *code, const char *what, const char *const *names);

/* ---- names with roles, parser_roles.c ---- */
/* Whether ir/ops has a name, or the module that is read declares it. */
bool is_declared(const parser *p, name_kind kind, uint32_t id);
/* Takes what the attributes of a module declare. */
MUST_CHECK status declare_names(parser *p, src_pos at, attr_id attrs);
MUST_CHECK status parse_declared_name(parser *p, name_kind kind, uint8_t *out);
/* Whether a word is one that a spec with a limited choice allows. */
bool allows_word(const parser *p, const attr_spec *spec, str word);
/* Does a type start here? */
bool at_type(const parser *p);
/* Types separated by commas onto p->types. */
MUST_CHECK status parse_types(parser *p);

/* ---- parser_exprs.c ---- */
/* An index expression, simplified. */
MUST_CHECK status parse_expr(parser *p, expr_id *out);
/* Comma-separated, at least `least`, as a list attribute, up to the closing token, which is taken. The opening token
 * was taken; it is `open`. */
MUST_CHECK status parse_expr_list(parser *p, const token *open, uint32_t close, attr_id *out);
/* eq ne lt le gt ge as a string attribute. */
MUST_CHECK status parse_relation(parser *p, attr_id *out);
attr_id list_of_one(parser *p, expr_id e);

/* ---- parser_attrs.c ---- */
/* Pushes a key and a value onto p->keys and p->attrs. */
void push_attr(parser *p, const char *key, attr_id value);
/* Takes everything above `from` as a dict. */
attr_id pop_attrs(parser *p, size_t from);
/* A value of any kind. */
MUST_CHECK status parse_attr(parser *p, const attr_spec *spec, attr_id *out);
/* Does an attribute dict, rather than a block, start at this `{`? `{}` is an empty block. */
bool at_dict(const parser *p);
/* `{...}` onto p->keys and p->attrs. `info` NULL: any name. `custom` are the attributes that are outside. */
MUST_CHECK status parse_dict(parser *p, const op_info *info, uint32_t custom, size_t from);
MUST_CHECK status check_required(parser *p, const op_info *info, size_t from, src_pos at);
/* Checks the value against the spec and brings it into its stored form. */
MUST_CHECK status fit_attr(parser *p, const op_info *info, const attr_spec *spec, src_pos at, attr_id *value);
/* `(0x7e01)` after `nan`. */
MUST_CHECK status parse_nan_bits(parser *p, uint64_t *out);
/* parser_dense.c: `[1.0, 2.0] : tensor<2 x f32>` after the word `dense`. */
MUST_CHECK status parse_dense(parser *p, attr_id *out);

/* ---- parser_ops.c ---- */
/* `loc(..)`, at its first word; the place of a token as a location. */
MUST_CHECK status parse_loc(parser *p, loc_id *out);
loc_id loc_of(parser *p, const token *t);
/* `: types` and `loc(..)` at the end of an op with `count` results; types go onto p->types. */
MUST_CHECK status parse_tail(parser *p, uint32_t count, src_pos at, loc_id *loc);
/* The tail of an op after its last block: its results get the types. */
MUST_CHECK status parse_tail_of_block(parser *p, const frame *f);
/* Opens a block of the op at `{`, which is taken. */
MUST_CHECK status push_frame(parser *p, const frame *f);
/* One op; opens a frame when it has blocks. */
MUST_CHECK status parse_op(parser *p);
/* At a `}` that closes the innermost block. */
MUST_CHECK status close_block(parser *p);
void define_block_arg(parser *p, block_id b, const name_ref *ref, type_id type, status *bad);
MUST_CHECK status define_results(parser *p, op_id o, size_t names, size_t count);
/* Replaces an op that has one block by the same with two; the block keeps its ops. */
op_id add_second_block(parser *p, op_id o);

/* ---- parser_functions.c, parser_control.c ---- */
/* From the word to the `{` of the body, which becomes the innermost frame. */
MUST_CHECK status parse_func(parser *p);
MUST_CHECK status parse_kernel(parser *p);
/* `(vector)` after the word `core`, onto p->keys and p->attrs. */
MUST_CHECK status parse_core(parser *p, const op_info *info);
/* An op with a form of its own; its name is the current token. */
MUST_CHECK status parse_control(parser *p, op_kind kind, size_t names, size_t name_count);
/* After the `}` of a control op: the next block or the end of the op. */
MUST_CHECK status finish_control(parser *p, frame *f);

/* ---- parser_generic.c ---- */
/* An op in the generic form, at its name in quotes; after the `}` of one of its blocks, the rest. */
MUST_CHECK status parse_generic(parser *p, size_t names, size_t name_count);
MUST_CHECK status finish_generic(parser *p, frame *f);

#endif
