// Instructions that the CPU mode of the vendor's headers of August 2026 has otherwise than the chip, as the chip has
// them; divergences.txt says what and why. Included before all else by the builds of tests/vendor.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <cmath>
#include <vector>

#include <pto/pto-inst.hpp>

namespace as_the_chip
{

// The sum begins with `first(i, j)` and goes on from it, k ascending.
template <typename sums, typename left, typename right, typename number_of>
void sum_from(sums &out, left &a, right &b, number_of first)
{
    using number = typename sums::DType;
    for (unsigned i = 0; i < a.GetValidRow(); i++)
        for (unsigned j = 0; j < b.GetValidCol(); j++) {
            number sum = first(i, j);
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

template <typename sums, typename left, typename right>
void matmul_acc(sums &out, sums &in, left &a, right &b)
{
    sum_from(out, a, b, [&](unsigned i, unsigned j) { return in.GetElement(i, j); });
}

template <typename sums, typename left, typename right, typename row>
void matmul_bias(sums &out, left &a, right &b, row &bias)
{
    sum_from(out, a, b, [&](unsigned, unsigned j) { return bias.GetElement(0, j); });
}

// Integers are compared for equality, whatever is asked, but by an A5.
template <typename number>
constexpr pto::CmpMode made_of(pto::CmpMode asked)
{
#if defined(ARCH_a5)
    return asked;
#endif
    return std::is_same_v<number, int32_t> && asked != pto::CmpMode::NE ? pto::CmpMode::EQ : asked;
}

// Bits of a row are at the beginning of the row of the mask, and numbers are equal where they are.
template <typename bits, typename numbers, typename others>
void compare_with(bits &out, numbers &a, pto::CmpMode asked, others other)
{
    const pto::CmpMode relation = made_of<typename numbers::DType>(asked);
    const unsigned rows = a.GetValidRow(), columns = a.GetValidCol();
    for (unsigned i = 0; i < rows; i++)
        for (unsigned byte = 0; byte < static_cast<unsigned>(out.GetValidCol()); byte++) {
            unsigned all = 0;
            for (unsigned j = 8 * byte; j < 8 * byte + 8 && j < columns; j++)
                all |= static_cast<unsigned>(pto::CmpResult(a.GetElement(i, j), other(i, j), relation)) << j % 8;
            out.SetElement(i, byte, static_cast<typename bits::DType>(all));
        }
}

template <typename bits, typename numbers>
void compare(bits &out, numbers &a, numbers &b, pto::CmpMode relation)
{
    compare_with(out, a, relation, [&](unsigned i, unsigned j) { return b.GetElement(i, j); });
}

template <typename bits, typename numbers>
void compare_scalar(bits &out, numbers &a, typename numbers::DType s, pto::CmpMode relation)
{
    compare_with(out, a, relation, [=](unsigned, unsigned) { return s; });
}

// Bits are taken row by row.
template <typename numbers, typename bits>
void select(numbers &out, bits &mask, numbers &a, numbers &b)
{
    const unsigned rows = out.GetValidRow(), columns = out.GetValidCol();
    for (unsigned i = 0; i < rows; i++)
        for (unsigned j = 0; j < columns; j++)
            out.SetElement(i, j, (mask.GetElement(i, j / 8) >> j % 8 & 1) != 0 ? a.GetElement(i, j) : b.GetElement(i, j));
}

// An absolute value of zero has no sign.
template <typename target, typename source>
void absolute(target &out, source &a)
{
    using number = typename source::DType;
    pto::TABS(out, a);
    if constexpr (!std::is_integral_v<number>)
        for (unsigned i = 0; i < out.GetValidRow(); i++)
            for (unsigned j = 0; j < out.GetValidCol(); j++)
                if (out.GetElement(i, j) == 0) out.SetElement(i, j, number(0));
}

// A float of its own type becomes a whole number, by the mode.
inline double whole(double x, pto::RoundMode mode)
{
    switch (mode) {
    case pto::RoundMode::CAST_ROUND: return std::round(x);
    case pto::RoundMode::CAST_FLOOR: return std::floor(x);
    case pto::RoundMode::CAST_CEIL: return std::ceil(x);
    case pto::RoundMode::CAST_TRUNC: return std::trunc(x);
    case pto::RoundMode::CAST_ODD:
        return std::trunc(x) == x || std::fmod(std::trunc(x), 2) != 0 ? std::trunc(x) : std::trunc(x) + std::copysign(1, x);
    case pto::RoundMode::CAST_NONE: return x;
    default: return std::nearbyint(x);
    }
}

template <typename target, typename source>
void convert(target &out, source &a, pto::RoundMode mode, pto::SaturationMode saturate)
{
    using number = typename source::DType;
    if constexpr (std::is_same_v<number, typename target::DType> && !std::is_integral_v<number>) {
        for (unsigned i = 0; i < a.GetValidRow(); i++)
            for (unsigned j = 0; j < a.GetValidCol(); j++)
                out.SetElement(i, j, static_cast<number>(whole(static_cast<double>(a.GetElement(i, j)), mode)));
    } else {
        pto::TCVT(out, a, mode, saturate);
    }
}

// A remainder of 0 has the sign of the divisor, which may be in the bytes of the target.
template <typename numbers, typename divisors, typename compute>
void remainder(numbers &out, divisors divisor, compute made)
{
    using number = typename numbers::DType;
    const unsigned rows = out.GetValidRow(), columns = out.GetValidCol();
    std::vector<number> signs;
    for (unsigned i = 0; i < rows; i++)
        for (unsigned j = 0; j < columns; j++) signs.push_back(divisor(i, j));
    made();
    if constexpr (!std::is_integral_v<number>)
        for (unsigned i = 0; i < rows; i++)
            for (unsigned j = 0; j < columns; j++)
                if (out.GetElement(i, j) == 0) out.SetElement(i, j, std::copysign(number(0), signs[i * columns + j]));
}

// Columns of integers, rows ascending; sums wrap.
template <typename target, typename numbers, typename two>
void fold_columns(target &out, numbers &a, two together)
{
    using number = typename numbers::DType;
    for (unsigned j = 0; j < a.GetValidCol(); j++) {
        number all = a.GetElement(0, j);
        for (unsigned i = 1; i < a.GetValidRow(); i++) all = together(all, a.GetElement(i, j));
        out.SetElement(0, j, all);
    }
}

template <typename target, typename numbers>
void sum_columns(target &out, numbers &a)
{
    using number = typename numbers::DType;
    if constexpr (std::is_integral_v<number>)
        fold_columns(out, a, [](number x, number y) { return static_cast<number>(static_cast<uint32_t>(x) + static_cast<uint32_t>(y)); });
    else
        pto::TCOLSUM(out, a);
}

template <typename target, typename numbers>
void largest_of_columns(target &out, numbers &a)
{
    using number = typename numbers::DType;
    if constexpr (std::is_integral_v<number>)
        fold_columns(out, a, [](number x, number y) { return x > y ? x : y; });
    else
        pto::TCOLMAX(out, a);
}

template <typename target, typename numbers>
void smallest_of_columns(target &out, numbers &a)
{
    using number = typename numbers::DType;
    if constexpr (std::is_integral_v<number>)
        fold_columns(out, a, [](number x, number y) { return x < y ? x : y; });
    else
        pto::TCOLMIN(out, a);
}

template <typename numbers, typename scratch>
void remainder_of_tiles(numbers &out, numbers &a, numbers &b, scratch &tmp)
{
    remainder(out, [&](unsigned i, unsigned j) { return b.GetElement(i, j); }, [&] { pto::TREM(out, a, b, tmp); });
}

template <typename numbers, typename scratch>
void remainder_of_scalar(numbers &out, numbers &a, typename numbers::DType s, scratch &tmp)
{
    remainder(out, [&](unsigned, unsigned) { return s; }, [&] { pto::TREMS(out, a, s, tmp); });
}

// A factor for each column, which is that of a row there; what is below 0 becomes 0 before.
template <typename sums, typename memory, typename factors, pto::AtomicType, pto::ReluPreMode relu = pto::ReluPreMode::NoRelu>
void store_columns(memory &out, sums &a, factors &words)
{
    using number = typename memory::DType;
    using sum = typename sums::DType;
    constexpr auto mode = pto::GetVectorPreQuantMode<sum, number>();
    const long long row = out.GetStride(pto::GlobalTensorDim::DIM_3), column = out.GetStride(pto::GlobalTensorDim::DIM_4);
    for (unsigned i = 0; i < a.GetValidRow(); i++)
        for (unsigned j = 0; j < a.GetValidCol(); j++) {
            sum x = a.GetElement(i, j);
            if (relu == pto::ReluPreMode::NormalRelu && x <= 0) x = 0;
            const auto word = static_cast<uint64_t>(words.GetElement(0, j));
            out.data()[i * row + j * column] = pto::quantize_element<number, sum, mode, false>(x, word);
        }
}

template <typename sums, typename memory, typename factors>
void store_columns(memory &out, sums &a, factors &words)
{
    store_columns<sums, memory, factors, pto::AtomicType::AtomicNone>(out, a, words);
}

} // namespace as_the_chip

#define TMATMUL_ACC(out, in, left, right) as_the_chip::matmul_acc(out, in, left, right)
#define TMATMUL_BIAS(out, left, right, bias) as_the_chip::matmul_bias(out, left, right, bias)
#define TCMP(out, a, b, relation) as_the_chip::compare(out, a, b, relation)
#define TCMPS(out, a, s, relation) as_the_chip::compare_scalar(out, a, s, relation)
#define TSEL(out, mask, a, b, tmp) as_the_chip::select(out, mask, a, b)
#define TABS(out, a) as_the_chip::absolute(out, a)
#define TCVT(out, a, mode, saturate) as_the_chip::convert(out, a, mode, saturate)
#define TREM(out, a, b, tmp) as_the_chip::remainder_of_tiles(out, a, b, tmp)
#define TREMS(out, a, s, tmp) as_the_chip::remainder_of_scalar(out, a, s, tmp)
#define TCOLSUM(out, a) as_the_chip::sum_columns(out, a)
#define TCOLMAX(out, a) as_the_chip::largest_of_columns(out, a)
#define TCOLMIN(out, a) as_the_chip::smallest_of_columns(out, a)
#define TSTORE_FP as_the_chip::store_columns
