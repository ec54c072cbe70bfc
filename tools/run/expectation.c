#include "tools/run/expectation.h"

#include "tools/base/tool_diag.h"

#include <inttypes.h>

static const bound_tensor *find_output(const bound_call *call, str name)
{
    for (uint32_t i = 0; i < call->parameter_count + call->result_count; i++) {
        if (call->tensors[i].is_output && str_eq(call->tensors[i].name, name)) return &call->tensors[i];
    }
    return NULL;
}

static const bound_tensor *unknown_output(diag_engine *d, const char *tool, const bound_call *call, str name)
{
    diag_error(d, (src_pos){tool, 0, 0}, &E1605, "the function has no output `%.*s`", (int)name.n, name.p);
    for (uint32_t i = 0; i < call->parameter_count + call->result_count; i++) {
        const bound_tensor *t = &call->tensors[i];
        if (t->is_output) diag_note(d, NO_POS, "output `%.*s`", (int)t->name.n, t->name.p);
    }
    return NULL;
}

const bound_tensor *expectation_output(diag_engine *d, const char *tool, const bound_call *call, str name)
{
    const bound_tensor *t = find_output(call, name);
    return t != NULL ? t : unknown_output(d, tool, call, name);
}

static void put_shape(text_buffer *out, uint32_t rank, const int64_t *dims)
{
    text_putc(out, '[');
    for (uint32_t i = 0; i < rank; i++) text_printf(out, "%s%" PRId64, i == 0 ? "" : ", ", dims[i]);
    text_putc(out, ']');
}

static status same_shape(diag_engine *d, const char *tool, const expectation *e, const bound_tensor *t,
                         const tensor_array *array, const char *what)
{
    bool same = array->header.rank == t->rank;
    for (uint32_t i = 0; same && i < t->rank; i++) same = array->header.dims[i] == t->dims[i];
    if (same) return OK;
    text_buffer shapes;
    text_init(&shapes);
    put_shape(&shapes, array->header.rank, array->header.dims);
    text_puts(&shapes, ", the output ");
    put_shape(&shapes, t->rank, t->dims);
    diag_error(d, (src_pos){tool, 0, 0}, &E1603, "the %s of `%.*s` has the shape %s", what, (int)e->name.n, e->name.p,
               shapes.p);
    text_fini(&shapes);
    return FAILED;
}

/* Numbers of any kind can be compared; bits that stand for a float (bf16 travels as <u2) must have its width. */
static status same_numbers(diag_engine *d, const char *tool, const expectation *e, const bound_tensor *t)
{
    const tensor_header *h = &e->comparison.want->header;
    if (dtype_class_of(t->type) != DTYPE_CLASS_FLOAT || h->kind == 'f' || tensor_matches(h, t->type) ||
        dtype_class_of((dtype)h->type) == DTYPE_CLASS_FLOAT)
        return OK;
    char descr[TENSOR_DESCR_BYTES];
    tensor_descr(h, descr);
    diag_error(d, (src_pos){tool, 0, 0}, &E1603, "the reference of `%.*s` has elements of type %s, the output is %s",
               (int)e->name.n, e->name.p, descr, dtype_name(t->type));
    diag_note(d, NO_POS, "%s is stored as %s; <f2, <f4 and <f8 are compared by value", dtype_name(t->type),
              tensor_npy_type(t->type));
    return FAILED;
}

status expectations_check(diag_engine *d, const char *tool, const bound_call *call, uint32_t count,
                          const expectation *list)
{
    for (uint32_t i = 0; i < count; i++) {
        const expectation *e = &list[i];
        const bound_tensor *t = expectation_output(d, tool, call, e->name);
        if (t == NULL) return FAILED;
        TRY(same_shape(d, tool, e, t, e->comparison.want, "reference"));
        TRY(same_numbers(d, tool, e, t));
        if (e->comparison.magnitude != NULL) TRY(same_shape(d, tool, e, t, e->comparison.magnitude, "magnitude"));
    }
    return OK;
}

bool expectations_compare(const bound_call *call, uint32_t count, expectation *list, text_buffer *out)
{
    bool all = true;
    for (uint32_t i = 0; i < count; i++) {
        expectation *e = &list[i];
        const bound_tensor *t = find_output(call, e->name);
        BUG_IF(t == NULL, "an output was checked and is gone");
        const comparison_result r = e->found = compare_tensors(&e->comparison, t->type, t->data);
        e->is_found = true;
        text_printf(out, "%.*s: %s, max abs error %.3g, max rel error %.3g, %" PRIu64 " elements, rule %s\n",
                    (int)e->name.n, e->name.p, r.is_equal ? "ok" : "DIFFERS", r.max_abs, r.max_rel, r.element_count,
                    e->rule_text);
        if (!r.is_equal)
            text_printf(out,
                        "  %" PRIu64 " elements beyond their bound; worst at %" PRIu64
                        ": got %.9g, expected %.9g, bound %.3g\n",
                        r.bad_count, r.worst, r.worst_got, r.worst_want, r.worst_bound);
        all &= r.is_equal;
    }
    return all;
}
