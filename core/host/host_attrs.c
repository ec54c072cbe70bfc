/* Host functions about attributes. */
#include "core/host/host_handle.h"

#include "ir/text/lexer.h"

#include <math.h>

/* Kind ATTR_NONE for none. */
static inline __attribute__((always_inline)) attr_node node_of(run_context *c, pto_attr h)
{
    const attr_id a = attr_from(c, h);
    return a != 0 ? *attr_at(c->ir, a) : (attr_node){0};
}

static void wrong_kind(run_context *c, const attr_node *n, const char *as)
{
    static const char *const names[] = {
        "nothing",
#define ATTR_KIND(ID, words, doc) words,
#include "ir/ops/kinds.def"
    };
    if (n->kind != ATTR_NONE) run_misuse(c, &E1323, "read an attribute that is %s as %s", names[n->kind], as);
}

pto_attr_kind host_attr_kind_of(pto_attr h) { return node_of(run_of(h.run), h).kind; }

int64_t host_attr_i64(pto_attr h)
{
    run_context *c = run_of(h.run);
    const attr_node n = node_of(c, h);
    int64_t out = 0;
    if (n.kind == ATTR_INT || n.kind == ATTR_BOOL) return n.i;
    if (n.kind == ATTR_EXPR && expr_is_const(c->ir, n.id, &out)) return out;
    if (n.kind == ATTR_FLOAT && n.f >= -0x1p63 && n.f < 0x1p63 && n.f == trunc(n.f)) return (int64_t)n.f;
    wrong_kind(c, &n, "an integer");
    return 0;
}

double host_attr_f64(pto_attr h)
{
    run_context *c = run_of(h.run);
    const attr_node n = node_of(c, h);
    if (n.kind == ATTR_FLOAT) return n.f;
    if (n.kind == ATTR_INT) return attr_number(&n);
    wrong_kind(c, &n, "a float");
    return 0.0;
}

pto_str host_attr_str(pto_attr h)
{
    run_context *c = run_of(h.run);
    const attr_node n = node_of(c, h);
    if (n.kind == ATTR_STRING || n.kind == ATTR_SYMBOL || n.kind == ATTR_RESOURCE)
        return pto_str_of(string_of(c->ir, n.id));
    wrong_kind(c, &n, "text");
    return (pto_str){0};
}

pto_type host_attr_type(pto_attr h)
{
    run_context *c = run_of(h.run);
    const attr_node n = node_of(c, h);
    if (n.kind == ATTR_TYPE) return type_handle(c, n.id);
    if (n.kind == ATTR_DENSE) return type_handle(c, n.type);
    wrong_kind(c, &n, "a type");
    return type_handle(c, 0);
}

pto_expr host_attr_expr(pto_attr h)
{
    run_context *c = run_of(h.run);
    const attr_node n = node_of(c, h);
    if (n.kind == ATTR_EXPR) return expr_handle(c, n.id);
    if (n.kind == ATTR_INT) return expr_handle(c, expr_const(c->ir, n.i));
    wrong_kind(c, &n, "an expression");
    return expr_handle(c, 0);
}

uint32_t host_attr_count(pto_attr h)
{
    const attr_node n = node_of(run_of(h.run), h);
    return n.kind == ATTR_LIST || n.kind == ATTR_DICT ? n.count : 0;
}

pto_attr host_attr_item(pto_attr h, uint32_t index, pto_str *key)
{
    run_context *c = run_of(h.run);
    const attr_node n = node_of(c, h);
    if (key != NULL) *key = (pto_str){0};
    if ((n.kind != ATTR_LIST && n.kind != ATTR_DICT) || index >= n.count) return attr_handle(c, 0);
    if (key != NULL && n.kind == ATTR_DICT) *key = pto_str_of(string_of(c->ir, n.keys[index]));
    return attr_handle(c, n.items[index]);
}

pto_str host_attr_bytes(pto_attr h)
{
    run_context *c = run_of(h.run);
    const attr_node n = node_of(c, h);
    if (n.kind == ATTR_DENSE) return (pto_str){(const char *)n.bytes, n.byte_count};
    wrong_kind(c, &n, "dense values");
    return (pto_str){0};
}

/* ---- making ---- */

pto_attr host_attr_make_bool(const pto_run *run, int32_t v)
{
    run_context *c = run_of(run);
    return attr_handle(c, attr_bool(c->ir, v != 0));
}

pto_attr host_attr_make_i64(const pto_run *run, int64_t v)
{
    run_context *c = run_of(run);
    return attr_handle(c, attr_int(c->ir, v));
}

pto_attr host_attr_make_f64(const pto_run *run, double v)
{
    run_context *c = run_of(run);
    return attr_handle(c, attr_float(c->ir, v));
}

enum { SHOWN_BYTES = 40 };

static int shown(pto_str s) { return s.n > SHOWN_BYTES ? SHOWN_BYTES : (int)s.n; }

bool run_check_text(run_context *c, pto_str s)
{
    if (s.n > LEXER_STRING_BYTES) {
        run_misuse(c, &E1324, "made an attribute of %zu bytes of text; the limit is %d", s.n, LEXER_STRING_BYTES);
        return false;
    }
    if (s.n == 0 || str_utf8_error(str_of(s)) == s.n) return true;
    run_misuse(c, &E1324, "made an attribute of text that is not UTF-8");
    return false;
}

bool run_check_value_name(run_context *c, pto_str name)
{
    if (name.n == 0 || lexer_is_value_name(str_of(name))) return true;
    run_misuse(c, &E1324, "named a value `%.*s`, which is not a name: letters, digits and `_`, at most %d bytes",
               shown(name), name.p, LEXER_NAME_BYTES);
    return false;
}

bool run_check_symbol(run_context *c, pto_str name)
{
    if (lexer_is_name(str_of(name), true)) return true;
    run_misuse(c, &E1324,
               "made a reference to `@%.*s`, which is not a name: letters, digits, `_` and `.`, at most %d bytes",
               shown(name), name.p, LEXER_NAME_BYTES);
    return false;
}

pto_attr host_attr_make_str(const pto_run *run, pto_str s)
{
    run_context *c = run_of(run);
    return attr_handle(c, run_check_text(c, s) ? attr_string(c->ir, string_intern(c->ir, str_of(s))) : 0);
}

pto_attr host_attr_make_symbol(const pto_run *run, pto_str s)
{
    run_context *c = run_of(run);
    return attr_handle(c, run_check_symbol(c, s) ? attr_symbol(c->ir, string_intern(c->ir, str_of(s))) : 0);
}

pto_attr host_attr_make_type(const pto_run *run, pto_type h)
{
    run_context *c = run_of(run);
    const type_id t = type_from(c, h);
    return attr_handle(c, t != 0 ? attr_type(c->ir, t) : 0);
}

pto_attr host_attr_make_expr(const pto_run *run, pto_expr h)
{
    run_context *c = run_of(run);
    const expr_id e = expr_from(c, h);
    return attr_handle(c, e != 0 ? attr_expr(c->ir, e) : 0);
}

pto_attr host_attr_make_list(const pto_run *run, uint32_t count, const pto_attr *items)
{
    run_context *c = run_of(run);
    attr_id *ids = arena_array(c->scratch, count, sizeof *ids);
    for (uint32_t i = 0; i < count; i++) {
        ids[i] = attr_from(c, items[i]);
        if (ids[i] == 0) return attr_handle(c, 0);
    }
    return attr_handle(c, attr_list(c->ir, count, ids));
}

enum { DENSE_ELEMENTS_MAX = 16 };

pto_attr host_attr_make_dense(const pto_run *run, pto_type h, uint32_t bytes, const void *data)
{
    run_context *c = run_of(run);
    const type_id t = type_from(c, h);
    int64_t count = 0;
    if (t == 0) return attr_handle(c, 0);
    const dtype d = (dtype)type_at(c->ir, t)->dtype;
    const expr_id elements = type_at(c->ir, t)->kind == TYPE_TENSOR ? type_element_count(c->ir, t) : 0;
    if (elements == 0 || !expr_is_const(c->ir, elements, &count) || count < 0 || count > DENSE_ELEMENTS_MAX ||
        (uint64_t)count * dtype_bytes(d) != bytes) {
        run_misuse(c, &E1324, "made dense values of %u bytes that do not fill a static tensor of at most 16 elements",
                   bytes);
        return attr_handle(c, 0);
    }
    return attr_handle(c, attr_dense(c->ir, t, bytes, data));
}
