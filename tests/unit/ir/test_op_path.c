#include "ir/module.h"
#include "ir/text/parser.h"
#include "ir/verify/verifier.h"

#include "tests/unit/module_fixture.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct world {
    module_fixture ir;
    type_id type;
} world;

static world world_make(void)
{
    world w = {.ir = module_fixture_empty()};
    expr_id dim = expr_const(w.ir.c, 8);
    w.type = type_tensor(w.ir.c, DTYPE_F32, 1, &dim);
    return w;
}

static attr_id text_attr(const world *w, const char *key, const char *text)
{
    return attr_with(w->ir.c, 0, string_intern_z(w->ir.c, key), attr_string(w->ir.c, string_intern_z(w->ir.c, text)));
}

/* With one block; `attr` = "name": of a function, "label": of a nest. */
static op_id outer(const world *w, block_id b, op_kind kind, const char *attr, const char *text)
{
    return op_create(w->ir.m, (op_place){b, 0},
                     &(op_spec){.kind = kind, .attrs = text_attr(w, attr, text), .block_count = 1});
}

/* `name` NULL: the result has none. */
static op_id unary(const world *w, op_place at, value_id x, const char *name)
{
    op_id o = op_create(
        w->ir.m, at,
        &(op_spec){
            .kind = OP_TENSOR_EXP, .operand_count = 1, .operands = &x, .result_count = 1, .result_types = &w->type});
    if (name != NULL) value_set_name(w->ir.m, op_result(w->ir.m, o, 0), str_from(name));
    return o;
}

static op_id store(const world *w, block_id b, value_id x)
{
    return op_create(w->ir.m, (op_place){b, 0},
                     &(op_spec){.kind = OP_TILE_STORE, .operand_count = 2, .operands = (value_id[]){x, x}});
}

static void check_path(const world *w, op_id o, const char *expected)
{
    text_buffer t;
    text_init(&t);
    op_print_path(w->ir.m, o, &t);
    assert_string_equal(t.p, expected);
    assert_int_equal(op_by_path(w->ir.m, (str){t.p, t.n}), o);
    /* The table says the same. */
    arena *a = arena_create("paths");
    t.n = 0;
    path_table_print(path_table_create(a, w->ir.m, op_function(w->ir.m, o)), o, &t);
    assert_string_equal(t.p, expected);
    arena_destroy(a);
    text_fini(&t);
}

TEST(an_op_is_called_by_label_result_or_kind)
{
    const world w = world_make();
    const op_id f = outer(&w, module_top(w.ir.m), OP_FUNC, "name", "soft.max");
    const block_id body = function_body(w.ir.m, f);
    const value_id x = block_add_arg(w.ir.m, body, w.type);
    const op_id first = store(&w, body, x), second = store(&w, body, x);
    const op_id y = unary(&w, (op_place){body, 0}, x, "y2"), plain = unary(&w, (op_place){body, 0}, x, NULL),
                number = unary(&w, (op_place){body, 0}, x, "17");
    const op_id nest = outer(&w, body, OP_FORALL, "label", "softmax_0");
    check_path(&w, f, "@soft.max");
    check_path(&w, first, "@soft.max/tile.store");
    check_path(&w, second, "@soft.max/tile.store#2");
    check_path(&w, y, "@soft.max/y2");
    check_path(&w, plain, "@soft.max/tensor.exp");
    check_path(&w, number, "@soft.max/17");
    check_path(&w, nest, "@soft.max/softmax_0");
    module_fixture_end(&w.ir);
}

TEST(a_name_that_repeats_is_numbered_whatever_gives_it)
{
    const world w = world_make();
    const block_id body = function_body(w.ir.m, outer(&w, module_top(w.ir.m), OP_FUNC, "name", "f"));
    const value_id x = block_add_arg(w.ir.m, body, w.type);
    const op_id a = unary(&w, (op_place){body, 0}, x, "y_2"), loop = outer(&w, body, OP_FORALL, "label", "y#2");
    const op_id inside = unary(&w, (op_place){op_block_at(w.ir.m, loop, 0), 0}, x, "y"),
                behind = unary(&w, (op_place){body, 0}, x, "y");
    const op_id slash = outer(&w, body, OP_FORALL, "label", "a/b c-d.\"\n"),
                empty = outer(&w, body, OP_FORALL, "label", "");
    check_path(&w, a, "@f/y_2");
    check_path(&w, loop, "@f/y_2#2");
    check_path(&w, inside, "@f/y");
    check_path(&w, behind, "@f/y#2");
    check_path(&w, slash, "@f/a_b_c-d.__");
    check_path(&w, empty, "@f/forall");
    module_fixture_end(&w.ir);
}

TEST(functions_do_not_share_numbers)
{
    const world w = world_make();
    const op_id f = outer(&w, module_top(w.ir.m), OP_FUNC, "name", "f"),
                g = outer(&w, module_top(w.ir.m), OP_BLOCK_KERNEL, "name", "g");
    const value_id x = block_add_arg(w.ir.m, function_body(w.ir.m, f), w.type),
                   y = block_add_arg(w.ir.m, function_body(w.ir.m, g), w.type);
    const op_id in_f = store(&w, function_body(w.ir.m, f), x), in_g = store(&w, function_body(w.ir.m, g), y),
                alone = store(&w, module_top(w.ir.m), x);
    check_path(&w, in_f, "@f/tile.store");
    check_path(&w, in_g, "@g/tile.store");
    check_path(&w, alone, "@/tile.store");
    module_fixture_end(&w.ir);
}

TEST(what_is_no_path_leads_nowhere)
{
    const world w = world_make();
    const op_id f = outer(&w, module_top(w.ir.m), OP_FUNC, "name", "f");
    const block_id body = function_body(w.ir.m, f);
    const value_id x = block_add_arg(w.ir.m, body, w.type);
    const op_id y = unary(&w, (op_place){body, 0}, x, "y1");
    static const char *const wrong[] = {"",
                                        "@",
                                        "f",
                                        "f/y1",
                                        "@g",
                                        "@g/y1",
                                        "@f/",
                                        "@f/y",
                                        "@f/y11",
                                        "@f/y1#2",
                                        "@f/y1#0",
                                        "@f/y1#",
                                        "@f/y1#x",
                                        "@f/#1",
                                        "@f/y1#1 ",
                                        "@f//y1",
                                        "@/y1",
                                        "@f/y1#01",
                                        "@f/%y1",
                                        "@f/y1#4294967297",
                                        "@f/y1#99999999999999999999"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(op_by_path(w.ir.m, str_from(wrong[i])), 0);
    assert_int_equal(op_by_path(w.ir.m, STR("@f/y1")), y);
    assert_int_equal(op_by_path(w.ir.m, STR("@f/y1#1")), y);
    assert_int_equal(op_by_path(w.ir.m, STR("@f")), f);
    op_erase(w.ir.m, y);
    assert_int_equal(op_by_path(w.ir.m, STR("@f/y1")), 0);
    module_fixture_end(&w.ir);
}

/* ---- every module of the tree ---- */

static char (*files)[256];
static size_t file_count, file_capacity;

static int take_file(const char *path, const struct stat *info, int kind, struct FTW *at)
{
    (void)info;
    (void)at;
    const size_t n = strlen(path);
    if (kind != FTW_F || n < 5 || n >= sizeof *files || strcmp(path + n - 5, ".ptir") != 0) return 0;
    if (file_count == file_capacity) {
        file_capacity = 2 * file_capacity + 64;
        char(*more)[256] = realloc(files, file_capacity * sizeof *files);
        assert_non_null(more);
        files = more;
    }
    memcpy(files[file_count++], path, n + 1);
    return 0;
}

/* The paths of all ops, one in a line; every one leads back to its op. */
static uint32_t print_paths(const module *m, text_buffer *out)
{
    uint32_t count = 0;
    for (op_id o = block_first(m, module_top(m)); o != 0; o = walk_next(m, 0, o)) {
        const size_t start = out->n;
        op_print_path(m, o, out);
        const op_id back = op_by_path(m, (str){out->p + start, out->n - start});
        if (back != o) fail_msg("%s is the path of op %u and leads to op %u", out->p + start, o, back);
        text_putc(out, '\n');
        count++;
    }
    return count;
}

/* A table of a function says the same. */
static void check_tables(const module *m)
{
    arena *a = arena_create("tables");
    text_buffer alone, listed;
    text_init(&alone);
    text_init(&listed);
    BLOCK_EACH_OP(m, f, module_top(m)) {
        const path_table *table = path_table_create(a, m, f);
        IR_WALK(m, o, f)
        {
            alone.n = listed.n = 0;
            op_print_path(m, o, &alone);
            path_table_print(table, o, &listed);
            assert_string_equal(listed.p, alone.p);
        }
    }
    text_fini(&alone);
    text_fini(&listed);
    arena_destroy(a);
}

/* One before every op, then gone again. */
static void insert_unrelated(module *m, text_buffer *all)
{
    ir_context *c = module_context(m);
    const type_id type = type_scalar(c, DTYPE_INDEX);
    text_buffer t;
    text_init(&t);
    op_id made[64];
    uint32_t count = 0;
    for (op_id o = block_first(m, module_top(m)); o != 0 && count < 64; o = walk_next(m, 0, o)) {
        if (op_function(m, o) == o) continue;
        made[count] = op_create(m, (op_place){op_block(m, o), o},
                                &(op_spec){.kind = OP_CONSTANT, .result_count = 1, .result_types = &type});
        value_set_name(m, op_result(m, made[count++], 0), STR("unrelated"));
    }
    for (op_id o = block_first(m, module_top(m)); o != 0; o = walk_next(m, 0, o)) {
        bool is_made = false;
        for (uint32_t i = 0; i < count; i++) is_made |= made[i] == o;
        if (is_made) continue;
        op_print_path(m, o, &t);
        text_putc(&t, '\n');
    }
    assert_true(str_eq((str){t.p, t.n}, (str){all->p, all->n}));
    while (count > 0) op_erase(m, made[--count]);
    t.n = 0;
    (void)print_paths(m, &t);
    assert_true(str_eq((str){t.p, t.n}, (str){all->p, all->n}));
    text_fini(&t);
}

/* Also those that the environment names: tests/ir/paths-of-dumps.sh. */
TEST(every_op_of_every_module_is_found_by_its_path)
{
    const char *folder = getenv("PTO_TEST_MODULES");
    if (folder != NULL) {
        assert_int_equal(nftw(folder, take_file, 16, FTW_PHYS), 0);
    } else {
        assert_int_equal(nftw("examples", take_file, 16, FTW_PHYS), 0);
        assert_int_equal(nftw("tests", take_file, 16, FTW_PHYS), 0);
    }
    uint32_t modules = 0, ops = 0;
    for (size_t i = 0; i < file_count; i++) {
        diag_engine *d = diag_create(NULL, 0);
        ir_context *c = context_create(d);
        module *m = NULL;
        if (parse_file(c, files[i], &m) == OK) {
            if (module_verify(m) == OK) {
                text_buffer all;
                text_init(&all);
                ops += print_paths(m, &all);
                check_tables(m);
                modules++;
                insert_unrelated(m, &all);
                text_fini(&all);
            }
            module_destroy(m);
        }
        context_destroy(c);
        diag_destroy(d);
    }
    printf("%u modules, %u ops\n", modules, ops);
    assert_true(modules >= (folder != NULL ? 1 : 200) && ops >= 5 * modules);
    free(files);
}
