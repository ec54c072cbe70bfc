"""Element types as numpy sees them: bits to float64 or Python-exact integers and back, rounding from the definition.

Rounding looks a value up between its two neighbours in the ordered list of all values of the type (f32: nextafter),
which shares no arithmetic with the C code under test."""
import math
import os
import re

import numpy as np

np.seterr(invalid="ignore")  # signalling NaN are among the bits

# name: (code in the ABI, bytes, class), and of floats (exponent bits, mantissa bits, pattern of the largest value, of
# NaN)
TYPES, FORMATS = {}, {}
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "ir", "ops", "types.def"), encoding="utf-8") as rows:
    for code, row in enumerate(re.findall(r'^DTYPE\(\w+, "(\w+)", (\d+), (\w+), (\d+), (\d+), (\w+), (\w+),', rows.read(), re.M), 1):
        name, bits, kind, *fields = row
        if kind == "OPAQUE":
            continue
        TYPES[name] = (code, (int(bits) + 7) // 8, {"FLOAT": "f", "SINT": "i", "UINT": "u", "BOOL": "b", "INDEX": "i"}[kind])
        if kind == "FLOAT":
            FORMATS[name] = tuple(int(f, 0) for f in fields)
FLOATS = [t for t in FORMATS if TYPES[t][1] > 1]  # that ops compute in
UINT = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}
SINT = {1: np.int8, 2: np.int16, 4: np.int32, 8: np.int64}
NAN_BITS = {t: f[3] for t, f in FORMATS.items()}
MODES = ["none", "rint", "round", "floor", "ceil", "trunc", "odd"]


def size(t):
    return TYPES[t][1]


def is_float(t):
    return TYPES[t][2] == "f"


def is_unsigned(t):
    return TYPES[t][2] in "ub"


def bits_type(t):
    return UINT[size(t)]


def int_type(t):
    """The numpy integer type that holds values of integer type t."""
    return (UINT if is_unsigned(t) else SINT)[size(t)]


def limits(t):
    if t == "bool":
        return 0, 1
    n = 8 * size(t)
    return (0, 2**n - 1) if is_unsigned(t) else (-(2 ** (n - 1)), 2 ** (n - 1) - 1)


def decode(t, bits):
    """Bits to float64 for floats (exact), to int_type(t) for integers."""
    bits = np.asarray(bits, dtype=bits_type(t))
    if t == "f32":
        return bits.view(np.float32).astype(np.float64)
    if t == "f16":
        return bits.view(np.float16).astype(np.float64)
    if t == "bf16":
        return np.asarray(bits.astype(np.uint32) * np.uint32(65536)).view(np.float32).astype(np.float64)
    if t == "f8e5m2":
        return np.asarray(bits.astype(np.uint16) * np.uint16(256)).view(np.float16).astype(np.float64)
    if t == "f8e8m0":
        return np.where(bits == 0xFF, np.nan, 2.0 ** (bits.astype(np.float64) - 127))
    if is_float(t):
        exponent_bits, mantissa_bits, largest, nan = FORMATS[t]
        sign = 1 << (8 * size(t) - 1)
        wide = bits.astype(np.int64)
        e, m = wide >> mantissa_bits & (1 << exponent_bits) - 1, (wide & (1 << mantissa_bits) - 1) / 2.0**mantissa_bits
        bias = 2.0 ** (exponent_bits - 1) - 1
        x = np.where(e == 0, m * 2.0 ** (1 - bias), (1 + m) * 2.0 ** (e - bias))
        x = np.where((wide & sign - 1) > largest, np.where((wide & sign - 1 == largest + 1) & (nan != largest + 1), np.inf, np.nan), x)
        return np.where(wide & sign, -x, x)
    return bits.view(int_type(t))


def positive_values(t):
    """All finite values >= 0 in order; place in the list = bits. One more value after them stands for overflow."""
    bits = FORMATS[t][2] + 1
    v = decode(t, np.arange(bits, dtype=bits_type(t)))
    return np.append(v, 2 * v[-1] if t == "f8e8m0" else 2 * v[-1] - v[-2])


TABLES = {}


def table(t):
    if t not in TABLES:
        TABLES[t] = positive_values(t)
    return TABLES[t]


def choose(below, rest_half, exact, odd, negative, mode):
    """Whether to take the upper neighbour: rest_half is -1, 0, 1 for below, at, above the middle."""
    up = {
        "none": (rest_half > 0) | ((rest_half == 0) & odd), "rint": (rest_half > 0) | ((rest_half == 0) & odd),
        "round": rest_half >= 0, "floor": negative, "ceil": ~negative, "trunc": np.zeros_like(odd), "odd": ~odd,
    }[mode]
    return up & ~exact


def encode(t, x, mode="rint", saturate=False):
    """float64 to bits of a float type."""
    x = np.atleast_1d(np.asarray(x, dtype=np.float64))
    with np.errstate(all="ignore"):
        if t == "f32" and mode in ("none", "rint") and not saturate:
            bits = x.astype(np.float32).view(np.uint32)
            return np.where(np.isnan(x), np.uint32(NAN_BITS[t]), bits)
        negative, a = np.signbit(x), np.abs(x)
        if t == "f32":
            near = np.minimum(a, np.finfo(np.float32).max).astype(np.float32)
            below = np.where(near.astype(np.float64) > a, np.nextafter(near, np.float32(0)), near)
            at = below.view(np.uint32).astype(np.int64)
            lower = below.astype(np.float64)
            upper = np.where(at == 0x7F7FFFFF, 2.0**128, np.nextafter(below, np.float32(np.inf)).astype(np.float64))
            overflow = 0x7F800000
        else:
            v = table(t)
            at = np.clip(np.searchsorted(v, a, side="right") - 1, 0, len(v) - 2)
            lower, upper = v[at], v[at + 1]
            overflow = len(v) - 1
            if t == "f8e8m0":
                at = np.where(a < v[0], 0, at)
                lower = np.where(a < v[0], a, lower)
        middle = (lower + upper) / 2
        exact = lower == a
        half = np.where(a > middle, 1, np.where(a == middle, 0, -1))
        at = at + choose(lower, half, exact, at % 2 == 1, negative, mode)
        at = np.where(a >= upper, np.maximum(at, overflow), at) if t != "f8e8m0" else np.where(a >= upper, overflow, at)
        top = FORMATS[t][2]
        at = np.where(at > top, top if saturate else overflow, at)
        if t == "f8e8m0":
            at = np.where(negative, 0xFF, at)
        else:
            at = at | (negative.astype(np.int64) << (8 * size(t) - 1))
        at = np.where(np.isnan(x), NAN_BITS[t], at)
    return at.astype(bits_type(t))


def round_integral(x, mode):
    """float64 to integral float64."""
    with np.errstate(all="ignore"):
        if mode == "none" or mode == "trunc":
            return np.trunc(x)
        if mode == "rint":
            return np.rint(x)
        if mode == "floor":
            return np.floor(x)
        if mode == "ceil":
            return np.ceil(x)
        t = np.trunc(x)
        rest = np.abs(x - t)
        away = rest >= 0.5 if mode == "round" else (rest > 0) & (np.fmod(t, 2) == 0)
        return t + np.where(away, np.copysign(1.0, x), np.copysign(0.0, x))


def int_bits(t, values):
    """Exact Python integers to bits, modulo 2^n."""
    given = np.asarray(values)
    if given.dtype.kind in "iu":  # numpy's own integers are exact, and become shorter modulo 2^n
        return given.astype(bits_type(t))
    n = 8 * size(t)
    return np.array([int(v) % 2**n for v in np.array(values, dtype=object).ravel()], dtype=bits_type(t)).reshape(np.shape(values))


def widens(to, src):
    """Whether a float type has an infinity, and nothing of another is beyond its largest number."""
    has_infinity = FORMATS[to][3] != FORMATS[to][2] + 1
    return to == src or (has_infinity and FORMATS[to][:2] >= FORMATS[src][:2])


def value_bits(t):
    """Bits of an integer or a bool beside its sign."""
    return 1 if t == "bool" else 8 * size(t) - (not is_unsigned(t))


def has_all(to, src):
    """Whether every value of a type is one of another: a cast rounds and clamps nothing."""
    if to == src or to == "bool":
        return to == src
    if is_float(to):
        mantissa = FORMATS[to][1]
        if is_float(src):
            return widens(to, src) and mantissa >= FORMATS[src][1]
        return to != "f8e8m0" and value_bits(src) <= mantissa + 1
    return not is_float(src) and value_bits(to) >= value_bits(src) and (not is_unsigned(to) or src == "bool" or is_unsigned(src))


def spans_all(to, src):
    """Whether no value of a type is beyond the range of another."""
    if not is_float(to):
        return has_all(to, src)
    if is_float(src):
        return widens(to, src)
    return to != "f8e8m0" and 2.0 ** value_bits(src) - 1 <= decode(to, np.array([FORMATS[to][2]], bits_type(to)))[0]


def cast_options(to, src, mode, saturate):
    """Words of the options of a cast that have an effect."""
    exact = has_all(to, src) or to == "bool"
    rounds = not exact and (is_float(to) or is_float(src))
    return [word for word in (mode and rounds and f'mode = "{mode}"', saturate and not (to == "bool" or spans_all(to, src)) and "saturate = true") if word]


def convert(to, src, bits, mode, saturate, integral):
    """TCVT: bits of src to bits of `to`."""
    flat = np.ravel(bits)
    shape = np.shape(bits)
    if is_float(src):
        x = decode(src, flat)
        if to == "bool":
            out = (x != 0).astype(np.uint8)
        elif is_float(to):
            if to == src:
                if mode == "none" or not integral:
                    return np.array(bits)
                x = round_integral(x, mode)
            out = encode(to, x, mode, saturate and not widens(to, src))
        else:
            lo, hi = limits(to)
            ints = []
            for v in round_integral(x, mode).tolist():
                if math.isfinite(v):
                    ints.append(min(max(int(v), lo), hi) if saturate else int(v))
                else:
                    special = 0 if math.isnan(v) else (hi if v > 0 else lo)
                    ints.append(special if saturate else (lo if lo else hi))
            out = int_bits(to, ints)
    else:
        ints = [int(v) for v in decode(src, flat)]
        if to == "bool":
            out = np.array([v != 0 for v in ints], dtype=np.uint8)
        elif is_float(to):
            out = encode(to, [short_float(v) for v in ints], mode, saturate)
        else:
            lo, hi = limits(to)
            out = int_bits(to, [min(max(v, lo), hi) if saturate else v for v in ints])
    return out.reshape(shape)


def short_float(v):
    """An exact integer, cut to 40 bits and a sticky bit, with which it is rounded to a shorter type in every mode alike."""
    a, shift = abs(v), 0
    while a >= 2**40:
        a, shift = (a >> 1) | (a & 1), shift + 1
    x = float(a) * 2.0**shift
    return -x if v < 0 else x


def canonical(t, bits):
    return np.where(np.isnan(decode(t, bits)), bits_type(t)(NAN_BITS[t]), bits) if is_float(t) else bits
