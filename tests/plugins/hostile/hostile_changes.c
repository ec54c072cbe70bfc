/* Changes of a module that make no sense, and writes into what the host hands out for reading. */
#include "hostile.h"

#include <pto/build.h>

#include <pthread.h>
#include <signal.h>
#include <string.h>

#define GOT(handle_) ((handle_).index != 0 ? PTO_OK : PTO_FAILED)

static pto_op first(pto_op unit) { return pto_block_first(pto_body(unit)); }
static pto_op last(pto_op unit) { return pto_block_last(pto_body(unit)); }

HOSTILE_WAY(erase_twice)
{
    const pto_op op = first(unit);
    PTO_TRY(pto_value_replace(pto_op_result(op, 0), pto_block_arg(pto_body(unit), 0)));
    PTO_TRY(pto_op_erase(op));
    return pto_op_erase(op);
}
HOSTILE_WAY(erase_unit) { return pto_op_erase(unit); }
HOSTILE_WAY(erase_terminator) { return pto_op_erase(last(unit)); }
HOSTILE_WAY(erase_used) { return pto_op_erase(first(unit)); }
HOSTILE_WAY(move_behind_end) { return pto_op_move(first(unit), pto_after(last(unit))); }
HOSTILE_WAY(move_into_itself) { return pto_op_move(unit, pto_at_end(pto_body(unit))); }
HOSTILE_WAY(operand_far) { return pto_op_set_operand(first(unit), 77, pto_block_arg(pto_body(unit), 0)); }
/* An op that uses its own result. */
HOSTILE_WAY(circle)
{
    const pto_op op = pto_op_next(first(unit));
    return pto_op_set_operand(op, 0, pto_op_result(op, 0));
}
HOSTILE_WAY(replace_with_itself)
{
    const pto_value v = pto_op_result(first(unit), 0);
    return pto_value_replace(v, v);
}
HOSTILE_WAY(replace_with_none) { return pto_value_replace(pto_op_result(first(unit), 0), pto_value_none(run)); }
HOSTILE_WAY(other_type) { return pto_value_set_type(pto_op_result(first(unit), 0), pto_type_scalar(run, PTO_BOOL)); }
HOSTILE_WAY(rank_of_a_million)
{
    return GOT(run->host->type_tensor(run, PTO_F32, 1000000, PTO_SCRATCH(run, pto_expr, 1000000)));
}
HOSTILE_WAY(no_such_dtype) { return GOT(pto_type_scalar(run, 9999)); }
HOSTILE_WAY(tile_below_zero) { return GOT(run->host->type_tile(run, PTO_F32, -5, INT64_MIN, 999, 999)); }
HOSTILE_WAY(kind_that_is_none)
{
    pto_spec s = pto_spec_make(run, 0x7fffffff);
    return GOT(pto_spec_build(&s, pto_before(last(unit))));
}
HOSTILE_WAY(long_name)
{
    char *name = PTO_SCRATCH(run, char, 1u << 22);
    memset(name, 'n', 1u << 22);
    return pto_value_set_name(pto_op_result(first(unit), 0), (pto_str){name, 1u << 22});
}
HOSTILE_WAY(name_that_is_no_text)
{
    return pto_value_set_name(pto_op_result(first(unit), 0), (pto_str){"a\0\xff b", 5});
}
HOSTILE_WAY(attribute_that_is_no_text)
{
    return pto_op_set_attr(first(unit), PTO_STR("acme.\n"), run->host->attr_make_str(run, (pto_str){"\xff\0", 2}));
}
HOSTILE_WAY(divide_by_zero)
{
    const pto_expr zero = pto_expr_const(run, 0);
    return GOT(pto_expr_floordiv(pto_expr_const(run, 1), zero));
}
HOSTILE_WAY(status_that_is_none) { return 77; }
HOSTILE_WAY(option_far) { return pto_opt_i64(run, 99) ? PTO_OK : PTO_FAILED; }
HOSTILE_WAY(machine_of_nobody)
{
    int64_t out;
    return run->host->machine_i64(run, (pto_str){NULL, SIZE_MAX}, &out);
}
HOSTILE_WAY(diagnostic_without_text)
{
    run->host->diag(run, 99, pto_op_loc(unit), (pto_str){NULL, 5}, (pto_str){NULL, 5});
    return PTO_OK;
}
/* From where nobody expects it: another thread, a handler of a signal. */
static pto_op victim;
static void erase_victim(int nothing)
{
    (void)nothing;
    (void)pto_op_erase(victim);
}
static void *erase_from_thread(void *nothing)
{
    erase_victim(0);
    return nothing;
}
HOSTILE_WAY(erase_used_in_a_thread)
{
    pthread_t t;
    victim = first(unit);
    return pthread_create(&t, NULL, erase_from_thread, NULL) == 0 && pthread_join(t, NULL) == 0 ? PTO_OK : PTO_FAILED;
}
HOSTILE_WAY(erase_used_in_a_handler)
{
    victim = first(unit);
    (void)signal(SIGUSR1, erase_victim);
    return raise(SIGUSR1) ? PTO_FAILED : PTO_OK;
}
/* The table of the host's functions, for the next caller. */
HOSTILE_WAY(write_host_table)
{
    memset((void *)(uintptr_t)run->host, 0, 64);
    return PTO_OK;
}
HOSTILE_WAY(write_own_kinds)
{
    ((pto_run *)(uintptr_t)run)->kind_count = UINT32_MAX;
    return pto_opt_i64(run, 0) ? PTO_OK : PTO_FAILED;
}
HOSTILE_WAY(write_a_name)
{
    const pto_str name = pto_op_name(first(unit));
    if (name.n > 0) memset((char *)(uintptr_t)name.p, 'X', name.n);
    return PTO_OK;
}

#define WAYS(X)                  \
    X(erase_twice)               \
    X(erase_unit)                \
    X(erase_terminator)          \
    X(erase_used)                \
    X(move_behind_end)           \
    X(move_into_itself)          \
    X(operand_far)               \
    X(circle)                    \
    X(replace_with_itself)       \
    X(replace_with_none)         \
    X(other_type)                \
    X(rank_of_a_million)         \
    X(no_such_dtype)             \
    X(tile_below_zero)           \
    X(kind_that_is_none)         \
    X(long_name)                 \
    X(name_that_is_no_text)      \
    X(attribute_that_is_no_text) \
    X(divide_by_zero)            \
    X(status_that_is_none)       \
    X(option_far)                \
    X(machine_of_nobody)         \
    X(diagnostic_without_text)   \
    X(erase_used_in_a_thread)    \
    X(erase_used_in_a_handler)   \
    X(write_host_table)          \
    X(write_own_kinds)           \
    X(write_a_name)
HOSTILE("test.hostile-changes", WAYS);
