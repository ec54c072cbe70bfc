#include "runtime_isa.h"

_Static_assert((int)PTO_RUNTIME_AVX2 == (int)PTO_ISA_AVX2 && (int)PTO_RUNTIME_AVX512 == (int)PTO_ISA_AVX512,
               "one bit means one set of instructions");

const char *runtime_isa_lacks(uint32_t isa, uint32_t has)
{
    const uint32_t lacks = isa & ~has;
    if ((lacks & PTO_RUNTIME_AVX512) != 0)
        return "this library was built for a CPU with AVX-512 (F, BW, VL, DQ), which this one lacks";
    if ((lacks & PTO_RUNTIME_AVX2) != 0)
        return "this library was built for a CPU with AVX2, FMA and F16C, which this one lacks";
    return NULL;
}

uint32_t runtime_isa_of_products(uint32_t isa, uint32_t has)
{
    return (isa & PTO_RUNTIME_AVX512) != 0 ? has : has & isa;
}
