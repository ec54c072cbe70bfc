/* sdk/include/pto/arithmetic.h: orders of things that do not depend on each other. */
#include "tests/unit/unit.h"

#include <pto/arithmetic.h>

enum { MANY = 60 };

TEST(every_order_visits_each_once)
{
    for (uint64_t seed = 0; seed < 50; seed++) {
        for (int64_t count = 1; count <= MANY; count++) {
            const pto_order o = pto_order_make(seed, count);
            uint64_t seen = 0;
            for (int64_t k = 0; k < count; k++) {
                const int64_t at = pto_order_at(&o, k);
                assert_true(at >= 0 && at < count);
                assert_true(seed != 0 || at == k);
                seen |= UINT64_C(1) << at;
            }
            assert_int_equal(seen, (UINT64_C(1) << count) - 1);
        }
    }
}

TEST(seeds_have_other_orders)
{
    const pto_order one = pto_order_make(1, MANY), two = pto_order_make(2, MANY);
    int same = 0, in_order = 0;
    for (int64_t k = 0; k < MANY; k++) {
        same += pto_order_at(&one, k) == pto_order_at(&two, k);
        in_order += pto_order_at(&one, k) == k;
    }
    assert_in_range(same, 0, MANY / 2);
    assert_in_range(in_order, 0, MANY / 2);
}

TEST(orders_of_any_count_overflow_nothing)
{
    static const int64_t counts[] = {INT64_C(1) << 32, (INT64_C(1) << 40) + 3, INT64_MAX};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        const int64_t count = counts[i];
        const pto_order o = pto_order_make(UINT64_MAX, count);
        const int64_t last = pto_order_at(&o, count - 1), before = pto_order_at(&o, count - 2);
        assert_true(last >= 0 && last < count && before >= 0 && before < count);
        assert_int_equal((last - before + (last < before ? count : 0)) % count, o.stride % count);
    }
}
