/* What the tags of <pto/host.def> promise, of every row that has one: [pass], a call of what is not a pass is refused
 * with its text; [session], what a run got is still there after it, and the same for another run. */
#include <pto/build.h>
#include <pto/decision.h>

#include "ir/text/printer.h"

#include "tests/unit/core/run_fixture.h"

#include <string.h>

static const char source[] = "func @f(%x: tensor<4 x f32>, %y: tensor<4 x f32>, %unused: tensor<4 x f32>)"
                             " -> tensor<4 x f32> {\n"
                             "  tune $T in [1, 4]\n"
                             "  %a = tensor.neg %x : tensor<4 x f32>\n"
                             "  %b = tensor.exp %y : tensor<4 x f32>\n"
                             "  return %a\n"
                             "}\n";

typedef struct tagged_row {
    const char *name, *doc;
} tagged_row;

static const tagged_row rows[] = {
#define HOST(returns, name, parameters, arguments, doc) {#name, doc},
#define HOST_TILING HOST
#define HOST_SCHEDULE HOST
#include <pto/host.def>
};

/* The named calls are exactly the rows with the tag. */
static void expect_all_rows_of(const char *tag, const char *const *names, size_t count)
{
    size_t tagged = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strncmp(rows[i].doc, tag, strlen(tag)) != 0) continue;
        tagged++;
        size_t k = 0;
        while (k < count && strcmp(names[k], rows[i].name) != 0) k++;
        if (k == count) fail_msg("%s `%s` has no call here", tag, rows[i].name);
    }
    assert_int_equal(tagged, count);
}

/* ---- [pass] ---- */

typedef struct place {
    pto_op unit, tune, neg, exp;
    pto_block body;
    pto_place start;
    pto_value x, y, a;
    pto_attr one;
} place;

static place place_of(const pto_run *run, pto_op unit)
{
    const pto_block body = pto_body(unit);
    const pto_op tune = pto_block_first(body), neg = pto_op_next(tune);
    return (place){.unit = unit,
                   .tune = tune,
                   .neg = neg,
                   .exp = pto_op_next(neg),
                   .body = body,
                   .start = pto_at_start(body),
                   .x = pto_block_arg(body, 0),
                   .y = pto_block_arg(body, 1),
                   .a = pto_op_result(neg, 0),
                   .one = pto_attr_make_i64(run, 1)};
}

#define READS_ONLY "tried to change the module, which it may only read"
#define NO_MODULE_ATTRIBUTE "tried to set the module attribute `note`; only a pass of scope module may do that"
#define NO_DECISION "took part in a decision; only passes decide"

static const pto_decision stages = {.struct_size = sizeof stages, .count = 1, .name = "stages"};
static const int64_t two[] = {2};

/* X(row, what the host says, whether the call was refused) */
#define PASS_CALLS(X)                                                                                         \
    X(module_set_attr, NO_MODULE_ATTRIBUTE, pto_module_set_attr(run, PTO_STR("note"), p.one) == PTO_FAILED)   \
    X(op_build, READS_ONLY, !PTO_SOME(pto_make1(run, p.start, pto_op_kind(p.neg), pto_value_type(p.x), p.x))) \
    X(op_erase, READS_ONLY, pto_op_erase(p.exp) == PTO_FAILED)                                                \
    X(op_replace, READS_ONLY, pto_op_replace(p.neg, 1, &p.x) == PTO_FAILED)                                   \
    X(op_move, READS_ONLY, pto_op_move(p.exp, p.start) == PTO_FAILED)                                         \
    X(op_clone, READS_ONLY, !PTO_SOME(pto_op_clone(p.neg, p.start, 1, &p.x, &p.y)))                           \
    X(op_set_operand, READS_ONLY, pto_op_set_operand(p.neg, 0, p.y) == PTO_FAILED)                            \
    X(op_set_attr, READS_ONLY, pto_op_set_attr(p.neg, PTO_STR("note"), p.one) == PTO_FAILED)                  \
    X(op_set_loc, READS_ONLY, pto_op_set_loc(p.neg, pto_op_loc(p.exp)) == PTO_FAILED)                         \
    X(op_replace_symbols, READS_ONLY, pto_op_replace_symbols(p.unit, 0, NULL, NULL) == PTO_FAILED)            \
    X(tune_fix, READS_ONLY, pto_tune_fix(p.tune, 1) == PTO_FAILED)                                            \
    X(block_add_arg, READS_ONLY, !PTO_SOME(pto_block_add_arg(p.body, pto_value_type(p.x), PTO_STR("z"))))     \
    X(block_erase_arg, READS_ONLY, pto_block_erase_arg(p.body, 2) == PTO_FAILED)                              \
    X(value_set_type, READS_ONLY, pto_value_set_type(p.a, pto_value_type(p.x)) == PTO_FAILED)                 \
    X(value_set_name, READS_ONLY, pto_value_set_name(p.a, PTO_STR("z")) == PTO_FAILED)                        \
    X(value_replace, READS_ONLY, pto_value_replace(p.a, p.x) == PTO_FAILED)                                   \
    X(decision_pinned, NO_DECISION, pto_decision_pinned(p.neg, &stages, out) == PTO_FAILED && out[0] == 7)    \
    X(decision_made, NO_DECISION, pto_decision_made(p.neg, &stages, two) == PTO_FAILED)                       \
    X(choice_take, NO_DECISION, pto_choice_take(p.neg, 2) == 0)

#define NAME_OF(name, says, refused) #name,
static const char *const pass_calls[] = {PASS_CALLS(NAME_OF)};
static const char *const pass_texts[] = {
#define TEXT_OF(name, says, refused) "backend `acme.p` of plugin `org.acme.p` " says,
    PASS_CALLS(TEXT_OF)};
enum { PASS_CALL_COUNT = sizeof pass_calls / sizeof *pass_calls };

static bool pass_call_is_refused(size_t call, const pto_run *run, pto_op unit)
{
    const place p = place_of(run, unit);
    int64_t out[] = {7};
    const char *name = pass_calls[call];
#define CALL(name_, says, refused) \
    if (strcmp(name, #name_) == 0) return refused;
    PASS_CALLS(CALL)
    return false;
}

static void module_text(const run_fixture *f, text_buffer *t)
{
    text_init(t);
    module_print(f->m, NULL, t);
}

TEST(every_function_of_passes_is_refused_to_others)
{
    expect_all_rows_of("[pass]", pass_calls, PASS_CALL_COUNT);
    for (size_t i = 0; i < PASS_CALL_COUNT; i++) {
        run_fixture f;
        text_buffer before, after;
        run_fixture_begin(&f, source, NULL);
        f.agent.role = "backend";
        f.request.access = RUN_READS;
        module_text(&f, &before);
        const pto_op unit = run_fixture_start(&f);
        if (!pass_call_is_refused(i, f.run, unit)) fail_msg("`%s` was not refused", pass_calls[i]);
        run_fixture_stop(&f, PTO_OK);
        run_fixture_expect_misuse(&f, "E1325", pass_texts[i]);
        assert_int_equal(f.result.changes, 0);
        module_text(&f, &after);
        assert_string_equal(after.p, before.p);
        text_fini(&before);
        text_fini(&after);
        run_fixture_end(&f);
    }
}

/* Greedy rewriting is open to all; its patterns are not. */
static pto_status rewrite_by_erasing(const pto_run *run, pto_op op)
{
    (void)run;
    return pto_op_erase(op);
}

TEST(patterns_of_a_reader_change_nothing)
{
    const pto_pattern pattern = {.struct_size = sizeof pattern, .rewrite = rewrite_by_erasing};
    const pto_pattern *const patterns[] = {&pattern};
    run_fixture f;
    run_fixture_begin(&f, source, NULL);
    f.agent.role = "backend";
    f.request.access = RUN_READS;
    const pto_op unit = run_fixture_start(&f);
    assert_int_equal(pto_greedy(f.run, unit, 1, patterns, 0), PTO_FAILED);
    run_fixture_stop(&f, PTO_OK);
    run_fixture_expect_misuse(&f, "E1325", "backend `acme.p` of plugin `org.acme.p` " READS_ONLY);
    run_fixture_end(&f);
}

/* ---- [session] ---- */

static const char machine_text[] = "pto-machine: 1\n"
                                   "name: small\n"
                                   "clock-hz: 1000000000\n"
                                   "cores:\n"
                                   "  vector: { count: 2, pipes: [mte2, mte3, v, s] }\n"
                                   "spaces:\n"
                                   "  gm: { bytes: 1GiB, layouts: [nd] }\n"
                                   "  vec: { core: vector, bytes: 64KiB, align: 32, layouts: [nd] }\n"
                                   "paths:\n"
                                   "- { from: gm, to: vec, core: vector, pipe: mte2, bytes-per-cycle: 10, latency: 5,\n"
                                   "    layouts: [nd-nd] }\n"
                                   "vector: { dtypes: [f32] }\n"
                                   "instructions:\n"
                                   "  default: { head: 1 }\n";

/* What one call returned: bytes that it leads to, or a number. */
typedef struct kept {
    const void *bytes;
    size_t size;
    uint64_t number;
} kept;

static kept kept_text(pto_str s) { return (kept){.bytes = s.p, .size = s.n}; }
static kept kept_bytes(const void *bytes, size_t size) { return (kept){.bytes = bytes, .size = size}; }
static kept kept_number(uint64_t number) { return (kept){.number = number}; }

static kept keep_memory(const pto_run *run)
{
    static const char written[] = "what prepare() leaves";
    void *bytes = pto_keep(run, sizeof written);
    memcpy(bytes, written, sizeof written);
    return kept_bytes(bytes, sizeof written);
}

static kept keep_recalled(const pto_run *run)
{
    static const char written[] = "what a run leaves";
    void *bytes = pto_recall(run, PTO_STR("text"), sizeof written);
    memcpy(bytes, written, sizeof written);
    return kept_bytes(bytes, sizeof written);
}

static kept keep_table(const pto_run *run)
{
    const void *table = NULL;
    assert_int_equal(pto_extension(run, PTO_STR(PTO_TILING_HOST), &table), PTO_OK);
    return kept_bytes(table, sizeof(pto_tiling_host));
}

static kept keep_list(const pto_run *run)
{
    const int64_t *items = NULL;
    const uint32_t count = pto_opt_list(run, 1, &items);
    assert_int_equal(count, 3);
    return kept_bytes(items, count * sizeof *items);
}

static pto_space space_of(const pto_run *run, const char *name) { return pto_space_by_name(run, pto_s(name)); }

/* X(row, what to keep) */
#define SESSION_CALLS(X)                                                                                   \
    X(recall, keep_recalled(run))                                                                          \
    X(keep, keep_memory(run))                                                                              \
    X(extension, keep_table(run))                                                                          \
    X(opt_str, kept_text(pto_opt_str(run, 0)))                                                             \
    X(opt_list, keep_list(run))                                                                            \
    X(machine_space, kept_bytes(pto_machine_space(run, space_of(run, "vec")), sizeof(pto_space_data)))     \
    X(machine_path,                                                                                        \
      kept_bytes(pto_machine_path(run, space_of(run, "gm"), space_of(run, "vec")), sizeof(pto_path_data))) \
    X(name_text, kept_text(pto_name_text(run, PTO_NAME_SPACE, space_of(run, "vec"))))                      \
    X(kind_at, kept_number(pto_kind_at(run, 1)))                                                           \
    X(kind_by_name, kept_number(pto_kind_by_name(run, PTO_STR("tensor.exp"))))                             \
    X(kind_name, kept_text(pto_kind_name(run, pto_op_kind(neg))))                                          \
    X(kind_text, kept_text(pto_kind_text(run, pto_op_kind(neg), PTO_TEXT_OPERAND_1)))                      \
    X(op_kind, kept_number(pto_op_kind(neg)))

static const char *const session_calls[] = {
#define SESSION_NAME_OF(name, keep) #name,
    SESSION_CALLS(SESSION_NAME_OF)};
enum { SESSION_CALL_COUNT = sizeof session_calls / sizeof *session_calls };

static void keep_all(const pto_run *run, pto_op unit, kept out[SESSION_CALL_COUNT])
{
    const pto_op neg = pto_op_next(pto_block_first(pto_body(unit)));
    size_t n = 0;
#define KEEP(name, keep) out[n++] = (keep);
    SESSION_CALLS(KEEP)
}

static void begin_session(run_fixture *f)
{
    static const char *const kinds[] = {"tensor.neg", "tensor.exp", NULL};
    static const pto_option mode = {sizeof mode, PTO_OPT_STR, "mode", "d", NULL, NULL, "x", NULL, NULL, NULL};
    static const pto_option sizes = {sizeof sizes, PTO_OPT_LIST, "sizes", "d", NULL, NULL, "1", NULL, NULL, NULL};
    static const pto_option *const options[] = {&mode, &sizes, NULL};
    static const int64_t items[] = {16, 32, 64};
    static const value values[] = {{.type = VALUE_STR, .s = {"fast", 4}},
                                   {.type = VALUE_LIST, .items = items, .count = 3}};
    run_fixture_begin(f, source, kinds);
    f->agent.options = options;
    f->agent.values = values;
    const machine *m = NULL;
    assert_int_equal(machine_read_text(f->a, f->d, "m.yaml", str_from(machine_text), &m), OK);
    run_session_destroy(f->s);
    f->s = run_session_create(f->a, &(run_session_params){.diags = f->d, .machine = m});
}

TEST(what_lives_as_long_as_the_session_outlives_its_run)
{
    expect_all_rows_of("[session]", session_calls, SESSION_CALL_COUNT);
    run_fixture f;
    kept first[SESSION_CALL_COUNT], second[SESSION_CALL_COUNT];
    void *copies[SESSION_CALL_COUNT];
    begin_session(&f);
    pto_op unit = run_fixture_start(&f);
    keep_all(f.run, unit, first);
    for (size_t i = 0; i < SESSION_CALL_COUNT; i++) {
        if (first[i].size == 0 && first[i].number == 0) fail_msg("`%s` returned nothing", session_calls[i]);
        copies[i] = arena_alloc(f.a, first[i].size + 1);
        if (first[i].size != 0) memcpy(copies[i], first[i].bytes, first[i].size);
    }
    run_fixture_stop(&f, PTO_OK);
    assert_false(f.result.failed);
    /* Another run takes the memory of the first one and fills it. */
    unit = run_fixture_start(&f);
    memset(pto_scratch(f.run, 4096), 0x5a, 4096);
    keep_all(f.run, unit, second);
    for (size_t i = 0; i < SESSION_CALL_COUNT; i++) {
        if (first[i].size != 0) assert_memory_equal(first[i].bytes, copies[i], first[i].size);
        assert_int_equal(second[i].size, first[i].size);
        assert_int_equal(second[i].number, first[i].number);
    }
    run_fixture_stop(&f, PTO_OK);
    assert_false(f.result.failed);
    run_fixture_end(&f);
}
