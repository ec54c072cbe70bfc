// TMATMUL_ACC as the chip has it: the sum goes on from the accumulator, k ascending. The CPU mode of the vendor's
// headers of August 2026 sums from 0 and adds the accumulator at the end; later ones do as the chip does. Included before
// all else by the builds of tests/vendor.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <cmath>

#include <pto/pto-inst.hpp>

template <typename sums, typename left, typename right>
void chained_matmul(sums &out, sums &in, left &a, right &b)
{
    using number = typename sums::DType;
    for (unsigned i = 0; i < a.GetValidRow(); i++)
        for (unsigned j = 0; j < b.GetValidCol(); j++) {
            number sum = in.GetElement(i, j);
            for (unsigned k = 0; k < a.GetValidCol(); k++) {
                const number x = static_cast<number>(a.GetElement(i, k)), y = static_cast<number>(b.GetElement(k, j));
                if constexpr (std::is_same_v<number, float>)
                    sum = std::fma(x, y, sum);
                else
                    sum += x * y;
            }
            out.SetElement(i, j, sum);
        }
}
#define TMATMUL_ACC(out, in, left, right) chained_matmul(out, in, left, right)
