"""What all modules of cases of test_tensor_ops share: arrays in memory, records, and operands. `rng` and `out` are for one table, whose
cases are made in one order."""
import functools
import math
import struct

import numpy as np

import elements as el

rng = np.random.default_rng(77)
FLOATS = el.FLOATS
INTS = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"]
NUMBERS = FLOATS + INTS
SHAPES = [(), (1,), (7,), (0,), (3, 0, 5), (5, 13), (2, 3, 5, 7), (2, 1, 2, 3, 1, 2, 2, 3), (2, 301), (1, 1, 1)]
out = []


class Array:
    """Bits with their place in memory: contiguous, with permuted dims, or with gaps."""

    def __init__(self, t, bits, way=None):
        bits = np.asarray(bits, dtype=el.bits_type(t))
        self.t, self.bits = t, bits
        way = int(rng.integers(0, 3)) if way is None else way
        n = bits.ndim
        order = list(rng.permutation(n)) if way == 1 else list(range(n))
        gap = 1 if way == 2 else 0
        sizes = [bits.shape[d] + gap for d in order]
        total = math.prod(sizes)
        self.memory = np.frombuffer(rng.bytes(total * el.size(t)), dtype=el.bits_type(t)).copy()
        strides = [0] * n
        step = 1
        for d, s in reversed(list(zip(order, sizes))):
            strides[d] = step
            step *= s
        self.strides = strides
        self.put(self.memory, bits)

    def put(self, memory, bits):
        if bits.size:
            np.ndarray(bits.shape, memory.dtype, memory, 0, [s * memory.itemsize for s in self.strides])[...] = bits

    def head(self):
        pad = lambda v: list(v) + [0] * (8 - len(v))
        return struct.pack("<2q16qq", el.TYPES[self.t][0], self.bits.ndim, *pad(self.bits.shape), *pad(self.strides), self.memory.nbytes)

    def record(self):
        return self.head() + self.memory.tobytes()

    def result(self, bits):
        after = self.memory.copy()
        self.put(after, np.asarray(bits, dtype=el.bits_type(self.t)).reshape(self.bits.shape))
        return self.record() + after.tobytes()


def case(name, what, t, want, ins, mode="none", saturate=False, nan=0, drop=False, ta=False, tb=False, approx=0, eps=0.0, axes=(), offsets=(), strides=None, value=0, ulp=0, faults=0, before=None, third=False, relu=False,
         combine=0, descending=False, exclusive=False, reverse=False, alpha=1, second=None, block=0, key=0, counter=0, causal=False, interleaved=False, groups=0, scale=None):
    """`before`: bits that the result has when the op begins. `second`: element type and bits of the second result."""
    want = np.asarray(want, dtype=el.bits_type(t))
    body = struct.pack("<24s64s", ("tensor." + name).encode(), what.encode()[:63])
    body += struct.pack("<9q", el.MODES.index(mode), saturate, nan, drop, ta, tb, approx, ulp, faults)
    body += struct.pack("<9q", len(axes), *(list(axes) + [0] * (8 - len(axes)))) + struct.pack("<d", eps)
    body += struct.pack("<17q", strides is not None, *(list(offsets) + [0] * (8 - len(offsets))), *(list(strides or ()) + [0] * (8 - len(strides or ()))))
    body += struct.pack("<qqd", int(isinstance(value, int)), value if isinstance(value, int) else 0, value if isinstance(value, float) else 0.0)
    body += struct.pack("<3q2Q", third, relu, block, key, counter)
    body += struct.pack("<4qd", causal, interleaved, groups, scale is not None, scale or 0.0)
    body += struct.pack("<4q", combine, descending, exclusive, reverse)
    body += struct.pack("<qqd", int(isinstance(alpha, int)), alpha if isinstance(alpha, int) else 0, alpha if isinstance(alpha, float) else 0.0)
    body += struct.pack("<2q", len(ins), 1 if second is None else 2) + b"".join(a.record() for a in ins)
    for kind, bits in ((t, want),) + (() if second is None else (second,)):
        bits = np.asarray(bits, dtype=el.bits_type(kind))
        old = np.frombuffer(rng.bytes(max(bits.nbytes, 8)), dtype=el.bits_type(kind))[: bits.size].reshape(bits.shape)
        body += Array(kind, old if before is None else before).result(bits)
    out.append(struct.pack("<q", len(body)) + body)


@functools.cache
def special(t):
    if el.is_float(t):
        return el.encode(t, [0.0, -0.0, 1.0, -1.0, np.nan, np.inf, -np.inf, 0.5, -2.5, 3.0, 1e-7, 60000.0])
    lo, hi = el.limits(t)
    return el.int_bits(t, [0, 1, hi, lo, hi - 1, lo + 1, 2, 3])


def data(t, shape, kind=None):
    n = math.prod(shape)
    any_bits = np.frombuffer(rng.bytes(n * el.size(t)), dtype=el.bits_type(t)) if n else np.zeros(0, dtype=el.bits_type(t))
    if el.is_float(t):
        moderate = el.encode(t, np.clip(rng.normal(size=n) * 2, -5, 5)) if n else any_bits
    else:
        lo, hi = el.limits(t)
        moderate = el.int_bits(t, rng.integers(max(lo, -9), 10, size=n)) if n else any_bits
    if kind == "moderate" or n == 0:
        return moderate.reshape(shape)
    pick = rng.integers(0, 3, size=n)
    return np.where(pick == 0, rng.choice(special(t), size=n), np.where(pick == 1, any_bits, moderate)).astype(el.bits_type(t)).reshape(shape)


def rounded(t, x):
    """float64 array to bits; numpy's shape rules for empty arrays and rank 0 kept."""
    x = np.asarray(x, dtype=np.float64)
    return (el.encode(t, x.ravel()) if x.size else np.zeros(0, dtype=el.bits_type(t))).reshape(x.shape)


def ints(t, bits):
    """Exact Python integers in an object array."""
    return np.array([int(v) for v in el.decode(t, np.ravel(bits))], dtype=object).reshape(np.shape(bits))


def to_bits(t, objects):
    return el.int_bits(t, np.asarray(objects, dtype=object)) if np.size(objects) else np.zeros(np.shape(objects), dtype=el.bits_type(t))
