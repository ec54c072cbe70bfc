/* Random arguments for calls of the host: handles that are good, none, stale, forged, or of another run, and numbers
 * and text of all kinds. Everything follows from one seed. The pools live as long as the process, so that handles of
 * runs that have ended come back. */
#ifndef HOSTILE_CALLS_H
#define HOSTILE_CALLS_H

#include <pto/plugin.h>

#include <pto/decision.h>

#include <stdlib.h>

/* What the run that is open now does. */
typedef struct caller {
    const pto_run *run;
    pto_op unit;
    uint32_t left;    /* calls to make */
    uint32_t misuses; /* in percent: handles that are not good */
    uint32_t depth;   /* of callbacks */
    uint32_t copies;  /* that may still be made: of copies of copies there is no end */
} caller;

static uint64_t random_state;
static caller now;

static uint32_t random_below(uint32_t n)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return n == 0 ? 0 : (uint32_t)(random_state >> 33) % n;
}
static int chance(uint32_t percent) { return random_below(100) < percent; }

static uint32_t any_u32(void)
{
    static const uint32_t odd[] = {UINT32_MAX, 65535, 65536, 1u << 31, 255};
    return chance(now.misuses) ? odd[random_below(5)] : random_below(5);
}
static int64_t any_i64(void)
{
    static const int64_t some[] = {
        0, 1, -1, 2, 8, 16, 256, 4096, INT64_MAX, INT64_MIN, INT64_MAX - 1, INT64_C(1) << 40};
    return some[random_below(chance(50) ? 8 : 12)];
}
static double any_f64(void)
{
    static const double some[] = {0.0, -0.0, 1.0, 0.5, -3.25, 1e300, 1e-320};
    return chance(10) ? (double)any_i64() / 0.0 : some[random_below(7)];
}

static const char *any_word(void)
{
    static const char *const words[] = {"x",
                                        "y",
                                        "name",
                                        "value",
                                        "axis",
                                        "results",
                                        "params",
                                        "facts",
                                        "grid",
                                        "symbol",
                                        "to",
                                        "from",
                                        "step",
                                        "label",
                                        "space",
                                        "core",
                                        "callee",
                                        "addr",
                                        "nan",
                                        "order",
                                        "offsets",
                                        "sizes",
                                        "acme.w",
                                        "f",
                                        "N",
                                        "machine",
                                        "mode",
                                        "reads",
                                        "writes",
                                        "stages",
                                        "bytes_per_stage",
                                        "valid",
                                        "tensor.neg",
                                        "pto.tload",
                                        "for",
                                        "spaces.vec.bytes",
                                        "cores.vector.count",
                                        "kernel",
                                        "min",
                                        "max"};
    static const char *const odd[] = {"", "a b", "%x", "@f", "\xff\xfe", "1x", "x\ny", "\"", "a.b.c", "\xe2\x80\xae"};
    return chance(now.misuses) ? odd[random_below(10)] : words[random_below(sizeof words / sizeof *words)];
}
static pto_str any_str(void)
{
    static char long_text[70000];
    if (!chance(now.misuses)) return pto_s(any_word());
    memset(long_text, 'a', sizeof long_text);
    if (chance(20)) return pto_str_make("a\0b", 3);
    if (chance(20)) return pto_str_make(NULL, 0);
    return chance(20) ? pto_str_make(long_text, random_below(sizeof long_text)) : pto_s(any_word());
}

/* Of a value, symbol or function. */
static pto_str any_name(void)
{
    static const char *const names[] = {"x", "y", "row_1", "N"};
    return chance(now.misuses) ? any_str() : pto_s(names[random_below(4)]);
}

/* A pool for each kind of handle. */
enum { POOL = 64 };
#define HANDLES(X) X(op) X(value) X(block) X(type) X(attr) X(expr) X(loc)
#define POOL_OF(name)                                                       \
    static pto_##name name##_pool[POOL];                                    \
    static uint32_t name##_count;                                           \
    static void keep_##name(pto_##name h)                                   \
    {                                                                       \
        if (PTO_SOME(h)) name##_pool[name##_count++ % POOL] = h;            \
    }                                                                       \
    /* Of the last ones mostly, so that some of this run are among them. */ \
    static pto_##name pooled_##name(void)                                   \
    {                                                                       \
        const uint32_t count = name##_count < POOL ? name##_count : POOL;   \
        if (count == 0) return pto_##name##_none(now.run);                  \
        const uint32_t last = chance(80) && count > 16 ? 16 : count;        \
        return name##_pool[(name##_count - 1 - random_below(last)) % POOL]; \
    }                                                                       \
    static pto_##name bad_##name(void)                                      \
    {                                                                       \
        pto_##name h = pooled_##name();                                     \
        switch (random_below(6)) {                                          \
        case 0: return pto_##name##_none(now.run);                          \
        case 1:                                                             \
            h.run = now.run;                                                \
            h.generation = any_u32() << 16 | random_below(5);               \
            break;                                                          \
        case 2: h.index += random_below(100000); break;                     \
        case 3: h.index = any_u32(); break;                                 \
        case 4:                                                             \
            h.run = now.run;                                                \
            h.index += random_below(3);                                     \
            break;                                                          \
        default: break;                                                     \
        }                                                                   \
        return h;                                                           \
    }
HANDLES(POOL_OF)

/* A live op inside the unit, or of the module. */
static pto_op some_op(void)
{
    uint32_t steps = random_below(24);
    const pto_op root = now.unit;
    pto_op op = now.run->host->op_walk_next(PTO_SOME(root) ? root : pto_op_none(now.run), root);
    while (PTO_SOME(op) && steps-- > 0) {
        const pto_op next = now.run->host->op_walk_next(op, root);
        if (!PTO_SOME(next)) break;
        op = next;
    }
    keep_op(op);
    return op;
}
static pto_op any_op(void) { return chance(now.misuses) ? bad_op() : some_op(); }

static pto_value any_value(void)
{
    if (chance(now.misuses)) return bad_value();
    const pto_op op = some_op();
    const uint32_t operands = pto_op_operand_count(op), results = pto_op_result_count(op);
    const pto_value v = operands + results == 0                       ? pto_block_arg(pto_op_block(op), 0)
                        : random_below(operands + results) < operands ? pto_op_operand(op, random_below(operands))
                                                                      : pto_op_result(op, random_below(results));
    keep_value(v);
    return v;
}
static pto_block any_block(void)
{
    if (chance(now.misuses)) return bad_block();
    const pto_op op = some_op();
    const uint32_t blocks = pto_op_block_count(op);
    const pto_block b = blocks != 0 && chance(50) ? pto_op_block_at(op, random_below(blocks)) : pto_op_block(op);
    keep_block(b);
    return b;
}
static pto_type any_type(void)
{
    if (chance(now.misuses)) return bad_type();
    const pto_type t = pto_value_type(any_value());
    keep_type(t);
    return t;
}
static pto_attr any_attr(void)
{
    if (chance(now.misuses)) return bad_attr();
    const pto_op op = some_op();
    const uint32_t count = now.run->host->op_attr_count(op);
    const pto_attr a =
        count != 0 && chance(60) ? now.run->host->op_attr_at(op, random_below(count), NULL) : pooled_attr();
    keep_attr(a);
    return a.run == now.run ? a : pto_attr_make_i64(now.run, any_i64());
}
static pto_expr any_expr(void)
{
    if (chance(now.misuses)) return bad_expr();
    const pto_type t = any_type();
    const uint32_t rank = pto_type_rank(t);
    pto_expr e = rank != 0 && chance(50) ? pto_type_dim(t, random_below(rank)) : pooled_expr();
    if (now.run != NULL && (e.run != now.run || !PTO_SOME(e))) e = pto_expr_const(now.run, any_i64());
    keep_expr(e);
    return e;
}
static pto_loc any_loc(void)
{
    if (chance(now.misuses)) return bad_loc();
    const pto_loc l = pto_op_loc(some_op());
    keep_loc(l);
    return l;
}
static pto_place any_place(void)
{
    pto_place at = {any_block(), pto_op_none(now.run)};
    const pto_op op = any_op();
    if (chance(70)) at = pto_before(op);
    if (chance(now.misuses)) at.before = any_op();
    return at;
}

/* Runs that have ended, for calls that take one. */
static const pto_run *run_pool[8];
static uint32_t run_count;
static const pto_run *any_run(void)
{
    return chance(now.misuses / 4) && run_count != 0 ? run_pool[random_below(run_count < 8 ? run_count : 8)] : now.run;
}

#endif
