#include "ir/text/parser.h"

#include "tests/unit/module_fixture.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void parse_good(module_fixture *f, const char *text)
{
    *f = module_fixture_parsed(text);
    assert_int_equal(diag_error_count(f->d), 0);
}

/* The first error must be this code at this place. */
static void parse_bad_n(str text, const char *code, uint32_t line, uint32_t column)
{
    module_fixture f = module_fixture_none();
    struct timespec from, to;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
    assert_int_equal(parse_module(f.c, text, "t.ptir", &f.m), FAILED);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
    assert_true(to.tv_sec - from.tv_sec < 5);
    assert_null(f.m);
    const diag_record *r = diag_record_at(f.d, 0);
    assert_non_null(r);
    if (strcmp(r->code, code) != 0) print_message("%s\n", r->text);
    assert_string_equal(r->code, code);
    assert_string_equal(r->at.file, "t.ptir");
    assert_int_equal(r->at.line, line);
    assert_int_equal(r->at.column, column);
    assert_true(diag_error_count(f.d) <= 20);
    module_fixture_end(&f);
}

static void parse_bad(const char *text, const char *code, uint32_t line, uint32_t column)
{
    parse_bad_n(str_from(text), code, line, column);
}

/* `head`, then `piece` again and again until `bytes` are reached. */
static char *repeated(const char *head, const char *piece, size_t bytes)
{
    size_t n = strlen(head), step = strlen(piece);
    char *text = malloc(bytes + n + step + 1);
    assert_non_null(text);
    memcpy(text, head, n);
    for (; n < bytes; n += step) memcpy(text + n, piece, step);
    text[n] = 0;
    return text;
}

static void parse_bad_repeated(const char *head, const char *piece, size_t bytes, const char *code, uint32_t line,
                               uint32_t column)
{
    char *text = repeated(head, piece, bytes);
    parse_bad(text, code, line, column);
    free(text);
}

#define HEAD "func @f(%n: index, %x: tensor<4 x f32>) {\n"

TEST(empty_text_is_an_empty_module)
{
    module_fixture f;
    parse_good(&f, "// nothing\n");
    assert_int_equal(block_first(f.m, module_top(f.m)), 0);
    module_fixture_end(&f);
}

TEST(names_types_and_places_are_kept)
{
    module_fixture f;
    parse_good(&f, "func @f(%x_2d: tensor<$B x 4 x f32>, %7: index) -> tensor<$B x 4 x f32> {\n"
                   "  %y = tensor.neg %x_2d : tensor<$B x 4 x f32>\n"
                   "  return %y\n"
                   "}\n");
    op_id func = module_find_symbol(f.m, string_intern(f.c, STR("f")));
    assert_int_not_equal(func, 0);
    op_id neg = block_first(f.m, function_body(f.m, func));
    assert_int_equal(op_kind_of(f.m, neg), OP_TENSOR_NEG);
    src_pos at = op_pos(f.m, neg);
    assert_string_equal(at.file, "t.ptir");
    assert_int_equal(at.line, 2);
    assert_int_equal(at.column, 8);
    value_id seven = block_arg(f.m, function_body(f.m, func), 1);
    assert_int_equal(value_name_of(f.m, seven).base, 0);
    assert_int_equal(value_name_of(f.m, seven).number, 7);
    assert_int_equal(op_operand(f.m, neg, 0), block_arg(f.m, function_body(f.m, func), 0));
    const type_node *t = type_at(f.c, value_type(f.m, op_result(f.m, neg, 0)));
    assert_int_equal(t->kind, TYPE_TENSOR);
    assert_int_equal(t->rank, 2);
    module_fixture_end(&f);
}

TEST(index_operands_stand_behind_value_operands)
{
    module_fixture f;
    parse_good(&f, "func @f(%x: gm<64 x 64 x f32>, %i: index, %j: index) {\n"
                   "  %t = tile.load %x[16 * %j + %i, %j] size(8, 8) : tile<16 x 16 x f32, vec>\n"
                   "  return\n"
                   "}\n");
    op_id load = block_first(f.m, function_body(f.m, block_first(f.m, module_top(f.m))));
    assert_int_equal(op_operand_count(f.m, load), 3);
    assert_int_equal(op_value_operand_count(f.m, load), 1);
    assert_int_equal(op_index_count(f.m, load, "offsets"), 2);
    module_fixture_end(&f);
}

TEST(implied_terminators_are_added)
{
    module_fixture f;
    parse_good(&f, "func @f(%n: index) {\n  for %i to %n {\n  }\n  if %n < 3 {\n  } else {\n  }\n  return\n}\n");
    assert_int_equal(module_verify(f.m), OK);
    op_id loop = block_first(f.m, function_body(f.m, block_first(f.m, module_top(f.m))));
    op_id last = block_last(f.m, op_block_at(f.m, loop, 0));
    assert_int_not_equal(last, 0);
    assert_int_equal(op_kind_of(f.m, last), OP_YIELD);
    op_id branch = op_next(f.m, loop);
    assert_int_equal(op_block_count(f.m, branch), 2);
    assert_int_equal(op_kind_of(f.m, block_first(f.m, op_block_at(f.m, branch, 0))), OP_YIELD);
    assert_int_equal(op_kind_of(f.m, block_first(f.m, op_block_at(f.m, branch, 1))), OP_YIELD);
    module_fixture_end(&f);
}

TEST(sibling_blocks_may_use_a_name_again)
{
    module_fixture f;
    parse_good(&f, "func @f(%n: index) {\n  for %i to %n {\n  }\n  for %i to %n {\n  }\n  return\n}\n");
    op_id first = block_first(f.m, function_body(f.m, block_first(f.m, module_top(f.m))));
    value_name a = value_name_of(f.m, block_arg(f.m, op_block_at(f.m, first, 0), 0));
    value_name b = value_name_of(f.m, block_arg(f.m, op_block_at(f.m, op_next(f.m, first), 0), 0));
    assert_true(a.base != b.base || a.number != b.number);
    module_fixture_end(&f);
}

TEST(a_symbol_may_be_used_before_its_function)
{
    module_fixture f;
    parse_good(&f, "func @f() {\n  call @g()\n  return\n}\nfunc @g() {\n  return\n}\n");
    assert_int_equal(module_verify(f.m), OK);
    module_fixture_end(&f);
}

TEST(defaults_are_not_stored)
{
    module_fixture f;
    parse_good(&f, "func @f(%x: tensor<4 x f32>) {\n"
                   "  %y = tensor.gelu %x {approx = \"tanh\"} : tensor<4 x f32>\n  return\n}\n");
    op_id gelu = block_first(f.m, function_body(f.m, block_first(f.m, module_top(f.m))));
    assert_int_equal(op_attrs(f.m, gelu), 0);
    module_fixture_end(&f);
}

TEST(locations_may_be_given)
{
    module_fixture f;
    parse_good(&f, "func @f() {\n  return loc(fused[\"a.py\":3:4, \"b.py\":5:6])\n} loc(\"c\\\"d\":7:8)\n");
    op_id func = block_first(f.m, module_top(f.m));
    assert_string_equal(op_pos(f.m, func).file, "c\"d");
    loc_id l = op_loc(f.m, block_first(f.m, function_body(f.m, func)));
    assert_int_equal(loc_count(f.c, l), 2);
    assert_int_equal(loc_at(f.c, l, 1).line, 5);
    module_fixture_end(&f);
}

TEST(mlir_prints_result_packs)
{
    module_fixture f;
    parse_good(&f, "module {\n"
                   "  \"pto_core.func\"() ({\n"
                   "  ^bb0(%arg0: index, %arg1: !pto.tensor<4 x f32>):\n"
                   "    %0:2 = \"pto_core.for\"(%arg1, %arg1, %arg0) ({\n"
                   "    ^bb0(%arg2: index, %arg3: !pto.tensor<4 x f32>, %arg4: !pto.tensor<4 x f32>):\n"
                   "      \"pto_core.yield\"(%arg4, %arg3) : (!pto.tensor<4 x f32>, !pto.tensor<4 x f32>) -> ()\n"
                   "    }) {from = [#pto.expr<() -> (0)>], step = [#pto.expr<() -> (1)>], "
                   "to = [#pto.expr<(d0, d1, d2) -> (d2)>]} : (!pto.tensor<4 x f32>, !pto.tensor<4 x f32>, index) -> "
                   "(!pto.tensor<4 x f32>, !pto.tensor<4 x f32>)\n"
                   "    \"pto_core.return\"(%0#1) : (!pto.tensor<4 x f32>) -> ()\n"
                   "  }) {name = \"f\", results = [!pto.tensor<4 x f32>]} : () -> ()\n"
                   "}\n");
    assert_int_equal(module_verify(f.m), OK);
    op_id loop = block_first(f.m, function_body(f.m, module_find_symbol(f.m, string_intern(f.c, STR("f")))));
    assert_int_equal(op_operand(f.m, op_next(f.m, loop), 0), op_result(f.m, loop, 1));
    module_fixture_end(&f);
}

TEST(generic_slots_must_be_operands)
{
    parse_bad("\"pto_core.func\"() ({\n^bb0(%n: index):\n"
              "  \"pto_core.bind\"() {symbol = \"k\", value = [#pto.expr<(d0) -> (d0)>]} : () -> ()\n"
              "}) {name = \"f\"} : () -> ()\n",
              "E0105", 3, 64);
}

TEST(a_nul_byte_ends_reading) { parse_bad_n(STR(HEAD "  ret\0urn\n}\n"), "E0101", 2, 6); }

TEST(invalid_utf8_ends_reading)
{
    parse_bad(HEAD "  // \xC3\xA4 \xC3(\n}\n", "E0101", 2, 9);
    parse_bad(HEAD "  \xFF\n}\n", "E0101", 2, 3);
}

TEST(huge_inputs_end_in_one_diagnostic)
{
    parse_bad_repeated(HEAD, "x", 10u << 20, "E0103", 2, 1);
    parse_bad_repeated(HEAD, "  if %n < 2 {\n", 1400000, "E0104", 257, 13);
    parse_bad_repeated(HEAD "  if ", "(", 100000, "E0104", 2, 70);
    parse_bad_repeated(HEAD "  %y = tensor.neg %x {a.b = ", "[", 100000, "E0104", 2, 93);
    parse_bad_repeated(HEAD "  if 1", " + 1", 100000, "E0402", 2, 518);
    parse_bad_repeated(HEAD "  if ", "-", 100000, "E0402", 2, 134);
    parse_bad_repeated(HEAD "  call @f(%n", ", %n", 400000, "E0114", 2, 262151);
}

TEST(a_text_cut_anywhere_ends_in_a_diagnostic)
{
    static const char text[] =
        "module @m {a = [1, {b = \"c\"}]} {\n"
        "  func @f(%n: index, %x: gm<$B x 64 x f32>) -> index where ($B >= 1) {\n"
        "    %t = tile.load %x[%n, 0] size(min(4, $B - %n), 8) {pad = 0.0} : tile<16 x 16 x f32, vec, nd>\n"
        "    %r = for %i = 2 to %n step 3 carry(%c = %n) {\n"
        "      yield %c\n"
        "    } : index\n"
        "    return %r loc(\"a\":1:2)\n"
        "  }\n"
        "}";
    module_fixture f;
    parse_good(&f, text);
    module_fixture_end(&f);
    for (size_t n = 1; n < sizeof text - 1; n++) {
        f = module_fixture_none();
        if (parse_module(f.c, (str){text, n}, "t.ptir", &f.m) != OK) {
            assert_true(diag_error_count(f.d) >= 1);
        } else {
            fail_msg("the first %zu bytes parse", n);
        }
        module_fixture_end(&f);
    }
}

TEST(errors_go_on_at_the_next_op_and_function)
{
    module_fixture f = module_fixture_none();
    assert_int_equal(parse_module(f.c,
                                  STR(HEAD "  %a = tensor.negg %x : tensor<4 x f32>\n"
                                           "  %b = tensor.neg %a : tensor<4 x f32>\n"
                                           "  for %i to %zz {\n    %c = tensor.neg\n  }\n"
                                           "  %d = tensor.exp %dd : tensor<4 x f32>\n  return\n}\n"
                                           "func f() {\n}\nfunc @g() {\n  nothing\n}\n"),
                                  "t.ptir", &f.m),
                     FAILED);
    static const uint32_t lines[] = {2, 4, 7, 10, 13};
    assert_int_equal(diag_error_count(f.d), 5);
    for (uint32_t i = 0; i < 5; i++) assert_int_equal(diag_record_at(f.d, i)->at.line, lines[i]);
    module_fixture_end(&f);
}

TEST(at_most_twenty_errors_are_looked_for)
{
    char *text = repeated(HEAD, "  tensor.oops\n", 7000);
    module_fixture f = module_fixture_none();
    assert_int_equal(parse_module(f.c, str_from(text), "t.ptir", &f.m), FAILED);
    assert_int_equal(diag_error_count(f.d), 20);
    module_fixture_end(&f);
    free(text);
}

TEST(a_file_is_read_and_one_that_is_not_there_is_named)
{
    char path[] = "/tmp/test_parser_XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    static const char text[] = "func @f() {\n  return\n}\n";
    assert_int_equal(write(fd, text, sizeof text - 1), sizeof text - 1);
    close(fd);
    module_fixture f = module_fixture_none();
    assert_int_equal(parse_file(f.c, path, &f.m), OK);
    assert_true(str_is(string_of(f.c, module_file(f.m)), path));
    unlink(path);
    module *none = NULL;
    assert_int_equal(parse_file(f.c, path, &none), FAILED);
    assert_null(none);
    const diag_record *r = diag_record_at(f.d, 0);
    assert_string_equal(r->code, "E0115");
    assert_string_equal(r->at.file, path);
    assert_non_null(strstr(r->text, "No such file"));
    assert_int_equal(parse_file(f.c, "/tmp", &none), FAILED);
    assert_non_null(strstr(diag_record_at(f.d, 1)->text, "directory"));
    module_fixture_end(&f);
}
