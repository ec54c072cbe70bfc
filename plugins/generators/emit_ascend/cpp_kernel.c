/* A kernel as a function of the chip. */
#include "cpp_print.h"

#include <pto/relation.h>

/* ---- tile types ---- */

typedef struct cpp_types {
    const ascend_tile_type **items;
    const char **names;
    uint32_t count, capacity, name_capacity;
} cpp_types;

static const char *location(uint32_t role)
{
    static const char *const words[] = {
#define PLACE(role, word, cpp) [PTO_ROLE_##role] = cpp,
#include "ascend_words.def"
    };
    return role < sizeof words / sizeof words[0] ? words[role] : NULL;
}

static int same_type(const ascend_tile_type *a, const ascend_tile_type *b)
{
    return a->role == b->role && a->dtype == b->dtype && a->rows == b->rows && a->columns == b->columns &&
           a->is_column_major == b->is_column_major && a->boxes == b->boxes && a->box_bytes == b->box_bytes &&
           a->pad == b->pad && a->pad_bits == b->pad_bits && a->is_compact == b->is_compact;
}

/* "vec_f32_16x256": what differs from a usual tile of its space comes at the end. */
static const char *type_stem(cpp_printer *p, const ascend_tile_type *t)
{
    char place[16];
    (void)snprintf(place, sizeof place, "%s", location(t->role));
    place[0] = (char)(place[0] + 'a' - 'A');
    return text_format(p->run, "%s_%s_%lldx%lld%s%s%s", place, pto_dtype_name(t->dtype), (long long)t->rows,
                       (long long)t->columns,
                       t->role == PTO_ROLE_SCRATCHPAD && t->is_column_major ? "_down"
                       : t->role == PTO_ROLE_PANEL && !t->is_column_major   ? "_across"
                                                                            : "",
                       t->is_compact ? "_compact" : "", t->pad != ASCEND_PAD_NONE ? "_padded" : "");
}

static const char *type_name(cpp_printer *p, cpp_types *types, const ascend_tile_type *t)
{
    for (uint32_t i = 0; i < types->count; i++)
        if (same_type(types->items[i], t)) return types->names[i];
    uint32_t count = types->count;
    PTO_GROW(p->run, types->items, count, types->capacity);
    PTO_GROW(p->run, types->names, count, types->name_capacity);
    types->items[count] = t;
    types->names[count] = cpp_spare(p, type_stem(p, t));
    types->count++;
    return types->names[count];
}

static const char *pad_value(cpp_printer *p, const ascend_tile_type *t)
{
    static const char *const words[] = {
        [ASCEND_PAD_NONE] = "Null", [ASCEND_PAD_ZERO] = "Zero", [ASCEND_PAD_MAX] = "Max", [ASCEND_PAD_MIN] = "Min"};
    return t->pad == ASCEND_PAD_NUMBER
               ? text_format(p->run, "static_cast<pto::PadValue>(0x1%08xull)", (unsigned)t->pad_bits)
               : text_format(p->run, "pto::PadValue::%s", words[t->pad]);
}

static void put_types(cpp_printer *p, const cpp_types *types)
{
    static const char *const boxes[] = {"NoneBox", "RowMajor", "ColMajor"};
    for (uint32_t i = 0; i < types->count; i++) {
        const ascend_tile_type *t = types->items[i];
        const char *rows = t->role == PTO_ROLE_LEFT && t->rows == 1 ? "rows_of_vector"
                                                                    : text_format(p->run, "%lld", (long long)t->rows);
        text_line(p->out, "using %s = pto::Tile<pto::TileType::%s, %s, %s, %lld, pto::BLayout::%s, -1, -1,",
                  types->names[i], location(t->role), cpp_element(t->dtype), rows, (long long)t->columns,
                  t->is_column_major ? "ColMajor" : "RowMajor");
        text_line(p->out, "    pto::SLayout::%s, %d, %s, pto::CompactMode::%s>;", boxes[t->boxes], t->box_bytes,
                  pad_value(p, t), t->is_compact ? "Normal" : "Null");
    }
}

/* ---- operands and calls ---- */

static const char *tile_name(cpp_printer *p, const ascend_tile *t)
{
    const char *base = cpp_value(p, pto_op_result(t->op, 0));
    return t->suffix[0] != 0 ? text_format(p->run, "%s%s_", base, t->suffix) : base;
}

/* A scalar as the instruction takes it: in the element type of the tile. */
static const char *scalar(cpp_printer *p, const ascend_node *n, pto_value v)
{
    const pto_op op = pto_value_op(v);
    const pto_dtype t = ascend_scalar_type(n, v);
    if (PTO_SOME(op) && ASCEND_IS(p->m, op, CONSTANT)) return cpp_number(p, t, pto_op_attr(op, PTO_STR("value")));
    return pto_type_dtype(pto_value_type(v)) == t ? cpp_value(p, v)
                                                  : text_format(p->run, "(%s)%s", cpp_element(t), cpp_value(p, v));
}

/* The window of a copy gets a name, since calls take references. */
static const char *window(cpp_printer *p, const ascend_window *w)
{
    const char *memory = cpp_value(p, w->memory), *offset = cpp_index(p, w->offset);
    const char *name = cpp_spare(p, text_format(p->run, "%s_at", memory));
    const pto_expr step = w->is_columns ? w->column_step : w->row_step;
    text_line(p->out, "auto %s = %s(%s%s%s, %s, %s, %s);", name, w->is_columns ? "columns_of" : "rows_of", memory,
              strcmp(offset, "0") != 0 ? " + " : "", strcmp(offset, "0") != 0 ? offset : "", cpp_index(p, w->rows),
              cpp_index(p, w->columns), cpp_index(p, step));
    return name;
}

static const char *operand(cpp_printer *p, const ascend_node *n, uint32_t i)
{
    const ascend_operand *o = &n->operands[i];
    if (o->tile != NULL) return tile_name(p, o->tile);
    if (o->window != NULL) return window(p, o->window);
    return scalar(p, n, o->value);
}

/* Of an element of the tile that is operand 0: how many elements are before it. */
static const char *element_offset(cpp_printer *p, const ascend_node *n)
{
    const ascend_tile_type *t = &n->operands[0].tile->type;
    const pto_expr row = pto_expr_of(n->op, PTO_STR("offsets"), 0), column = pto_expr_of(n->op, PTO_STR("offsets"), 1);
    return cpp_index(p, t->is_column_major ? pto_expr_add(pto_expr_scale(column, t->rows), row)
                                           : pto_expr_add(pto_expr_scale(row, t->columns), column));
}

/* How a store of an accumulator calls its target and its relu. */
static const char *relu_mode(cpp_printer *p, const ascend_node *n, const char *const *names)
{
    if (!pto_attr_bool_of(n->op, PTO_STR("relu"), 0)) return "";
    const char *factors = n->operand_count > 2 ? text_format(p->run, "decltype(%s), ", names[2]) : "";
    return text_format(p->run,
                       "<decltype(%s), decltype(%s), %spto::AtomicType::AtomicNone, pto::ReluPreMode::NormalRelu>",
                       names[1], names[0], factors);
}

static const char *scale_word(const cpp_printer *p, const ascend_node *n)
{
    uint64_t word;
    return ascend_scale(n, &word) ? text_format(p->run, ", 0x%llxULL", (unsigned long long)word) : "";
}

static const char *relation_mode(pto_op op)
{
    static const char *const words[] = {[PTO_RELATION_EQ] = "EQ", [PTO_RELATION_NE] = "NE", [PTO_RELATION_LT] = "LT",
                                        [PTO_RELATION_LE] = "LE", [PTO_RELATION_GT] = "GT", [PTO_RELATION_GE] = "GE"};
    const pto_relation r = pto_relation_by_name(pto_attr_str_of(op, PTO_STR("relation")));
    return text_format(op.run, "pto::CmpMode::%s", words[r]);
}

/* A word after `$` in a call of ascend.def; NULL: it is an operand. `names` are those of the operands. */
static const char *expand_word(cpp_printer *p, const ascend_node *n, const char *const *names, const char **c)
{
    enum { ROUND, SATURATE, RELU, SCALE, OFFSET, PLACE, UPPER, DIAGONAL, RELATION, RUN, TYPE, WORDS };
    static const char *const words[] = {"round", "saturate", "relu",     "scale", "offset", "place",
                                        "upper", "diagonal", "relation", "run",   "type"};
    uint32_t i = 0;
    while (i < WORDS && strncmp(*c + 1, words[i], strlen(words[i])) != 0) i++;
    if (i < WORDS) *c += strlen(words[i]);
    switch (i) {
    case ROUND: return text_format(p->run, "pto::RoundMode::CAST_%s", ascend_rounding(n->op));
    case SATURATE:
        return pto_attr_bool_of(n->op, PTO_STR("saturate"), 0) ? "pto::SaturationMode::ON" : "pto::SaturationMode::OFF";
    case RELU: return relu_mode(p, n, names);
    case SCALE: return scale_word(p, n);
    case OFFSET: return element_offset(p, n);
    case PLACE:
        return text_format(p->run, "%s, %s", cpp_index(p, pto_expr_of(n->op, PTO_STR("offsets"), 0)),
                           cpp_index(p, pto_expr_of(n->op, PTO_STR("offsets"), 1)));
    case UPPER: return pto_attr_bool_of(n->op, PTO_STR("upper"), 0) ? "1" : "0";
    case DIAGONAL: return cpp_index(p, ascend_diagonal(n->op));
    case RELATION: return relation_mode(n->op);
    case RUN: return text_format(p->run, "%lld", 2 * (long long)pto_attr_int_of(n->op, PTO_STR("run"), 0));
    case TYPE: return cpp_element(n->operands[0].tile->type.dtype);
    default: return NULL;
    }
}

/* The call of a row of ascend.def with operands in their places; the rest is as it stands. */
static const char *expand_call(cpp_printer *p, const ascend_node *n)
{
    text t = {.run = p->run};
    const char **names = PTO_SCRATCH(p->run, const char *, n->operand_count);
    for (uint32_t i = 0; i < n->operand_count; i++) names[i] = operand(p, n, i);
    for (const char *c = n->insn->call; *c != 0; c++) {
        const char *word = *c == '$' ? expand_word(p, n, names, &c) : NULL;
        if (word != NULL) {
            text_put(&t, "%s", word);
        } else if (*c != '$') {
            text_bytes(&t, c, 1);
        } else if (c[1] == '?') {
            const uint32_t i = (uint32_t)(c[2] - '0');
            if (i < n->operand_count) text_put(&t, ", %s", names[i]);
            c += 2;
        } else {
            uint32_t i = (uint32_t)(c[1] - '0');
            const int has_other = c[2] == '|';
            if (has_other && i >= n->operand_count) i = (uint32_t)(c[3] - '0');
            text_put(&t, "%s", names[i]);
            c += has_other ? 3 : 1;
        }
    }
    return text_end(&t);
}

/* ---- nodes ---- */

/* Rows or columns of a tile: what takes a call to compute is a variable, which later tiles and windows have, too. */
static const char *extent(cpp_printer *p, const ascend_tile *t, uint32_t dim)
{
    const char *c = cpp_index(p, t->valid[dim]);
    if (strchr(c, '(') == NULL) return c;
    const char *name = cpp_spare(p, text_format(p->run, "%s_%s", tile_name(p, t), dim == 0 ? "rows" : "columns"));
    text_line(p->out, "const int64_t %s = %s;", name, c);
    index_names_add(&p->known, t->valid[dim], name);
    return name;
}

static void put_tile(cpp_printer *p, cpp_types *types, const ascend_node *n)
{
    for (const ascend_tile *t = n->tile; t != NULL; t = t->next_form) {
        int64_t stage = 0;
        const char *name = tile_name(p, t);
        const char *rows = extent(p, t, 0), *columns = extent(p, t, 1);
        text_line(p->out, "%s %s(%s, %s);%s", type_name(p, types, &t->type), name, rows, columns,
                  t == n->tile ? cpp_remark(p, n->op) : "");
        if (pto_expr_is_const(t->stage, &stage))
            text_line(p->out, "TASSIGN(%s, %lld);", name, (long long)t->address + (long long)stage * t->stage_bytes);
        else
            text_line(p->out, "TASSIGN(%s, %s%lld * %s);", name,
                      t->address != 0 ? text_format(p->run, "%lld + ", (long long)t->address) : "",
                      (long long)t->stage_bytes, cpp_factor(p, t->stage));
    }
}

static void put_flag(cpp_printer *p, const ascend_node *n)
{
    text_line(p->out, "%s(%s, %s, (event_t)%s);", n->kind == ASCEND_SET ? "set_flag" : "wait_flag",
              ascend_pipe(n->op, "src"), ascend_pipe(n->op, "dst"),
              cpp_factor(p, pto_expr_of(n->op, PTO_STR("event"), 0)));
}

/* As the library does around its own loops of the scalar unit: the machine file says that this event is taken. */
static void put_wait(cpp_printer *p, const char *source, const char *target)
{
    text_line(p->out, "set_flag(%s, %s, EVENT_ID0);", source, target);
    text_line(p->out, "wait_flag(%s, %s, EVENT_ID0);", source, target);
}

static void put_barrier(cpp_printer *p, const ascend_node *n)
{
    text_line(p->out, "pipe_barrier(%s);", ascend_pipe(n->op, "pipe"));
}

/* Memory in another form goes by its name, and as elements of another type by a pointer of that type. */
static pto_status put_view(cpp_printer *p, pto_op op)
{
    const pto_value memory = pto_op_operand(op, 0), view = pto_op_result(op, 0);
    const pto_dtype from = pto_type_dtype(pto_value_type(memory)), to = pto_type_dtype(pto_value_type(view));
    const char *c = cpp_element(to);
    if (from == to) {
        cpp_alias(p, view, cpp_value(p, memory));
        return PTO_OK;
    }
    if (c == NULL) return ascend_refuse(op, "of its element type");
    text_line(p->out, "__gm__ %s *%s = (__gm__ %s *)%s;%s", c, cpp_value(p, view), c, cpp_value(p, memory),
              cpp_remark(p, op));
    return PTO_OK;
}

static pto_status put_scalar(cpp_printer *p, const ascend_node *n)
{
    if (ASCEND_IS(p->m, n->op, CONSTANT)) return PTO_OK; /* where it is used */
    if (ASCEND_IS(p->m, n->op, VIEW)) return put_view(p, n->op);
    if (ASCEND_IS(p->m, n->op, BIND)) {
        text_line(p->out, "const int64_t %s = %s;%s", cpp_symbol(p, pto_attr_str_of(n->op, PTO_STR("symbol"))),
                  cpp_index(p, pto_expr_of(n->op, PTO_STR("value"), 0)), cpp_remark(p, n->op));
        return PTO_OK;
    }
    const pto_value v = pto_op_result(n->op, 0);
    const char *c = cpp_element(pto_type_dtype(pto_value_type(v)));
    if (c == NULL) return ascend_refuse(n->op, "of its element type");
    text_line(p->out, "const %s %s = (%s)(%s);%s", c, cpp_value(p, v), c,
              cpp_index(p, pto_expr_of(n->op, PTO_STR("from"), 0)), cpp_remark(p, n->op));
    return PTO_OK;
}

static pto_status put_nodes(cpp_printer *p, cpp_types *types, const ascend_node *first);

/* How often a loop has gone round, for stages and events: i from f by s is round (i - f) / s. */
static const char *enter_loop(cpp_printer *p, pto_value index, pto_expr from, pto_expr step)
{
    const pto_expr rounds = pto_expr_floordiv(pto_expr_sub(pto_expr_value(index), from), step);
    const char *c = cpp_spare(p, text_format(p->run, "%s_round", cpp_value(p, index)));
    index_names_add(&p->known, rounds, c);
    return c;
}

static pto_status put_for(cpp_printer *p, cpp_types *types, const ascend_node *n)
{
    const pto_value index = pto_block_arg(pto_body(n->op), 0);
    const pto_expr from = pto_expr_of(n->op, PTO_STR("from"), 0), by = pto_expr_of(n->op, PTO_STR("step"), 0);
    const char *i = cpp_value(p, index), *step = cpp_index(p, by), *first = cpp_index(p, from);
    const char *next =
        strcmp(step, "1") == 0 ? text_format(p->run, "%s++", i) : text_format(p->run, "%s += %s", i, step);
    text *const out = p->out;
    text_open(p->out, "for (int64_t %s = %s; %s < %s; %s)", i, first, i,
              cpp_index(p, pto_expr_of(n->op, PTO_STR("to"), 0)), next);
    const char *round = strcmp(step, "1") != 0 ? enter_loop(p, index, from, by) : NULL;
    text body = {.run = p->run, .depth = out->depth};
    p->out = &body;
    PTO_TRY(put_nodes(p, types, n->first[0]));
    p->out = out;
    if (round != NULL) {
        p->known.count--;
        if (text_has_name(&body, round))
            text_line(p->out,
                      strcmp(first, "0") != 0 ? "const int64_t %s = (%s - %s) / %s;"
                                              : "const int64_t %s = %s%.0s / %s;",
                      round, i, cpp_factor(p, from), step);
    }
    text_bytes(out, text_end(&body), body.n);
    text_close(p->out, "");
    return PTO_OK;
}

static pto_status put_if(cpp_printer *p, cpp_types *types, const ascend_node *n)
{
    text_open(p->out, "if (%s %s %s)", cpp_index(p, pto_expr_of(n->op, PTO_STR("left"), 0)), cpp_relation(n->op),
              cpp_index(p, pto_expr_of(n->op, PTO_STR("right"), 0)));
    PTO_TRY(put_nodes(p, types, n->first[0]));
    if (pto_op_block_count(n->op) > 1) {
        p->out->depth--;
        text_open(p->out, "} else");
        PTO_TRY(put_nodes(p, types, n->first[1]));
    }
    text_close(p->out, "");
    return PTO_OK;
}

static pto_status put_nodes(cpp_printer *p, cpp_types *types, const ascend_node *first)
{
    const uint32_t known = p->known.count;
    for (const ascend_node *n = first; n != NULL; n = n->next) {
        p->at = n->op;
        switch (n->kind) {
        case ASCEND_TILE: put_tile(p, types, n); break;
        case ASCEND_SET:
        case ASCEND_WAIT: put_flag(p, n); break;
        case ASCEND_BARRIER: put_barrier(p, n); break;
        case ASCEND_FOR: PTO_TRY(put_for(p, types, n)); break;
        case ASCEND_IF: PTO_TRY(put_if(p, types, n)); break;
        case ASCEND_SCALAR: PTO_TRY(put_scalar(p, n)); break;
        default: {
            const char *call = expand_call(p, n);
            const int waits = (n->insn->flags & ASCEND_SCALAR_UNIT) != 0 && pto_str_is(p->m->arch, "a3");
            if (waits) put_wait(p, "PIPE_V", "PIPE_S");
            if (pto_op_result_count(n->op) != 0) { /* a scalar */
                const pto_value v = pto_op_result(n->op, 0);
                call = text_format(p->run, "const %s %s = %s", cpp_element(pto_type_dtype(pto_value_type(v))),
                                   cpp_value(p, v), call);
            }
            text_line(p->out, "%s;%s", call, cpp_remark(p, n->op));
            if (waits) put_wait(p, "PIPE_S", "PIPE_V");
        }
        }
    }
    p->known.count = known;
    return PTO_OK;
}

/* ---- the file ---- */

/* A scalar whose type hosts do not have: it is handed over as its bits. */
static int is_bits(pto_value v)
{
    const pto_type type = pto_value_type(v);
    return pto_type_kind_of(type) != PTO_TYPE_GM && pto_dtype_is_half_float(pto_type_dtype(type));
}

/* Parameters, each with what comes before its name. */
static const char *parameters(cpp_printer *p, const ascend_kernel *k, int is_host)
{
    const pto_block body = pto_body(k->op);
    text t = {.run = p->run};
    for (uint32_t i = k->rank; i < pto_block_arg_count(body); i++) {
        const pto_value v = pto_block_arg(body, i);
        const char *c = cpp_element(pto_type_dtype(pto_value_type(v)));
        const int is_memory = pto_type_kind_of(pto_value_type(v)) == PTO_TYPE_GM;
        if (is_bits(v))
            text_put(&t, "%suint16_t %s_bits", t.n != 0 ? ", " : "", cpp_value(p, v));
        else
            text_put(&t, "%s%s%s%s%s", t.n != 0 ? ", " : "", is_memory && !is_host ? "__gm__ " : "",
                     is_memory && is_host ? "void" : c, is_memory ? " *" : " ", cpp_value(p, v));
    }
    for (uint32_t i = 0; i < k->symbol_count; i++)
        text_put(&t, "%sint64_t %s", t.n != 0 ? ", " : "", cpp_symbol(p, k->symbols[i]));
    return text_end(&t);
}

const char *cpp_launch_parameters(cpp_printer *p, const ascend_kernel *k)
{
    cpp_names_begin(p, k->op);
    return parameters(p, k, 1);
}

/* What the launch hands on. */
static const char *arguments(cpp_printer *p, const ascend_kernel *k)
{
    const pto_block body = pto_body(k->op);
    text t = {.run = p->run};
    for (uint32_t i = k->rank; i < pto_block_arg_count(body); i++) {
        const pto_value v = pto_block_arg(body, i);
        const int is_memory = pto_type_kind_of(pto_value_type(v)) == PTO_TYPE_GM;
        text_put(&t, is_memory ? ", (__gm__ %s *)%s%s" : "%.0s, %s%s", cpp_element(pto_type_dtype(pto_value_type(v))),
                 cpp_value(p, v), is_bits(v) ? "_bits" : "");
    }
    for (uint32_t i = 0; i < k->symbol_count; i++) text_put(&t, ", %s", cpp_symbol(p, k->symbols[i]));
    return text_end(&t);
}

/* Indices of an instance, the last one fastest. */
static void put_grid(cpp_printer *p, const ascend_kernel *k)
{
    const pto_attr grid = pto_op_attr(k->op, PTO_STR("grid"));
    for (uint32_t i = 0; i < k->rank; i++) {
        text t = {.run = p->run};
        text_put(&t, "get_block_idx()");
        for (uint32_t d = i + 1; d < k->rank; d++)
            text_put(&t, " / %s", cpp_factor(p, pto_attr_expr(pto_attr_item(grid, d, NULL))));
        if (i != 0) text_put(&t, " %% %s", cpp_factor(p, pto_attr_expr(pto_attr_item(grid, i, NULL))));
        text_line(p->out, "const int64_t %s = %s;", cpp_value(p, pto_block_arg(pto_body(k->op), i)), text_end(&t));
    }
}

pto_status cpp_kernel(cpp_printer *p, const ascend_kernel *k)
{
    text *const out = p->out;
    text code = {.run = p->run, .depth = 1};
    cpp_types types = {0};
    const char *name = cpp_global(p, k->op);
    const pto_block body = pto_body(k->op);
    cpp_names_begin(p, k->op);
    for (uint32_t i = k->rank; i < pto_block_arg_count(body); i++) {
        const pto_value v = pto_block_arg(body, i);
        if (!cpp_has_type(v))
            return ascend_refuse(k->op, "parameter `%%%.*s` has elements of type %s", PTO_FMT(pto_value_name(v)),
                                 pto_dtype_name(pto_type_dtype(pto_value_type(v))));
    }
    const char *of_kernel = parameters(p, k, 0), *of_launch = parameters(p, k, 1), *handed = arguments(p, k);
    p->out = &code;
    if (!k->is_cube) {
        text_line(p->out, "set_mask_norm();");
        text_line(p->out, "set_vector_mask(-1, -1);");
    }
    for (uint32_t i = k->rank; i < pto_block_arg_count(body); i++) {
        const pto_value v = pto_block_arg(body, i);
        const char *c = cpp_element(pto_type_dtype(pto_value_type(v)));
        if (is_bits(v))
            text_line(p->out, "const %s %s = of_bits<%s>(%s_bits);", c, cpp_value(p, v), c, cpp_value(p, v));
    }
    put_grid(p, k);
    PTO_TRY(put_nodes(p, &types, k->first));
    text_line(p->out, "pipe_barrier(PIPE_ALL);");
    p->out = out;
    text_put(out,
             "// Kernel %s for %s cores of %.*s, written by pto.emit-ascend. Remarks: line, column and name of an op\n"
             "// in the text that it comes from.\n",
             name, k->is_cube ? "cube" : "vector", PTO_FMT(p->m->arch));
    text_put(out, "#include \"%s.h\"\n\n", "kernel");
    text_put(out, "extern \"C\" __global__ AICORE void %s(%s)\n{\n#if defined(%s)\n", name, of_kernel,
             k->is_cube ? "__DAV_CUBE__" : "__DAV_VEC__");
    out->depth = 1;
    put_types(p, &types);
    out->depth = 0;
    text_bytes(out, text_end(&code), code.n);
    text_put(out, "#endif\n}\n\n");
    text_put(out, "extern \"C\" void launch_%s(uint32_t blocks, void *stream%s%s)\n{\n", name,
             of_launch[0] != 0 ? ", " : "", of_launch);
    text_put(out, "    PTO_LAUNCH(%s, blocks, stream%s);\n}\n", name, handed);
    return PTO_OK;
}
