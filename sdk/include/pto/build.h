/* Conveniences on top of <pto/call.h>: making ops, reading attributes, reporting. */
#ifndef PTO_BUILD_H
#define PTO_BUILD_H

#include <pto/arithmetic.h>
#include <pto/call.h>
#include <pto/names.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- making ops ----
 *     pto_spec s = pto_spec_make(run, pto_kind(run, KIND_LOAD));
 *     pto_spec_operand(&s, source);
 *     pto_spec_exprs(&s, PTO_STR("offsets"), 2, offsets);
 *     pto_spec_exprs(&s, PTO_STR("sizes"), 2, sizes);
 *     pto_spec_result(&s, tile_type);
 *     pto_value loaded = pto_spec_value(&s, pto_before(op));
 *     PTO_NEED(loaded);
 * Lists grow as needed in scratch memory. A none handle given to any of these makes the building fail, so one test at
 * the end is enough. Texts are borrowed until the op is built. */
typedef struct pto_spec {
    const pto_run *run;
    pto_op_spec op;
    pto_value *operands;
    pto_type *results;
    pto_str *attr_names;
    pto_attr *attrs;
    uint32_t operand_capacity, result_capacity, attr_capacity;
    uint32_t failed; /* a part was none: building returns none */
} pto_spec;

/* Begins an op of the kind, without operands, results, attributes and location. */
static inline pto_spec pto_spec_make(const pto_run *run, pto_kind_id kind)
{
    pto_spec s;
    memset(&s, 0, sizeof s);
    s.run = run;
    s.op.struct_size = (uint32_t)sizeof s.op;
    s.op.kind = kind;
    s.op.loc = pto_loc_none(run);
    return s;
}

/* What most ops need of all lists, so that they ask for memory once. */
enum { PTO_SPEC_OPERANDS = 4, PTO_SPEC_RESULTS = 2, PTO_SPEC_ATTRS = 6 };
typedef struct pto_spec_room {
    pto_value operands[PTO_SPEC_OPERANDS];
    pto_type results[PTO_SPEC_RESULTS];
    pto_str attr_names[PTO_SPEC_ATTRS];
    pto_attr attrs[PTO_SPEC_ATTRS];
} pto_spec_room;
static inline void pto_spec_begin(pto_spec *s)
{
    if (s->operand_capacity != 0) return;
    pto_spec_room *room = (pto_spec_room *)pto_scratch(s->run, sizeof *room);
    s->operands = room->operands;
    s->results = room->results;
    s->attr_names = room->attr_names;
    s->attrs = room->attrs;
    s->operand_capacity = PTO_SPEC_OPERANDS;
    s->result_capacity = PTO_SPEC_RESULTS;
    s->attr_capacity = PTO_SPEC_ATTRS;
}

/* Append one operand or several, the type of a result, an attribute. Index operands come from expressions in
 * attributes. */
static inline void pto_spec_operand(pto_spec *s, pto_value value)
{
    pto_spec_begin(s);
    s->operands = (pto_value *)pto_grow(s->run, s->operands, s->op.operand_count, &s->operand_capacity, sizeof value);
    s->operands[s->op.operand_count++] = value;
    s->failed |= !PTO_SOME(value);
}
static inline void pto_spec_operands(pto_spec *s, uint32_t count, const pto_value *values)
{
    for (uint32_t i = 0; i < count; i++) pto_spec_operand(s, values[i]);
}
static inline void pto_spec_result(pto_spec *s, pto_type type)
{
    pto_spec_begin(s);
    s->results = (pto_type *)pto_grow(s->run, s->results, s->op.result_count, &s->result_capacity, sizeof type);
    s->results[s->op.result_count++] = type;
    s->failed |= !PTO_SOME(type);
}
static inline void pto_spec_attr(pto_spec *s, pto_str name, pto_attr value)
{
    pto_spec_begin(s);
    uint32_t capacity = s->attr_capacity;
    s->attr_names = (pto_str *)pto_grow(s->run, s->attr_names, s->op.attr_count, &capacity, sizeof name);
    s->attrs = (pto_attr *)pto_grow(s->run, s->attrs, s->op.attr_count, &s->attr_capacity, sizeof value);
    s->attr_names[s->op.attr_count] = name;
    s->attrs[s->op.attr_count++] = value;
    s->failed |= !PTO_SOME(value);
}
static inline void pto_spec_bool(pto_spec *s, pto_str name, int value)
{
    pto_spec_attr(s, name, pto_attr_make_bool(s->run, value != 0));
}
static inline void pto_spec_int(pto_spec *s, pto_str name, int64_t value)
{
    pto_spec_attr(s, name, pto_attr_make_i64(s->run, value));
}
static inline void pto_spec_float(pto_spec *s, pto_str name, double value)
{
    pto_spec_attr(s, name, pto_attr_make_f64(s->run, value));
}
static inline void pto_spec_str(pto_spec *s, pto_str name, pto_str value)
{
    pto_spec_attr(s, name, pto_attr_make_str(s->run, value));
}
/* `value` without the `@`. */
static inline void pto_spec_symbol(pto_spec *s, pto_str name, pto_str value)
{
    pto_spec_attr(s, name, pto_attr_make_symbol(s->run, value));
}
static inline void pto_spec_type(pto_spec *s, pto_str name, pto_type value)
{
    pto_spec_attr(s, name, pto_attr_make_type(s->run, value));
}
/* Lists; items that are none make the list none. */
static inline pto_attr pto_attr_make_exprs(const pto_run *run, uint32_t count, const pto_expr *exprs)
{
    pto_attr *items = PTO_SCRATCH(run, pto_attr, count);
    for (uint32_t i = 0; i < count; i++) items[i] = pto_attr_make_expr(run, exprs[i]);
    return pto_attr_make_list(run, count, items);
}
static inline pto_attr pto_attr_make_ints(const pto_run *run, uint32_t count, const int64_t *ints)
{
    pto_attr *items = PTO_SCRATCH(run, pto_attr, count);
    for (uint32_t i = 0; i < count; i++) items[i] = pto_attr_make_i64(run, ints[i]);
    return pto_attr_make_list(run, count, items);
}
static inline void pto_spec_exprs(pto_spec *s, pto_str name, uint32_t count, const pto_expr *exprs)
{
    pto_spec_attr(s, name, pto_attr_make_exprs(s->run, count, exprs));
}
static inline void pto_spec_ints(pto_spec *s, pto_str name, uint32_t count, const int64_t *ints)
{
    pto_spec_attr(s, name, pto_attr_make_ints(s->run, count, ints));
}
static inline void pto_spec_blocks(pto_spec *s, uint32_t count) { s->op.block_count = count; }
static inline void pto_spec_loc(pto_spec *s, pto_loc loc) { s->op.loc = loc; }
/* Base name of the first result. */
static inline void pto_spec_name(pto_spec *s, pto_str name) { s->op.name = name; }
/* All stored attributes of an op, as they are. Set others after it: a name given twice takes the last value. */
static inline void pto_spec_attrs_of(pto_spec *s, pto_op op)
{
    uint32_t count = pto_op_attr_count(op);
    for (uint32_t i = 0; i < count; i++) {
        pto_str name = pto_no_str();
        pto_attr value = pto_op_attr_at(op, i, &name);
        pto_spec_attr(s, name, value);
    }
}

/* None after a diagnostic, or when a part was none (reported where it was asked for). */
static inline pto_op pto_spec_build(pto_spec *s, pto_place at)
{
    if (s->failed) return pto_op_none(s->run);
    s->op.operands = s->operands;
    s->op.result_types = s->results;
    s->op.attr_names = s->attr_names;
    s->op.attrs = s->attrs;
    return pto_op_build(s->run, at, &s->op);
}
/* The same; returns the first result. */
static inline pto_value pto_spec_value(pto_spec *s, pto_place at)
{
    pto_op op = pto_spec_build(s, at);
    return PTO_SOME(op) ? pto_op_result(op, 0) : pto_value_none(s->run);
}
/* An op with operands and one result, without attributes. */
static inline pto_value pto_make1(const pto_run *run, pto_place at, pto_kind_id kind, pto_type result, pto_value a)
{
    pto_spec s = pto_spec_make(run, kind);
    pto_spec_operand(&s, a);
    pto_spec_result(&s, result);
    return pto_spec_value(&s, at);
}
static inline pto_value pto_make2(const pto_run *run, pto_place at, pto_kind_id kind, pto_type result, pto_value a,
                                  pto_value b)
{
    pto_spec s = pto_spec_make(run, kind);
    pto_spec_operand(&s, a);
    pto_spec_operand(&s, b);
    pto_spec_result(&s, result);
    return pto_spec_value(&s, at);
}

/* ---- types and names like those at hand ---- */

/* The tensor type with another element type, or with another extent in one dimension, `dim` < rank. Format nd. */
static inline pto_type pto_type_with_dtype(const pto_run *run, pto_type type, pto_dtype dtype)
{
    pto_expr dims[PTO_MAX_DIMS];
    const uint32_t rank = pto_type_rank(type);
    for (uint32_t i = 0; i < rank; i++) dims[i] = pto_type_dim(type, i);
    return pto_type_tensor(run, dtype, rank, dims);
}
static inline pto_type pto_type_with_dim(const pto_run *run, pto_type type, uint32_t dim, pto_expr extent)
{
    pto_expr dims[PTO_MAX_DIMS];
    const uint32_t rank = pto_type_rank(type);
    for (uint32_t i = 0; i < rank; i++) dims[i] = i == dim ? extent : pto_type_dim(type, i);
    return pto_type_tensor(run, pto_type_dtype(type), rank, dims);
}
/* `name` and `suffix` as one text, in scratch memory of the run. */
static inline pto_str pto_str_join(const pto_run *run, pto_str name, pto_str suffix)
{
    char *text = (char *)pto_scratch(run, name.n + suffix.n + 1);
    if (name.n != 0) memcpy(text, name.p, name.n);
    if (suffix.n != 0) memcpy(text + name.n, suffix.p, suffix.n);
    return pto_str_make(text, name.n + suffix.n);
}
/* The name for a value made on the way to the first result of `op`: the name of that and a suffix, which is empty for
 * the value that takes its place. */
static inline pto_str pto_name_after(pto_op op, pto_str suffix)
{
    return pto_str_join(op.run, pto_value_name(pto_op_result(op, 0)), suffix);
}

/* ---- reading attributes of an op, with a default for absent ones ----
 * An attribute of another kind is a diagnostic that names the plugin. Texts live until the run ends. */
/* An integer, a bool as 0 or 1, a float. */
static inline int64_t pto_attr_int_of(pto_op op, pto_str name, int64_t absent)
{
    pto_attr a = pto_op_attr(op, name);
    return PTO_SOME(a) ? pto_attr_i64(a) : absent;
}
static inline int pto_attr_bool_of(pto_op op, pto_str name, int absent)
{
    return pto_attr_int_of(op, name, absent) != 0;
}
static inline double pto_attr_float_of(pto_op op, pto_str name, double absent)
{
    pto_attr a = pto_op_attr(op, name);
    return PTO_SOME(a) ? pto_attr_f64(a) : absent;
}
/* Empty when absent. */
static inline pto_str pto_attr_str_of(pto_op op, pto_str name)
{
    pto_attr a = pto_op_attr(op, name);
    return PTO_SOME(a) ? pto_attr_str(a) : pto_no_str();
}
/* Items of a list of expressions or integers: how many, and one as an expression over values. */
static inline uint32_t pto_expr_count_of(pto_op op, pto_str name)
{
    pto_attr a = pto_op_attr(op, name);
    return PTO_SOME(a) ? pto_attr_count(a) : 0;
}
static inline pto_expr pto_expr_of(pto_op op, pto_str name, uint32_t index)
{
    pto_attr a = pto_op_attr(op, name);
    return PTO_SOME(a) && index < pto_attr_count(a) ? pto_attr_expr(pto_attr_item(a, index, NULL))
                                                    : pto_expr_none(op.run);
}
/* Whether the expression names an index or another scalar, and not symbols and numbers alone. */
static inline int pto_expr_has_value(pto_expr e)
{
    if (pto_expr_kind_of(e) == PTO_EXPR_VALUE) return 1;
    for (uint32_t i = 0, end = pto_expr_arg_count(e); i < end; i++)
        if (pto_expr_has_value(pto_expr_arg(e, i))) return 1;
    return 0;
}
/* Item of a list of integers. */
static inline int64_t pto_int_of(pto_op op, pto_str name, uint32_t index, int64_t absent)
{
    pto_attr a = pto_op_attr(op, name);
    return PTO_SOME(a) && index < pto_attr_count(a) ? pto_attr_i64(pto_attr_item(a, index, NULL)) : absent;
}
/* The dims that `axis`, an integer or a list of them, names in a tensor of that rank: bit i is dim i. A negative one
 * counts from the end. */
static inline uint32_t pto_axes_of(pto_op op, uint32_t rank)
{
    const pto_attr axes = pto_op_attr(op, PTO_STR("axis"));
    const int is_list = pto_attr_kind_of(axes) == PTO_ATTR_LIST;
    const uint32_t count = is_list ? pto_attr_count(axes) : PTO_SOME(axes) ? 1 : 0;
    uint32_t mask = 0;
    for (uint32_t i = 0; i < count; i++) {
        int64_t axis = pto_attr_i64(is_list ? pto_attr_item(axes, i, NULL) : axes);
        if (axis < 0) axis += rank;
        if (axis >= 0 && axis < (int64_t)rank) mask |= 1u << (uint32_t)axis;
    }
    return mask;
}
/* n of a sum with `order = "tree(n)"`; 0: another order. */
static inline int64_t pto_tree_of(pto_op op)
{
    const pto_str order = pto_attr_str_of(op, PTO_STR("order"));
    int64_t n = 0;
    for (size_t i = sizeof "tree(" - 1; order.n > i && order.p[0] == 't' && order.p[i] != ')'; i++)
        n = 10 * n + (order.p[i] - '0');
    return n;
}
/* Name of a function or kernel, without the `@`. */
static inline pto_str pto_function_name(pto_op function) { return pto_attr_str_of(function, PTO_STR("name")); }
/* 1 and the extent when dimension `dim` of a type is static. */
static inline int pto_dim_is_const(pto_type type, uint32_t dim, int64_t *out)
{
    return pto_expr_is_const(pto_type_dim(type, dim), out);
}

/* ---- reading the machine: a fact by a path, which is formatted like printf, or `absent` ----
 *     pto_machine_i64_or(run, 8, "sync.event-ids") */
#if defined(__GNUC__)
#define PTO_PRINTF_LIKE(text, first) __attribute__((format(printf, text, first)))
#else
#define PTO_PRINTF_LIKE(text, first)
#endif
enum { PTO_PATH_BYTES = 256 };

/* The path in `path`, or `format` itself where nothing is to be written into it; one that is too long is empty, and no
 * machine has a fact there. "%.*s", which most have, is written here: printf takes as long as the answer. */
PTO_PRINTF_LIKE(2, 0)
static inline pto_str pto_vpath(char path[PTO_PATH_BYTES], const char *format, va_list args)
{
    const char *const name = strchr(format, '%');
    if (name == NULL) return pto_str_make(format, strlen(format));
    if (strncmp(name, "%.*s", 4) != 0 || strchr(name + 1, '%') != NULL) {
        const int n = vsnprintf(path, PTO_PATH_BYTES, format, args);
        return n > 0 && n < PTO_PATH_BYTES ? pto_str_make(path, (size_t)n) : pto_no_str();
    }
    const int wanted = va_arg(args, int);
    const char *const text = va_arg(args, const char *);
    const size_t before = (size_t)(name - format), after = strlen(name + 4);
    size_t n = 0;
    while (n < (size_t)wanted && text[n] != '\0') n++;
    if (before + n + after >= PTO_PATH_BYTES) return pto_no_str();
    memcpy(path, format, before);
    memcpy(path + before, text, n);
    memcpy(path + before + n, name + 4, after);
    return pto_str_make(path, before + n + after);
}
/* What the machine has answered: it always answers the same, and looks for as long each time. Kept for the next run of
 * this use of the plugin. */
enum { PTO_ANSWERS = 64, PTO_ANSWER_PROBES = 8, PTO_ANSWER_I64 = 1, PTO_ANSWER_F64 = 2, PTO_ANSWER_TEXT = 4 };
typedef struct pto_answer {
    char path[48], text[96];
    pto_str said; /* in `text` */
    size_t path_bytes;
    int64_t integer;
    double number;
    uint32_t asked, there; /* of what has been asked, and what there is: PTO_ANSWER_* */
} pto_answer;

/* The place of a path among the answers; NULL: it is too long, or others have taken its places. */
static inline pto_answer *pto_answer_at(const pto_run *run, pto_str path)
{
    pto_answer *const all = (pto_answer *)pto_recall(run, PTO_STR("pto.machine"), PTO_ANSWERS * sizeof *all);
    uint64_t hash = path.n;
    if (path.n == 0 || path.n > sizeof all->path) return NULL;
    for (size_t i = 0; i < path.n; i += 8) {
        uint64_t word = 0;
        memcpy(&word, path.p + i, path.n - i < 8 ? path.n - i : 8);
        hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    }
    for (uint32_t i = 0; i < PTO_ANSWER_PROBES; i++) {
        pto_answer *const a = &all[((hash >> 32) + i) % PTO_ANSWERS];
        if (a->path_bytes == path.n && memcmp(a->path, path.p, path.n) == 0) return a;
        if (a->path_bytes != 0) continue;
        memcpy(a->path, path.p, path.n);
        a->path_bytes = path.n;
        return a;
    }
    return NULL;
}

/* Whether the machine has the fact, of one PTO_ANSWER_*; then it is in `a`. */
static inline int pto_answer_find(const pto_run *run, pto_str path, uint32_t kind, pto_answer *a)
{
    pto_status s = PTO_FAILED;
    if ((a->asked & kind) != 0) {
        (void)pto_machine_space(run, PTO_SPACE_NONE); /* so that the host knows that this run hangs on the machine */
        return (a->there & kind) != 0;
    }
    a->asked |= kind;
    if (kind == PTO_ANSWER_I64) s = pto_machine_i64(run, path, &a->integer);
    if (kind == PTO_ANSWER_F64) s = pto_machine_f64(run, path, &a->number);
    if (kind == PTO_ANSWER_TEXT) s = pto_machine_str(run, path, &a->said);
    if (s != PTO_OK) return 0;
    a->there |= kind;
    if (kind != PTO_ANSWER_TEXT) return 1;
    if (a->said.n > sizeof a->text) { /* such a text is of this run */
        a->asked &= ~kind;
        return 1;
    }
    if (a->said.n != 0) memcpy(a->text, a->said.p, a->said.n);
    a->said.p = a->text;
    return 1;
}

/* An integer, a number. */
PTO_PRINTF_LIKE(3, 4)
static inline int64_t pto_machine_i64_or(const pto_run *run, int64_t absent, const char *format, ...)
{
    char text[PTO_PATH_BYTES];
    va_list args;
    va_start(args, format);
    const pto_str path = pto_vpath(text, format, args);
    va_end(args);
    pto_answer *const a = pto_answer_at(run, path);
    if (a != NULL) return pto_answer_find(run, path, PTO_ANSWER_I64, a) ? a->integer : absent;
    int64_t out = 0;
    return pto_machine_i64(run, path, &out) == PTO_OK ? out : absent;
}
PTO_PRINTF_LIKE(3, 4)
static inline double pto_machine_f64_or(const pto_run *run, double absent, const char *format, ...)
{
    char text[PTO_PATH_BYTES];
    va_list args;
    va_start(args, format);
    const pto_str path = pto_vpath(text, format, args);
    va_end(args);
    pto_answer *const a = pto_answer_at(run, path);
    if (a != NULL) return pto_answer_find(run, path, PTO_ANSWER_F64, a) ? a->number : absent;
    double out = 0.0;
    return pto_machine_f64(run, path, &out) == PTO_OK ? out : absent;
}
/* Empty when absent. */
PTO_PRINTF_LIKE(2, 3)
static inline pto_str pto_machine_text(const pto_run *run, const char *format, ...)
{
    char text[PTO_PATH_BYTES];
    va_list args;
    va_start(args, format);
    const pto_str path = pto_vpath(text, format, args);
    va_end(args);
    pto_answer *const a = pto_answer_at(run, path);
    if (a != NULL) return pto_answer_find(run, path, PTO_ANSWER_TEXT, a) ? a->said : pto_no_str();
    pto_str out = pto_no_str();
    return pto_machine_str(run, path, &out) == PTO_OK ? out : pto_no_str();
}

/* ---- reporting. `code` is "vendor.pass/what-is-wrong"; the text one sentence in lower case without full stop. ---- */
enum { PTO_REPORT_BYTES = 2048 };
/* What is printed, in `text`, of PTO_REPORT_BYTES; cut to fit. */
PTO_PRINTF_LIKE(2, 0)
static inline pto_str pto_vtext(char *text, const char *format, va_list args)
{
    int n = vsnprintf(text, PTO_REPORT_BYTES, format, args);
    if (n < 0) n = 0;
    return pto_str_make(text, n < PTO_REPORT_BYTES ? (size_t)n : PTO_REPORT_BYTES - 1);
}
/* Reports about an op: the diagnostic has its location and its path. */
PTO_PRINTF_LIKE(4, 0)
static inline void pto_vreport(pto_op op, int32_t severity, const char *code, const char *format, va_list args)
{
    char text[PTO_REPORT_BYTES];
    pto_str message = pto_vtext(text, format, args);
    pto_diag_op(op, severity, pto_s(code), message);
}
/* Reports what is about no op, at a location that may be none, and returns PTO_FAILED. */
PTO_PRINTF_LIKE(4, 5)
static inline pto_status pto_error_at(const pto_run *run, pto_loc at, const char *code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char text[PTO_REPORT_BYTES];
    pto_str message = pto_vtext(text, format, args);
    va_end(args);
    pto_diag(run, PTO_ERROR, at, pto_s(code), message);
    return PTO_FAILED;
}
/* Reports at an op and returns PTO_FAILED: `return pto_error(op, "acme.copies/no-source", "...");` */
PTO_PRINTF_LIKE(3, 4)
static inline pto_status pto_error(pto_op op, const char *code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    pto_vreport(op, PTO_ERROR, code, format, args);
    va_end(args);
    return PTO_FAILED;
}
/* The same where memory does not suffice: `return pto_does_not_fit(op, ...)`. Steps may run again then, with other
 * alternatives of those that chose. */
PTO_PRINTF_LIKE(3, 4)
static inline pto_status pto_does_not_fit(pto_op op, const char *code, const char *format, ...)
{
    char text[PTO_REPORT_BYTES];
    va_list args;
    va_start(args, format);
    pto_str message = pto_vtext(text, format, args);
    va_end(args);
    return pto_report_does_not_fit(op, pto_s(code), message);
}
/* Reports what is legal and probably not meant. */
PTO_PRINTF_LIKE(3, 4)
static inline void pto_warning(pto_op op, const char *code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    pto_vreport(op, PTO_WARNING, code, format, args);
    va_end(args);
}
/* Belongs to the diagnostic before it: what would be legal, the other place. */
PTO_PRINTF_LIKE(2, 3)
static inline void pto_note(pto_op op, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    pto_vreport(op, PTO_NOTE, NULL, format, args);
    va_end(args);
}
/* Reports what was decided and why, for --remarks. */
PTO_PRINTF_LIKE(3, 4)
static inline void pto_remark(pto_op op, const char *code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    pto_vreport(op, PTO_REMARK, code, format, args);
    va_end(args);
}

#ifdef __cplusplus
}
#endif
#endif
