#include "ir/op_info.h"

#include "tests/unit/unit.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

static bool has_attr(const op_info *info, const char *name) { return op_attr_spec(info, str_from(name)) != NULL; }

TEST(every_row_is_filled_and_found_by_its_name)
{
    for (uint32_t k = 1; k < op_kind_count(NULL); k++) {
        const op_info *info = op_info_at(NULL, (op_kind)k);
        assert_non_null(info->name);
        assert_non_null(info->doc);
        assert_int_equal(op_kind_by_name(NULL, str_from(info->name)), k);
        for (uint32_t i = 0; i < 10 && info->attrs[i].name != NULL; i++) {
            assert_non_null(info->attrs[i].doc);
            assert_int_not_equal(info->attrs[i].kind, SPEC_NONE);
            assert_ptr_equal(op_attr_spec(info, str_from(info->attrs[i].name)), &info->attrs[i]);
        }
        if ((info->home == HOME_TILE || info->home == HOME_PTO) && info->blocks == 0) assert_true(info->out_count <= 1);
    }
}

TEST(unknown_names_are_none_and_near_ones_are_offered)
{
    const char *const unknown[] = {"", "x", "tensor.ex", "tensor.expp", "exp", "pto.tsto", "tensor.\0xp", "TENSOR.EXP"};
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++)
        assert_int_equal(op_kind_by_name(NULL, str_from(unknown[i])), OP_NONE);
    static char longest[70000];
    memset(longest, 'a', sizeof longest);
    assert_int_equal(op_kind_by_name(NULL, (str){longest, sizeof longest}), OP_NONE);
    assert_int_equal(op_kind_by_name(NULL, (str){"tensor.exp.more", 10}), OP_TENSOR_EXP);
    assert_string_equal(op_nearest_name(NULL, STR("tensor.sofmax")), "tensor.softmax");
    assert_null(op_nearest_name(NULL, STR("something.else.entirely")));
}

/* The target of an instruction is the result of its value form, memory that is written its last operand; scratch
 * exists in the instruction alone. */
TEST(value_forms_are_instructions_without_their_target)
{
    for (uint32_t k = 1; k < op_kind_count(NULL); k++) {
        const op_info *insn = op_info_at(NULL, (op_kind)k);
        if (insn->partner == OP_NONE || insn->home != HOME_PTO) continue;
        const op_info *tile = op_info_at(NULL, insn->partner);
        const uint32_t written = op_info_operands_with(insn, OPERAND_WRITTEN);
        const uint32_t scratch = op_info_operands_with(insn, OPERAND_SCRATCH);
        assert_int_equal(tile->partner, k);
        if (written == 0) { /* what is read is the result of both; what is printed of none */
            assert_int_equal(insn->out_count, tile->out_count);
            if (insn->out_count != 0) assert_int_equal(insn->out_types, TY_SCALAR);
            if (insn->out_count != 0) assert_int_equal(tile->out_types, TY_SCALAR);
            assert_int_equal(op_info_operands(insn), op_info_operands(tile));
            continue;
        }
        assert_int_equal(written & 1, 1);
        assert_int_equal(written, scratch | 1);
        assert_int_equal(scratch, insn->in_optional << (op_info_operands(insn) - 1));
        assert_int_equal(tile->out_count, insn->in[0].types == TY_TILE);
        assert_int_equal(op_info_operands(insn), op_info_operands(tile) + tile->out_count + insn->in_optional);
        for (uint32_t i = 0; i < 10 && insn->attrs[i].name != NULL; i++)
            assert_true(has_attr(tile, insn->attrs[i].name));
    }
}

/* In a form, $0 is an operand and $* the rest; what stands in brackets is an attribute. */
TEST(forms_name_each_operand_once_and_attributes_of_the_row)
{
    uint32_t forms = 0;
    for (uint32_t k = 1; k < op_kind_count(NULL); k++) {
        const op_info *info = op_info_at(NULL, (op_kind)k);
        if (info->syntax == NULL) continue;
        forms++;
        uint32_t seen[6] = {0};
        bool has_rest = false;
        for (const char *at = info->syntax; *at != '\0'; at++) {
            if (at[0] == '$' && at[1] == '*') has_rest = true;
            if (at[0] == '$' && at[1] >= '0' && at[1] < '6') seen[at[1] - '0']++;
            if (strchr("[(<", at[0]) == NULL || !islower((unsigned char)at[1])) continue;
            const size_t n = strcspn(at + 1, "])>");
            if (op_attr_spec(info, (str){at + 1, n}) == NULL)
                fail_msg("%s: no attribute %.*s", info->name, (int)n, at + 1);
        }
        for (uint32_t i = 0; i < 6; i++) {
            const bool is_named =
                i < op_info_operands(info) && !(has_rest && info->in_variadic && i + 1 == op_info_operands(info));
            if (seen[i] != is_named) fail_msg("%s: operand %u stands %u times in its form", info->name, i, seen[i]);
        }
    }
    assert_true(forms > 0);
}

TEST(levels_have_names)
{
    for (uint32_t l = LEVEL_TENSOR; l < LEVEL_COUNT; l++)
        assert_int_equal(level_by_name(NULL, str_from(level_name(NULL, (ir_level)l))), l);
    assert_int_equal(level_by_name(NULL, STR("none")), LEVEL_NONE);
    assert_int_equal(level_by_name(NULL, STR("tensor/2")), LEVEL_NONE);
}
