/* pto.emit-ascend: a module at exec level as a source tree for the chip. */
#include "assembler_print.h"
#include "cpp_print.h"
#include "tree_files.h"

#define OPTIONS(X)                                                                                         \
    X(FORM, ENUM, "form", .def = "cpp", .choices = PTO_STRS("cpp", "assembler", "assembler-level2"),       \
      .doc = "What it writes: C++ with all that builds and runs it, or kernels as text of the assembler, " \
             "with addresses and flags (level 3) or without (level 2)",                                    \
      .example = "with: { form: assembler }")
PTO_OPTIONS(OPTIONS);
enum { FORM_CPP, FORM_ASSEMBLER, FORM_ASSEMBLER_LEVEL2 };

/* A file of the tree. */
static pto_status put_file(const pto_text_sink *sink, const char *name, const char *p, size_t n)
{
    PTO_TRY(sink->file(sink->self, name));
    return sink->write(sink->self, p, n);
}

static pto_status put_text(const pto_text_sink *sink, const char *name, text *t)
{
    return put_file(sink, name, text_end(t), t->n);
}

static pto_status put_kernels(cpp_printer *p, const pto_text_sink *sink)
{
    for (const ascend_kernel *k = p->m->kernels; k != NULL; k = k->next) {
        text t = {.run = p->run};
        p->out = &t;
        PTO_TRY(cpp_kernel(p, k));
        PTO_TRY(put_text(sink, text_format(p->run, "kernel_%s.cpp", cpp_global(p, k->op)), &t));
    }
    return PTO_OK;
}

static pto_status put_cmake(cpp_printer *p, const pto_text_sink *sink)
{
    text t = {.run = p->run};
    text_put(&t,
             "# Written by pto.emit-ascend; README.md says how to build.\ncmake_minimum_required(VERSION 3.20)\n"
             "set(ARCH %.*s)\n",
             PTO_FMT(p->m->arch));
    for (int is_cube = 0; is_cube < 2; is_cube++) {
        text_put(&t, "set(%s_KERNELS", is_cube ? "CUBE" : "VECTOR");
        for (const ascend_kernel *k = p->m->kernels; k != NULL; k = k->next)
            if (k->is_cube == is_cube) text_put(&t, " kernel_%s.cpp", cpp_global(p, k->op));
        text_put(&t, ")\n");
    }
    text_bytes(&t, tree_cmake_file.begin, (size_t)(tree_cmake_file.end - tree_cmake_file.begin));
    return put_text(sink, tree_cmake_file.name, &t);
}

static pto_status put_readme(cpp_printer *p, const pto_text_sink *sink)
{
    text t = {.run = p->run};
    text_put(&t,
             "# Kernels for %.*s\n\nWritten by `pto.emit-ascend`; `manifest.json` says from what. `kernel_*.cpp` are "
             "the kernels, "
             "`host.cpp` the functions\nthat launch them, `run.cpp` is a program that runs one on .npy files and "
             "compares.\n\n",
             PTO_FMT(p->m->arch));
    text_put(&t,
             "On a host with the chip and its toolkit, where `PTO_ISA` is a checkout of the vendor's tile library:\n\n"
             "```\ncmake -B build -DPTO_ISA=$PTO_ISA && cmake --build build\n```\n\n"
             "Without a chip, on this CPU (clang 19): the same with `-DPTO_CPU=ON`. Then:\n\n```\n");
    for (uint32_t i = 0; i < p->m->function_count; i++) {
        const pto_op f = p->m->functions[i];
        const pto_block body = pto_body(f);
        text_put(&t, "build/run %.*s", PTO_FMT(pto_function_name(f)));
        for (uint32_t a = 0; a < pto_block_arg_count(body); a++) {
            const pto_value v = pto_block_arg(body, a);
            const pto_str name = ascend_argument_name(f, a);
            if (pto_type_kind_of(pto_value_type(v)) != PTO_TYPE_GM) {
                text_put(&t, " %.*s=1", PTO_FMT(name));
                continue;
            }
            if (!ascend_is_output(f, a)) text_put(&t, " %.*s=%.*s_in.npy", PTO_FMT(name), PTO_FMT(name));
            if (ascend_is_output(f, a) || pto_str_is(ascend_role(f, a), "inout"))
                text_put(&t, " %.*s=%.*s_expected.npy", PTO_FMT(name), PTO_FMT(name));
        }
        text_put(&t, "\n");
    }
    text_put(&t, "```\n\n`-o NAME=FILE.npy` writes an output, `--tolerance=T` allows for errors of T times the value; "
                 "a symbol that is "
                 "no extent\nof an input is given as `NAME=NUMBER`. The program ends with 0, with 1 where an output is "
                 "not as expected, else with 2.\n");
    return put_text(sink, "README.md", &t);
}

static pto_status put_assembler(const ascend_module *m, int level, const pto_text_sink *sink)
{
    text readme = {.run = m->run};
    text_put(&readme,
             "# Kernels for %.*s\n\nWritten by `pto.emit-ascend`; `manifest.json` says from what. Text of the vendor's "
             "assembler, %s:\n\n```\n",
             PTO_FMT(m->arch), level == 3 ? "with addresses and flags" : "without addresses and flags, which it finds");
    for (const ascend_kernel *k = m->kernels; k != NULL; k = k->next) {
        const char *name = text_identifier(m->run, pto_function_name(k->op));
        text t = {.run = m->run};
        PTO_TRY(assembler_kernel(m, k, level, &t));
        PTO_TRY(put_text(sink, text_format(m->run, "kernel_%s.pto", name), &t));
        text_put(&readme, "ptoas kernel_%s.pto -o kernel_%s.cpp --pto-arch=%.*s --pto-level=level%d%s\n", name, name,
                 PTO_FMT(m->arch), level, level == 3 ? "" : " --enable-insert-sync");
    }
    text_put(&readme, "```\n");
    return put_text(sink, "README.md", &readme);
}

static pto_status generate(const pto_run *run, const pto_text_sink *sink)
{
    ascend_module m = {0};
    cpp_printer p = {.run = run, .m = &m};
    text header = {.run = run}, source = {.run = run};
    if (!PTO_HAS(sink, file) || sink->file == NULL)
        return pto_error_at(run, pto_loc_none(run), "pto.emit-ascend/one-text",
                            "this generator writes a folder, and one text is asked for");
    const int64_t form = pto_opt_i64(run, OPT_FORM);
    PTO_TRY(ascend_model_make(run, form != FORM_CPP, &m));
    if (form != FORM_CPP) return put_assembler(&m, form == FORM_ASSEMBLER ? 3 : 2, sink);
    PTO_TRY(put_kernels(&p, sink));
    PTO_TRY(cpp_host(&p, &header, &source));
    PTO_TRY(put_text(sink, "host.h", &header));
    PTO_TRY(put_text(sink, "host.cpp", &source));
    PTO_TRY(put_cmake(&p, sink));
    PTO_TRY(put_readme(&p, sink));
    for (const tree_file *f = tree_files; f->name != NULL; f++)
        PTO_TRY(put_file(sink, f->name, f->begin, (size_t)(f->end - f->begin)));
    return PTO_OK;
}

static const pto_generator generator = {
    .struct_size = sizeof generator,
    .id = "pto.emit-ascend",
    .summary = "Writes instructions of an Ascend chip, and the functions that launch them, as a source tree",
    .options = pass_options,
    .suffix = "/",
    .generate = generate,
};

PTO_PLUGIN("pto.emit-ascend", "generator:pto.emit-ascend", "", .version = "0.1.0", .license = "Apache-2.0",
           .generators = PTO_LIST(pto_generator, &generator));
