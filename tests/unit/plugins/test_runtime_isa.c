/* plugins/shared/runtime: what a library for some instructions uses, and says of a CPU without them. */
#include "tests/unit/unit.h"

#include <runtime_isa.h>

#include <string.h>

TEST(a_cpu_without_the_instructions_is_told_so)
{
    static const char no_avx512[] =
        "this library was built for a CPU with AVX-512 (F, BW, VL, DQ), which this one lacks";
    static const char no_avx2[] = "this library was built for a CPU with AVX2, FMA and F16C, which this one lacks";
    const uint32_t both = PTO_RUNTIME_AVX2 | PTO_RUNTIME_AVX512;
    assert_null(runtime_isa_lacks(0, 0));
    assert_null(runtime_isa_lacks(PTO_RUNTIME_AVX2, PTO_ISA_AVX2));
    assert_null(runtime_isa_lacks(both, PTO_ISA_AVX2 | PTO_ISA_AVX512 | PTO_ISA_AVX512_VNNI));
    assert_string_equal(runtime_isa_lacks(PTO_RUNTIME_AVX2, 0), no_avx2);
    assert_string_equal(runtime_isa_lacks(both, PTO_ISA_AVX2), no_avx512);
}

TEST(products_have_no_wider_vectors_than_the_code_around_them)
{
    const uint32_t all = (1U << PTO_ISA_COUNT) - 1;
    assert_int_equal(runtime_isa_of_products(0, all), 0);
    assert_int_equal(runtime_isa_of_products(PTO_RUNTIME_AVX2, all), PTO_ISA_AVX2);
    assert_int_equal(runtime_isa_of_products(PTO_RUNTIME_AVX2 | PTO_RUNTIME_AVX512, all), all);
    assert_int_equal(runtime_isa_of_products(PTO_RUNTIME_AVX2 | PTO_RUNTIME_AVX512, PTO_ISA_AVX2), PTO_ISA_AVX2);
}

/* ---- calls ---- */

static const pto_native_product *given[PTO_PRODUCT_COUNT];

static int32_t take_products(const pto_native_call *call)
{
    memcpy(given, (const void *)call->services->products, sizeof given);
    for (int i = 0; i < PTO_PRODUCT_COUNT; i++) assert_non_null(given[i]);
    return 0;
}

static const pto_native_function code = {.struct_size = sizeof code, .name = "f", .run = take_products};
static const pto_native_function *const functions[] = {&code};
static const pto_native_module library = {.struct_size = sizeof library, .function_count = 1, .functions = functions};

static void no_extents(const int64_t *symbols, int64_t (*out)[PTO_RUNTIME_RANK_MAX]) { (void)symbols, (void)out; }
static void no_facts(const int64_t *symbols, uint8_t *out) // NOLINT(readability-non-const-parameter)
{
    (void)symbols, (void)out;
}

static void assert_call(pto_runtime_context *c, uint32_t isa)
{
    const pto_runtime_function f = {
        .name = "f", .module = &library, .isa = isa, .extents = no_extents, .holds = no_facts};
    const uint32_t has = pto_isa_of_host();
    if (runtime_isa_lacks(isa, has) != NULL) {
        assert_int_equal(pto_runtime_call(c, &f, NULL), PTO_RUNTIME_SYSTEM);
        assert_string_equal(pto_runtime_error(c), c != NULL ? runtime_isa_lacks(isa, has) : "");
        return;
    }
    assert_int_equal(pto_runtime_call(c, &f, NULL), PTO_RUNTIME_OK);
    const uint32_t uses = runtime_isa_of_products(isa, has);
    const pto_contraction *row = pto_contraction_find(PTO_F32, PTO_F32, PTO_F32, uses);
    assert_ptr_equal(given[PTO_PRODUCT_F32]->block, row->block);
    row = pto_contraction_find(PTO_I8, PTO_I8, PTO_I32, uses);
    assert_ptr_equal(given[PTO_PRODUCT_I8]->block, row->block);
}

TEST(a_call_has_the_kernels_of_its_library)
{
    static const uint32_t each[] = {0, PTO_RUNTIME_AVX2, PTO_RUNTIME_AVX2 | PTO_RUNTIME_AVX512};
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        pto_runtime_context *c = pto_runtime_open(1, each[i]);
        assert_non_null(c);
        assert_call(c, each[i]);
        assert_call(NULL, each[i]);
        pto_runtime_close(c);
    }
}
