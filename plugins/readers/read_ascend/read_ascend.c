/* pto.read-ascend: text of the vendor's assembler, levels 2 and 3, as kernels. */
#include "import.h"

#define OPTIONS(X)                                                                    \
    X(BLOCKS, I64, "blocks", .def = "1", .min = "1", .max = "65535",                  \
      .doc = "instances of each kernel: the text does not say how many are launched", \
      .example = "{ use: pto.read-ascend, with: { blocks: 48 } }")
PTO_OPTIONS(OPTIONS);

static const char *const kind_names[] = {
#define NAME(ID, text) text,
    IMPORT_KINDS(NAME)
#undef NAME
};

/* `attributes {pto.target_arch = "a5"}` */
static int is_for_a5(const mlir_op *module)
{
    for (const mlir_node *n = module->arguments; n != NULL; n = n->next)
        for (const mlir_node *m = n->first; m != NULL && m->next != NULL; m = m->next)
            if (pto_str_is(m->text, "pto.target_arch") && m->next->next != NULL)
                return pto_str_is(m->next->next->text, "a5");
    return 0;
}

static pto_status read_module(const pto_run *run, const mlir_op *first, int is_a5)
{
    for (const mlir_op *op = first; op != NULL; op = op->next) {
        if (pto_str_is(op->name, "module")) {
            if (op->regions == NULL || op->regions->next != NULL)
                return mlir_error(run, op->line, op->column, "pto.read-ascend/syntax", "a module without its body");
            PTO_TRY(read_module(run, op->regions->first, is_a5 || is_for_a5(op)));
            continue;
        }
        importer *im = PTO_SCRATCH(run, importer, 1);
        im->run = run;
        im->blocks = pto_opt_i64(run, OPT_BLOCKS);
        im->file = first;
        im->is_for_a5 = is_a5;
        for (uint32_t i = 0; i < IMPORT_KIND_COUNT; i++) im->kinds[i] = pto_kind_by_name(run, pto_s(kind_names[i]));
        if (!pto_str_is(op->name, "func.func"))
            return import_refuse(im, op, "is not read here; a file has `func.func` in a `module`");
        if (!import_is_called(first, op)) PTO_TRY(import_function(im, op));
    }
    return PTO_OK;
}

static pto_status read_text(const pto_run *run, pto_str text)
{
    mlir_op *first = NULL;
    PTO_TRY(mlir_parse(run, text, &first));
    if (first == NULL) return mlir_error(run, 1, 1, "pto.read-ascend/syntax", "the file has no function");
    return read_module(run, first, 0);
}

static const pto_reader reader = {.struct_size = sizeof reader,
                                  .id = "pto.read-ascend",
                                  .summary = "Read kernels of the vendor's assembler, levels 2 and 3",
                                  .options = pass_options,
                                  .suffixes = PTO_STRS(".pto"),
                                  .read = read_text};
PTO_PLUGIN("pto.read-ascend", "reader:pto.read-ascend", "", .version = "0.1.0", .license = "Apache-2.0",
           .readers = PTO_LIST(pto_reader, &reader));
