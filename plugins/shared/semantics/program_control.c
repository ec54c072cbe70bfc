/* What control_code.h asks of a program: slots for scalars, and in functions for arrays. */
#include "semantics/program_body.h"

static pto_status refuse(void *self, void *site, const char *why)
{
    const decoder *d = self;
    const program_site *s = site != NULL ? site : d->p->self;
    return program_error(d->p, s, "unsupported", "`%.*s` cannot be executed here: %s", PTO_FMT(s->op_name), why);
}

static void *site_of(void *self, pto_op op) { return decode_site(self, op); }

static pto_status expr(void *self, void *site, pto_op op, const char *name, index_expr *out)
{
    uint32_t count;
    return decode_exprs(self, site, op, name, 1, out, &count);
}

static uint32_t spare(void *self) { return decode_slot(self); }

static uint32_t define(void *self, pto_value v)
{
    decoder *d = self;
    const pto_type type = pto_value_type(v);
    if (pto_type_kind_of(type) == PTO_TYPE_GM && !d->p->is_kernel) {
        const uint32_t array = d->arrays.count;
        *LIST_ADD(d, arrays, array_code) = (array_code){.site = d->p->self,
                                                        .source = NO_ID,
                                                        .parameter = NO_ID,
                                                        .dtype = pto_type_dtype(type),
                                                        .rank = pto_type_rank(type)};
        decode_define(d, v, THING_ARRAY, array);
        return decode_array_slot(d, array);
    }
    const uint32_t slot = decode_slot(self);
    decode_define(self, v, THING_SLOT, slot);
    return slot;
}

static void alias(void *self, pto_value v, uint32_t slot)
{
    decoder *d = self;
    for (uint32_t i = d->arrays.count; i-- > 0 && pto_type_kind_of(pto_value_type(v)) == PTO_TYPE_GM;) {
        if (LIST_AT(d, arrays, array_code, i)->handed != slot + 1) continue;
        decode_define(d, v, THING_ARRAY, i);
        return;
    }
    decode_define(d, v, THING_SLOT, slot);
}

static uint32_t use(void *self, void *site, pto_value v)
{
    const thing t = decode_find(self, v);
    decoder *d = self;
    if (t.kind == THING_SLOT) return t.id;
    if (t.kind == THING_ARRAY && !d->p->is_kernel) return decode_array_slot(d, t.id);
    (void)refuse(self, site,
                 d->p->is_kernel ? "it hands on a value that is not a scalar; carried tiles share a buffer"
                                 : "it hands on a value that is neither a scalar nor memory");
    return CONTROL_NONE;
}

static pto_status op(void *self, pto_op o)
{
    decoder *d = self;
    if (!pto_kind_has(d->run, pto_op_kind(o), PTO_TRAIT_TERMINATOR)) return decode_op(d, o);
    if (pto_op_operand_count(o) == 0) return PTO_OK;
    return refuse(d, decode_site(d, o), "results of functions are memory parameters at this level");
}

static pto_status enter(void *self, pto_op o, void *site)
{
    (void)o;
    return refuse(self, site, "no such control flow at this level");
}

static pto_status leave(void *self, pto_op o, void *site, pto_op yield)
{
    (void)yield;
    return enter(self, o, site);
}

pto_status decode_body(decoder *d, pto_block block)
{
    static const control_client client = {.site = site_of,
                                          .expr = expr,
                                          .spare = spare,
                                          .define = define,
                                          .alias = alias,
                                          .use = use,
                                          .op = op,
                                          .enter = enter,
                                          .leave = leave,
                                          .refuse = refuse};
    d->control.client = &client;
    d->control.self = d;
    d->control.run = d->run;
    return control_decode(&d->control, block, &d->body->flow);
}
