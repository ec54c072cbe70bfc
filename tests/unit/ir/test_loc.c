#include "ir/context/context.h"

#include "tests/unit/unit.h"

#include <string.h>

static void assert_place(ir_context *c, loc_id l, uint32_t index, const char *file, uint32_t line, uint32_t column)
{
    src_pos at = loc_at(c, l, index);
    if (file == NULL) {
        assert_null(at.file);
    } else {
        assert_string_equal(at.file, file);
    }
    assert_int_equal(at.line, line);
    assert_int_equal(at.column, column);
}

TEST(loc_in_the_main_file_costs_nothing)
{
    ir_context *c = context_create(NULL);
    str_id file = string_intern_z(c, "softmax.ptir");
    loc_set_main_file(c, file);
    size_t used = arena_bytes_used(context_arena(c));
    for (uint32_t line = 1; line < 2000; line++) {
        loc_id l = loc_make(c, file, line, line % 100);
        assert_place(c, l, 0, "softmax.ptir", line, line % 100);
        assert_int_equal(loc_count(c, l), 1);
    }
    assert_place(c, loc_make(c, file, (1U << 20) - 1, 2047), 0, "softmax.ptir", (1U << 20) - 1, 2047);
    assert_int_equal(arena_bytes_used(context_arena(c)), used);
    context_destroy(c);
}

TEST(loc_of_other_files_and_long_lines_is_interned)
{
    ir_context *c = context_create(NULL);
    str_id file = string_intern_z(c, "a.ptir"), other = string_intern_z(c, "model.py");
    loc_set_main_file(c, file);
    loc_id l = loc_make(c, other, 3, 4);
    assert_place(c, l, 0, "model.py", 3, 4);
    assert_int_equal(loc_make(c, other, 3, 4), l);
    assert_int_not_equal(loc_make(c, other, 4, 3), l);
    assert_int_not_equal(loc_make(c, file, 3, 4), l);
    assert_place(c, loc_make(c, file, 5, 2048), 0, "a.ptir", 5, 2048);
    assert_place(c, loc_make(c, file, 1U << 20, 7), 0, "a.ptir", 1U << 20, 7);
    assert_place(c, loc_make(c, file, UINT32_MAX, UINT32_MAX), 0, "a.ptir", UINT32_MAX, UINT32_MAX);
    assert_place(c, loc_make(c, file, 0, 0), 0, "a.ptir", 0, 0);
    assert_place(c, loc_make(c, 0, 8, 9), 0, NULL, 8, 9);
    context_destroy(c);
}

TEST(loc_none)
{
    ir_context *c = context_create(NULL);
    assert_int_equal(loc_make(c, 0, 0, 0), 0);
    assert_int_equal(loc_count(c, 0), 0);
    assert_place(c, 0, 0, NULL, 0, 0);
    assert_int_equal(loc_fuse(c, 0, NULL), 0);
    assert_int_equal(loc_fuse(c, 2, (loc_id[]){0, 0}), 0);
    context_destroy(c);
}

TEST(loc_fuse_keeps_origins_in_order_once)
{
    ir_context *c = context_create(NULL);
    str_id file = string_intern_z(c, "a.ptir"), other = string_intern_z(c, "model.py");
    loc_set_main_file(c, file);
    loc_id x = loc_make(c, file, 1, 1), y = loc_make(c, other, 2, 2), z = loc_make(c, file, 3, 3);
    loc_id yx = loc_fuse(c, 3, (loc_id[]){y, 0, x});
    assert_int_equal(loc_count(c, yx), 2);
    loc_id all = loc_fuse(c, 4, (loc_id[]){z, yx, z, x});
    assert_int_equal(loc_count(c, all), 3);
    assert_place(c, all, 0, "a.ptir", 3, 3);
    assert_place(c, all, 1, "model.py", 2, 2);
    assert_place(c, all, 2, "a.ptir", 1, 1);
    assert_int_equal(loc_fuse(c, 3, (loc_id[]){z, y, x}), all);
    assert_int_not_equal(loc_fuse(c, 3, (loc_id[]){x, y, z}), all);
    assert_int_equal(loc_fuse(c, 2, (loc_id[]){y, y}), y);
    context_destroy(c);
}

TEST(loc_fuse_of_many)
{
    enum { COUNT = 5000 };
    ir_context *c = context_create(NULL);
    loc_id locs[2 * COUNT];
    for (uint32_t i = 0; i < COUNT; i++) locs[i] = locs[2 * COUNT - 1 - i] = loc_make(c, 0, i + 1, 1);
    loc_id all = loc_fuse(c, 2 * COUNT, locs);
    assert_int_equal(loc_count(c, all), COUNT);
    for (uint32_t i = 0; i < COUNT; i++) assert_place(c, all, i, NULL, i + 1, 1);
    assert_int_equal(loc_fuse(c, 2, (loc_id[]){all, all}), all);
    context_destroy(c);
}
