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
        if (p->is_queue) continue;
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

/* A kernel of a part has the memory that the part uses. */
static int is_of_kernel(const importer *im, const import_memory *m) { return !im->is_split || m->reads || m->writes; }

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
            if (m->pointer != i || !is_of_kernel(im, m)) continue;
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
            if (m->pointer != i || (is_kernel && !is_of_kernel(im, m))) continue;
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
        if ((p->is_pointer && (is_kernel || !is_viewed)) || p->is_symbol || p->is_queue) continue;
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

/* Vector cores of a cluster in which parts of the function differ. */
enum { SUBBLOCKS = 2 };

int64_t import_subblocks(const importer *im) { return im->uses_subblock && im->unit == IMPORT_VECTOR ? SUBBLOCKS : 1; }

pto_expr import_subblock(const importer *im)
{
    if (!im->builds || import_subblocks(im) == 1) return pto_expr_const(im->run, 0);
    return pto_expr_mod(pto_expr_value(im->grid), pto_expr_const(im->run, SUBBLOCKS));
}

pto_expr import_block(const importer *im)
{
    const pto_expr at = pto_expr_value(im->grid);
    if (import_subblocks(im) == 1) return at;
    return pto_expr_floordiv(at, pto_expr_const(im->run, SUBBLOCKS));
}

static pto_status build_kernel(importer *im, const mlir_op *op, pto_str name)
{
    const pto_space_facts vector = pto_space_facts_of(im->run, PTO_ROLE_SCRATCHPAD),
                          cube = pto_space_facts_of(im->run, PTO_ROLE_ACCUMULATOR);
    const pto_str kind = im->unit == IMPORT_CUBE ? (cube != NULL ? cube->core : PTO_STR("cube"))
                                                 : (vector != NULL ? vector->core : PTO_STR("vector"));
    pto_value *values = PTO_SCRATCH(im->run, pto_value, im->parameter_count + 1);
    const pto_expr blocks = pto_expr_const(im->run, import_subblocks(im) * im->blocks);
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
    PTO_NEED(import_build(im, &end));
    PTO_TRY(import_drop_shadows(im));
    return im->is_split ? import_drop_unused(im) : PTO_OK;
}

/* What of the last kernel is forgotten. */
static void begin_kernel(importer *im)
{
    import_close(im, 0);
    im->step_number = 0;
    im->is_grid_named = 0;
    im->first = pto_op_none(im->run);
    im->buffers = NULL;
    for (uint32_t i = 0; i < IMPORT_QUEUES; i++) im->queues[i].pushed = im->queues[i].popped = 0;
    import_set_uses(im, 0);
}

typedef pto_status part_function(importer *im, const mlir_op *op, pto_str name, void *data);

/* Each kernel of the function, in the order in which they are launched. */
static pto_status each_kernel(importer *im, const mlir_op *op, pto_str name, part_function *what, void *data)
{
    uint32_t number = 0;
    if (!im->is_split) {
        im->unit = im->is_cube ? IMPORT_CUBE : IMPORT_VECTOR;
        return what(im, op, name, data);
    }
    for (im->phase = 0; im->phase == 0 || im->phase < im->phase_count; im->phase++)
        for (uint32_t k = 0; k < 2; k++) {
            im->unit = k == 0 ? IMPORT_CUBE : IMPORT_VECTOR;
            if (!import_has_kernel(im, im->phase, im->unit)) continue;
            char text[16];
            const int n = snprintf(text, sizeof text, "_%u", number++);
            PTO_TRY(what(im, op, pto_str_join(im->run, name, pto_str_make(text, (size_t)n)), data));
        }
    return PTO_OK;
}

static pto_status add_kernel(importer *im, const mlir_op *op, pto_str name, void *data)
{
    (void)data;
    begin_kernel(im);
    return build_kernel(im, op, name);
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

/* What the memories are where the kernels are launched: parameters, views of them, and for queues memory of the call.
 */
static pto_status pass_memory(importer *im, pto_block body, uint32_t pointer)
{
    const import_parameter *p = &im->parameters[pointer];
    const import_memory *shape = p->is_pointer ? launch_shape(im, pointer) : NULL;
    if (shape == NULL) return PTO_OK;
    pto_value whole;
    if (p->is_queue) {
        pto_spec s = IMPORT_SPEC(im, WORKSPACE);
        pto_spec_result(&s, memory_type(im, shape));
        pto_spec_name(&s, import_plain_name(im, p->name));
        const pto_op made = pto_spec_build(&s, pto_at_end(body));
        PTO_NEED(made);
        whole = pto_op_result(made, 0);
    } else {
        whole = pto_block_add_arg(body, memory_type(im, shape), import_plain_name(im, p->name));
    }
    for (import_memory *m = im->memories; m != NULL; m = m->next) {
        if (m->pointer != pointer) continue;
        m->passed =
            m == shape ? whole : pto_make1(im->run, pto_at_end(body), im->kinds[KIND_VIEW], memory_type(im, m), whole);
        PTO_NEED(m->passed);
    }
    return PTO_OK;
}

typedef struct launch {
    pto_block body;
    pto_value *scalars; /* by parameter */
} launch;

static pto_status add_launch(importer *im, const mlir_op *op, pto_str name, void *data)
{
    const launch *l = data;
    (void)op;
    import_set_uses(im, 0);
    pto_spec s = IMPORT_SPEC(im, LAUNCH);
    pto_spec_symbol(&s, PTO_STR("callee"), name);
    for (uint32_t i = 0; i < im->parameter_count; i++) {
        const import_parameter *p = &im->parameters[i];
        if (!p->is_pointer && !p->is_symbol) pto_spec_operand(&s, l->scalars[i]);
        for (const import_memory *m = im->memories; p->is_pointer && m != NULL; m = m->next)
            if (m->pointer == i && is_of_kernel(im, m)) pto_spec_operand(&s, m->passed);
    }
    return PTO_SOME(pto_spec_build(&s, pto_at_end(l->body))) ? PTO_OK : PTO_FAILED;
}

/* `func @launch_k` with the parameters of the function of the text; what else a pointer is seen as are views of it. */
static pto_status build_launch(importer *im, const mlir_op *op, pto_str name)
{
    pto_spec s = IMPORT_SPEC(im, FUNC);
    pto_spec_str(&s, PTO_STR("name"), pto_str_join(im->run, PTO_STR("launch_"), name));
    import_set_uses(im, 1);
    add_uses(im, &s, 0);
    pto_spec_blocks(&s, 1);
    pto_spec_loc(&s, import_loc(im, op));
    const pto_op function = pto_spec_build(&s, pto_at_end(pto_module_top(im->run)));
    PTO_NEED(function);
    launch l = {.body = pto_body(function), .scalars = PTO_SCRATCH(im->run, pto_value, im->parameter_count + 1)};
    for (uint32_t i = 0; i < im->parameter_count; i++) {
        const import_parameter *p = &im->parameters[i];
        if (!p->is_pointer && !p->is_symbol)
            l.scalars[i] =
                pto_block_add_arg(l.body, pto_type_scalar(im->run, p->dtype), import_plain_name(im, p->name));
        PTO_TRY(pass_memory(im, l.body, i));
    }
    PTO_TRY(each_kernel(im, op, name, add_launch, &l));
    pto_spec end = IMPORT_SPEC(im, RETURN);
    return PTO_SOME(pto_spec_build(&end, pto_at_end(l.body))) ? PTO_OK : PTO_FAILED;
}

/* ---- calls ---- */

static const mlir_op *find_function(const mlir_op *first, pto_str name)
{
    for (const mlir_op *op = first; op != NULL; op = op->next) {
        if (!pto_str_is(op->name, "func.func")) continue;
        const mlir_node *n = op->arguments;
        while (n != NULL && n->kind != MLIR_SYMBOL) n = n->next;
        if (n != NULL && pto_str_same(n->text, name)) return op;
    }
    return NULL;
}

/* Whether an op, or one inside of it, calls the function. */
static int calls(const mlir_op *first, pto_str name)
{
    for (const mlir_op *op = first; op != NULL; op = op->next) {
        if (pto_str_is(op->name, "func.call") && op->arguments != NULL && pto_str_same(op->arguments->text, name))
            return 1;
        for (const mlir_region *r = op->regions; r != NULL; r = r->next)
            if (calls(r->first, name)) return 1;
    }
    return 0;
}

static int has_calls(const mlir_op *first)
{
    for (const mlir_op *op = first; op != NULL; op = op->next) {
        if (pto_str_is(op->name, "func.call")) return 1;
        for (const mlir_region *r = op->regions; r != NULL; r = r->next)
            if (has_calls(r->first)) return 1;
    }
    return 0;
}

int import_is_called(const mlir_op *file, const mlir_op *function)
{
    const mlir_node *n = function->arguments;
    while (n != NULL && n->kind != MLIR_SYMBOL) n = n->next;
    return n != NULL && calls(file, n->text);
}

/* The names of arguments and their types after `func.call @f`. */
static pto_status read_arguments(importer *im, mlir_cursor *c, import_name *out, uint32_t *count)
{
    mlir_cursor in;
    const mlir_node *name = NULL;
    const import_name *what;
    enum { ANY = 0xffff };
    *count = 0;
    if (!mlir_enter(c, '(', &in)) return mlir_expected(c, "`(` and arguments");
    while (in.at != NULL) {
        if (*count == IMPORT_ARGUMENTS_MAX) return mlir_expected(&in, "no more than 64 arguments");
        if (!mlir_take(&in, MLIR_VALUE, &name)) return mlir_expected(&in, "an argument");
        PTO_TRY(import_find(im, name, ANY, "a value", &what));
        out[(*count)++] = *what;
        if (in.at != NULL && !mlir_take_mark(&in, ',')) return mlir_expected(&in, "`,`");
    }
    if (!mlir_take_mark(c, ':') || !mlir_enter(c, '(', &in) || !mlir_take_mark(c, '>') || !mlir_enter(c, '(', &in))
        return mlir_expected(c, "`: (types) -> ()`");
    if (in.at != NULL) return mlir_expected(&in, "`)`: functions without results are called");
    return mlir_at_end(c);
}

/* A function that is called, as `im` reads one. */
static pto_status read_callee(importer *im, const mlir_op *op, const mlir_op *callee, import_name *arguments,
                              uint32_t count)
{
    importer *head = PTO_SCRATCH(im->run, importer, 1);
    pto_str name = {0};
    head->run = im->run;
    PTO_TRY(read_head(head, callee, &name));
    if (head->parameter_count != count)
        return import_refuse(im, op, "has %u arguments; @%.*s takes %u", count, PTO_FMT(name), head->parameter_count);
    const uint32_t mark = import_open(im), floor = im->floor, section = im->section;
    im->floor = mark;
    if (head->is_cube || head->is_vector) im->section = head->is_cube ? IMPORT_CUBE : IMPORT_VECTOR;
    for (uint32_t i = 0; i < count; i++) {
        const import_parameter *p = &head->parameters[i];
        const mlir_node at = {.text = p->name, .line = p->line, .column = p->column};
        PTO_TRY(import_define(im, &at, arguments[i]));
    }
    PTO_TRY(import_ops(im, callee->regions->first));
    import_close(im, mark);
    im->floor = floor;
    im->section = section;
    return PTO_OK;
}

pto_status import_call(importer *im, const mlir_op *op)
{
    mlir_cursor c = mlir_arguments(im->run, op);
    const mlir_node *symbol = NULL;
    import_name *arguments = PTO_SCRATCH(im->run, import_name, IMPORT_ARGUMENTS_MAX);
    uint32_t count = 0;
    if (op->results != NULL) return import_refuse(im, op, "has no result: functions without results are called");
    if (!mlir_take(&c, MLIR_SYMBOL, &symbol)) return mlir_expected(&c, "the name of a function");
    PTO_TRY(read_arguments(im, &c, arguments, &count));
    const mlir_op *callee = find_function(im->file, symbol->text);
    if (callee == NULL)
        return mlir_error(im->run, symbol->line, symbol->column, "pto.read-ascend/name",
                          "@%.*s is not a function of this module", PTO_FMT(symbol->text));
    if (im->calls == IMPORT_CALLS_MAX)
        return import_refuse(im, op, "is the call in more than %d others, or calls itself", IMPORT_CALLS_MAX);
    im->calls++;
    PTO_TRY(read_callee(im, op, callee, arguments, count));
    im->calls--;
    return PTO_OK;
}

/* ---- a function ---- */

pto_status import_function(importer *im, const mlir_op *op)
{
    pto_str name = {0};
    im->function = op;
    for (uint32_t i = 0; i < IMPORT_QUEUES; i++) im->queue_base[i] = -1;
    PTO_TRY(read_head(im, op, &name));
    name = import_plain_name(im, name);
    PTO_TRY(define_parameters(im, NULL));
    const mlir_op *body = op->regions->first;
    im->is_mixed = import_is_mixed(import_units_of(has_calls(body) ? im->file : body));
    im->analyses = 1;
    PTO_TRY(import_ops(im, op->regions->first));
    im->analyses = 0;
    PTO_TRY(import_close_queues(im));
    if ((im->is_cube && im->is_vector) || im->queues[0].memory != NULL || im->queues[1].memory != NULL)
        PTO_TRY(import_split(im));
    im->builds = 1;
    PTO_TRY(each_kernel(im, op, name, add_kernel, NULL));
    if (can_launch(im, op, name)) PTO_TRY(build_launch(im, op, name));
    return PTO_OK;
}
