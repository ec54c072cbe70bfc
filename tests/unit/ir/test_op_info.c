#include "ir/op_info.h"

#include "tests/unit/unit.h"

#include <stdbool.h>
#include <string.h>
#include <time.h>

static uint32_t operand_count(const op_info *info)
{
    uint32_t n = 0;
    while (n < 6 && info->in[n].types != 0) n++;
    return n;
}

static bool has_attr(const op_info *info, const char *name) { return op_attr_spec(info, str_from(name)) != NULL; }

TEST(every_row_is_filled_and_found_by_its_name)
{
    for (uint32_t k = 1; k < op_kind_count(); k++) {
        const op_info *info = op_info_at((op_kind)k);
        assert_non_null(info->name);
        assert_non_null(info->doc);
        assert_int_equal(info->since, 1);
        assert_int_equal(op_kind_by_name(str_from(info->name)), k);
        for (uint32_t i = 0; i < 10 && info->attrs[i].name != NULL; i++) {
            assert_non_null(info->attrs[i].doc);
            assert_int_not_equal(info->attrs[i].kind, SPEC_NONE);
            assert_ptr_equal(op_attr_spec(info, str_from(info->attrs[i].name)), &info->attrs[i]);
        }
        if (info->home == HOME_TILE || info->home == HOME_PTO) assert_true(info->out_count <= 1);
    }
}

TEST(unknown_names_are_none_and_near_ones_are_offered)
{
    const char *const unknown[] = {"", "x", "tensor.ex", "tensor.expp", "exp", "pto.tsto", "tensor.\0xp", "TENSOR.EXP"};
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++)
        assert_int_equal(op_kind_by_name(str_from(unknown[i])), OP_NONE);
    static char longest[70000];
    memset(longest, 'a', sizeof longest);
    assert_int_equal(op_kind_by_name((str){longest, sizeof longest}), OP_NONE);
    assert_int_equal(op_kind_by_name((str){"tensor.exp.more", 10}), OP_TENSOR_EXP);
    assert_string_equal(op_nearest_name(STR("tensor.sofmax")), "tensor.softmax");
    assert_null(op_nearest_name(STR("something.else.entirely")));
}

TEST(instruction_and_value_form_are_one_row)
{
    uint32_t pairs = 0;
    for (uint32_t k = 1; k < op_kind_count(); k++) {
        const op_info *insn = op_info_at((op_kind)k);
        if (insn->partner == OP_NONE || insn->home != HOME_PTO) continue;
        pairs++;
        const op_info *tile = op_info_at(insn->partner);
        assert_int_equal(tile->partner, k);
        assert_int_equal(tile->home, HOME_TILE);
        assert_int_equal(insn->rule, tile->rule);
        assert_int_equal(insn->tmp, tile->tmp);
        assert_int_equal(insn->pipe, tile->pipe);
        assert_int_equal(insn->dtypes, tile->dtypes);
        assert_string_equal(insn->cost, tile->cost);
        assert_memory_equal(insn->name, "pto.", 4);
        assert_memory_equal(tile->name, "tile.", 5);
        bool moves = insn->rule == RULE_LOAD || insn->rule == RULE_STORE;
        assert_int_equal((tile->traits & TRAIT_PURE) != 0, !moves);
        assert_int_equal(insn->out_count, 0);
        assert_int_equal(tile->out_count, insn->rule != RULE_STORE);
        /* dst becomes the result; scratch exists in the instruction alone. */
        uint32_t scratch = insn->tmp != TMP_NONE;
        assert_int_equal(insn->in_optional, scratch);
        assert_int_equal(tile->in_optional, 0);
        assert_int_equal(operand_count(insn), operand_count(tile) + tile->out_count + scratch);
        for (uint32_t i = 0; i < 10 && tile->attrs[i].name != NULL; i++) {
            bool value_form_only = strstr(tile->attrs[i].doc, "(value form)") != NULL;
            assert_int_equal(has_attr(insn, tile->attrs[i].name), !value_form_only);
        }
        for (uint32_t i = 0; i < 10 && insn->attrs[i].name != NULL; i++)
            assert_true(has_attr(tile, insn->attrs[i].name));
    }
    assert_int_equal(pairs, 50);
}

TEST(forms_of_load_store_and_fill)
{
    const op_info *load = op_info_at(OP_TILE_LOAD), *tload = op_info_at(OP_PTO_TLOAD);
    assert_string_equal(load->syntax, "$0[offsets] size(sizes)");
    assert_string_equal(tload->syntax, "$0, $1[offsets]");
    assert_int_equal(load->in[0].types, TY_MEMORY);
    assert_int_equal(tload->in[0].types, TY_TILE);
    assert_int_equal(tload->in[1].types, TY_GM);
    assert_true(has_attr(load, "sizes") && !has_attr(tload, "sizes"));
    assert_true(has_attr(load, "transpose") && has_attr(tload, "transpose"));
    assert_string_equal(op_info_at(OP_TILE_STORE)->syntax, "$0, $1[offsets]");
    assert_string_equal(op_info_at(OP_PTO_TSTORE)->syntax, "$0[offsets], $1");
    assert_int_equal(op_info_at(OP_PTO_TSTORE)->in[0].types, TY_GM);
    assert_string_equal(op_info_at(OP_TILE_FILL)->syntax, "$0 valid(valid)");
    assert_null(op_info_at(OP_PTO_TEXPANDS)->syntax);
    assert_null(op_info_at(OP_PTO_TEXPANDS)->attrs[0].name);
    assert_int_equal(operand_count(op_info_at(OP_PTO_TMATMUL_ACC)), 4);
    assert_int_equal(op_info_at(OP_PTO_TMATMUL)->in[0].dtypes, DT(F32) | DT(I32));
    assert_int_equal(op_info_at(OP_TENSOR_ADD)->traits, TRAIT_PURE | TRAIT_COMMUTATIVE);
}

TEST(levels_and_pipes_have_names)
{
    for (uint32_t l = LEVEL_TENSOR; l < LEVEL_COUNT; l++)
        assert_int_equal(level_by_name(str_from(level_name((ir_level)l))), l);
    assert_int_equal(level_by_name(STR("none")), LEVEL_NONE);
    assert_int_equal(level_by_name(STR("tensor/2")), LEVEL_NONE);
    assert_string_equal(pipe_name(PIPE_MTE2), "mte2");
    assert_string_equal(pipe_name(PIPE_ALL), "all");
}

/* The parser looks up one name per op; an order of magnitude above what it needs, so that a slow machine passes. */
TEST(lookup_is_fast)
{
    const uint32_t rounds = 20000;
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    uint32_t sum = 0;
    for (uint32_t i = 0; i < rounds; i++) {
        sum += op_kind_by_name(STR("tensor.softmax"));
        sum += op_kind_by_name(STR("tile.colexpandmin"));
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    double seconds = (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
    assert_int_equal(sum, rounds * (uint32_t)(OP_TENSOR_SOFTMAX + OP_TILE_COLEXPANDMIN));
    print_message("%.1f ns per lookup\n", seconds * 1e9 / (2.0 * rounds));
    assert_true(seconds < 0.5);
}
