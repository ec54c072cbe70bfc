/* Kernels and functions. */
#include "emit.h"

static pto_dtype dtype_of(pto_value v) { return pto_type_dtype(pto_value_type(v)); }
static int is_memory(pto_value v) { return pto_type_kind_of(pto_value_type(v)) == PTO_TYPE_GM; }

/* Of a value that comes from outside. */
static pto_status check_parameter(pto_op function, pto_value v)
{
    const pto_str name = pto_value_name(v);
    if (emit_memory_type(dtype_of(v)) != NULL) return PTO_OK;
    return pto_error(function, "pto.emit-c/unsupported", "parameter `%%%.*s` has an element type without C: %s",
                     PTO_FMT(name), pto_dtype_name(dtype_of(v)));
}

/* Symbols that are bound inside are variables of their own. */
static void name_bound_symbols(emitter *e)
{
    PTO_WALK(e->function, op)
    if (EMIT_IS(e, op, BIND)) (void)emit_symbol(e, pto_attr_str_of(op, PTO_STR("symbol")));
    e->symbol_count = 0;
    e->bound_count = e->name_count;
}

static void begin(emitter *e, pto_op function, int is_kernel)
{
    e->function = function;
    e->is_kernel = is_kernel;
    emit_names_reset(e);
    /* The list of the kernel before stays with that kernel. */
    e->symbols = NULL;
    e->symbol_capacity = 0;
    e->products = NULL;
    e->product_count = e->product_capacity = 0;
    e->packed = NULL;
    e->packed_count = e->packed_capacity = 0;
    name_bound_symbols(e);
}

/* ---- kernels ---- */

/* The number of an instance, which the only index of a grid is. */
static const char *instance_name(emitter *e, uint32_t rank)
{
    return rank == 1 ? emit_value(e, pto_block_arg(pto_body(e->function), 0)) : "instance_";
}

/* The indices of an instance that the code uses, the last one fastest. */
static void declare_grid(emitter *e, text *out, uint32_t rank, text *code)
{
    const pto_block body = pto_body(e->function);
    if (rank == 1) return;
    const pto_attr grid = pto_op_attr(e->function, PTO_STR("grid"));
    for (uint32_t i = 0; i < rank; i++) {
        if (!text_has_name(code, emit_value(e, pto_block_arg(body, i)))) continue;
        text_put(out, "    const int64_t %s = instance_", emit_value(e, pto_block_arg(body, i)));
        for (uint32_t d = i + 1; d < rank; d++)
            text_put(out, " / (%s)", emit_index(e, pto_attr_expr(pto_attr_item(grid, d, NULL))));
        if (i != 0) text_put(out, " %% (%s)", emit_index(e, pto_attr_expr(pto_attr_item(grid, i, NULL))));
        text_put(out, ";\n");
    }
}

/* A tile that a region makes has one name, in it and after it. */
static void name_results(emitter *e, pto_op kernel)
{
    PTO_WALK(kernel, op)
    {
        if (!EMIT_IS(e, op, FUSED)) continue;
        for (uint32_t i = 0; i < pto_op_result_count(op); i++)
            emit_alias(e, fused_inside(pto_op_result(op, i)), emit_value(e, pto_op_result(op, i)));
    }
}

static void put_frame(emitter *e, text *out, const char *name, uint32_t first)
{
    const pto_block body = pto_body(e->function);
    text_put(out, "typedef struct %s_frame {\n", name);
    for (uint32_t i = 0; i < e->symbol_count; i++) text_put(out, "    int64_t %s;\n", emit_symbol(e, e->symbols[i]));
    for (uint32_t i = first; i < pto_block_arg_count(body); i++)
        text_put(out, "    %s%s;\n", emit_type_of(e, pto_block_arg(body, i)), emit_value(e, pto_block_arg(body, i)));
    emit_products_fields(e, out);
    emit_packed_fields(e, out);
    if (e->asks_stream_bytes) text_put(out, "    int64_t stream_bytes_;\n");
    if (e->symbol_count + e->product_count + (uint32_t)e->asks_stream_bytes == 0 && first == pto_block_arg_count(body))
        text_put(out, "    char nothing_;\n");
    text_put(out, "} %s_frame;\n\n", name);
}

/* What of the frame the code uses. */
static void put_fields(emitter *e, text *out, uint32_t first, text *code)
{
    const pto_block body = pto_body(e->function);
    text fields = {.run = e->run};
    for (uint32_t i = 0; i < e->symbol_count; i++) {
        const char *name = emit_symbol(e, e->symbols[i]);
        if (text_has_name(code, name)) text_put(&fields, "    const int64_t %s = frame_->%s;\n", name, name);
    }
    for (uint32_t i = first; i < pto_block_arg_count(body); i++) {
        const pto_value v = pto_block_arg(body, i);
        const char *name = emit_value(e, v);
        if (text_has_name(code, name))
            text_put(&fields, "    %s%s%s = frame_->%s;\n", emit_type_of(e, v), is_memory(v) ? "const " : "", name,
                     name);
    }
    if (fields.n == 0 && !e->asks_stream_bytes) {
        text_put(out, "    (void)raw_;\n");
        return;
    }
    text_put(out, "    const %s_frame *const frame_ = raw_;\n", emit_global(e, pto_function_name(e->function)));
    text_bytes(out, fields.p, fields.n);
}

/* How many instances there are, of a frame that is filled: a function, since the grid is over the kernel's symbols. */
static void put_count(emitter *e, text *out, const char *name, uint32_t rank)
{
    const pto_attr grid = pto_op_attr(e->function, PTO_STR("grid"));
    text code = {.run = e->run};
    for (uint32_t d = 0; d < rank; d++) {
        const pto_expr n = pto_attr_expr(pto_attr_item(grid, d, NULL));
        if (pto_expr_range(n, e->function, NULL).lo < 0)
            text_put(&code, "    if (%s < 0) return -1;\n", emit_index(e, n));
    }
    text_put(&code, "    return %s", rank == 0 ? "1" : "");
    for (uint32_t d = 0; d < rank; d++)
        text_put(&code, rank > 1 ? "%s(%s)" : "%s%s", d != 0 ? " * " : "",
                 emit_index(e, pto_attr_expr(pto_attr_item(grid, d, NULL))));
    text_put(out, "static int64_t %s_count(const %s_frame *frame_)\n{\n", name, name);
    int uses_frame = 0;
    for (uint32_t i = 0; i < e->symbol_count; i++) {
        const char *symbol = emit_symbol(e, e->symbols[i]);
        if (!text_has_name(&code, symbol)) continue;
        text_put(out, "    const int64_t %s = frame_->%s;\n", symbol, symbol);
        uses_frame = 1;
    }
    if (!uses_frame) text_put(out, "    (void)frame_;\n");
    text_put(out, "%s;\n}\n\n", text_end(&code));
}

/* The beginning of a kernel, and what of its parameters `code` leaves unused. */
static void put_kernel_head(emitter *e, text *out, uint32_t rank, text *code)
{
    text indices = {.run = e->run}, tiles = {.run = e->run};
    declare_grid(e, &indices, rank, code);
    emit_tiles_declare(e, &tiles);
    emit_products_declare(e, &tiles);
    emit_packed_declare(e, &tiles);
    text_put(&indices, "%s", text_end(code));
    put_fields(e, out, rank, &indices);
    const char *instance = instance_name(e, rank);
    if (!text_has_name(&indices, instance)) text_put(out, "    (void)%s;\n", instance);
    if (tiles.n == 0 && !text_has_name(code, "scratch_")) text_put(out, "    (void)scratch_;\n");
    text_bytes(out, text_end(&tiles), tiles.n);
    text_bytes(out, text_end(&indices), indices.n);
}

pto_status emit_kernel(emitter *e, pto_op kernel, text *out)
{
    const pto_block body = pto_body(kernel);
    const uint32_t rank = pto_attr_count(pto_op_attr(kernel, PTO_STR("grid")));
    text code = {.run = e->run, .depth = 1};
    begin(e, kernel, 1);
    const char *name = emit_global(e, pto_function_name(kernel));
    for (uint32_t i = rank; i < pto_block_arg_count(body); i++)
        PTO_TRY(check_parameter(kernel, pto_block_arg(body, i)));
    fused_model_enter(&e->model, kernel);
    emit_tiles_plan(e);
    name_results(e, kernel);
    /* The frame has the symbols of the grid, too. */
    for (uint32_t d = 0; d < rank; d++)
        (void)emit_index(e, pto_attr_expr(pto_attr_item(pto_op_attr(kernel, PTO_STR("grid")), d, NULL)));
    e->out = &code;
    PTO_TRY(emit_block(e, body));
    if (e->scratch_bytes == 0 && text_has_name(&code, "pto_index_fault")) (void)emit_scratch(e, 2 * sizeof(int64_t));
    e->out = out;
    const size_t begin_bytes = out->n;
    put_frame(e, out, name, rank);
    emit_comment(e, kernel);
    text_put(out, "static int32_t ");
    const size_t name_begin = out->n;
    text_put(out, "%s%s_kernel", e->has_trail ? "PTO_TRAILING " : "", name);
    const size_t name_end = out->n;
    text_put(out, "(const void *raw_, int64_t %s, char *scratch_)\n{\n", instance_name(e, rank));
    put_kernel_head(e, out, rank, &code);
    if (e->has_streams) text_put(out, "    pto_stream_end();\n");
    text_put(out, "    return 0;\n}\n\n");
    put_count(e, out, name, rank);
    PTO_GROW(e->run, e->kernels_done, e->kernel_count, e->kernel_capacity);
    e->kernels_done[e->kernel_count++] = (emit_kernel_info){.op = kernel,
                                                            .symbols = e->symbols,
                                                            .symbol_count = e->symbol_count,
                                                            .scratch_bytes = e->scratch_bytes,
                                                            .products = e->products,
                                                            .product_count = e->product_count,
                                                            .packed = e->packed,
                                                            .packed_count = e->packed_count,
                                                            .asks_stream_bytes = e->asks_stream_bytes,
                                                            .bytes = out->n - begin_bytes,
                                                            .sweeps = e->sweeps,
                                                            .name_begin = name_begin,
                                                            .name_end = name_end};
    return PTO_OK;
}

/* ---- what functions do ---- */

static const emit_kernel_info *find_kernel(const emitter *e, pto_op kernel)
{
    for (uint32_t i = 0; i < e->kernel_count; i++)
        if (pto_op_same(e->kernels_done[i].op, kernel)) return &e->kernels_done[i];
    return NULL;
}

/* A symbol of a kernel where it is launched: the extent of an argument, or the caller's symbol of that name. */
static const char *symbol_at_launch(emitter *e, pto_op launch, pto_op kernel, pto_str symbol)
{
    const pto_block body = pto_body(kernel);
    const uint32_t rank = pto_attr_count(pto_op_attr(kernel, PTO_STR("grid")));
    for (uint32_t i = 0; i < pto_op_operand_count(launch); i++) {
        const pto_type type = pto_value_type(pto_block_arg(body, rank + i));
        const pto_type given = pto_value_type(pto_op_operand(launch, i));
        if (pto_type_kind_of(type) != PTO_TYPE_GM) continue;
        for (uint32_t d = 0; d < pto_type_rank(type); d++) {
            const pto_expr dim = pto_type_dim(type, d);
            if (pto_expr_kind_of(dim) == PTO_EXPR_SYMBOL && pto_str_same(pto_expr_symbol_name(dim), symbol))
                return emit_index(e, pto_type_dim(given, d));
        }
    }
    return emit_symbol(e, symbol);
}

static pto_status emit_launch(emitter *e, pto_op op)
{
    const pto_op kernel = pto_symbol_find(e->run, pto_attr_str_of(op, PTO_STR("callee")));
    const emit_kernel_info *info = find_kernel(e, kernel);
    if (info == NULL) return emit_refuse(op, "there is no such kernel");
    const char *name = emit_global(e, pto_function_name(kernel)), *frame = emit_spare(e, "frame"),
               *fault = emit_spare(e, "fault");
    const pto_block body = pto_body(kernel);
    const uint32_t rank = pto_attr_count(pto_op_attr(kernel, PTO_STR("grid")));
    text fields = {.run = e->run};
    for (uint32_t i = 0; i < info->symbol_count; i++)
        text_put(&fields, "%s.%s = %s", fields.n != 0 ? ", " : "", emit_field(e, info->symbols[i]),
                 symbol_at_launch(e, op, kernel, info->symbols[i]));
    for (uint32_t i = 0; i < pto_op_operand_count(op); i++)
        text_put(&fields, "%s.%s = %s", fields.n != 0 ? ", " : "",
                 emit_plain_name(e, pto_value_name(pto_block_arg(body, rank + i))),
                 emit_value(e, pto_op_operand(op, i)));
    if (info->asks_stream_bytes)
        text_put(&fields, "%s.stream_bytes_ = pto_native_stream_bytes(call_->services, %s)", fields.n != 0 ? ", " : "",
                 emit_moved_bytes(e, op));
    text_line(e->out, "%s%s_frame %s = {%s};", info->product_count != 0 ? "" : "const ", name, frame,
              fields.n != 0 ? text_end(&fields) : "0");
    emit_products_find(e, op, info, frame);
    const char *mark = info->packed_count != 0 ? emit_spare(e, "mark") : NULL;
    if (mark != NULL) text_line(e->out, "const uint64_t %s = call_->services->mark(call_->services->self);", mark);
    emit_packed_fill(e, op, info, frame);
    text_line(e->out,
              "const int32_t %s = call_->services->launch(call_->services->self, %s_kernel, &%s, %s_count(&%s), "
              "%s);",
              fault, name, frame, name, frame, emit_products_scratch(e, info, frame));
    if (mark != NULL) text_line(e->out, "call_->services->release(call_->services->self, %s);", mark);
    text_line(e->out, "if (%s != 0) return %s;", fault, fault);
    return PTO_OK;
}

static pto_status emit_workspace(emitter *e, pto_op op)
{
    const pto_value v = pto_op_result(op, 0);
    const pto_type type = pto_value_type(v);
    pto_expr count = pto_expr_const(e->run, pto_dtype_bytes(dtype_of(v)));
    if (!emit_is_ever_written(e, v))
        return pto_error(op, "pto.emit-c/never-written",
                         "`%%%.*s` is read, and nothing writes it: launch a kernel that lists it in `writes` before",
                         PTO_FMT(pto_value_name(v)));
    for (uint32_t d = 0; d < pto_type_rank(type); d++) count = pto_expr_mul(count, pto_type_dim(type, d));
    if (!PTO_SOME(count) || emit_memory_type(dtype_of(v)) == NULL) return emit_refuse(op, "of its size or type");
    text_line(e->out, "%sconst %s = call_->services->allocate(call_->services->self, (size_t)(%s));",
              emit_type_of(e, v), emit_value(e, v), emit_index(e, count));
    text_line(e->out, "if (%s == NULL) return %u;", emit_value(e, v), emit_fault_of_memory(e, op));
    return PTO_OK;
}

static pto_status emit_array(emitter *e, pto_op op)
{
    const pto_value v = pto_op_result(op, 0);
    const pto_str bytes = pto_attr_bytes(pto_op_attr(op, PTO_STR("value")));
    if (pto_attr_kind_of(pto_op_attr(op, PTO_STR("value"))) != PTO_ATTR_DENSE)
        return emit_refuse(op, "what it holds is in a file");
    text *t = &e->arrays;
    text_put(t, "static const uint8_t array%u_[%zu] __attribute__((aligned(64))) = {", ++e->array_count,
             bytes.n != 0 ? bytes.n : 1);
    for (size_t i = 0; i < bytes.n; i++)
        text_put(t, "%s%u", i == 0 ? "" : i % 24 == 0 ? ",\n    " : ", ", (unsigned)(uint8_t)bytes.p[i]);
    text_put(t, bytes.n != 0 ? "};\n" : "0};\n");
    /* Nothing writes to it. */
    text_line(e->out, "%sconst %s = (%s)(uintptr_t)array%u_;", emit_type_of(e, v), emit_value(e, v), emit_type_of(e, v),
              e->array_count);
    return PTO_OK;
}

static void put_list(emitter *e, pto_value v, const char *name, int strides)
{
    const pto_type type = pto_value_type(v);
    text t = {.run = e->run};
    for (uint32_t d = 0; d < pto_type_rank(type); d++)
        text_put(&t, "%s%s", d != 0 ? ", " : "",
                 emit_index(e, strides ? pto_type_stride(type, d) : pto_type_dim(type, d)));
    text_line(e->out, "const int64_t %s[] = {%s};", name, pto_type_rank(type) != 0 ? text_end(&t) : "1");
}

/* debug.print and debug.assert: the caller knows the op and its type. */
static pto_status emit_debug(emitter *e, pto_op op)
{
    const pto_value v = pto_op_operand(op, 0);
    const uint32_t fault = emit_fault_of(e, op, "does not hold");
    const pto_dtype t = dtype_of(v);
    const unsigned number = e->op_numbers[op.index];
    emit_open_block(e);
    if (is_memory(v)) {
        put_list(e, v, "dims_", 0);
        put_list(e, v, "strides_", 1);
    } else {
        text_line(e->out, "const %s value_ = %s;", emit_memory_type(t), emit_write(e, t, emit_value(e, v)));
    }
    text_line(e->out, "const int32_t fault_ = call_->services->debug(call_->services->self, %u, %s, %s, %u);", number,
              is_memory(v) ? emit_value(e, v) : "&value_", is_memory(v) ? "dims_, strides_" : "NULL, NULL", fault);
    text_line(e->out, "if (fault_ != 0) return fault_;");
    text_close(e->out, "");
    return PTO_OK;
}

static pto_status emit_return(emitter *e, pto_op op)
{
    const uint32_t first = pto_block_arg_count(pto_body(e->function));
    for (uint32_t i = 0; i < pto_op_operand_count(op); i++) {
        const pto_value v = pto_op_operand(op, i);
        if (is_memory(v)) return emit_refuse(op, "it returns memory");
        text_line(e->out, "*(%s *)call_->arguments[%u] = %s;", emit_memory_type(dtype_of(v)), first + i,
                  emit_write(e, dtype_of(v), emit_value(e, v)));
    }
    return PTO_OK;
}

/* A view is a pointer that there is, of the element type that it has. */
static pto_status emit_view(emitter *e, pto_op op)
{
    const pto_value from = pto_op_operand(op, 0), to = pto_op_result(op, 0);
    const char *name = emit_value(e, from), *type = emit_memory_type(dtype_of(to));
    const int is_same = strcmp(type, emit_memory_type(dtype_of(from))) == 0;
    emit_alias(e, to, is_same ? name : emit_format(e, "((%s *)%s)", type, name));
    return PTO_OK;
}

pto_status emit_function_op(emitter *e, pto_op op)
{
    if (EMIT_IS(e, op, VIEW)) return emit_view(e, op);
    if (EMIT_IS(e, op, RETURN) && (e->is_kernel || pto_op_operand_count(op) == 0)) return PTO_OK;
    emit_comment(e, op);
    if (e->is_kernel) return emit_refuse(op, "not inside of a kernel");
    if (EMIT_IS(e, op, LAUNCH)) return emit_launch(e, op);
    if (EMIT_IS(e, op, WORKSPACE)) return emit_workspace(e, op);
    if (EMIT_IS(e, op, ARRAY)) return emit_array(e, op);
    if (EMIT_IS(e, op, PRINT) || EMIT_IS(e, op, ASSERT)) return emit_debug(e, op);
    if (EMIT_IS(e, op, RETURN)) return emit_return(e, op);
    return emit_refuse(op, "this generator does not know it");
}

/* ---- functions ---- */

/* Symbols and arguments that the code uses. */
static void put_parameters(emitter *e, text *out, text *code)
{
    const pto_block body = pto_body(e->function);
    const size_t before = out->n;
    for (uint32_t i = 0; i < e->symbol_count; i++) {
        const char *name = emit_symbol(e, e->symbols[i]);
        if (text_has_name(code, name)) text_put(out, "    const int64_t %s = call_->symbols[%u];\n", name, i);
    }
    for (uint32_t i = 0; i < pto_block_arg_count(body); i++) {
        const pto_value v = pto_block_arg(body, i);
        const char *name = emit_value(e, v), *c = emit_memory_type(dtype_of(v));
        const char *at = emit_format(e, "*(const %s *)call_->arguments[%u]", c, i);
        if (!text_has_name(code, name)) continue;
        if (is_memory(v))
            text_put(out, "    %s *const %s = call_->arguments[%u];\n", c, name, i);
        else
            text_put(out, "    const %s %s = %s;\n", emit_lane_type(dtype_of(v)), name, emit_read(e, dtype_of(v), at));
    }
    if (out->n == before && !text_has_name(code, "call_")) text_put(out, "    (void)call_;\n");
}

pto_status emit_function(emitter *e, pto_op function, text *out)
{
    const pto_block body = pto_body(function);
    const pto_op last = pto_block_terminator(body);
    const uint32_t results = PTO_SOME(last) ? pto_op_operand_count(last) : 0;
    text code = {.run = e->run, .depth = 1};
    begin(e, function, 0);
    const char *name = emit_global(e, pto_function_name(function));
    for (uint32_t i = 0; i < pto_block_arg_count(body); i++) PTO_TRY(check_parameter(function, pto_block_arg(body, i)));
    fused_model_enter(&e->model, function);
    e->storage = fused_storage_of(&e->model);
    e->out = &code;
    PTO_TRY(emit_block(e, body));
    e->out = out;
    emit_comment(e, function);
    text_put(out, "static int32_t %s_function(const pto_native_call *call_)\n{\n", name);
    put_parameters(e, out, &code);
    text_bytes(out, code.p != NULL ? code.p : "", code.n);
    text_put(out, "    return 0;\n}\n\nstatic const char *const %s_symbols[] = {", name);
    for (uint32_t i = 0; i < e->symbol_count; i++) text_put(out, "\"%.*s\", ", PTO_FMT(e->symbols[i]));
    text_put(out, "NULL};\nstatic const pto_native_function %s_entry = {sizeof %s_entry, %u, %u, 0, ", name, name,
             pto_block_arg_count(body) + results, e->symbol_count);
    text_put(out, "\"%.*s\", %s_symbols, %s_function};\n\n", PTO_FMT(pto_function_name(function)), name, name);
    return PTO_OK;
}
