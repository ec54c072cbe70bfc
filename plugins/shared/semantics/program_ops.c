/* Decoding of ops without blocks: storage, instructions, flags, launches. */
#include "semantics/program_body.h"

#include <inttypes.h>

static pto_status unsupported(decoder *d, const program_site *site, const char *why)
{
    return program_error(d->p, site, "unsupported", "`%.*s` cannot be executed here: %s", PTO_FMT(site->op_name), why);
}

/* ---- storage ---- */

static pto_status decode_buffer(decoder *d, pto_op op, program_site *site)
{
    const pto_str space = pto_attr_str(pto_op_attr(op, PTO_STR("space")));
    const pto_attr addr = pto_op_attr(op, PTO_STR("addr"));
    program_buffer b = {.site = site,
                        .address = PTO_SOME(addr) ? pto_attr_i64(addr) : -1,
                        .bytes_per_stage = pto_attr_i64(pto_op_attr(op, PTO_STR("bytes_per_stage"))),
                        .stages = pto_attr_i64(pto_op_attr(op, PTO_STR("stages"))),
                        .align = pto_attr_i64(pto_op_attr(op, PTO_STR("align")))};
    b.space = pto_space_by_name(d->run, space);
    if (b.space == PTO_SPACE_NONE) return unsupported(d, site, "there is no such memory space");
    const int64_t most = INT64_C(1) << 48;
    if (b.bytes_per_stage < 1 || b.stages < 1 || b.bytes_per_stage > most / b.stages)
        return unsupported(d, site, "its size is below 1 or above 2^48 bytes");
    if (PTO_SOME(addr) && (b.address < 0 || b.address > most))
        return program_error(d->p, site, "out-of-bounds", "the buffer has the address %" PRId64 " in `%s`", b.address,
                             pto_space_name(d->run, b.space));
    if (!PTO_SOME(addr) && !(d->flags_given & PROGRAM_ASSIGN_ADDRESSES))
        return program_error(d->p, site, "no-address", "the buffer has no address in `%s`; run pto.allocate before",
                             pto_space_name(d->run, b.space));
    decode_define(d, pto_op_result(op, 0), THING_BUFFER, d->buffers.count);
    *LIST_ADD(d, buffers, program_buffer) = b;
    return PTO_OK;
}

static pto_status decode_tile(decoder *d, pto_op op, program_site *site)
{
    const thing buffer = decode_find(d, pto_op_operand(op, 0));
    if (buffer.kind != THING_BUFFER) return unsupported(d, site, "its buffer is not that of a `block.buffer`");
    const program_buffer *b = LIST_AT(d, buffers, program_buffer, buffer.id);
    const pto_type type = pto_value_type(pto_op_result(op, 0));
    tile_code t = {.site = site, .buffer = buffer.id, .offset = pto_attr_i64(pto_op_attr(op, PTO_STR("offset")))};
    uint32_t n;
    PTO_TRY(decode_exprs(d, site, op, "stage", 1, &t.stage, &n));
    if (n != 1) return unsupported(d, site, "it has no stage");
    PTO_TRY(decode_exprs(d, site, op, "valid", 2, t.valid, &n));
    if (n != 2) return unsupported(d, site, "its valid region has no rows and columns");
    tile_ref *r = &t.shape.ref;
    r->dtype = pto_type_dtype(type);
    r->space = pto_type_space(type);
    r->role = pto_space_role(d->run, r->space);
    r->order = pto_layout_order(d->run, pto_type_layout(type));
    if (!pto_expr_is_const(pto_type_dim(type, 0), &r->rows) || !pto_expr_is_const(pto_type_dim(type, 1), &r->cols))
        return unsupported(d, site, "its capacity is not two numbers");
    if (r->space != b->space) return unsupported(d, site, "its space is not that of its buffer");
    if (t.offset < 0 || t.offset > b->bytes_per_stage)
        return program_error(d->p, site, "out-of-bounds", "offset %" PRId64 " in stages of %" PRId64 " bytes", t.offset,
                             b->bytes_per_stage);
    r->bytes = (size_t)(b->bytes_per_stage - t.offset);
    const char *problem = tile_problem(r);
    if (problem != NULL) return unsupported(d, site, problem);
    t.shape.site = site;
    decode_define(d, pto_op_result(op, 0), THING_TILE, d->tiles.count);
    decode_emit(d, CODE_TILE, d->tiles.count, 0);
    *LIST_ADD(d, tiles, tile_code) = t;
    return PTO_OK;
}

static pto_status decode_constant(decoder *d, pto_op op, program_site *site)
{
    (void)site;
    const pto_attr value = pto_op_attr(op, PTO_STR("value"));
    const uint32_t slot = decode_slot(d);
    const pto_attr_kind kind = pto_attr_kind_of(value);
    const bool is_int = kind == PTO_ATTR_INT || kind == PTO_ATTR_BOOL;
    *LIST_AT(d, constants, number, slot) =
        is_int ? number_from_int(pto_attr_i64(value)) : number_from_float(pto_attr_f64(value));
    decode_define(d, pto_op_result(op, 0), THING_SLOT, slot);
    return PTO_OK;
}

static pto_status decode_view(decoder *d, pto_op op, program_site *site)
{
    const thing from = decode_find(d, pto_op_operand(op, 0));
    if (from.kind != THING_ARRAY) return unsupported(d, site, "it is a view of something that is not global memory");
    array_code a = {.site = site, .source = from.id};
    a.parameter = LIST_AT(d, arrays, array_code, from.id)->parameter;
    PTO_TRY(decode_array_type(d, site, pto_value_type(pto_op_result(op, 0)), &a));
    decode_define(d, pto_op_result(op, 0), THING_ARRAY, d->arrays.count);
    decode_emit(d, CODE_ARRAY, d->arrays.count, 0);
    *LIST_ADD(d, arrays, array_code) = a;
    return PTO_OK;
}

static pto_status decode_bind(decoder *d, pto_op op, program_site *site)
{
    bind_code b = {.site = site};
    const pto_str name = pto_attr_str(pto_op_attr(op, PTO_STR("symbol")));
    uint32_t n;
    PTO_TRY(decode_exprs(d, site, op, "value", 1, &b.value, &n));
    PTO_TRY(decode_exprs(d, site, op, "lo", 1, &b.lo, &n));
    PTO_TRY(decode_exprs(d, site, op, "hi", 1, &b.hi, &n));
    decode_bound_symbol(d, name);
    b.slot = decode_symbol(d, name);
    decode_emit(d, CODE_BIND, d->binds.count, 0);
    *LIST_ADD(d, binds, bind_code) = b;
    return PTO_OK;
}

static pto_status decode_index_cast(decoder *d, pto_op op, program_site *site)
{
    bind_code b = {.site = site, .slot = decode_slot(d)};
    uint32_t n;
    PTO_TRY(decode_exprs(d, site, op, "from", 1, &b.value, &n));
    if (n != 1) return unsupported(d, site, "it has no expression");
    decode_define(d, pto_op_result(op, 0), THING_SLOT, b.slot);
    decode_emit(d, CODE_NUMBER, d->binds.count, 0);
    *LIST_ADD(d, binds, bind_code) = b;
    return PTO_OK;
}

static pto_status decode_compare(decoder *d, pto_op op, program_site *site)
{
    const thing a = decode_find(d, pto_op_operand(op, 0)), b = decode_find(d, pto_op_operand(op, 1));
    compare_code c = {.slot = decode_slot(d),
                      .left = a.id,
                      .right = b.id,
                      .relation = pto_relation_by_name(pto_attr_str(pto_op_attr(op, PTO_STR("relation")))),
                      .dtype = pto_type_dtype(pto_value_type(pto_op_operand(op, 0)))};
    if (a.kind != THING_SLOT || b.kind != THING_SLOT)
        return unsupported(d, site, "it compares what is not a scalar here");
    decode_define(d, pto_op_result(op, 0), THING_SLOT, c.slot);
    decode_emit(d, CODE_COMPARE, d->compares.count, 0);
    *LIST_ADD(d, compares, compare_code) = c;
    return PTO_OK;
}

/* ---- instructions ---- */

/* Operands go to their places as the row of the rule has them. */
static void take_tile(insn_code *c, pto_op op, uint32_t operand, uint32_t id)
{
    if (pto_op_is_scratch(op, operand))
        c->tmp = id;
    else if (pto_op_writes(op, operand))
        c->dst = id;
    else
        c->src[c->src_count++] = id;
}

static pto_status take_operands(decoder *d, pto_op op, const program_site *site, insn_code *c)
{
    for (uint32_t i = 0; i < pto_op_operand_count(op); i++) {
        const thing t = decode_find(d, pto_op_operand(op, i));
        switch (t.kind) {
        case THING_TILE: take_tile(c, op, i, t.id); break;
        case THING_ARRAY: c->array = t.id; break;
        case THING_SLOT: c->scalar = t.id; break;
        case THING_BUFFER:
        case THING_NONE: return unsupported(d, site, "an operand is not a tile descriptor, memory or scalar constant");
        }
    }
    return PTO_OK;
}

/* Spaces of a move of data, and what runs it. */
static void find_pipe(decoder *d, program_site *site, const insn_code *c)
{
    const tile_code *tiles = d->tiles.items;
    const pto_space global = pto_space_of_role(d->run, PTO_ROLE_GLOBAL);
    site->to = c->dst == NO_ID ? global : tiles[c->dst].shape.ref.space;
    const uint32_t moved = site->transfer == PTO_TRANSFER_MOVE ? c->src_count - 1 : 0;
    site->from = c->src_count ? tiles[c->src[moved]].shape.ref.space : c->array != NO_ID ? global : site->to;
    site->pipe = pto_op_pipe(site->op);
}

static pto_status decode_insn(decoder *d, pto_op op, program_site *site)
{
    insn_code c = {.site = site, .dst = NO_ID, .tmp = NO_ID, .array = NO_ID, .scalar = NO_ID, .result = NO_ID};
    site->insn = insn_by_name(site->op_name.p, site->op_name.n);
    PTO_TRY(take_operands(d, op, site, &c));
    if (c.array != NO_ID) {
        uint32_t n;
        PTO_TRY(decode_exprs(d, site, op, "offsets", PTO_MAX_DIMS, c.offsets, &n));
        if (n != LIST_AT(d, arrays, array_code, c.array)->rank)
            return unsupported(d, site, "it has not one offset for each dim of its memory");
        c.transpose = pto_attr_i64(pto_op_attr(op, PTO_STR("transpose"))) != 0;
    }
    c.has_place = c.array == NO_ID && PTO_SOME(pto_op_attr(op, PTO_STR("offsets")));
    if (c.has_place) {
        uint32_t n;
        PTO_TRY(decode_exprs(d, site, op, "offsets", 2, c.offsets, &n));
        if (n != 2) return unsupported(d, site, "it names no row and column");
    }
    if (pto_op_result_count(op) != 0) {
        c.result = decode_slot(d);
        decode_define(d, pto_op_result(op, 0), THING_SLOT, c.result);
    }
    const pto_attr pad = pto_op_attr(op, PTO_STR("pad")), mode = pto_op_attr(op, PTO_STR("mode"));
    c.has_scale = PTO_SOME(pto_op_attr(op, PTO_STR("scale")));
    c.scale = (float)pto_attr_float_of(op, PTO_STR("scale"), 0);
    c.has_pad = PTO_SOME(pad);
    if (c.has_pad)
        c.pad = pto_attr_kind_of(pad) == PTO_ATTR_FLOAT ? number_from_float(pto_attr_f64(pad))
                                                        : number_from_int(pto_attr_i64(pad));
    c.relu = pto_attr_i64(pto_op_attr(op, PTO_STR("relu"))) != 0;
    c.saturate = pto_attr_i64(pto_op_attr(op, PTO_STR("saturate"))) != 0;
    if (PTO_SOME(mode)) {
        const pto_str text = pto_attr_str(mode);
        c.mode = round_mode_by_name(text.p, text.n);
        if (c.mode == ROUND_COUNT) return unsupported(d, site, "no such rounding mode");
    }
    c.relation = pto_relation_by_name(pto_attr_str(pto_op_attr(op, PTO_STR("relation"))));
    const pto_str function = pto_attr_str_of(op, PTO_STR("function"));
    c.function = insn_function_by_name(function.p, function.n);
    c.run = pto_attr_int_of(op, PTO_STR("run"), 0);
    c.descending = pto_attr_bool_of(op, PTO_STR("descending"), 0) != 0;
    c.upper = pto_attr_bool_of(op, PTO_STR("upper"), 0) != 0;
    find_pipe(d, site, &c);
    decode_emit(d, CODE_INSN, d->insns.count, 0);
    *LIST_ADD(d, insns, insn_code) = c;
    return PTO_OK;
}

static pto_status decode_flag(decoder *d, pto_op op, program_site *site, step_kind kind)
{
    flag_code f = {.site = site, .kind = kind};
    if (kind == STEP_BARRIER) {
        f.pipe = pto_pipe_by_name(d->run, pto_attr_str(pto_op_attr(op, PTO_STR("pipe"))));
    } else {
        uint32_t n;
        f.pipe = pto_pipe_by_name(d->run, pto_attr_str(pto_op_attr(op, PTO_STR("src"))));
        f.dst_pipe = pto_pipe_by_name(d->run, pto_attr_str(pto_op_attr(op, PTO_STR("dst"))));
        PTO_TRY(decode_exprs(d, site, op, "event", 1, &f.event, &n));
        if (n != 1 || f.dst_pipe == PTO_PIPE_NONE || f.dst_pipe == f.pipe) return unsupported(d, site, "no such event");
    }
    if (f.pipe == PTO_PIPE_NONE) return unsupported(d, site, "no such pipe");
    site->pipe = kind == STEP_WAIT_FLAG ? f.dst_pipe : f.pipe;
    decode_emit(d, CODE_FLAG, d->flags.count, 0);
    *LIST_ADD(d, flags, flag_code) = f;
    return PTO_OK;
}

/* ---- launches ---- */

static pto_status decode_launch(decoder *d, pto_op op, program_site *site)
{
    const pto_str callee = pto_attr_str(pto_op_attr(op, PTO_STR("callee")));
    launch_code l = {
        .site = site, .kernel = pto_symbol_find(d->run, callee), .argument_count = pto_op_operand_count(op)};
    l.first = d->launch_arguments.count;
    if (!PTO_SOME(l.kernel) || !pto_str_is(pto_op_name(l.kernel), "block.kernel"))
        return unsupported(d, site, "it launches what is not a kernel of this module");
    for (uint32_t i = 0; i < l.argument_count; i++) {
        const thing t = decode_find(d, pto_op_operand(op, i));
        if (t.kind != THING_ARRAY && t.kind != THING_SLOT)
            return unsupported(d, site, "an argument is neither global memory nor a scalar");
        *LIST_ADD(d, launch_arguments, launch_argument) =
            (launch_argument){t.kind == THING_ARRAY ? t.id : NO_ID, t.kind == THING_SLOT ? t.id : NO_ID};
    }
    if (l.argument_count > d->body->most_arguments) d->body->most_arguments = l.argument_count;
    decode_emit(d, CODE_LAUNCH, d->launches.count, 0);
    *LIST_ADD(d, launches, launch_code) = l;
    return PTO_OK;
}

static pto_status decode_scalar_of(decoder *d, pto_op op, program_site *site)
{
    insn_code c = {.site = site, .dst = NO_ID, .tmp = NO_ID, .array = NO_ID, .scalar = NO_ID, .result = decode_slot(d)};
    uint32_t n;
    PTO_TRY(take_operands(d, op, site, &c));
    if (c.array == NO_ID) return unsupported(d, site, "it reads what is not global memory");
    PTO_TRY(decode_exprs(d, site, op, "offsets", PTO_MAX_DIMS, c.offsets, &n));
    if (n != LIST_AT(d, arrays, array_code, c.array)->rank)
        return unsupported(d, site, "it has not one offset for each dim of its memory");
    decode_define(d, pto_op_result(op, 0), THING_SLOT, c.result);
    decode_emit(d, CODE_READ, d->insns.count, 0);
    *LIST_ADD(d, insns, insn_code) = c;
    return PTO_OK;
}

static pto_status decode_debug(decoder *d, pto_op op, program_site *site)
{
    insn_code c = {.site = site, .dst = NO_ID, .tmp = NO_ID, .array = NO_ID, .scalar = NO_ID, .result = NO_ID};
    PTO_TRY(take_operands(d, op, site, &c));
    decode_emit(d, CODE_DEBUG, d->insns.count, 0);
    *LIST_ADD(d, insns, insn_code) = c;
    return PTO_OK;
}

static pto_status decode_alloc(decoder *d, pto_op op, program_site *site)
{
    array_code a = {.site = site, .source = NO_ID, .parameter = NO_ID};
    PTO_TRY(decode_array_type(d, site, pto_value_type(pto_op_result(op, 0)), &a));
    decode_define(d, pto_op_result(op, 0), THING_ARRAY, d->arrays.count);
    decode_emit(d, CODE_ALLOC, d->arrays.count, 0);
    *LIST_ADD(d, arrays, array_code) = a;
    return PTO_OK;
}

static pto_status decode_free(decoder *d, pto_op op, program_site *site)
{
    const thing t = decode_find(d, pto_op_operand(op, 0));
    if (t.kind != THING_ARRAY) return unsupported(d, site, "it frees what is not a workspace");
    decode_emit(d, CODE_FREE, t.id, site->index);
    return PTO_OK;
}

static pto_status decode_set(decoder *d, pto_op op, program_site *site)
{
    return decode_flag(d, op, site, STEP_SET_FLAG);
}

static pto_status decode_wait(decoder *d, pto_op op, program_site *site)
{
    return decode_flag(d, op, site, STEP_WAIT_FLAG);
}

static pto_status decode_barrier(decoder *d, pto_op op, program_site *site)
{
    return decode_flag(d, op, site, STEP_BARRIER);
}

enum { IN_KERNEL = 1, IN_FUNCTION = 2, IN_BOTH = 3 };

static const struct {
    const char *name;
    int where;
    pto_status (*decode)(decoder *d, pto_op op, program_site *site);
} op_rows[] = {
    {"constant", IN_BOTH, decode_constant},
    {"view", IN_BOTH, decode_view},
    {"bind", IN_BOTH, decode_bind},
    {"index_cast", IN_BOTH, decode_index_cast},
    {"compare", IN_BOTH, decode_compare},
    {"block.buffer", IN_KERNEL, decode_buffer},
    {"block.tile", IN_KERNEL, decode_tile},
    {"pto.set_flag", IN_KERNEL, decode_set},
    {"pto.wait_flag", IN_KERNEL, decode_wait},
    {"pto.barrier", IN_KERNEL, decode_barrier},
    {"scalar_of", IN_FUNCTION, decode_scalar_of},
    {"debug.print", IN_FUNCTION, decode_debug},
    {"debug.assert", IN_FUNCTION, decode_debug},
    {"exec.launch", IN_FUNCTION, decode_launch},
    {"block.launch", IN_FUNCTION, decode_launch},
    {"block.workspace", IN_FUNCTION, decode_alloc},
    {"constant_array", IN_FUNCTION, decode_alloc},
    {"exec.alloc", IN_FUNCTION, decode_alloc},
    {"exec.free", IN_FUNCTION, decode_free},
};

pto_status decode_op(decoder *d, pto_op op)
{
    const pto_str name = pto_op_name(op);
    const int where = d->p->is_kernel ? IN_KERNEL : IN_FUNCTION;
    program_site *site = decode_site(d, op);
    for (uint32_t i = 0; i < sizeof op_rows / sizeof *op_rows; i++)
        if ((op_rows[i].where & where) && pto_str_is(name, op_rows[i].name)) return op_rows[i].decode(d, op, site);
    if (where == IN_KERNEL && insn_by_name(name.p, name.n) != INSN_NONE) return decode_insn(d, op, site);
    return unsupported(d, site,
                       where == IN_KERNEL ? "kernels hold PTO instructions and their storage"
                                          : "functions hold launches, workspace and views");
}
