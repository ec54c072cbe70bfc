/* The bytes choose rows of the op tables: ops with operands of any classes, attributes of the kinds that their rows
 * state, and blocks, written in the generic form. So a new row is tried as soon as it is there. */
#include "tests/fuzz/round_trip.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { OPS_MAX = 40, NESTING_MAX = 3 };

static const char *const types[] = {
    "!pto.tensor<$B x 32 x f32>",
    "!pto.tensor<4 x f32>",
    "!pto.tensor<$B x 1 x bf16>",
    "!pto.tensor<4 x 4 x i32>",
    "!pto.tensor<f32>",
    "!pto.gm<64 x 64 x f32>",
    "!pto.gm<$B x 64 x f16, nz>",
    "!pto.gm<64 x rec64>",
    "!pto.tile<16 x 64 x f32, vec, nd>",
    "!pto.tile<16 x 1 x f32, vec, nd>",
    "!pto.tile<1 x 64 x f32, vec, nd>",
    "!pto.tile<16 x 16 x f16, left>",
    "!pto.tile<16 x 16 x f16, right>",
    "!pto.tile<16 x 16 x f32, acc>",
    "!pto.tile<16 x 64 x f32, ?>",
    "!pto.tile<16 x 64 x mask, vec>",
    "!pto.channel<tile<16 x 64 x f32, vec>, depth = 2, via = gm>",
    "!pto.buffer",
    "f32",
    "i32",
    "i1",
    "index",
};
enum { TYPE_COUNT = sizeof types / sizeof types[0] };

typedef struct writer {
    const uint8_t *at, *end;
    text_buffer out;
    uint8_t value_type[16 * OPS_MAX + TYPE_COUNT];
    uint32_t values, ops;
    op_table *ops_known;
} writer;

static uint32_t pick(writer *w, uint32_t count) { return w->at == w->end || count == 0 ? 0 : *w->at++ % count; }

static void put_expr(writer *w, uint32_t operands)
{
    static const char *const others[] = {"0", "1", "16", "$B", "2 * $B + 1", "9223372036854775807", "64 * $KB", "-1"};
    uint32_t n = pick(w, operands + 8);
    text_puts(&w->out, "#pto.expr<(d0) -> (");
    if (n < operands)
        text_printf(&w->out, "4 * d%u", n);
    else
        text_puts(&w->out, others[n - operands]);
    text_puts(&w->out, ")>");
}

static void put_choice(writer *w, const char *choices)
{
    uint32_t count = 1;
    for (const char *p = choices; (p = strchr(p, '|')) != NULL; p++) count++;
    for (uint32_t skip = pick(w, count); skip > 0; skip--) choices = strchr(choices, '|') + 1;
    text_printf(&w->out, "\"%.*s\"", (int)strcspn(choices, "|"), choices);
}

static void put_list(writer *w, const attr_spec *spec, uint32_t operands)
{
    text_puts(&w->out, "[");
    for (uint32_t i = 0, n = pick(w, 4); i < n; i++) {
        if (i != 0) text_puts(&w->out, ", ");
        switch (spec->kind) {
        case SPEC_EXPRS: put_expr(w, operands); break;
        case SPEC_TYPES: text_puts(&w->out, types[pick(w, TYPE_COUNT)]); break;
        case SPEC_INTS: text_printf(&w->out, "%d", (int)pick(w, 8) - 2); break;
        default:
            text_puts(&w->out, "[");
            put_expr(w, operands);
            text_puts(&w->out, ", ");
            put_expr(w, operands);
            text_puts(&w->out, "]");
        }
    }
    text_puts(&w->out, "]");
}

static void put_attr(writer *w, const attr_spec *spec, uint32_t operands)
{
    static const char *const numbers[] = {"0",
                                          "1",
                                          "-1",
                                          "64",
                                          "0.5 : f64",
                                          "true",
                                          "#pto.dense<\"[1, 2] : tensor<2 x i8>\">",
                                          "#pto.resource<\"a.npy\">"};
    text_printf(&w->out, "%s = ", spec->name);
    switch ((attr_spec_kind)spec->kind) {
    case SPEC_BOOL: text_puts(&w->out, pick(w, 2) != 0 ? "true" : "false"); break;
    case SPEC_INT: text_printf(&w->out, "%d", (int)pick(w, 256) - 4); break;
    case SPEC_FLOAT: text_puts(&w->out, "0.5 : f64"); break;
    case SPEC_NUMBER:
    case SPEC_DENSE: text_puts(&w->out, numbers[pick(w, sizeof numbers / sizeof numbers[0])]); break;
    case SPEC_ENUM:
    case SPEC_WORD:
    case SPEC_STRING:
        if (spec->choices != NULL)
            put_choice(w, spec->choices);
        else
            text_printf(&w->out, "\"%s\"", pick(w, 2) != 0 ? "KB" : "f");
        break;
    case SPEC_DTYPE: text_puts(&w->out, types[TYPE_COUNT - 4 + pick(w, 4)]); break;
    case SPEC_SYMBOL: text_puts(&w->out, pick(w, 2) != 0 ? "@k" : "@f"); break;
    case SPEC_DICT: text_puts(&w->out, "{a = 1}"); break;
    case SPEC_NONE:
    case SPEC_TYPES:
    case SPEC_INTS:
    case SPEC_EXPRS:
    case SPEC_LIST: put_list(w, spec, operands); break;
    }
}

static void put_attrs(writer *w, const op_info *info, uint32_t operands)
{
    const char *separator = "";
    text_puts(&w->out, " {");
    for (uint32_t i = 0; i < sizeof info->attrs / sizeof info->attrs[0] && info->attrs[i].name != NULL; i++) {
        if (!info->attrs[i].required && pick(w, 2) == 0) continue;
        text_puts(&w->out, separator);
        put_attr(w, &info->attrs[i], operands);
        separator = ", ";
    }
    text_puts(&w->out, "}");
}

static void put_ops(writer *w, uint32_t count, uint32_t depth);

/* Arguments are indices first, as loops have them, then what the op takes. */
static void put_blocks(writer *w, const op_info *info, uint32_t operands, const uint32_t *taken, uint32_t depth)
{
    uint32_t outside = w->values;
    text_puts(&w->out, " (");
    for (uint32_t b = 0, n = info->blocks == BLOCKS_ANY ? 1 + pick(w, 2) : info->blocks; b < n; b++) {
        uint32_t indices = pick(w, 3), args = indices + operands;
        text_puts(&w->out, b == 0 ? "{\n" : ", {\n");
        if (args != 0) text_puts(&w->out, "^bb0(");
        for (uint32_t i = 0; i < args; i++) {
            w->value_type[w->values] = i < indices ? TYPE_COUNT - 1 : w->value_type[taken[i - indices]];
            text_printf(&w->out, "%s%%%u: %s", i == 0 ? "" : ", ", w->values, types[w->value_type[w->values]]);
            w->values++;
        }
        if (args != 0) text_puts(&w->out, "):\n");
        put_ops(w, pick(w, 4), depth + 1);
        text_puts(&w->out, "\"pto_core.yield\"() : () -> ()\n}");
    }
    text_puts(&w->out, ")");
    w->values = outside;
}

static void put_signature(writer *w, uint32_t operands, const uint32_t *taken, uint32_t results, const uint8_t *given)
{
    text_puts(&w->out, " : (");
    for (uint32_t i = 0; i < operands; i++)
        text_printf(&w->out, "%s%s", i == 0 ? "" : ", ", types[w->value_type[taken[i]]]);
    text_puts(&w->out, ") -> (");
    for (uint32_t i = 0; i < results; i++) text_printf(&w->out, "%s%s", i == 0 ? "" : ", ", types[given[i]]);
    text_puts(&w->out, ")\n");
}

static void put_op(writer *w, const op_info *info, uint32_t depth)
{
    uint32_t listed = op_info_operands(info), taken[8];
    uint32_t operands = listed + pick(w, 3) - (listed > 0 ? pick(w, 2) : 0);
    uint32_t results = info->out_count == OUT_ANY ? pick(w, 3) : info->out_count;
    uint8_t given[2];
    for (uint32_t i = 0; i < operands; i++) taken[i] = pick(w, w->values);
    for (uint32_t i = 0; i < results; i++)
        given[i] = operands != 0 && pick(w, 2) != 0 ? w->value_type[taken[0]] : (uint8_t)pick(w, TYPE_COUNT);
    /* The same numbers as what the blocks define: names of ended blocks may be used again. */
    for (uint32_t i = 0; i < results; i++) text_printf(&w->out, "%s%%%u", i == 0 ? "" : ", ", w->values + i);
    if (results != 0) text_puts(&w->out, " = ");
    text_puts(&w->out, "\"pto_");
    text_printf(&w->out, "%s%s\"(", strchr(info->name, '.') == NULL ? "core." : "", info->name);
    for (uint32_t i = 0; i < operands; i++) text_printf(&w->out, "%s%%%u", i == 0 ? "" : ", ", taken[i]);
    text_puts(&w->out, ")");
    if (info->blocks != 0) put_blocks(w, info, operands, taken, depth);
    put_attrs(w, info, operands);
    put_signature(w, operands, taken, results, given);
    for (uint32_t i = 0; i < results; i++) w->value_type[w->values++] = given[i];
}

static void put_ops(writer *w, uint32_t count, uint32_t depth)
{
    for (; count > 0 && w->at != w->end && w->ops < OPS_MAX; count--) {
        const op_info *info = op_info_at(w->ops_known, (op_kind)(1 + pick(w, op_kind_count(w->ops_known) - 1)));
        if ((info->traits & TRAIT_FUNCTION) != 0 || (info->blocks != 0 && depth == NESTING_MAX)) continue;
        w->ops++;
        put_op(w, info, depth);
    }
}

static void put_function(writer *w, bool is_kernel)
{
    w->values = 0;
    text_printf(&w->out, "\"%s\"() ({\n^bb0(", is_kernel ? "pto_block.kernel" : "pto_core.func");
    if (is_kernel) w->value_type[w->values++] = TYPE_COUNT - 1;
    for (uint32_t i = 0; i < TYPE_COUNT; i++) {
        bool is_memory = strstr(types[i], "gm<") != NULL || types[i][0] != '!';
        if (is_memory || (!is_kernel && strstr(types[i], "tensor<") != NULL)) w->value_type[w->values++] = (uint8_t)i;
    }
    for (uint32_t i = 0; i < w->values; i++)
        text_printf(&w->out, "%s%%%u: %s", i == 0 ? "" : ", ", i, types[w->value_type[i]]);
    text_puts(&w->out, "):\n");
    put_ops(w, OPS_MAX, 0);
    text_puts(&w->out, "\"pto_core.return\"() : () -> ()\n}) ");
    text_puts(&w->out,
              is_kernel ? "{name = \"k\", core = \"vector\", grid = [#pto.expr<() -> (4)>]}" : "{name = \"f\"}");
    text_puts(&w->out, " : () -> ()\n");
}

static status infer_like_first(module *m, uint32_t o, type_id *out)
{
    out[0] = value_type(m, op_operand(m, o, 0));
    return OK;
}

/* Rows as plugins add them. */
static op_table *make_table(arena *a)
{
    static const operand_spec pair[] = {
        {.name = "a", .types = TY_TENSOR}, {.name = "b", .types = TY_TENSOR | TY_SCALAR}, {.types = 0}};
    static const op_info added[] = {
        {.name = "fuzz.pair",
         .doc = "With an attribute of each type.",
         .home = HOME_TENSOR,
         .traits = TRAIT_PURE | TRAIT_COMMUTATIVE,
         .in = pair,
         .out_count = 1,
         .out_types = TY_TENSOR,
         .infer = infer_like_first,
         .space = ITER_ELEMENTWISE,
         .attrs = {{"flag", SPEC_BOOL, 0, "false", NULL, "a bool", 0},
                   {"count", SPEC_INT, 0, "3", NULL, "an integer", 0},
                   {"scale", SPEC_FLOAT, 0, "0.5", NULL, "a number", 0},
                   {"side", SPEC_ENUM, 0, "\"left\"", "left|right", "a word", 0},
                   {"label", SPEC_STRING, 0, NULL, NULL, "a text", 0},
                   {"as", SPEC_DTYPE, 0, NULL, NULL, "an element type", 0},
                   {"steps", SPEC_INTS, 0, NULL, NULL, "integers", 0}}},
        {.name = "fuzz.effect", .doc = "Without results.", .home = HOME_TENSOR, .in = pair},
    };
    op_table *t = op_table_create(a);
    for (size_t i = 0; i < sizeof added / sizeof added[0]; i++) op_table_add(t, &added[i]);
    return t;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    arena *a = arena_create("ops");
    writer w = {.at = data, .end = data + size, .ops_known = make_table(a)};
    text_init(&w.out);
    put_function(&w, pick(&w, 2) != 0);
    fuzz_module_of(w.ops_known, (str){w.out.p, w.out.n});
    text_fini(&w.out);
    arena_destroy(a);
    return 0;
}
