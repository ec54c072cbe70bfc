/* What control_code.h asks of the interpreter: slots are numbers of values. */
#include "reference_decoder.h"

static void *site_of(void *self, pto_op op) { return coder_op(self, op); }

static pto_status expr(void *self, void *site, pto_op op, const char *name, index_expr *out)
{
    (void)site;
    return coder_expr(self, op, pto_attr_expr(pto_attr_item(pto_op_attr(op, pto_s(name)), 0, NULL)), out);
}

static uint32_t spare(void *self) { return coder_spare(self); }

static uint32_t define(void *self, pto_value v) { return coder_value(self, v); }

static void alias(void *self, pto_value v, uint32_t slot)
{
    coder *c = self;
    *(uint32_t *)coder_at(c, &c->ids, v.index, sizeof(uint32_t)) = slot + 1;
}

static uint32_t use(void *self, void *site, pto_value v)
{
    (void)site;
    return coder_value(self, v);
}

static pto_status op(void *self, pto_op o)
{
    coder *c = self;
    const op_code *code = coder_op(c, o);
    if (code == NULL) return PTO_FAILED;
    control_emit(&c->control, CODE_OP, code->number, 0);
    return PTO_OK;
}

static pto_status refuse(void *self, void *site, const char *why)
{
    (void)self;
    const op_code *o = site;
    return coder_refuse(o->op, "pto.reference/unsupported", "`%.*s` cannot be executed: %s", PTO_FMT(o->name), why);
}

static pto_status enter(void *self, pto_op op, void *site)
{
    coder *c = self;
    op_code *o = site;
    (void)op;
    if (o->what == DO_FORALL) o->begin = control_emit(&c->control, CODE_INSTANCES, o->number, 0);
    return PTO_OK;
}

static pto_status leave(void *self, pto_op op, void *site, pto_op yield)
{
    coder *c = self;
    const op_code *o = site;
    (void)op;
    if (o->what != DO_FORALL) return control_hand_over(&c->control, site, yield, o->result_count, o->results);
    control_emit(&c->control, CODE_INSTANCE, o->number, o->begin + 1);
    control_patch(&c->control, o->begin);
    return PTO_OK;
}

/* Carried tiles have the regions that the loop states, each time they are handed to it. */
static pto_status hand(void *self, pto_op loop, void *site, pto_op from)
{
    coder *c = self;
    const op_code *o = site;
    if (o->states_valid == NULL) return PTO_OK;
    op_code *check = coder_new_op(c, loop, DO_CARRIED);
    uint32_t *values = PTO_SCRATCH(c->run, uint32_t, o->operand_count);
    for (uint32_t i = 0; i < o->operand_count; i++) values[i] = coder_value(c, pto_op_operand(from, i));
    check->operand_count = o->operand_count;
    check->operands = values;
    check->exprs = o->exprs;
    check->states_valid = o->states_valid;
    control_emit(&c->control, CODE_OP, check->number, 0);
    return PTO_OK;
}

static void ended(void *self, pto_op op, void *site)
{
    coder *c = self;
    (void)op;
    control_emit(&c->control, CODE_DROP, ((const op_code *)site)->number, 0);
}

pto_status coder_body(coder *c)
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
                                          .refuse = refuse,
                                          .hand = hand,
                                          .ended = ended};
    const pto_block body = pto_body(c->f->op);
    uint32_t *args = PTO_SCRATCH(c->run, uint32_t, pto_block_arg_count(body));
    for (uint32_t i = 0; i < pto_block_arg_count(body); i++) args[i] = coder_value(c, pto_block_arg(body, i));
    c->f->args = args;
    c->control.client = &client;
    c->control.self = c;
    return control_decode(&c->control, body, &c->f->flow);
}
