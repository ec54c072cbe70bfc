/* pto.emit-c: a module as one C file. */
#include "emit.h"

static const char *const kind_names[] = {
#define NAME(ID, text) text,
    EMIT_KINDS(NAME)
#undef NAME
};

/* Ops by their place in a walk through the module, from 1. */
static void number_ops(emitter *e)
{
    const pto_op all = pto_op_none(e->run);
    uint32_t number = 0;
    for (uint32_t pass = 0; pass < 2; pass++) {
        uint32_t most = 0;
        number = 0;
        PTO_WALK(all, op)
        {
            if (op.index > most) most = op.index;
            number++;
            if (pass == 0) continue;
            e->op_numbers[op.index] = number;
        }
        if (pass == 0) {
            e->op_capacity = most + 1;
            e->op_numbers = PTO_SCRATCH(e->run, uint32_t, e->op_capacity);
        }
    }
}

static int is_kind(emitter *e, pto_op op, uint32_t kind) { return pto_op_kind(op) == e->kinds[kind]; }

/* Kernels first: functions use their frames. */
static pto_status put_functions(emitter *e, text *out, text *entries, uint32_t *count)
{
    const pto_block top = pto_module_top(e->run);
    PTO_EACH_OP(top, kernel)
        if (is_kind(e, kernel, KIND_KERNEL)) PTO_TRY(emit_kernel(e, kernel, out));
    PTO_EACH_OP(top, function) {
        if (is_kind(e, function, KIND_KERNEL)) continue;
        if (!is_kind(e, function, KIND_FUNC)) return emit_refuse(function, "it is not a function");
        PTO_TRY(emit_function(e, function, out));
        text_put(entries, "%s&%s_entry", *count != 0 ? ", " : "", emit_global(e, pto_function_name(function)));
        (*count)++;
    }
    return PTO_OK;
}

/* As C has it between quotes. */
static void put_string(text *out, const char *s)
{
    text_put(out, "\"");
    for (; *s != '\0'; s++) {
        const int is_plain = *s != '"' && *s != '\\' && *s != '?' && (unsigned char)*s >= ' ';
        text_put(out, is_plain ? "%c" : "\\%03o", (unsigned char)*s);
    }
    text_put(out, "\"");
}

static void put_faults(emitter *e, text *out)
{
    text_put(out, "static const pto_native_fault faults_[] = {%s", e->fault_count != 0 ? "\n" : "");
    for (uint32_t i = 0; i < e->fault_count; i++) {
        const emit_fault *f = &e->faults[i];
        const uint32_t number = f->op.index < e->op_capacity ? e->op_numbers[f->op.index] : 0;
        const pto_str kind = pto_op_name(f->op);
        char place[512];
        text_put(out, "    {%u, \"%s\", \"%.*s\", ", number, f->text, PTO_FMT(kind));
        if (pto_loc_text(pto_op_loc(f->op), place, sizeof place) != 0)
            put_string(out, place);
        else
            text_put(out, "NULL");
        text_put(out, ", %d, %d},\n", f->is_memory, f->has_index);
    }
    text_put(out, "%s{0}};\n", e->fault_count != 0 ? "    " : "");
}

static void put_module(emitter *e, text *out, text *entries, uint32_t count)
{
    text_put(out, "static const pto_native_function *const functions_[] = {%s};\n",
             count != 0 ? text_end(entries) : "NULL");
    put_faults(e, out);
    text_put(out, "static const pto_native_kernel_entry kernels_[] = {\n");
    for (uint32_t i = 0; i < e->kernel_count; i++) {
        const pto_op kernel = e->kernels_done[i].op;
        text_put(out, "    {%s_kernel, %u, 0},\n", emit_global(e, pto_function_name(kernel)),
                 e->op_numbers[kernel.index]);
    }
    text_put(out, "    {NULL, 0, 0}};\n");
    text_put(out,
             "PTO_MODULE pto_native_module_v1 = {\n"
             "    sizeof(pto_native_module), %u, %u, %u, functions_, faults_, kernels_};\n",
             count, e->fault_count, e->kernel_count);
}

static pto_status generate(const pto_run *run, const pto_text_sink *sink)
{
    emitter e = {.run = run, .arrays = {.run = run}, .model = fused_model_make(run)};
    text code = {.run = run}, entries = {.run = run}, all = {.run = run};
    uint32_t count = 0;
    for (uint32_t i = 0; i < EMIT_KIND_COUNT; i++) e.kinds[i] = pto_kind_by_name(run, pto_s(kind_names[i]));
    number_ops(&e);
    PTO_TRY(put_functions(&e, &code, &entries, &count));
    text_put(&all,
             "/* Written by pto.emit-c. Tensors are dense, row-major; see <pto/native.h>. */\n"
             "#include <pto/native.h>\n#include <pto/native_vector.h>\n%s\n",
             e.sorts ? "#include <pto/native_vector_sort.h>\n" : "");
    text_bytes(&all, e.arrays.p != NULL ? e.arrays.p : "", e.arrays.n);
    emit_parts(&e, &all, &code);
    put_module(&e, &all, &entries, count);
    return sink->write(sink->self, all.p, all.n);
}

static const pto_generator generator = {
    .struct_size = sizeof generator,
    .id = "pto.emit-c",
    .summary = "Writes kernels of tile ops and the functions that launch them as C",
    .suffix = ".c",
    .generate = generate,
    .key = emit_key,
};

PTO_PLUGIN("pto.emit-c", "generator:pto.emit-c", "", .version = "0.1.0", .license = "Apache-2.0",
           .generators = PTO_LIST(pto_generator, &generator));
