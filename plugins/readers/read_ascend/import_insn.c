/* Instructions, by the rows of ascend.def, flags and barriers. */
#include "ascend_rows.h"
#include "float_bits.h"
#include "import.h"

#include <math.h>
#include <stdlib.h>

enum { OPERANDS_MAX = 8 };

typedef struct operands {
    const import_name *ins[OPERANDS_MAX], *outs[OPERANDS_MAX];
    uint32_t in_count, out_count;
    pto_str round, saturate; /* of `rmode` and `sat_mode`; empty: none */
    pto_str quantized;       /* of `quant_type`, likewise */
    pto_str relation;        /* of `cmpMode`, likewise */
    int is_second;           /* of pairs the second, by `maskPattern` */
    int is_of_lists;         /* `exhausted` is said */
} operands;

/* ---- flags ---- */

/* A pipe that only cores of one kind have tells the kind. */
static void use_pipe(importer *im, uint32_t unit)
{
    if (unit == PTO_UNIT_VECTOR) import_use_unit(im, IMPORT_VECTOR);
    if (unit == PTO_UNIT_MOVE || unit == PTO_UNIT_MATRIX || unit == PTO_UNIT_FIX) import_use_unit(im, IMPORT_CUBE);
}

static pto_status pipe_of(const importer *im, mlir_cursor *c, pto_str *out, uint32_t *unit)
{
    static const struct {
        const char *word;
        uint32_t unit;
    } pipes[] = {
#define PIPE(unit, word) {word, PTO_UNIT_##unit},
#include "ascend_words.def"
    };
    const mlir_node *n = NULL;
    if (!mlir_take(c, MLIR_ANGLE, &n) && !mlir_take(c, MLIR_ATTRIBUTE, &n)) return mlir_expected(c, "a pipe");
    if (pto_str_is(n->text, "pto.sync_op_type") || pto_str_is(n->text, "pto.pipe_event_type")) {
        PTO_TRY(import_pipe_of_kind(im, n, unit));
        *out = pto_name_text(im->run, PTO_NAME_PIPE, pto_name_of_role(im->run, PTO_NAME_PIPE, *unit));
        return PTO_OK;
    }
    if (pto_str_is(n->body, "PIPE_ALL")) {
        *out = pto_pipe_name(im->run, PTO_PIPE_ALL);
        return PTO_OK;
    }
    for (size_t i = 0; i < sizeof pipes / sizeof pipes[0]; i++) {
        if (!pto_str_is(n->body, pipes[i].word)) continue;
        *unit = pipes[i].unit;
        *out = pto_name_text(im->run, PTO_NAME_PIPE, pto_name_of_role(im->run, PTO_NAME_PIPE, *unit));
        return PTO_OK;
    }
    return mlir_error(im->run, n->line, n->column, "pto.read-ascend/unsupported",
                      "`%.*s` is not a pipe; read are PIPE_S, PIPE_V, PIPE_MTE1, PIPE_MTE2, PIPE_MTE3, PIPE_M, "
                      "PIPE_FIX and PIPE_ALL",
                      PTO_FMT(n->body));
}

static pto_status used_pipe(importer *im, mlir_cursor *c, pto_str *out)
{
    uint32_t unit = 0;
    PTO_TRY(pipe_of(im, c, out, &unit));
    use_pipe(im, unit);
    return PTO_OK;
}

static pto_status event_of(importer *im, mlir_cursor *c, pto_expr *out)
{
    const mlir_node *n = NULL;
    if (!mlir_take(c, MLIR_ANGLE, &n) && !mlir_take(c, MLIR_ATTRIBUTE, &n)) return import_index(im, c, out);
    const pto_str id = n->body;
    if (id.n != 9 || memcmp(id.p, "EVENT_ID", 8) != 0 || id.p[8] < '0' || id.p[8] > '9')
        return mlir_error(im->run, n->line, n->column, "pto.read-ascend/unsupported",
                          "`%.*s` is not an event; those are EVENT_ID0 to EVENT_ID9", PTO_FMT(id));
    *out = pto_expr_const(im->run, id.p[8] - '0');
    return PTO_OK;
}

static pto_status flag(importer *im, const mlir_op *op, int is_set)
{
    mlir_cursor c = mlir_arguments(im->run, op), in;
    pto_str source = {0}, target = {0};
    pto_expr event = pto_expr_none(im->run);
    if (!mlir_enter(&c, '[', &in)) return mlir_expected(&c, "`[`");
    PTO_TRY(used_pipe(im, &in, &source));
    if (!mlir_take_mark(&in, ',')) return mlir_expected(&in, "`,`");
    PTO_TRY(used_pipe(im, &in, &target));
    if (!mlir_take_mark(&in, ',')) return mlir_expected(&in, "`,`");
    PTO_TRY(event_of(im, &in, &event));
    PTO_TRY(mlir_at_end(&in));
    PTO_TRY(mlir_at_end(&c));
    if (!im->builds) return PTO_OK;
    im->loc = import_loc(im, op);
    pto_spec s = is_set ? IMPORT_SPEC(im, SET_FLAG) : IMPORT_SPEC(im, WAIT_FLAG);
    pto_spec_str(&s, PTO_STR("src"), source);
    pto_spec_str(&s, PTO_STR("dst"), target);
    pto_spec_exprs(&s, PTO_STR("event"), 1, &event);
    return PTO_SOME(import_build(im, &s)) ? PTO_OK : PTO_FAILED;
}

/* What drains all pipes at the end of a kernel says nothing: a kernel has ended when its instructions have. */
static int is_drain(const mlir_op *op, pto_str pipe)
{
    return pto_str_is(pipe, "all") && op->next != NULL && pto_str_is(op->next->name, "return");
}

static pto_status barrier(importer *im, const mlir_op *op)
{
    mlir_cursor c = mlir_arguments(im->run, op);
    pto_str pipe = {0};
    PTO_TRY(used_pipe(im, &c, &pipe));
    PTO_TRY(mlir_at_end(&c));
    if (!im->builds || is_drain(op, pipe)) return PTO_OK;
    im->loc = import_loc(im, op);
    pto_spec s = IMPORT_SPEC(im, BARRIER);
    pto_spec_str(&s, PTO_STR("pipe"), pipe);
    return PTO_SOME(import_build(im, &s)) ? PTO_OK : PTO_FAILED;
}

/* `pto.sync.set <PIPE_FIX>, 0`: what a core tells one of another kind. Kernels of parts are launched in the order that
 * memory and queues need, so that it says nothing more. */
pto_status import_signal(importer *im, const mlir_op *op)
{
    mlir_cursor c = mlir_arguments(im->run, op), in;
    const mlir_node *number = NULL;
    pto_str pipe = {0};
    uint32_t unit = 0;
    pto_expr event;
    if (op->results != NULL) return import_refuse(im, op, "has no result");
    PTO_TRY(pipe_of(im, &c, &pipe, &unit));
    if (!mlir_take_mark(&c, ',')) return mlir_expected(&c, "`,` and an event");
    if (!mlir_take(&c, MLIR_NUMBER, &number)) PTO_TRY(import_index(im, &c, &event));
    if (mlir_enter(&c, '{', &in)) {
        if (!mlir_take_word(&in, "ffts_mode") || !mlir_take_mark(&in, '=') || !mlir_take(&in, MLIR_NUMBER, &number))
            return mlir_expected(&in, "`ffts_mode = ..`");
        if (mlir_take_mark(&in, ':') && !mlir_take_word(&in, "i32")) return mlir_expected(&in, "`i32`");
        PTO_TRY(mlir_at_end(&in));
    }
    return mlir_at_end(&c);
}

/* `{mode = 0}`, which is the default and the only one that is read. */
static pto_status read_mode(const importer *im, mlir_cursor *c)
{
    mlir_cursor in;
    const mlir_node *mode = NULL;
    if (!mlir_enter(c, '{', &in)) return PTO_OK;
    if (!mlir_take_word(&in, "mode") || !mlir_take_mark(&in, '=') || !mlir_take(&in, MLIR_NUMBER, &mode))
        return mlir_expected(&in, "`mode = 0`");
    if (!pto_str_is(mode->text, "0"))
        return mlir_error(im->run, mode->line, mode->column, "pto.read-ascend/unsupported",
                          "mode %.*s of a buffer id is not read; 0 is", PTO_FMT(mode->text));
    if (mlir_take_mark(&in, ':') && !mlir_take_word(&in, "i32")) return mlir_expected(&in, "`i32`");
    return mlir_at_end(&in);
}

/* `[#pto.pipe_event_type<TVEC>, 0]`: what follows on that pipe comes after what other pipes did while they had the
 * buffer id. A barrier of all pipes where the id is got orders that, and more; giving it back says nothing then. */
static pto_status buffer_id(importer *im, const mlir_op *op, int gets)
{
    enum { IDS = 32 };
    mlir_cursor c = mlir_arguments(im->run, op), in;
    const mlir_node *kind = NULL, *id = NULL;
    uint32_t unit = 0;
    if (!mlir_enter(&c, '[', &in)) return mlir_expected(&c, "`[`");
    if (!mlir_take(&in, MLIR_ATTRIBUTE, &kind)) return mlir_expected(&in, "`#pto.pipe_event_type<..>`");
    PTO_TRY(import_pipe_of_kind(im, kind, &unit));
    if (!mlir_take_mark(&in, ',') || !mlir_take(&in, MLIR_NUMBER, &id))
        return mlir_expected(&in, "`,` and a buffer id");
    char *end = NULL;
    const long number = strtol(id->text.p, &end, 10); /* the text of the file goes on after it */
    if (end != id->text.p + id->text.n || number < 0 || number >= IDS)
        return mlir_error(im->run, id->line, id->column, "pto.read-ascend/unsupported",
                          "`%.*s` is not a buffer id; those are 0 to %d", PTO_FMT(id->text), IDS - 1);
    PTO_TRY(mlir_at_end(&in));
    PTO_TRY(read_mode(im, &c));
    PTO_TRY(mlir_at_end(&c));
    if (!im->builds || !gets) return PTO_OK;
    im->loc = import_loc(im, op);
    pto_spec s = IMPORT_SPEC(im, BARRIER);
    pto_spec_str(&s, PTO_STR("pipe"), pto_pipe_name(im->run, PTO_PIPE_ALL));
    return PTO_SOME(import_build(im, &s)) ? PTO_OK : PTO_FAILED;
}

/* ---- operands ---- */

/* The word of `#pto<kind WORD>`; 0: it is none. */
static int word_of(const mlir_node *n, const char *kind, pto_str *out)
{
    const size_t k = strlen(kind);
    if (!pto_str_is(n->text, "pto") || n->body.n <= k + 1 || memcmp(n->body.p, kind, k) != 0 || n->body.p[k] != ' ')
        return 0;
    *out = pto_str_make(n->body.p + k + 1, n->body.n - k - 1);
    return 1;
}

/* One `rmode = #pto<round_mode RINT>` and so on. */
static int attribute(mlir_cursor *in, operands *o)
{
    static const char *const kinds[][2] = {
        {"rmode", "round_mode"}, {"sat_mode", "saturation_mode"}, {"cmpMode", "cmp"}};
    pto_str *const words[] = {&o->round, &o->saturate, &o->relation};
    const mlir_node *n = NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (mlir_take_word(in, kinds[i][0]))
            return mlir_take_mark(in, '=') && mlir_take(in, MLIR_ATTRIBUTE, &n) && word_of(n, kinds[i][1], words[i]);
    if (mlir_take_word(in, "maskPattern")) {
        o->is_second = mlir_take_mark(in, '=') && mlir_take(in, MLIR_ATTRIBUTE, &n) &&
                       pto_str_is(n->text, "pto.mask_pattern") && pto_str_is(n->body, "P1010");
        return o->is_second;
    }
    o->is_of_lists = mlir_take_word(in, "exhausted") && mlir_take_mark(in, '=') && mlir_take_word(in, "false");
    return o->is_of_lists;
}

/* `{rmode = #pto<round_mode RINT>, sat_mode = #pto<saturation_mode ON>}` */
static pto_status attributes(mlir_cursor *c, operands *o)
{
    mlir_cursor in;
    if (!mlir_enter(c, '{', &in)) return PTO_OK;
    do
        if (!attribute(&in, o))
            return mlir_expected(&in,
                                 "`rmode = #pto<round_mode ..>`, `sat_mode = #pto<saturation_mode ..>`, `cmpMode = "
                                 "#pto<cmp ..>`, `maskPattern = #pto.mask_pattern<P1010>` or `exhausted = false`");
    while (mlir_take_mark(&in, ','));
    return mlir_at_end(&in);
}

/* `{quant_type = #pto<quant_type INT8_SYM>}` */
static pto_status quantization(mlir_cursor *c, operands *o)
{
    mlir_cursor in;
    const mlir_node *n = NULL;
    if (!mlir_enter(c, '{', &in)) return PTO_OK;
    if (!mlir_take_word(&in, "quant_type") || !mlir_take_mark(&in, '=') || !mlir_take(&in, MLIR_ATTRIBUTE, &n) ||
        !word_of(n, "quant_type", &o->quantized))
        return mlir_expected(&in, "`quant_type = #pto<quant_type ..>`");
    return mlir_at_end(&in);
}

static pto_status operand_list(importer *im, mlir_cursor *c, const char *word, const import_name *list[OPERANDS_MAX],
                               uint32_t *count, operands *o)
{
    mlir_cursor in;
    const mlir_node *name = NULL, *type = NULL;
    const uint32_t legal = strcmp(word, "ins") == 0
                               ? 1 << IMPORT_TILE | 1 << IMPORT_INDEX | 1 << IMPORT_NUMBER | 1 << IMPORT_SCALAR
                               : 1 << IMPORT_TILE | 1 << IMPORT_INDEX | 1 << IMPORT_COUNTS;
    if (!mlir_take_word(c, word) || !mlir_enter(c, '(', &in))
        return mlir_expected(c, strcmp(word, "ins") == 0 ? "`ins(`" : "`outs(`");
    do {
        if (*count == OPERANDS_MAX) return mlir_expected(&in, "no more than 8 operands");
        if (*count != 0 && in.at != NULL && in.at->kind == MLIR_GROUP) break;
        if (!mlir_take(&in, MLIR_VALUE, &name)) return mlir_expected(&in, "an operand");
        PTO_TRY(import_find(im, name, legal, "a tile or a scalar", &list[(*count)++]));
    } while (mlir_take_mark(&in, ','));
    PTO_TRY(attributes(&in, o));
    if (!mlir_take_mark(&in, ':')) return mlir_expected(&in, "`,` or `:` and types");
    for (uint32_t i = 0; i < *count; i++) {
        if (i != 0 && !mlir_take_mark(&in, ',')) return mlir_expected(&in, "`,` and a type for each operand");
        PTO_TRY(import_take_type(&in, &type));
    }
    return mlir_at_end(&in);
}

static pto_status read_operands(importer *im, const mlir_op *op, operands *o)
{
    mlir_cursor c = mlir_arguments(im->run, op);
    PTO_TRY(operand_list(im, &c, "ins", o->ins, &o->in_count, o));
    PTO_TRY(operand_list(im, &c, "outs", o->outs, &o->out_count, o));
    PTO_TRY(quantization(&c, o));
    return mlir_at_end(&c);
}

static void use_operands(importer *im, const operands *o)
{
    for (uint32_t i = 0; i < o->in_count; i++)
        if (o->ins[i]->kind == IMPORT_TILE) import_use_tile(im, o->ins[i]->tile, 0);
    for (uint32_t i = 0; i < o->out_count; i++) {
        int is_read = 0;
        for (uint32_t k = 0; k < o->in_count; k++)
            is_read |= o->ins[k]->kind == IMPORT_TILE && o->ins[k]->tile == o->outs[i]->tile;
        if (o->outs[i]->kind == IMPORT_TILE) import_use_tile(im, o->outs[i]->tile, !is_read);
    }
}

/* ---- which instruction ---- */

static pto_kind_id kind_of(const importer *im, const ascend_insn *row)
{
    char name[64];
    (void)snprintf(name, sizeof name, "pto.%s", row->name);
    return pto_kind_by_name(im->run, pto_s(name));
}

/* The first row from *at on that has an op of that name, after which *at is then; NULL: none has. */
static const ascend_insn *next_row(uint32_t *at, pto_str name)
{
    const ascend_insn *row;
    while ((row = ascend_row_at((*at)++)) != NULL) {
        const size_t n = strcspn(row->op, " ");
        if (n != 0 && name.n == n + 4 && memcmp(name.p + 4, row->op, n) == 0) return row;
    }
    return NULL;
}

/* Whether the text says what the row says between braces. */
static int has_words(const ascend_insn *row, const operands *o)
{
    return (strstr(row->op, "$relation") != NULL) == (o->relation.n != 0) &&
           (strstr(row->op, "$second") != NULL) == o->is_second;
}

/* The operands of our instruction by the row: `$2|1` is operand 2, or where the text has operand 1 again, none; `$?3`
 * may be absent. One that the row leaves out before others is the target, which goes on from what it holds. 0: the row
 * takes others. */
static int arrange(const ascend_insn *row, const operands *o, const import_name *to[OPERANDS_MAX], uint32_t *count)
{
    uint32_t given = 0;
    memset(to, 0, OPERANDS_MAX * sizeof *to);
    to[0] = o->outs[0];
    if (!has_words(row, o)) return 0;
    for (const char *c = strchr(row->op, '$'); c != NULL; c = strchr(c + 1, '$')) {
        if (strcmp(c, "$run") == 0 && given < o->in_count) given++;
        if (c[1] != '?' && (c[1] < '0' || c[1] > '9')) continue;
        const int is_optional = c[1] == '?', may_repeat = c[2] == '|';
        const uint32_t k = (uint32_t)(c[is_optional ? 2 : 1] - '0');
        if (given == o->in_count) {
            if (is_optional || may_repeat) continue;
            return 0;
        }
        const import_name *in = o->ins[given++];
        if (may_repeat && in == to[c[3] - '0']) continue;
        to[k] = in;
    }
    *count = OPERANDS_MAX;
    while (*count > 0 && to[*count - 1] == NULL) --*count;
    for (uint32_t k = 1; k < *count; k++)
        if (to[k] == NULL) to[k] = to[0];
    return given == o->in_count && o->out_count == 1;
}

/* Whether tiles and scalars are where the instruction has them. */
static int fits(const importer *im, pto_kind_id kind, const import_name *const *to, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const int takes_tile =
            pto_kind_roles(im->run, kind, i) != 0 || pto_kind_has_operand(im->run, kind, PTO_COLUMN_SCRATCH, i);
        if (takes_tile != (to[i]->kind == IMPORT_TILE)) return 0;
    }
    return 1;
}

/* ---- building ---- */

/* What `pad` of a tile's type fills with: 1 is zero, 2 the greatest number, 3 the least one. */
static pto_status pad_attr(const importer *im, const mlir_op *op, const import_tile_type *t, pto_spec *s)
{
    const int is_unsigned = pto_dtype_class(t->dtype) == PTO_CLASS_UINT;
    const int64_t bits = 8 * pto_dtype_bytes(t->dtype);
    if (t->pad == 0) return import_refuse(im, op, "fills with the `pad` of its target, which is 0: none");
    if (pto_dtype_is_float(t->dtype)) {
        pto_spec_float(s, PTO_STR("pad"), t->pad == 1 ? 0.0 : t->pad == 2 ? (double)INFINITY : (double)-INFINITY);
        return PTO_OK;
    }
    if (bits < 8 || bits > 32)
        return import_refuse(im, op, "fills elements of %s, which is not read", pto_dtype_name(t->dtype));
    const int64_t most = (INT64_C(1) << (is_unsigned ? bits : bits - 1)) - 1, least = is_unsigned ? 0 : -most - 1;
    pto_spec_int(s, PTO_STR("pad"), t->pad == 1 ? 0 : t->pad == 2 ? most : least);
    return PTO_OK;
}

/* Whether the instruction does with the tile what it does with the integers that the text has in its place. */
static int may_be_of_bits(const ascend_insn *row, const import_tile *tile, const import_tile *seen,
                          const import_name *const *to, uint32_t count)
{
    const int is_fill = (row->flags & ASCEND_BITS_IN_TEXT) != 0;
    const int64_t bytes = pto_dtype_bytes(tile->type.dtype);
    int64_t number = 0;
    if (bytes == pto_dtype_bytes(seen->type.dtype) || (row->flags & ASCEND_HALVES_IN_TEXT) == 0) return is_fill;
    if (!is_fill) return 1;
    const import_name *scalar = to[count - 1];
    return bytes == 1 && scalar->kind == IMPORT_INDEX && pto_expr_is_const(scalar->index, &number) &&
           (number & 0xff) == (number >> 8 & 0xff);
}

/* Indices are written as unsigned integers. */
static void as_signed(const ascend_insn *row, import_tile **tiles, uint32_t count)
{
    for (uint32_t i = 0; (row->flags & ASCEND_UNSIGNED) != 0 && i < count; i++)
        if (tiles[i] != NULL && tiles[i]->type.dtype == PTO_U32 && tiles[i]->twin != NULL) tiles[i] = tiles[i]->twin;
}

/* Instructions that take rows alone are written on the twins of column-major tiles; ours take the tiles. A scratch
 * operand may be of rows beside them. */
static void untwin(const importer *im, const ascend_insn *row, const import_name *const *to, import_tile **tiles,
                   uint32_t count)
{
    const pto_kind_id kind = kind_of(im, row);
    for (uint32_t i = 0; i < count; i++) {
        if (tiles[i] == NULL) continue;
        if (tiles[i]->twin == NULL && !pto_kind_has_operand(im->run, kind, PTO_COLUMN_SCRATCH, i) &&
            !import_takes_bits(row->name, i))
            return;
        if (tiles[i]->twin != NULL && tiles[i]->twin->type.dtype != tiles[i]->type.dtype &&
            !may_be_of_bits(row, tiles[i]->twin, tiles[i], to, count))
            return;
    }
    for (uint32_t i = 0; i < count; i++)
        if (tiles[i] != NULL && tiles[i]->twin != NULL) tiles[i] = tiles[i]->twin;
}

static pto_status round_attr(const importer *im, const mlir_op *op, pto_str word, pto_spec *s)
{
    static const char *const words[][2] = {
#define ROUND(ours, word) {word, ours},
#include "ascend_words.def"
    };
    if (word.n == 0) return PTO_OK;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (!pto_str_is(word, words[i][0])) continue;
        if (strcmp(words[i][1], "rint") != 0) pto_spec_str(s, PTO_STR("mode"), pto_s(words[i][1]));
        return PTO_OK;
    }
    return import_refuse(im, op, "rounds by `%.*s`; read are NONE, RINT, ROUND, FLOOR, CEIL, TRUNC and ODD",
                         PTO_FMT(word));
}

static pto_status saturate_attr(const importer *im, const mlir_op *op, pto_str word, pto_spec *s)
{
    if (word.n != 0 && !pto_str_is(word, "ON") && !pto_str_is(word, "OFF"))
        return import_refuse(im, op, "saturates by `%.*s`; read are ON and OFF", PTO_FMT(word));
    if (pto_str_is(word, "ON")) pto_spec_bool(s, PTO_STR("saturate"), 1);
    return PTO_OK;
}

static pto_status relation_attr(const importer *im, const mlir_op *op, pto_str word, pto_spec *s)
{
    if (word.n != 0 && pto_relation_by_name(word) == PTO_RELATION_NONE)
        return import_refuse(im, op, "compares by `%.*s`; read are eq, ne, lt, le, gt and ge", PTO_FMT(word));
    if (word.n != 0) pto_spec_str(s, PTO_STR("relation"), word);
    return PTO_OK;
}

/* Records of a run, from its f32, which are the last operand. */
static pto_status run_attr(const importer *im, const mlir_op *op, const ascend_insn *row, const operands *o,
                           pto_spec *s)
{
    int64_t length = 0;
    if (strstr(row->op, "$run") == NULL) return PTO_OK;
    const import_name *last = o->ins[o->in_count - 1];
    if (last->kind != IMPORT_INDEX || !pto_expr_is_const(last->index, &length) || length % 2 != 0)
        return import_refuse(im, op, "has runs of a length that is not known, or not of whole records");
    pto_spec_int(s, PTO_STR("run"), length / 2);
    return PTO_OK;
}

/* In place the library multiplies by 1 / s, but on A5 ([hazards] and [registers] of docs/sources.md). */
static int is_product(const importer *im, const ascend_insn *row, const import_name *const *to)
{
    return strcmp(row->name, "tdivs") == 0 && to[0]->tile == to[1]->tile && to[0]->dtype == PTO_F32 &&
           to[2]->kind == IMPORT_NUMBER && !im->is_for_a5;
}

static pto_status build(importer *im, const mlir_op *op, const ascend_insn *row, const import_name *const *to,
                        uint32_t count, const operands *o);
static pto_status build_product(importer *im, const mlir_op *op, const import_name *const *to, const operands *o)
{
    static const ascend_insn row = {.name = "tmuls", .op = "", .flags = ASCEND_COLUMNS_TURN};
    char text[PTO_REPORT_BYTES];
    import_name inverse = *to[2];
    inverse.number = (double)(1.0f / (float)to[2]->number);
    const import_name *with[] = {to[0], to[1], &inverse};
    const int n = snprintf(text, sizeof text,
                           "`%.*s` divides in place, which the library of the chip does by a product with %.9g",
                           PTO_FMT(op->name), inverse.number);
    pto_diag(im->run, PTO_WARNING, import_loc(im, op), PTO_STR("pto.read-ascend/in-place"),
             pto_str_make(text, n > 0 ? (size_t)n : 0));
    return build(im, op, &row, with, 3, o);
}

/* A number beside tiles of `dtype` as one beside the tile that they are read as: the bits of a float are that, and two
 * bytes that are alike are one. */
static import_name as_element(const importer *im, const import_name *scalar, pto_dtype dtype, const import_tile *tile)
{
    import_name out = *scalar;
    int64_t bits = 0;
    if (tile == NULL || (dtype != PTO_I16 && dtype != PTO_I32) || scalar->kind != IMPORT_INDEX ||
        !pto_expr_is_const(scalar->index, &bits))
        return out;
    if (pto_dtype_bytes(tile->type.dtype) == 1) {
        const int is_signed = pto_dtype_class(tile->type.dtype) == PTO_CLASS_SINT;
        out.index = pto_expr_const(im->run, is_signed ? (int8_t)bits : (uint8_t)bits);
        return out;
    }
    if (!pto_dtype_is_float(tile->type.dtype)) return out;
    const uint32_t mask = pto_dtype_bytes(tile->type.dtype) == 2 ? 0xffff : UINT32_MAX;
    out.kind = IMPORT_NUMBER;
    out.dtype = tile->type.dtype;
    out.number = (double)float_bits_number(tile->type.dtype, (uint32_t)bits & mask);
    return out;
}

static pto_status build(importer *im, const mlir_op *op, const ascend_insn *row, const import_name *const *to,
                        uint32_t count, const operands *o)
{
    import_tile *tiles[OPERANDS_MAX + 1] = {0};
    pto_value values[OPERANDS_MAX];
    for (uint32_t i = 0; i < count; i++) tiles[i] = to[i]->tile;
    if ((row->flags & ASCEND_COLUMNS_TURN) != 0) untwin(im, row, to, tiles, count);
    as_signed(row, tiles, count);
    im->loc = import_loc(im, op);
    for (uint32_t i = 0; i < count; i++) {
        if (tiles[i] == NULL) {
            const uint32_t k = import_numbers_of(row->name);
            const import_tile *numbers = tiles[k];
            const import_name scalar = as_element(im, to[i], to[k]->dtype, numbers);
            PTO_TRY(import_scalar(im, op, &scalar, numbers != NULL ? numbers->type.dtype : to[k]->dtype, &values[i]));
            continue;
        }
        const int is_words = i == 1 && tiles[0] != NULL && tiles[0]->type.role == PTO_ROLE_SCALING &&
                             pto_dtype_bytes(tiles[1]->type.dtype) == 8;
        values[i] = is_words ? import_factors(im, op, tiles[i]) : import_elements(im, op, row->name, tiles, i);
        PTO_NEED(values[i]);
    }
    pto_spec s = pto_spec_make(im->run, kind_of(im, row));
    pto_spec_operands(&s, count, values);
    PTO_TRY(round_attr(im, op, o->round, &s));
    PTO_TRY(saturate_attr(im, op, o->saturate, &s));
    PTO_TRY(relation_attr(im, op, o->relation, &s));
    PTO_TRY(run_attr(im, op, row, o, &s));
    if (strcmp(row->name, "tfillpad") == 0) PTO_TRY(pad_attr(im, op, &to[0]->tile->type, &s));
    return PTO_SOME(import_build(im, &s)) ? PTO_OK : PTO_FAILED;
}

/* Element `at` of a tile as its line and place in it. */
static void split_place(const importer *im, pto_expr at, int64_t lines, int64_t length, pto_expr *line, pto_expr *place)
{
    const pto_expr zero = pto_expr_const(im->run, 0), width = pto_expr_const(im->run, length);
    pto_expr rest = zero;
    *line = zero;
    *place = at;
    if (lines == 1) return;
    if (pto_expr_kind_of(at) == PTO_EXPR_SUM) {
        for (uint32_t i = 0; i < pto_expr_arg_count(at); i++) {
            const int64_t factor = pto_expr_coef(at, i);
            pto_expr *to = factor % length == 0 ? line : &rest;
            *to =
                pto_expr_add(*to, pto_expr_scale(pto_expr_arg(at, i), factor % length == 0 ? factor / length : factor));
        }
        rest = pto_expr_offset(rest, pto_expr_number(at));
        if (import_is_at_least(im, rest, 0) && import_is_at_least(im, pto_expr_sub(width, rest), 1)) {
            *place = rest;
            return;
        }
    }
    *line = length == 1 ? at : pto_expr_floordiv(at, width);
    *place = pto_expr_mod(at, width);
}

/* `pto.tgetval ins(%t, %at : type, index) outs : f32` */
static pto_status read_element(importer *im, const mlir_op *op)
{
    mlir_cursor c = mlir_arguments(im->run, op), in;
    const mlir_node *name = NULL, *type = NULL;
    const import_name *tile;
    pto_expr at, place[2];
    if (op->results == NULL || op->results->next != NULL) return import_refuse(im, op, "has one result");
    if (!mlir_take_word(&c, "ins") || !mlir_enter(&c, '(', &in)) return mlir_expected(&c, "`ins(`");
    if (!mlir_take(&in, MLIR_VALUE, &name)) return mlir_expected(&in, "a tile");
    PTO_TRY(import_find(im, name, 1 << IMPORT_TILE, "a tile", &tile));
    if (!mlir_take_mark(&in, ',')) return mlir_expected(&in, "`,` and the number of an element");
    PTO_TRY(import_index(im, &in, &at));
    if (!mlir_take_mark(&in, ':')) return mlir_expected(&in, "`:` and types");
    PTO_TRY(import_take_type(&in, &type));
    if (!mlir_take_mark(&in, ',')) return mlir_expected(&in, "`,` and a type");
    PTO_TRY(import_take_type(&in, &type));
    PTO_TRY(mlir_at_end(&in));
    if (!mlir_take_word(&c, "outs") || !mlir_take_mark(&c, ':')) return mlir_expected(&c, "`outs :` and a type");
    PTO_TRY(import_take_type(&c, &type));
    PTO_TRY(mlir_at_end(&c));
    import_use_tile(im, tile->tile, 0);
    const import_tile_type t = tile->tile->type;
    import_name made = {.kind = IMPORT_SCALAR, .dtype = t.dtype};
    if (im->builds) {
        const int is_down = t.order == PTO_ORDER_COLUMN;
        split_place(im, at, is_down ? t.columns : t.rows, is_down ? t.rows : t.columns, &place[is_down],
                    &place[!is_down]);
        const pto_value v = import_tile_value(im, tile->tile);
        PTO_NEED(v);
        im->loc = import_loc(im, op);
        pto_spec s = IMPORT_SPEC(im, TGETVAL);
        pto_spec_operand(&s, v);
        pto_spec_exprs(&s, PTO_STR("offsets"), 2, place);
        pto_spec_result(&s, pto_type_scalar(im->run, t.dtype));
        pto_spec_name(&s, import_plain_name(im, op->results->text));
        const pto_op built = import_build(im, &s);
        PTO_NEED(built);
        made.value = pto_op_result(built, 0);
    }
    return import_define(im, op->results, made);
}

/* A move between memory of vector cores and of a cube core. */
static int is_handed_over(const mlir_op *op, const operands *o)
{
    if (!pto_str_is(op->name, "pto.tmov") || o->in_count != 1 || o->out_count != 1) return 0;
    const import_name *from = o->ins[0], *to = o->outs[0];
    return from->kind == IMPORT_TILE && to->kind == IMPORT_TILE &&
           (from->tile->type.role == PTO_ROLE_SCRATCHPAD) != (to->tile->type.role == PTO_ROLE_SCRATCHPAD);
}

static pto_status check_quantization(const importer *im, const mlir_op *op, const ascend_insn *row, const operands *o)
{
    const char *means = strstr(row->op, "$asymmetric") != NULL ? "INT8_ASYM" : "INT8_SYM";
    if (o->quantized.n == 0 || pto_str_is(o->quantized, means)) return PTO_OK;
    if (o->quantized.n > 2 && memcmp(o->quantized.p, "MX", 2) == 0)
        return import_refuse(
            im, op, "makes %.*s, which has a scale for each block and is not read; read are INT8_SYM and INT8_ASYM",
            PTO_FMT(o->quantized));
    return import_refuse(im, op, "has %u operands for %.*s", o->in_count, PTO_FMT(o->quantized));
}

static pto_status read_flag(importer *im, const mlir_op *op, int *is_one)
{
    static const struct {
        const char *name;
        int is_set;
    } names[] = {{"pto.set_flag", 1},  {"pto.set_flag_dyn", 1},  {"pto.record_event", 1},
                 {"pto.wait_flag", 0}, {"pto.wait_flag_dyn", 0}, {"pto.wait_event", 0}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (!pto_str_is(op->name, names[i].name)) continue;
        *is_one = 1;
        return flag(im, op, names[i].is_set);
    }
    return PTO_OK;
}

/* `pto.tmatmul.mx`, `pto.tgemv.mx.acc` and so on. */
static int has_block_scales(pto_str name)
{
    for (size_t i = 0; i + 3 <= name.n; i++)
        if (memcmp(name.p + i, ".mx", 3) == 0 && (i + 3 == name.n || name.p[i + 3] == '.')) return 1;
    return 0;
}

static pto_status merge(importer *im, const mlir_op *op, const operands *o)
{
    import_tile *tiles[OPERANDS_MAX];
    for (uint32_t i = 0; i < o->in_count; i++) {
        if (o->ins[i]->kind != IMPORT_TILE) return import_refuse(im, op, "merges tiles alone");
        tiles[i] = o->ins[i]->tile;
    }
    if (o->out_count == 0 || o->outs[0]->kind != IMPORT_TILE) return import_refuse(im, op, "merges into a tile");
    return import_merge(im, op, tiles, o->in_count, o->outs[0]->tile);
}

pto_status import_insn(importer *im, const mlir_op *op)
{
    operands o = {0};
    const import_name *to[OPERANDS_MAX];
    const ascend_insn *row;
    uint32_t count = 0, at = 0;
    int is_known = 0;
    PTO_TRY(read_flag(im, op, &is_known));
    if (is_known) return PTO_OK;
    if (pto_str_is(op->name, "pto.barrier")) return barrier(im, op);
    if (pto_str_is(op->name, "pto.get_buf")) return buffer_id(im, op, 1);
    if (pto_str_is(op->name, "pto.rls_buf")) return buffer_id(im, op, 0);
    if (pto_str_is(op->name, "pto.tgetval")) return read_element(im, op);
    PTO_TRY(import_expanded(im, op, &is_known));
    if (is_known) return PTO_OK;
    if (has_block_scales(op->name))
        return import_refuse(im, op,
                             "multiplies by a scale for each block, which is not read: make f16 or bf16 of the "
                             "operands, times their scales, and multiply these");
    if (next_row(&at, op->name) == NULL)
        return import_refuse(im, op, "is not an instruction that is read; docs/reference/ascend.md lists them");
    if (op->results != NULL) return import_refuse(im, op, "has no result");
    PTO_TRY(read_operands(im, op, &o));
    if (is_handed_over(op, &o)) return import_hand_over(im, op, o.ins[0]->tile, o.outs[0]->tile);
    use_operands(im, &o);
    if (!im->builds) return PTO_OK;
    if (o.is_of_lists) return merge(im, op, &o);
    at = 0;
    while ((row = next_row(&at, op->name)) != NULL) {
        if (!arrange(row, &o, to, &count) || !fits(im, kind_of(im, row), to, count)) continue;
        PTO_TRY(check_quantization(im, op, row, &o));
        return is_product(im, row, to) ? build_product(im, op, to, &o) : build(im, op, row, to, count, &o);
    }
    return import_refuse(im, op, "does not take %u operands of these kinds", o.in_count);
}
