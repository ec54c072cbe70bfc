"""Numbers with a bound on their error: what an op may make of operands that are within theirs.

A Quantity has the exact numbers `v` and a bound `e` on how far a right implementation may be away, None when it must have the very
numbers. Floats are float64 arrays, whatever their type in the program; integers and truth values are arrays of their type. An op whose
result would jump within the bounds of its operands raises Reject: then the program goes without it."""
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "kernels"))
import elements  # noqa: E402

FLOATS = ("f32", "f16", "bf16")
SMALL_FLOATS = ("f8e4m3", "f8e5m2", "f8e8m0")
INTEGERS = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")
UNIT = {"f32": 2.0**-24, "f16": 2.0**-11, "bf16": 2.0**-8}  # half an ulp of 1
TINY = {"f32": 2.0**-149, "f16": 2.0**-24, "bf16": 2.0**-133}
LARGEST = 2.0**14  # of a float in a program: no product of two overflows f32, no sum of a few f16
WORST = {"bf16": 0.25}  # relative bound above which a result says nothing any more; of other types a twentieth


class Reject(Exception):
    """The program does without this op."""


class Quantity:
    def __init__(self, v, e=None):
        self.v, self.e = np.asarray(v), e

    @property
    def bound(self):
        return 0.0 if self.e is None else self.e


def is_float(dtype):
    return dtype in FLOATS or dtype in SMALL_FLOATS


def numpy_type(dtype):
    return np.bool_ if dtype == "bool" else np.float64 if is_float(dtype) else elements.int_type(dtype)


def bits_of(dtype, v):
    return elements.encode(dtype, np.ravel(v)).reshape(np.shape(v))


def rounded(dtype, v):
    """The nearest numbers of the type."""
    v = np.asarray(v, np.float64)
    if dtype == "f32":
        return v.astype(np.float32).astype(np.float64)
    if dtype == "f16":
        return v.astype(np.float16).astype(np.float64)
    return elements.decode(dtype, bits_of(dtype, v))


def stored(dtype, v):
    """As pto-run reads and writes it: types that numpy lacks as their bits."""
    if dtype in ("bf16", *SMALL_FLOATS):
        return bits_of(dtype, v)
    return np.asarray(v).astype({"f32": np.float32, "f16": np.float16}.get(dtype) or numpy_type(dtype))


def loaded(dtype, array):
    if dtype in ("bf16", *SMALL_FLOATS):
        return elements.decode(dtype, array)
    return array.astype(np.float64) if dtype in FLOATS else array


def made(dtype, v, e=None, ulps=0.5):
    """A float result: v within e, rounded once or as its row says."""
    v = np.asarray(v, np.float64)
    if v.size and not (np.all(np.isfinite(v)) and np.max(np.abs(v)) <= LARGEST):
        raise Reject
    if (e is None or not np.any(e)) and ulps <= 0.5 and np.array_equal(rounded(dtype, v), v):
        return Quantity(v)
    e = (0.0 if e is None else 1.01 * e) + (2 * ulps + 1e-3) * UNIT[dtype] * np.abs(v) + TINY[dtype] * (1 + ulps)
    if v.size and np.max(e / (1e-3 + np.abs(v))) > WORST.get(dtype, 0.05):
        raise Reject
    return Quantity(v, np.broadcast_to(e, v.shape))


def whole(dtype, v):
    """An integer result of Python integers, wrapped."""
    bits = 8 * elements.size(dtype)
    wrapped = [(int(x) + (0 if elements.is_unsigned(dtype) else 2**(bits - 1))) % 2**bits - (0 if elements.is_unsigned(dtype) else 2**(bits - 1)) for x in np.ravel(v)]
    return Quantity(np.array(wrapped, dtype=object).astype(numpy_type(dtype)).reshape(np.shape(v)))


def integers(q):
    """The numbers as Python integers, which do not overflow."""
    return q.v.astype(object)


def around(function, *operands):
    """The function at the operands, and how far it goes within their bounds: for functions that are monotone, or nearly straight,
    on so short a way."""
    with np.errstate(all="ignore"):
        v = function(*(q.v for q in operands))
        e = None
        for k, q in enumerate(operands):
            if q.e is None:
                continue
            for side in (-1, 1):
                moved = function(*(p.v + side * p.e if i == k else p.v for i, p in enumerate(operands)))
                e = np.maximum(0.0 if e is None else e, 0) + np.abs(moved - v) if side < 0 else np.maximum(e, e + np.abs(moved - v))
    return v, e


def settled(function, *operands):
    """Of a function that jumps: its value, when no bound lets it jump."""
    with np.errstate(all="ignore"):
        v = function(*(q.v for q in operands))
        for k, q in enumerate(operands):
            if q.e is None:
                continue
            for side in (-1, 1):
                moved = function(*(p.v + side * (p.e + 1e-300) if i == k else p.v for i, p in enumerate(operands)))
                if not np.array_equal(moved, v):
                    raise Reject
    return v


def need_exact(*operands):
    if any(q.e is not None for q in operands):
        raise Reject


def sum_of(dtype, q, axes, keepdims, weight=1.0):
    """A sum in f32 or wider, in any order, and the type's rounding. Exact where every partial sum is."""
    v = np.sum(q.v, axes, keepdims=keepdims)
    magnitude = np.sum(np.abs(q.v), axes, keepdims=keepdims)
    count = max(1, q.v.size // max(1, v.size))
    exact = q.e is None and np.array_equal(np.rint(q.v * 64), q.v * 64) and np.max(magnitude, initial=0) * 64 < 2**24
    e = None if exact else count * 2.0**-24 * magnitude + (0.0 if q.e is None else np.sum(q.e, axes, keepdims=keepdims))
    if weight == 1.0:
        return made(dtype, v, e)
    return made(dtype, v * weight, None if e is None else e * weight, 2)
