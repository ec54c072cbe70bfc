/* A function of the text becomes a kernel, and a function that launches it. */
#include "import.h"

/* ---- its head ---- */

static pto_status parameter_type(const importer *im, mlir_cursor *c, import_parameter *p)
{
    const mlir_node *type = NULL;
    PTO_TRY(import_take_type(c, &type));
    p->is_pointer = pto_str_is(type->text, "pto.ptr");
    p->dtype = import_dtype(p->is_pointer ? type->body : type->text);
    if (p->dtype != PTO_DTYPE_NONE && !(p->is_pointer && p->dtype == PTO_INDEX)) return PTO_OK;
    return mlir_error(im->run, type->line, type->column, "pto.read-ascend/type",
                      "a parameter is a `!pto.ptr<..>` of an element type, an integer or a float; this is `%.*s`",
                      PTO_FMT(type->text));
}

static pto_status read_parameters(importer *im, mlir_cursor *in)
{
    const mlir_node *name = NULL;
    mlir_cursor dict;
    while (in->at != NULL) {
        import_parameter p = {0};
        if (!mlir_take(in, MLIR_VALUE, &name)) return mlir_expected(in, "a parameter");
        if (!mlir_take_mark(in, ':')) return mlir_expected(in, "`:` and a type");
        PTO_TRY(parameter_type(im, in, &p));
        p.name = name->text;
        p.line = name->line;
        p.column = name->column;
        (void)mlir_enter(in, '{', &dict);
        PTO_GROW(im->run, im->parameters, im->parameter_count, im->parameter_capacity);
        im->parameters[im->parameter_count++] = p;
        if (in->at != NULL && (!mlir_take_mark(in, ',') || in->at == NULL))
            return mlir_expected(in, "`,` and a parameter");
    }
    return PTO_OK;
}

/* `attributes {pto.kernel_kind = #pto.kernel_kind<cube>, pto.entry}` */
static pto_status read_attributes(importer *im, mlir_cursor *c)
{
    mlir_cursor in;
    const mlir_node *key = NULL, *value = NULL;
    if (!mlir_take_word(c, "attributes")) return PTO_OK;
    if (!mlir_enter(c, '{', &in)) return mlir_expected(c, "`{`");
    while (in.at != NULL) {
        if (!mlir_take(&in, MLIR_WORD, &key)) return mlir_expected(&in, "the name of an attribute");
        if (mlir_take_mark(&in, '=')) {
            if (in.at == NULL) return mlir_expected(&in, "a value");
            value = in.at;
            in.at = value->next;
            if (pto_str_is(key->text, "pto.kernel_kind") && pto_str_is(value->body, "cube")) im->is_cube = 1;
            if (pto_str_is(key->text, "pto.kernel_kind") && pto_str_is(value->body, "vector")) im->is_vector = 1;
        }
        if (in.at != NULL && !mlir_take_mark(&in, ',')) return mlir_expected(&in, "`,`");
    }
    return PTO_OK;
}

static pto_status read_head(importer *im, const mlir_op *op, pto_str *name)
{
    mlir_cursor c = mlir_arguments(im->run, op), in;
    const mlir_node *symbol = NULL;
    (void)mlir_take_word(&c, "private");
    if (!mlir_take(&c, MLIR_SYMBOL, &symbol)) return mlir_expected(&c, "the name of the function");
    *name = symbol->text;
    if (!mlir_enter(&c, '(', &in)) return mlir_expected(&c, "`(`");
    PTO_TRY(read_parameters(im, &in));
    PTO_TRY(read_attributes(im, &c));
    PTO_TRY(mlir_at_end(&c));
    if (op->regions == NULL || op->regions->next != NULL) return import_refuse(im, op, "without a body is not read");
    return PTO_OK;
}

/* ---- parameters ---- */

/* The first time integers are symbols; the second time those that extents of memory mention. */
static pto_status define_parameters(importer *im, const pto_value *values)
{
    for (uint32_t i = 0; i < im->parameter_count; i++) {
        const import_parameter *p = &im->parameters[i];
        const mlir_node at = {.text = p->name, .line = p->line, .column = p->column};
        import_name n = {.kind = IMPORT_POINTER, .dtype = p->dtype, .pointer = i};
        if (!p->is_pointer) {
            n.kind = pto_dtype_is_float(p->dtype) ? IMPORT_SCALAR : IMPORT_INDEX;
            n.value = values != NULL ? values[i] : pto_value_none(im->run);
            if (n.kind == IMPORT_INDEX)
                n.index = p->is_symbol || values == NULL ? pto_expr_symbol(im->run, import_plain_name(im, p->name))
                                                         : pto_expr_value(n.value);
            if (p->dtype != PTO_INDEX && !p->is_symbol && values != NULL) n.kind = IMPORT_SCALAR;
        }
        PTO_TRY(import_define(im, &at, n));
    }
    return PTO_OK;
}

static pto_type memory_type(const importer *im, const import_memory *m)
{
    return pto_type_gm(im->run, im->parameters[m->pointer].dtype, m->rank, m->dims);
}

/* Adds the parameters to a body, in the order of the text; a pointer is those of its memories. */
static pto_status add_parameters(importer *im, pto_block body, pto_value *values)
{
    for (uint32_t i = 0; i < im->parameter_count; i++) {
        const import_parameter *p = &im->parameters[i];
        const pto_str name = import_plain_name(im, p->name);
        values[i] = pto_value_none(im->run);
        if (!p->is_pointer && !p->is_symbol) {
            values[i] = pto_block_add_arg(body, pto_type_scalar(im->run, p->dtype), name);
            PTO_NEED(values[i]);
        }
        for (import_memory *m = im->memories; p->is_pointer && m != NULL; m = m->next) {
            if (m->pointer != i) continue;
            m->value = pto_block_add_arg(body, memory_type(im, m), name);
            PTO_NEED(m->value);
        }
    }
    return PTO_OK;
}

/* What a kernel writes may be a part of the memory, and the rest stays. */
static const char *mode_of(const import_memory *m) { return m->writes ? "inout" : "in"; }

/* For each parameter how it is used, and the numbers of those that are read and written. */
static void add_uses(importer *im, pto_spec *s, int is_kernel)
{
    pto_attr *modes = NULL, *regions[2] = {NULL, NULL};
    uint32_t count = 0, capacity = 0, region_count[2] = {0, 0}, region_capacity[2] = {0, 0};
    for (uint32_t i = 0; i < im->parameter_count; i++) {
        const import_parameter *p = &im->parameters[i];
        import_memory whole = {0};
        int is_viewed = 0;
        for (import_memory *m = im->memories; m != NULL; m = m->next) {
            if (m->pointer != i) continue;
            is_viewed = 1;
            whole.reads |= m->reads;
            whole.writes |= m->writes;
            if (!is_kernel) continue;
            const int uses[2] = {m->reads, m->writes};
            const pto_attr number = pto_attr_make_i64(im->run, count), region = pto_attr_make_list(im->run, 1, &number);
            for (uint32_t k = 0; k < 2; k++) {
                if (!uses[k]) continue;
                PTO_GROW(im->run, regions[k], region_count[k], region_capacity[k]);
                regions[k][region_count[k]++] = region;
            }
            PTO_GROW(im->run, modes, count, capacity);
            modes[count++] = pto_attr_make_str(im->run, pto_s(mode_of(m)));
        }
        /* A pointer of which no view is made has no shape, and is not a parameter. */
        if ((p->is_pointer && (is_kernel || !is_viewed)) || p->is_symbol) continue;
        PTO_GROW(im->run, modes, count, capacity);
        modes[count++] = pto_attr_make_str(im->run, pto_s(p->is_pointer ? mode_of(&whole) : "in"));
    }
    pto_spec_attr(s, PTO_STR("params"), pto_attr_make_list(im->run, count, modes));
    if (region_count[0] != 0)
        pto_spec_attr(s, PTO_STR("reads"), pto_attr_make_list(im->run, region_count[0], regions[0]));
    if (region_count[1] != 0)
        pto_spec_attr(s, PTO_STR("writes"), pto_attr_make_list(im->run, region_count[1], regions[1]));
}

/* ---- the kernel ---- */

static pto_status build_kernel(importer *im, const mlir_op *op, pto_str name)
{
    const pto_space_facts vector = pto_space_facts_of(im->run, PTO_ROLE_SCRATCHPAD),
                          cube = pto_space_facts_of(im->run, PTO_ROLE_ACCUMULATOR);
    const pto_str kind = im->is_cube ? (cube != NULL ? cube->core : PTO_STR("cube"))
                                     : (vector != NULL ? vector->core : PTO_STR("vector"));
    if (im->is_cube && im->is_vector)
        return import_refuse(im, op, "works on vector and on matrix units; a kernel is for one kind of core");
    pto_value *values = PTO_SCRATCH(im->run, pto_value, im->parameter_count + 1);
    const pto_expr blocks = pto_expr_const(im->run, im->blocks);
    pto_spec s = IMPORT_SPEC(im, KERNEL);
    pto_spec_str(&s, PTO_STR("name"), name);
    pto_spec_str(&s, PTO_STR("core"), kind);
    pto_spec_exprs(&s, PTO_STR("grid"), 1, &blocks);
    add_uses(im, &s, 1);
    pto_spec_blocks(&s, 1);
    pto_spec_loc(&s, import_loc(im, op));
    im->kernel = pto_spec_build(&s, pto_at_end(pto_module_top(im->run)));
    PTO_NEED(im->kernel);
    im->block = pto_body(im->kernel);
    im->grid = pto_block_add_arg(im->block, pto_type_scalar(im->run, PTO_INDEX), PTO_STR("block"));
    PTO_NEED(im->grid);
    PTO_TRY(add_parameters(im, im->block, values));
    PTO_TRY(define_parameters(im, values));
    PTO_TRY(import_ops(im, op->regions->first));
    pto_spec end = IMPORT_SPEC(im, RETURN);
    return PTO_SOME(import_build(im, &end)) ? PTO_OK : PTO_FAILED;
}

/* The shape that a pointer has where the kernel is launched: of all that the kernel sees it in, the first with the most
 * extents that are a symbol alone, since a call says what these are. NULL: no view is made of it. */
static const import_memory *launch_shape(const importer *im, uint32_t pointer)
{
    const import_memory *best = NULL;
    uint32_t most = 0;
    for (const import_memory *m = im->memories; m != NULL; m = m->next) {
        if (m->pointer != pointer) continue;
        uint32_t n = 0;
        for (uint32_t d = 0; d < m->rank; d++) n += pto_expr_kind_of(m->dims[d]) == PTO_EXPR_SYMBOL;
        if (best != NULL && n <= most) continue;
        best = m;
        most = n;
    }
    return best;
}

/* Whether an extent of a parameter of the launch is the symbol alone. */
static int is_bound(const importer *im, pto_str symbol)
{
    for (uint32_t i = 0; i < im->parameter_count; i++) {
        const import_memory *m = launch_shape(im, i);
        for (uint32_t d = 0; m != NULL && d < m->rank; d++)
            if (pto_expr_kind_of(m->dims[d]) == PTO_EXPR_SYMBOL &&
                pto_str_same(pto_expr_symbol_name(m->dims[d]), symbol))
                return 1;
    }
    return 0;
}

static int can_launch(const importer *im, const mlir_op *op, pto_str name)
{
    for (uint32_t i = 0; i < im->parameter_count; i++) {
        const pto_str symbol = import_plain_name(im, im->parameters[i].name);
        char text[PTO_REPORT_BYTES];
        if (!im->parameters[i].is_symbol || is_bound(im, symbol)) continue;
        const int n = snprintf(text, sizeof text,
                               "@%.*s has no function that launches it: `%.*s` is in extents of its memory, and none "
                               "is that number alone",
                               PTO_FMT(name), PTO_FMT(symbol));
        pto_diag(im->run, PTO_WARNING, import_loc(im, op), PTO_STR("pto.read-ascend/no-launch"),
                 pto_str_make(text, n > 0 ? (size_t)n : 0));
        return 0;
    }
    return 1;
}

/* `func @launch_k` with the parameters of the kernel; what else a pointer is seen as are views of it. */
static pto_status build_launch(importer *im, const mlir_op *op, pto_str name)
{
    pto_spec s = IMPORT_SPEC(im, FUNC);
    pto_spec_str(&s, PTO_STR("name"), pto_str_join(im->run, PTO_STR("launch_"), name));
    add_uses(im, &s, 0);
    pto_spec_blocks(&s, 1);
    pto_spec_loc(&s, import_loc(im, op));
    const pto_op function = pto_spec_build(&s, pto_at_end(pto_module_top(im->run)));
    PTO_NEED(function);
    const pto_block body = pto_body(function);
    pto_spec launch = IMPORT_SPEC(im, LAUNCH);
    pto_spec_symbol(&launch, PTO_STR("callee"), name);
    for (uint32_t i = 0; i < im->parameter_count; i++) {
        const import_parameter *p = &im->parameters[i];
        if (!p->is_pointer && !p->is_symbol)
            pto_spec_operand(
                &launch, pto_block_add_arg(body, pto_type_scalar(im->run, p->dtype), import_plain_name(im, p->name)));
        const import_memory *shape = p->is_pointer ? launch_shape(im, i) : NULL;
        if (shape == NULL) continue;
        const pto_value whole = pto_block_add_arg(body, memory_type(im, shape), import_plain_name(im, p->name));
        for (const import_memory *m = im->memories; m != NULL; m = m->next)
            if (m->pointer == i)
                pto_spec_operand(&launch, m == shape ? whole
                                                     : pto_make1(im->run, pto_at_end(body), im->kinds[KIND_VIEW],
                                                                 memory_type(im, m), whole));
    }
    PTO_NEED(pto_spec_build(&launch, pto_at_end(body)));
    pto_spec end = IMPORT_SPEC(im, RETURN);
    return PTO_SOME(pto_spec_build(&end, pto_at_end(body))) ? PTO_OK : PTO_FAILED;
}

pto_status import_function(importer *im, const mlir_op *op)
{
    pto_str name = {0};
    im->function = op;
    PTO_TRY(read_head(im, op, &name));
    name = import_plain_name(im, name);
    PTO_TRY(define_parameters(im, NULL));
    PTO_TRY(import_ops(im, op->regions->first));
    import_close(im, 0);
    im->builds = 1;
    PTO_TRY(build_kernel(im, op, name));
    if (can_launch(im, op, name)) PTO_TRY(build_launch(im, op, name));
    return PTO_OK;
}
