"""Casts of every value, and arithmetic on every pair of bytes, as forms."""

import numpy as np

import elements
from form import Form, as_given, fill

MODES = ("none", "rint", "round", "floor", "ceil", "trunc", "odd")


def cast_values(dtype, shape, rng):
    """All values of types with 16 bits at most; of others small and large ones, powers of two, and what is next to them."""
    if elements.size(dtype) <= 2:
        return np.arange(shape[0], dtype=np.int64).astype(elements.bits_type(dtype))
    count, bits = shape[0], 8 * elements.size(dtype)
    if dtype == "f32":
        small = (rng.integers(-2**12, 2**12, count) / 2.0 ** rng.integers(0, 6, count)).astype(np.float32).view(np.uint32)
        any_bits = rng.integers(0, 2**32, count, dtype=np.uint32)
        powers = np.ldexp(rng.choice((-1.0, 1.0), count) * rng.choice((1, 1.5, 255, 257, 0.5), count), rng.integers(-4, 60, count)).astype(np.float32)
        near = powers.view(np.uint32) + rng.integers(-2, 3, count).astype(np.uint32)
        return np.choose(rng.integers(0, 3, count), (small, any_bits, near)).astype(np.uint32)
    wide_bits = rng.integers(0, bits, count)
    draws = zip(wide_bits, rng.integers(-3, 4, count), rng.choice((1, 1, 3, 5, 129, 257, 511), count), rng.choice((-1, 1), count))
    values = [(int(near) + (int(times) << int(b))) * int(sign) for b, near, times, sign in draws]
    others = rng.integers(-2**15, 2**15, count) * 2 ** rng.integers(0, bits - 16, count)
    return elements.int_bits(dtype, [v if k else int(o) for v, o, k in zip(values, others, rng.integers(0, 2, count))])


def converted(to, src, bits, mode, saturate):
    """What elements.convert returns, for many values at once."""
    values = elements.decode(src, bits)
    if elements.is_float(src) and elements.is_float(to):
        return elements.encode(to, values, mode, saturate and not elements.widens(to, src))
    lo, hi = elements.limits(to) if not elements.is_float(to) else (0, 0)
    if elements.is_float(src) and hi < 2**53:
        finite = np.isfinite(values)
        whole = elements.round_integral(np.where(finite, values, 0.0), mode)
        whole = np.clip(whole, lo, hi) if saturate else np.mod(whole, 2.0 ** (8 * elements.size(to)))
        special = np.where(np.isnan(values), 0, np.where(values > 0, hi, lo)) if saturate else np.full(values.shape, lo if lo else hi)
        return np.where(finite, whole, special).astype(np.int64).astype(elements.bits_type(to))
    if not elements.is_float(src) and elements.is_float(to):
        a, shift = np.abs(values.astype(np.int64)).astype(np.uint64), np.zeros(values.shape, np.int64)
        while np.any(a >= 2**40):
            large = a >= 2**40
            a, shift = np.where(large, (a >> np.uint64(1)) | (a & np.uint64(1)), a), shift + large
        return elements.encode(to, np.copysign(np.ldexp(a.astype(np.float64), shift), np.where(values < 0, -1.0, 1.0)), mode, saturate)
    if not elements.is_float(src) and saturate:
        return np.clip(values, lo, hi).astype(elements.bits_type(to)) if hi < 2**63 else values.astype(elements.bits_type(to))
    if not elements.is_float(src):
        return values.astype(elements.bits_type(to))
    return elements.convert(to, src, bits, mode, saturate, True)


def check_converted():
    """The same for a few values of every pair, one by one."""
    rng = np.random.default_rng(3)
    for src in ("f32", "f16", "bf16", "i8", "i16", "i32", "i64", "u8"):
        bits = rng.integers(0, 2 ** min(63, 8 * elements.size(src)), 50, dtype=np.int64).astype(elements.bits_type(src))
        for to in ("f32", "f16", "bf16", "i8", "i16", "i32", "i64", "u8"):
            for mode in MODES:
                for saturate in (False, True):
                    a, b = converted(to, src, bits, mode, saturate), elements.convert(to, src, bits, mode, saturate, True)
                    assert np.array_equal(elements.canonical(to, a), elements.canonical(to, b)) or (src == to), (src, to, mode, saturate)


def words(options):
    return f" {{{', '.join(options)}}}" if options else ""


def casts():
    check_converted()
    pairs = [(a, b) for a in ("f32", "bf16", "i16", "i32", "i64") for b in ("i8", "u8")]
    pairs += [("i32", "bf16"), ("i32", "f16"), ("i32", "f32"), ("i64", "f16"), ("i64", "bf16"), ("i64", "f32"), ("i64", "i16"), ("f16", "bf16"),
              ("bf16", "f16"), ("f32", "bf16"), ("f32", "i16"), ("f32", "i64"), ("f16", "i8"), ("f16", "i16"), ("f16", "i64"), ("bf16", "i16"), ("bf16", "i64")]
    pairs += [(a, b) for a in ("i8", "u8") for b in ("f32", "f16", "bf16", "i16", "i32", "i64")] + [("i8", "u8"), ("u8", "i8"), ("i16", "bf16"), ("i16", "i64")]
    for a, b in pairs:
        for mode in MODES if elements.cast_options(b, a, "rint", False) else ("rint",):
            for saturate in (False, True) if elements.cast_options(b, a, None, True) else (False,):
                given = elements.cast_options(b, a, mode, saturate)
                count = 2 ** (8 * elements.size(a)) if elements.size(a) <= 2 else 30000
                yield Form(f"cast-{a}-{b}-{mode}{'-saturate' if saturate else ''}", {"x": f"<{count} x {a}>"}, {"y": f"<{count} x {b}>"},
                           f"%y = tensor.cast %x{words(given)} : <{count} x {b}>",
                           lambda bits, a=a, b=b, m=mode, s=saturate: converted(b, a, bits, m, s), [{}],
                           prepare=lambda name, dtype, shape, rng: as_given(dtype, cast_values(dtype, shape, rng)))


def middle_values(count, rng):
    """f32 with few digits, and their neighbours, of exponents from below to above those of f8; some of all exponents, and any bits."""
    few = rng.integers(0, 64, count) << 18 | rng.integers(100, 146, count) << 23
    far = rng.integers(0, 4, count) << 21 | rng.integers(0, 256, count) << 23
    bits = np.choose(rng.integers(0, 3, count), (few, far, rng.integers(0, 2**31, count))) + rng.integers(-1, 2, count)
    return (np.maximum(bits, 0) | rng.integers(0, 2, count) << 31).astype(np.uint32)


def casts_by_bits():
    """Casts from and to floats of one byte, and to unsigned types within their limits."""
    bytes_ = ("f8e4m3", "f8e5m2", "f8e8m0")
    pairs = [(a, b) for a in ("f32", "f16", "bf16", "i16", "u16", "i32", "u32", "i64", "u64", "u8") for b in bytes_]
    pairs += [(a, b) for a in bytes_ for b in ("f32", "f16", "bf16", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "bool", *bytes_) if a != b]
    limits = [(a, b) for a in ("f32", "i64", "u64") for b in ("u16", "u32", "u64", "i32", "i64") if a != b] + [("bf16", "u32"), ("f16", "u64")]
    for a, b in pairs + limits:
        clamps = elements.cast_options(b, a, None, True)
        for mode in MODES if elements.cast_options(b, a, "rint", False) else ("rint",):
            for saturate in (False,) if not clamps else (False, True) if (a, b) in pairs else (True,):
                slow = elements.is_float(a) != elements.is_float(b) or "u64" in (a, b)
                count = 2 ** (8 * elements.size(a)) if elements.size(a) == 1 else 700 if slow else 20000
                one_by_one = lambda bits, a=a, b=b, m=mode, s=saturate: elements.convert(b, a, bits, m, s, True)
                at_once = lambda bits, a=a, b=b, m=mode, s=saturate: converted(b, a, bits, m, s)
                values = lambda name, dtype, shape, rng: as_given(dtype, middle_values(shape[0], rng) if dtype == "f32" else cast_values(dtype, shape, rng))
                given = words(elements.cast_options(b, a, mode, saturate))
                yield Form(f"cast-{a}-{b}-{mode}{'-saturate' if saturate else ''}", {"x": f"<{count} x {a}>"}, {"y": f"<{count} x {b}>"},
                           f"%y = tensor.cast %x{given} : <{count} x {b}>", one_by_one if slow else at_once, [{}], prepare=values)


def byte_arithmetic():
    """Arithmetic on all pairs of bytes, and products of bytes."""
    every = lambda name, dtype, shape, rng: as_given(dtype, np.arange(256).astype(np.uint8)).reshape(shape)
    for dtype in ("i8", "u8"):
        value = lambda bits, t=dtype: bits.view(elements.int_type(t)).astype(np.int64)
        back = lambda v: v.astype(np.uint8)
        for op, fn in (("add", np.add), ("sub", np.subtract), ("mul", np.multiply), ("maximum", np.maximum), ("minimum", np.minimum)):
            yield Form(f"{op}-{dtype}", {"x": f"<256 x 1 x {dtype}>", "z": f"<1 x 256 x {dtype}>"}, {"y": f"<256 x 256 x {dtype}>"},
                       f"%y = tensor.{op} %x, %z : <256 x 256 x {dtype}>", lambda x, z, fn=fn, value=value: back(fn(value(x), value(z))), [{}], prepare=every)
        yield Form(f"neg-{dtype}", {"x": f"<16 x 16 x {dtype}>"}, {"y": f"<16 x 16 x {dtype}>", "s": f"<1 x 16 x {dtype}>", "r": f"<16 x 1 x {dtype}>"},
                   f"""%y = tensor.neg %x : <16 x 16 x {dtype}>
                       %s = tensor.reduce_sum %x {{axis = 0}} : <1 x 16 x {dtype}>
                       %r = tensor.reduce_sum %y {{axis = 1}} : <16 x 1 x {dtype}>""",
                   lambda x, value=value: (back(-value(x)), back(np.sum(value(x), 0, keepdims=True)), back(np.sum(-value(x), 1, keepdims=True))), [{}], prepare=every)
    for out in ("i8", "u8", "i16"):
        yield Form(f"product-i8-{out}", {"a": "<A x K x i8>", "b": "<K x B x i8>"}, {"y": f"<A x B x {out}>"},
                   f"%y = tensor.matmul %a, %b {{out = {out}}} : <A x B x {out}>",
                   lambda a, b, t=out: converted(t, "i32", elements.int_bits("i32", np.matmul(a.view(np.int8).astype(np.int64), b.view(np.int8).astype(np.int64))), "rint", False),
                   [dict(A=5, K=70, B=33), dict(A=1, K=1, B=1), dict(A=2, K=0, B=3)], prepare=lambda name, dtype, shape, rng: fill(rng, dtype, shape, "extreme"))
