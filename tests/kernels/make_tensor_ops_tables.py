"""Writes the cases of test_tensor_ops: one record for each tensor op, element type and shape, ranks 0 to 8, extents 0 and 1.

usage: make_tensor_ops_tables.py OUT. Records are little-endian; test_tensor_ops.c says how they are read."""
import math
import struct
import sys

import numpy as np

import elements as el
import numpy_ops

rng = np.random.default_rng(77)
FLOATS = ["f32", "f16", "bf16"]
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
        total = int(np.prod(sizes)) if n else 1
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
            places = np.zeros(bits.shape, dtype=np.int64)
            for d, s in enumerate(self.strides):
                places = places + s * np.arange(bits.shape[d]).reshape([-1 if i == d else 1 for i in range(bits.ndim)])
            memory[places] = bits

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
         combine=0, descending=False, exclusive=False, reverse=False, alpha=1, second=None, block=0, key=0, counter=0):
    """`before`: bits that the result has when the op begins. `second`: element type and bits of the second result."""
    want = np.asarray(want, dtype=el.bits_type(t))
    body = struct.pack("<24s64s", ("tensor." + name).encode(), what.encode()[:63])
    body += struct.pack("<9q", el.MODES.index(mode), saturate, nan, drop, ta, tb, approx, ulp, faults)
    body += struct.pack("<9q", len(axes), *(list(axes) + [0] * (8 - len(axes)))) + struct.pack("<d", eps)
    body += struct.pack("<17q", strides is not None, *(list(offsets) + [0] * (8 - len(offsets))), *(list(strides or ()) + [0] * (8 - len(strides or ()))))
    body += struct.pack("<qqd", int(isinstance(value, int)), value if isinstance(value, int) else 0, value if isinstance(value, float) else 0.0)
    body += struct.pack("<3q2Q", third, relu, block, key, counter)
    body += struct.pack("<4q", combine, descending, exclusive, reverse)
    body += struct.pack("<qqd", int(isinstance(alpha, int)), alpha if isinstance(alpha, int) else 0, alpha if isinstance(alpha, float) else 0.0)
    body += struct.pack("<2q", len(ins), 1 if second is None else 2) + b"".join(a.record() for a in ins)
    for kind, bits in ((t, want),) + (() if second is None else (second,)):
        bits = np.asarray(bits, dtype=el.bits_type(kind))
        old = np.frombuffer(rng.bytes(max(bits.nbytes, 8)), dtype=el.bits_type(kind))[: bits.size].reshape(bits.shape)
        body += Array(kind, old if before is None else before).result(bits)
    out.append(struct.pack("<q", len(body)) + body)


def special(t):
    if el.is_float(t):
        return el.encode(t, [0.0, -0.0, 1.0, -1.0, np.nan, np.inf, -np.inf, 0.5, -2.5, 3.0, 1e-7, 60000.0])
    lo, hi = el.limits(t)
    return el.int_bits(t, [0, 1, hi, lo, hi - 1, lo + 1, 2, 3])


def data(t, shape, kind=None):
    n = int(np.prod(shape))
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


def unary_cases():
    def gelu_tanh(x):
        x = x.astype(np.longdouble)
        return x / 2 * (1 + np.tanh(np.sqrt(2 / np.longdouble(np.pi)) * (x + np.longdouble(0.044715) * x**3)))
    def gelu_sigmoid(x):
        x = x.astype(np.longdouble)
        return x / (1 + np.exp(-np.longdouble(1.702) * x))
    for shape in SHAPES:
        for t in NUMBERS:
            a = data(t, shape)
            src = Array(t, a)
            what = f"{t} {shape}"
            if not el.is_float(t):
                for name, f in numpy_ops.NUMBERS.items():
                    case(name, what, t, to_bits(t, f(ints(t, a)) if a.size else ints(t, a)), [src])
                continue
            x = el.decode(t, a)
            with np.errstate(all="ignore"):
                for name, f in numpy_ops.NUMBERS.items():
                    case(name, what, t, rounded(t, f(x)), [src])
                for name, (f, ulp) in numpy_ops.FLOATS.items():
                    case(name, what, t, rounded(t, f(x)), [src], ulp=ulp)
                a = data(t, shape, "moderate")
                x = el.decode(t, a)
                case("gelu", what + " tanh", t, rounded(t, np.asarray(gelu_tanh(x), dtype=np.float64)), [Array(t, a)], approx=0, ulp=1)
                case("gelu", what + " sigmoid", t, rounded(t, np.asarray(gelu_sigmoid(x), dtype=np.float64)), [Array(t, a)], approx=1, ulp=1)


def extreme(x, y, smaller, nan):
    """Scalars."""
    if np.isnan(x) or np.isnan(y):
        if nan == 0 or (np.isnan(x) and np.isnan(y)):
            return np.nan
        return y if np.isnan(x) else x
    key = lambda v: (v, not np.signbit(v))
    return (min if smaller else max)(x, y, key=key)


def binary_cases():
    pairs = [(s, s) for s in SHAPES] + [((5, 13), (13,)), ((5, 1), (1, 13)), ((), (4, 3)), ((2, 3, 5, 7), (3, 1, 1)), ((0, 3), (1, 3)), ((1, 0), (4, 1)), ((2, 1, 2, 3, 1, 2, 2, 3), (3, 1, 1, 2, 1))]
    def quotient(x, y):
        return -1 if y == 0 else abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
    functions = {**numpy_ops.PAIRS, "div": np.divide}
    exact = {**numpy_ops.PAIRS, "div": quotient, "maximum": max, "minimum": min}
    for sa, sb in pairs:
        for t in NUMBERS:
            a, b = data(t, sa), data(t, sb)
            ins = [Array(t, a), Array(t, b)]
            shape = np.broadcast_shapes(sa, sb)
            for op in exact:
                what = f"{t} {sa} {sb}"
                if not el.is_float(t):
                    x, y = (np.broadcast_to(ints(t, v), shape) for v in (a, b))
                    want = to_bits(t, np.array([exact[op](p, q) for p, q in zip(x.ravel(), y.ravel())], dtype=object).reshape(shape))
                    case(op, what, t, want, ins, faults=int(np.sum(y == 0)) if op == "div" and y.size else 0)
                    continue
                x, y = (np.broadcast_to(el.decode(t, v), shape) for v in (a, b))
                if op in functions:
                    f = functions[op]
                    with np.errstate(all="ignore"):
                        r = f(x.astype(np.float32), y.astype(np.float32)) if t == "f32" else f(x, y)
                    case(op, what, t, rounded(t, r), ins)
                    continue
                for nan in range(3):
                    r = np.array([extreme(p, q, op == "minimum", nan) for p, q in zip(x.ravel(), y.ravel())], dtype=np.float64).reshape(shape)
                    case(op, what + f" nan {nan}", t, rounded(t, r), ins, nan=nan)


def pair_cases():
    pairs = [(s, s) for s in SHAPES] + [((5, 13), (13,)), ((5, 1), (1, 13)), ((), (4, 3)), ((0, 3), (1, 3))]
    for sa, sb in pairs:
        shape = np.broadcast_shapes(sa, sb)
        for t in NUMBERS:
            a, b = data(t, sa), data(t, sb)
            ins = [Array(t, a), Array(t, b)]
            what = f"{t} {sa} {sb}"
            if not el.is_float(t):
                x, y = (np.broadcast_to(ints(t, v), shape) for v in (a, b))
                for name, (_, f, _) in numpy_ops.REMAINDERS.items():
                    case(name, what, t, to_bits(t, f(x, y)), ins, faults=int(np.sum(y == 0)) if y.size else 0)
            else:
                x, y = (np.broadcast_to(el.decode(t, v), shape) for v in (a, b))
                with np.errstate(all="ignore"):
                    for name, (f, _, ulp) in numpy_ops.REMAINDERS.items():
                        case(name, what, t, rounded(t, f(x, y)), ins, ulp=ulp)
                    for name, (f, ulp) in numpy_ops.FLOAT_PAIRS.items():
                        case(name, what, t, rounded(t, f(x, y)), ins, ulp=ulp)
            if not el.is_float(t):
                x, y = (np.broadcast_to(ints(t, v), shape) for v in (a, b))
                for name, f in numpy_ops.BITS.items():
                    made = np.broadcast_to(f(a, b), shape) if f else ~a
                    case(f"bitwise_{name}", what, t, made, ins if f else ins[:1])
                for name, f in numpy_ops.DIVISORS.items():
                    case(name, what, t, to_bits(t, f(x, y)), ins)
                for name, f in numpy_ops.SHIFTS.items():
                    case(name, what, t, to_bits(t, f(x, y, 8 * el.size(t))), ins)
            low, high = data(t, sb), data(t, sb)
            p, q, r = (np.broadcast_to(el.decode(t, v), shape) for v in (a, low, high))
            one = (lambda u, v, w: extreme(extreme(u, v, False, 0), w, True, 0)) if el.is_float(t) else (lambda u, v, w: min(max(int(u), int(v)), int(w)))
            made = [one(u, v, w) for u, v, w in zip(p.ravel(), q.ravel(), r.ravel())]
            want = rounded(t, np.array(made, dtype=np.float64).reshape(shape)) if el.is_float(t) else to_bits(t, np.array(made, dtype=object).reshape(shape))
            case("clip", what, t, want, [Array(t, a), Array(t, low), Array(t, high)])


def truth_cases():
    pairs = [(s, s) for s in SHAPES] + [((5, 13), (13,)), ((5, 1), (1, 13)), ((), (4, 3)), ((0, 3), (1, 3))]
    bits = lambda r, shape: np.broadcast_to(np.asarray(r).astype(np.uint8), shape)
    for sa, sb in pairs:
        shape = np.broadcast_shapes(sa, sb)
        a, b = data("bool", sa) & 1, data("bool", sb) & 1
        for name, f in numpy_ops.LOGIC.items():
            if name == "logical_not":
                case(name, f"bool {sa}", "bool", f(a).astype(np.uint8), [Array("bool", a)])
            else:
                case(name, f"bool {sa} {sb}", "bool", bits(f(a, b), shape), [Array("bool", a), Array("bool", b)])
        for name, f in numpy_ops.BITS.items():
            case(f"bitwise_{name}", f"bool {sa} {sb}", "bool", np.broadcast_to(f(a, b), shape) if f else 1 - a, [Array("bool", a), Array("bool", b)] if f else [Array("bool", a)])
        for t in NUMBERS + ["bool"]:
            x, y = (data(t, s) & 1 if t == "bool" else data(t, s) for s in (sa, sb))
            want = np.where(np.broadcast_to(a, shape), np.broadcast_to(x, shape), np.broadcast_to(y, shape))
            case("where", f"{t} {sa} {sb}", t, want, [Array("bool", a), Array(t, x), Array(t, y)])
            case("where", f"{t} {sa} by {sb}", t, np.where(np.broadcast_to(b, shape), np.broadcast_to(x, shape), np.broadcast_to(x, shape)), [Array("bool", b), Array(t, x), Array(t, x)])
            if t == "bool":
                for word in ("eq", "ne"):
                    case(word, f"bool {sa} {sb}", "bool", bits(numpy_ops.RELATIONS[word](x, y), shape), [Array(t, x), Array(t, y)])
                continue
            y = np.where(rng.integers(0, 2, sb), data(t, sb), np.resize(x, sb) if x.size else y).astype(el.bits_type(t))
            p, q = el.decode(t, x), el.decode(t, y)
            for word, f in numpy_ops.RELATIONS.items():
                case(word, f"{t} {sa} {sb}", "bool", bits(f(p, q), shape), [Array(t, x), Array(t, y)])
            for name, f in numpy_ops.LOGIC.items():
                if name == "logical_not":
                    case(name, f"{t} {sa}", "bool", bits(f(p), sa), [Array(t, x)])
                else:
                    case(name, f"{t} {sa} {sb}", "bool", bits(f(p, q), shape), [Array(t, x), Array(t, y)])
            if el.is_float(t):
                for name, f in numpy_ops.CLASSES.items():
                    case(name, f"{t} {sa}", "bool", bits(f(p), sa), [Array(t, x)])


def ascending_sum(x, axes):
    """float64 sum in row-major order of the reduced dims, from zero."""
    kept = [d for d in range(x.ndim) if d not in axes]
    rows = x.transpose(kept + sorted(axes)).reshape([x.shape[d] for d in kept] + [int(np.prod([x.shape[d] for d in axes]))])
    return np.cumsum(np.concatenate([np.zeros(rows.shape[:-1] + (1,)), rows], axis=-1), axis=-1)[..., -1]


def reduce_cases():
    for shape in SHAPES:
        n = len(shape)
        axis_sets = {(), tuple(range(n))} | {(d,) for d in range(n)} | ({(0, n - 1)} if n > 1 else set()) | ({(1, 2)} if n > 3 else set())
        for axes in sorted(axis_sets):
            for name, f in (("any", np.any), ("all", np.all)):
                a = data("bool", shape) & 1
                drop = bool(rng.integers(0, 2))
                case(name, f"{shape} {axes} {drop}", "bool", f(a, axis=axes, keepdims=not drop).astype(np.uint8), [Array("bool", a)], drop=drop, axes=axes)
            for t in NUMBERS:
                kept = [d for d in range(n) if d not in axes]
                full = tuple(1 if d in axes else shape[d] for d in range(n))
                short = tuple(shape[d] for d in kept)
                a = data(t, shape, "moderate" if rng.integers(0, 2) else None)
                src = [Array(t, a)]
                drop = bool(rng.integers(0, 2))
                given = [d - n if rng.integers(0, 2) else d for d in axes]
                args = dict(drop=drop, axes=given)
                what = f"{t} {shape} {given} {'drop' if drop else ''}"
                final = short if drop else full
                rows = a.transpose(kept + list(axes)).reshape(int(np.prod(short)), int(np.prod([shape[d] for d in axes])))
                if not el.is_float(t):
                    v = ints(t, rows)
                    lo, hi = el.limits(t)
                    case("reduce_sum", what, t, to_bits(t, [sum(r) for r in v]).reshape(final), src, **args)
                    case("reduce_prod", what, t, to_bits(t, [math.prod(r) for r in v]).reshape(final), src, **args)
                    for name, fn in (("argmax", np.argmax), ("argmin", np.argmin)):
                        for to in ("i32", "i64"):
                            case(name, what, to, to_bits(to, np.array([fn(r) if len(r) else 2**31 - 1 for r in v], dtype=object)).reshape(final), src, **args)
                    case("reduce_max", what, t, to_bits(t, [max(r, default=lo) for r in v]).reshape(final), src, **args)
                    case("reduce_min", what, t, to_bits(t, [min(r, default=hi) for r in v]).reshape(final), src, **args)
                    continue
                with np.errstate(all="ignore"):
                    s = ascending_sum(el.decode(t, a), axes)
                    case("reduce_sum", what, t, rounded(t, s).reshape(final), src, **args)
                    case("reduce_mean", what, t, rounded(t, s / np.float64(rows.shape[1])).reshape(final), src, **args)
                    x = el.decode(t, rows)
                    case("reduce_prod", what, t, rounded(t, np.array([np.multiply.reduce(r) if len(r) else 1.0 for r in x])).reshape(final), src, ulp=1, **args)
                    for name, fn in (("argmax", np.argmax), ("argmin", np.argmin)):
                        case(name, what, "i32", to_bits("i32", np.array([fn(r) if len(r) else 2**31 - 1 for r in x], dtype=object)).reshape(final), src, **args)
                    few = data(t, shape, "moderate")
                    y = el.decode(t, few.transpose(kept + list(axes)).reshape(rows.shape))
                    for correction in (0, 1, 3):
                        n_less = max(rows.shape[1] - correction, 0)
                        want = [np.sum((r - np.sum(r) / len(r)) ** 2) / np.float64(n_less) if len(r) else np.nan for r in y]
                        case("var", what + f" {correction}", t, rounded(t, np.array(want)).reshape(final), [Array(t, few)], offsets=[correction], ulp=1, **args)
                for nan in range(3):
                    for name, smaller in (("reduce_max", False), ("reduce_min", True)):
                        want = []
                        for r in el.decode(t, rows):
                            acc = (np.inf if smaller else -np.inf) if len(r) == 0 else r[0]
                            for v in r[1:]:
                                acc = extreme(acc, v, smaller, nan)
                            want.append(acc)
                        case(name, what + f" nan {nan}", t, rounded(t, np.array(want)).reshape(final), src, nan=nan, **args)


def iota_cases():
    for shape in SHAPES + [(1, 300), (300, 2)]:
        for t in NUMBERS:
            for axis in range(-len(shape), len(shape)):
                along = np.broadcast_to(np.arange(shape[axis]).reshape([-1 if d == axis % len(shape) else 1 for d in range(len(shape))]), shape)
                want = rounded(t, along) if el.is_float(t) else to_bits(t, along.astype(object))
                case("iota", f"{t} {shape} {axis}", t, want, [], axes=[axis])
            if len(shape) < 2:
                continue
            a = data(t, shape)
            for diagonal in (0, 1, -2, 1000, -(1 << 40)):
                place = np.arange(shape[-1])[None, :] - np.arange(shape[-2])[:, None]
                for name, keep in (("tril", place <= diagonal), ("triu", place >= diagonal)):
                    case(name, f"{t} {shape} {diagonal}", t, np.where(keep, a, 0), [Array(t, a)], offsets=[diagonal])


def matmul_cases():
    shapes = [((1, 1), (1, 1)), ((5, 7), (7, 3)), ((17, 300), (300, 70)), ((0, 3), (3, 4)), ((4, 0), (0, 5)), ((2, 3, 5, 7), (2, 3, 7, 11)), ((3, 5, 7), (7, 2)), ((2, 1, 4, 3), (5, 3, 2)), ((1, 1, 2, 1, 1, 2, 3, 2), (1, 1, 2, 1, 1, 2, 2, 5))]
    for sa, sb in shapes:
        for t in FLOATS + ["i8", "i32", "u16"]:
            for to in {"f32": ["f32"], "f16": ["f16", "f32"], "bf16": ["bf16", "f32"], "i8": ["i8", "i32"], "i32": ["i32", "i64", "f32"], "u16": ["u16", "u32"]}[t]:
                for ta in (False, True):
                    for tb in (False, True):
                        a, b = data(t, sa, "moderate" if el.is_float(t) else None), data(t, sb, "moderate" if el.is_float(t) else None)
                        swap = lambda x, yes: np.swapaxes(x, -1, -2) if yes else x
                        ins = [Array(t, swap(a, ta)), Array(t, swap(b, tb))]
                        if el.is_float(t):
                            products = el.decode(t, a)[..., :, :, None] * el.decode(t, b)[..., None, :, :]
                            sums = ascending_sum(products, [products.ndim - 2])
                            want = rounded(to, sums)
                        else:
                            sums = np.matmul(ints(t, a), ints(t, b)) if sa[-1] else np.zeros(np.broadcast_shapes(sa[:-2], sb[:-2]) + (sa[-2], sb[-1]), dtype=object)
                            if el.is_float(to):
                                wrap = [(int(v) + 2**63) % 2**64 - 2**63 for v in sums.ravel()]
                                want = np.array([el.encode_int(to, v, "rint", False) for v in wrap], dtype=el.bits_type(to)).reshape(sums.shape)
                            else:
                                want = to_bits(to, sums)
                        case("matmul", f"{t}->{to} {sa} {sb} {ta} {tb}", to, want, ins, ta=ta, tb=tb)


def follow_cases():
    """Products of vectors, and bias, scale and relu after the sum, all in float64 or exact and rounded once."""
    shapes = [((7,), (7,)), ((7,), (7, 3)), ((5, 7), (7,)), ((7,), (2, 7, 3)), ((2, 1, 5, 7), (7,)), ((5, 7), (7, 3)), ((3, 5, 7), (7, 65)), ((2, 0), (0, 3)), ((0,), (0,)), ((0,), (0, 4)), ((1, 1), (1, 1))]
    for sa, sb in shapes:
        batch = np.broadcast_shapes(sa[:-2], sb[:-2])
        shape = batch + sa[-2:-1] + (sb[-1:] if len(sb) > 1 else ())
        for t in FLOATS + ["f8e4m3", "f8e5m2", "i8", "u8", "i16", "i32", "u32", "i64"]:
            is_float = el.is_float(t)
            for bias_shape, scale_shape, relu in [(None, None, True), (shape[-1:], None, False), (shape, None, True), (None, (), False), ((), shape[-1:], True), (None, (1,) * len(shape), False), (shape[:-1] + (1,) if shape else (), (), True)]:
                for to in ["f32", "f16"] if is_float else []:
                    follow_case(t, to, sa, sb, shape, bias_shape, scale_shape, relu, str(rng.choice(FLOATS)))
                if scale_shape is not None:
                    for to in ["i8", "u8", "i32", "f16", "bf16"]:
                        follow_case(t, to, sa, sb, shape, bias_shape, scale_shape, relu, str(rng.choice(FLOATS if is_float else ["i8", "i32", "u64"])))
                elif not is_float:
                    for to in ["i8", "i32", "u16", "i64"]:
                        follow_case(t, to, sa, sb, shape, bias_shape, scale_shape, relu, str(rng.choice(["i8", "i32", "u64"])))


def follow_case(t, to, sa, sb, shape, bias_shape, scale_shape, relu, bias_type):
    kind = "moderate" if el.is_float(t) or scale_shape is not None else None
    a, b = data(t, sa, kind), data(t, sb, kind)
    ins = [Array(t, a), Array(t, b)]
    matrix_a, matrix_b = a.reshape((1,) + sa if len(sa) == 1 else sa), b.reshape(sb + (1,) if len(sb) == 1 else sb)
    if el.is_float(t):
        products = el.decode(t, matrix_a)[..., :, :, None] * el.decode(t, matrix_b)[..., None, :, :]
        y = ascending_sum(products, [products.ndim - 2]).reshape(shape)
    elif sa[-1]:
        y = np.asarray(np.matmul(ints(t, matrix_a), ints(t, matrix_b))).reshape(shape)
    else:
        y = np.zeros(shape, dtype=object)
    if bias_shape is not None:
        bias = data(bias_type, bias_shape, kind)
        ins.append(Array(bias_type, bias))
        y = y + (el.decode(bias_type, bias) if el.is_float(t) else ints(bias_type, bias))
    if scale_shape is not None:
        if not el.is_float(t):
            sums = t if t in ("u32", "u64", "i64") else "i32"
            y = el.decode(sums, to_bits(sums, y)).astype(np.float64)
        scale = data("f32", scale_shape, None)
        ins.append(Array("f32", scale))
        with np.errstate(all="ignore"):
            y = y * el.decode("f32", scale)
    y = np.broadcast_to(y, shape)
    is_number = el.is_float(t) or scale_shape is not None
    if is_number and relu:
        y = np.where((y > 0) | np.isnan(y), y, 0.0)
    if not is_number:
        want = to_bits(to, y)
        if relu and not el.is_unsigned(to):
            want = np.where(el.decode(to, want) > 0, want, np.zeros_like(want))
    elif el.is_float(to):
        want = rounded(to, y)
    else:
        lo, hi = el.limits(to)
        want = to_bits(to, np.array([0 if np.isnan(v) else int(np.clip(np.rint(v), lo, hi)) for v in y.ravel()], dtype=object).reshape(shape))
    case("matmul", f"{t}->{to} {sa} {sb} {bias_shape} {scale_shape} {relu}", to, want, ins, third=bias_shape is None and scale_shape is not None, relu=relu)


def composite_cases():
    for shape in SHAPES + [(4, 1000)]:
        for t in FLOATS:
            a = data(t, shape, "moderate")
            if a.size > 20:
                a.ravel()[3] = el.encode(t, -np.inf)[0]
            x = el.decode(t, a)
            for axis in range(-len(shape), len(shape)):
                with np.errstate(all="ignore"):
                    e = np.exp(x - x.max(axis=axis, keepdims=True, initial=-np.inf))
                    want = e / e.sum(axis=axis, keepdims=True)
                case("softmax", f"{t} {shape} {axis}", t, rounded(t, want), [Array(t, a)], axes=[axis], ulp=1)
            if not shape:
                continue
            a = data(t, shape, "moderate")
            x = el.decode(t, a)
            for gt in (t, "f32"):
                g = data(gt, shape[-1:], "moderate")
                with np.errstate(all="ignore"):
                    n = np.float64(shape[-1])
                    want = x / np.sqrt((x * x).sum(axis=-1, keepdims=True) / n + 1e-6) * el.decode(gt, g)
                case("rms_norm", f"{t} {shape} gamma {gt}", t, rounded(t, want), [Array(t, a), Array(gt, g)], eps=1e-6, ulp=1)
    # the largest taken away from itself is NaN, and so is then the sum
    for x in ([np.nan, 1.0, 2.0], [-np.inf, -np.inf, -np.inf], [np.inf, 0.0, 1.0]):
        case("softmax", f"{x}", "f32", rounded("f32", np.full(3, np.nan)), [Array("f32", el.encode("f32", x))], axes=[0])


def shape_cases():
    for t in list(el.TYPES):
        for shape in SHAPES:
            a = data(t, shape)
            if t == "bool":
                a = a & 1
            src = Array(t, a)
            n = len(shape)
            perm = [int(p) for p in rng.permutation(n)]
            case("transpose", f"{t} {shape} {perm}", t, a.transpose(perm) if n else a, [src], axes=perm)
            for to in {(-1,), tuple(reversed(shape)), (1,) + shape if n < 8 else shape}:
                to = tuple(a.size if d == -1 else d for d in to)
                case("reshape", f"{t} {shape}->{to}", t, a.reshape(to), [src])
            if n < 7:
                wide = (2,) + tuple(3 if d == 1 else d for d in shape)
                case("broadcast", f"{t} {shape}->{wide}", t, np.broadcast_to(a, wide), [src])
                case("constant", f"{t} {shape} array", t, np.broadcast_to(a, wide), [src])
                one = data(t, ())
                if t in NUMBERS:
                    case("full", f"{t} {wide}", t, np.broadcast_to(one, wide), [Array(t, one)])
            for value in (1, 3.0, -2, 0.1, float("inf"), float("nan")):
                if t in ("bool", "f8e8m0", "index") or (not el.is_float(t) and isinstance(value, float) and value != 3.0):
                    continue
                bits = el.encode(t, float(value)) if el.is_float(t) else el.int_bits(t, [int(value)])
                case("constant", f"{t} {shape} {value}", t, np.full(shape, bits[0]), [], value=value)
            if t in ("f32", "f16", "bf16"):
                for value in (0, 3, 2049, (1 << 24) + 1, -(1 << 24) - 3):
                    case("index_cast", f"{t} {shape} {value}", t, np.full(shape, el.encode(t, float(value))[0]), [], value=value)
    for src in el.TYPES:
        for to in el.TYPES:
            if "index" in (src, to):
                continue
            for mode in el.MODES[1:]:
                for saturate in (False, True):
                    shape = SHAPES[int(rng.integers(0, len(SHAPES)))]
                    a = data(src, shape)
                    if src == "bool":
                        a = a & 1
                    want = el.convert(to, src, a, mode, saturate, False) if a.size else np.zeros(shape)
                    case("cast", f"{src}->{to} {shape} {mode} {saturate}", to, want, [Array(src, a)], mode=mode, saturate=saturate)


def window_cases():
    """What numpy's slices make of windows: some empty, some the whole, strides of both signs."""
    for t in list(el.TYPES):
        for shape in SHAPES:
            a = data(t, shape)
            a = np.array(a & 1 if t == "bool" else a)
            src = Array(t, a)
            n = len(shape)
            for _ in range(3):
                sizes = [int(rng.integers(0, d + 1)) for d in shape]
                strides = [int(rng.choice([1, 1, 2, -1, -3])) for _ in shape]
                sizes = [min(s, (d - 1) // abs(k) + 1) if d else 0 for s, k, d in zip(sizes, strides, shape)]
                spans = [(s - 1) * abs(k) if s else 0 for s, k in zip(sizes, strides)]
                first = [int(rng.integers(0, d - p)) if s else d for s, p, d in zip(sizes, spans, shape)]
                offsets = [f + p if k < 0 else f for f, p, k in zip(first, spans, strides)]
                want = a[np.ix_(*[np.arange(s) * k + o for o, s, k in zip(offsets, sizes, strides)])] if n else a
                case("view", f"{t} {shape} {offsets} {sizes} {strides}", t, want, [src], offsets=offsets, strides=strides)
                window = tuple(slice(f, f + s) for f, s in zip(first, sizes))
                case("view", f"{t} {shape} {first} {sizes}", t, a[window], [src], offsets=first)
                case("split", f"{t} {shape} {first} {sizes}", t, a[window], [src], offsets=first)
                part = data(t, a[window].shape)
                part = part & 1 if t == "bool" else part
                whole, before = a.copy(), np.array(data(t, shape))
                whole[window] = part
                case("assemble", f"{t} {shape} {first} {sizes}", t, whole, [Array(t, part), src], offsets=first)
                rest = before.copy()
                rest[window] = part
                case("concat", f"{t} {shape} {first} {sizes}", t, rest, [Array(t, part)], offsets=first, before=before)
                axes = [d for d in range(n) if rng.integers(0, 2)]
                case("flip", f"{t} {shape} {axes}", t, np.flip(a, axes), [src], axes=[d - n if rng.integers(0, 2) else d for d in axes])
                around = [(int(rng.integers(0, 4)), int(rng.integers(0, 4))) for _ in shape]
                if t in ("f8e8m0", "index") or n > 4:
                    continue
                bits = el.encode(t, -2.5) if el.is_float(t) else el.int_bits(t, [1])
                case("pad", f"{t} {shape} {around}", t, np.pad(a, around, constant_values=bits[0]) if n else a, [src], offsets=[l for l, _ in around], value=-2.5 if el.is_float(t) else 1)
            case("squeeze", f"{t} {shape}", t, a.reshape([d for d in shape if d != 1]), [src], axes=[i for i, d in enumerate(shape) if d == 1])
            if n < 8:
                case("unsqueeze", f"{t} {shape}", t, a[None], [src], axes=[0])


def f32(t, bits):
    return el.decode(t, bits).astype(np.float32)


def bits_of_quotient(to, quotient, zero=0.0):
    """What quantising makes of a quotient in float32."""
    if el.is_float(to):
        return el.encode(to, quotient.astype(np.float64).ravel(), "rint", True).reshape(quotient.shape) if quotient.size else np.zeros(quotient.shape)
    lo, hi = el.limits(to)
    q = np.rint(quotient.astype(np.float64)) + zero
    return to_bits(to, np.array([0 if np.isnan(v) else int(min(max(v, lo), hi)) for v in q.ravel()], dtype=object).reshape(quotient.shape))


def scales(t, shape):
    """Zeros, NaN and infinities among them."""
    n = int(np.prod(shape))
    if t == "f8e8m0":
        return np.array(rng.choice([0, 1, 100, 126, 127, 128, 140, 254, 255], size=n), dtype=np.uint8).reshape(shape)
    return el.encode("f32", rng.choice([0.0, -0.0, 1.0, 0.1, 0.037, 3.0, -2.0, 1e-42, 1e30, np.inf, np.nan, 0.5, 0.02], size=n)).reshape(shape) if n else np.zeros(shape)


def quantise_cases():
    for shape, axis, block in [((), 0, 0), ((7,), 0, 0), ((5, 13), 0, 0), ((2, 3, 5, 4), 0, 0), ((0, 3), 0, 0), ((12,), 0, 4), ((5, 12), 1, 3), ((5, 12), -1, 12), ((4, 3, 5), 0, 2), ((2, 3, 4, 1, 1, 2, 3), 2, 2), ((3, 0), 1, 2), ((3, 4), 1, 1)]:
        if block:
            d = axis % len(shape)
            of_scale = [tuple(s // block if i == d else s for i, s in enumerate(shape)), tuple(s // block if i == d else 1 for i, s in enumerate(shape))]
            spread = lambda v: np.broadcast_to(np.repeat(v, block, d), shape)
        else:
            of_scale = [(), shape, shape[-1:], tuple(1 if i else s for i, s in enumerate(shape))]
            spread = lambda v: np.broadcast_to(v, shape)
        args = {"axes": [axis] if block else [], "block": block}
        for parameters in dict.fromkeys(of_scale):
            for st in ("f32", "f8e8m0"):
                for to in ("i8", "u8", "i16", "u16", "f8e4m3", "f8e5m2"):
                    t = FLOATS[int(rng.integers(0, 3))]
                    what = f"{t}->{to} {shape} {parameters} {st} {block}"
                    x, s = data(t, shape), scales(st, parameters)
                    z = None if el.is_float(to) or rng.integers(0, 2) else data(to, parameters)
                    with np.errstate(all="ignore"):
                        quotient = np.asarray(f32(t, x) / spread(f32(st, s)))
                    ins = [Array(t, x), Array(st, s)] + ([] if z is None else [Array(to, z)])
                    case("quantize", what, to, bits_of_quotient(to, quotient, 0.0 if z is None else spread(el.decode(to, z)).astype(np.float64)), ins, **args)
                    q = data(to, shape)
                    with np.errstate(all="ignore"):
                        y = np.asarray((f32(to, q) - (np.float32(0) if z is None else spread(f32(to, z)))) * spread(f32(st, s)))
                    case("dequantize", what, t, rounded(t, y.astype(np.float64)), [Array(to, q), Array(st, s)] + ([] if z is None else [Array(to, z)]), **args)
        if block:
            block_case(shape, axis, block)
    for n in (0, 1, 5):
        for lead in ((), (3,), (2, 0), (1, 2, 3, 1, 1, 2, 2)):
            byte = np.asarray(rng.integers(0, 256, size=lead + (n,)), dtype=np.uint8)
            halves = np.stack([byte & 15, byte >> 4], -1).reshape(lead + (2 * n,))
            case("unpack", f"u8 {lead} {n}", "u8", halves, [Array("u8", byte)])
            case("unpack", f"i8 {lead} {n}", "i8", np.where(halves >= 8, halves | 0xF0, halves), [Array("u8", byte)])
            for t in ("i8", "u8"):
                case("pack", f"{t} {lead} {n}", "u8", byte, [Array(t, halves | np.asarray(rng.integers(0, 16, size=halves.shape) << 4, dtype=np.uint8))])


def block_case(shape, axis, block):
    d = axis % len(shape)
    parts = shape[:d] + (shape[d] // block, block) + shape[d + 1:]
    for t in FLOATS:
        for to, largest, power in (("i8", 127, 64), ("f8e4m3", 448, 256), ("f8e5m2", 57344, 32768)):
            for st in ("f32", "f8e8m0"):
                x = data(t, shape, None if rng.integers(0, 2) else "moderate")
                if rng.integers(0, 3) == 0:
                    x = np.zeros_like(x)
                v = f32(t, x).reshape(parts)
                with np.errstate(all="ignore"):
                    most = np.abs(v).max(axis=d + 1, initial=0)
                    if st == "f32":
                        s = most / np.float32(largest)
                        s = np.where(s == 0, np.float32(1), s)
                        bits = rounded("f32", s.astype(np.float64))
                    else:
                        bits = el.encode(st, (most / np.float32(power)).astype(np.float64).ravel(), "floor", True).reshape(most.shape) if most.size else np.zeros(most.shape, dtype=np.uint8)
                        s = f32(st, bits)
                    quotient = (v / np.expand_dims(s, d + 1)).reshape(shape)
                case("quantize_block", f"{t}->{to} {shape} {axis} {block} {st}", to, bits_of_quotient(to, quotient), [Array(t, x)], axes=[axis], block=block, second=(st, bits))


def scaled_product_cases():
    for a_shape, b_shape, block in (((5, 8), (8, 3), 4), ((2, 5, 8), (8, 3), 8), ((2, 1, 3, 6), (4, 6, 2), 1), ((0, 4), (4, 2), 2), ((3, 0), (0, 2), 2), ((1, 1), (1, 1), 1)):
        k = a_shape[-1]
        for at in ("f8e4m3", "f8e5m2", "i8", "f16"):
            for ta in (False, True):
                for tb in (False, True):
                    bt, st, to = str(rng.choice(["f8e4m3", "f8e5m2", "i8", "bf16"])), str(rng.choice(["f32", "f8e8m0"])), str(rng.choice(FLOATS))
                    a, b = data(at, a_shape, "moderate"), data(bt, b_shape, "moderate")
                    one = (1,) * (len(a_shape) - 2)
                    sa = scales(st, one + (a_shape[-2], k // block)) if st == "f8e8m0" else data("f32", one + (a_shape[-2], k // block), "moderate")
                    sb = data("f32", b_shape[:-2] + (k // block, b_shape[-1]), "moderate")
                    with np.errstate(all="ignore"):
                        wide_a = f32(at, a) * np.repeat(f32(st, sa), block, -1)
                        wide_b = f32(bt, b) * np.repeat(f32("f32", sb), block, -2)
                        products = wide_a.astype(np.float64)[..., :, :, None] * wide_b.astype(np.float64)[..., None, :, :]
                        want = rounded(to, ascending_sum(products, [products.ndim - 2]))
                    swap = lambda x, yes: np.swapaxes(x, -1, -2) if yes else x
                    case("scaled_matmul", f"{at} {bt} {st}->{to} {a_shape} {ta} {tb}", to, want, [Array(at, swap(a, ta)), Array(bt, swap(b, tb)), Array(st, swap(sa, ta)), Array("f32", swap(sb, tb))], ta=ta, tb=tb, block=block)


def philox(key, counter):
    """The four words of Philox4x32-10 for a counter of 128 bits, as the paper of 2011 has them."""
    c = [counter >> 32 * i & 0xFFFFFFFF for i in range(4)]
    k = [key & 0xFFFFFFFF, key >> 32]
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [b >> 32 ^ c[1] ^ k[0], b & 0xFFFFFFFF, a >> 32 ^ c[3] ^ k[1], a & 0xFFFFFFFF]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


# Known answers of the authors' library.
assert philox(0, 0) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
assert philox(2**64 - 1, 2**128 - 1) == [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]


def random_cases():
    for shape in SHAPES:
        n = int(np.prod(shape))
        for key, counter in ((0, 0), (1, 2**32 - 1), (0x0123456789ABCDEF, 2**64 - 2), (2**64 - 1, 12345)):
            words = [w for i in range(n // 4 + 1) for w in philox(key, (counter + i) % 2**64)]
            for t, p in (("f32", 24), ("f16", 11), ("bf16", 8)):
                want = np.array([(w >> 32 - p) / 2.0**p for w in words[:n]])
                case("random_uniform", f"{t} {shape} {key:x} {counter}", t, rounded(t, want.reshape(shape)), [], key=key, counter=counter)
                u, v = (np.array([w >> 8 for w in words[i::2]], dtype=np.longdouble) for i in (0, 1))
                radius, turn = np.sqrt(-2 * np.log((u + 1) / 2**24)), 2 * np.longdouble(np.pi) * v / 2**24
                want = np.stack([radius * np.cos(turn), radius * np.sin(turn)], -1).ravel()[:n].astype(np.float64)
                case("random_normal", f"{t} {shape} {key:x} {counter}", t, rounded(t, want.reshape(shape)), [], key=key, counter=counter, ulp=1)


INDEX_TYPES = ["i16", "i32", "i64"]
LINES = [(7,), (5, 13), (2, 3, 5, 7), (2, 1, 2, 3, 1, 2, 2, 3), (1, 1, 1), (3, 0, 5), (0,), (2, 301)]


def indices(shape, extent):
    """Some places several times; the type too."""
    t = INDEX_TYPES[int(rng.integers(0, 3))]
    values = rng.integers(0, max(extent, 1), size=shape)
    return values, Array(t, el.int_bits(t, values) if values.size else np.zeros(shape, dtype=el.bits_type(t)))


def of_any_type(t, shape):
    return data(t, shape) & 1 if t == "bool" else data(t, shape)


def combined(t, x, updates, multiplies, alpha):
    """x, where at each of the places in `updates` its number is added, in order; rounded once."""
    if not el.is_float(t):
        y = ints(t, x)
        for at, bits in updates:
            b = int(el.decode(t, bits))
            y[at] = y[at] * b if multiplies else y[at] + alpha * b
        return to_bits(t, y)
    y = el.decode(t, x).copy()
    hit = np.zeros(x.shape, dtype=bool)
    with np.errstate(all="ignore"):
        for at, bits in updates:
            b = el.decode(t, bits)[()]
            y[at] = y[at] * b if multiplies else y[at] + alpha * b
            hit[at] = True
    return np.where(hit, rounded(t, y), el.canonical(t, x)).astype(x.dtype)


def index_cases():
    for shape in LINES:
        for axis in range(len(shape)):
            n = shape[axis]
            for t in NUMBERS + ["bool"]:
                x = of_any_type(t, shape)
                src = Array(t, x)
                given = axis - len(shape) if rng.integers(0, 2) else axis
                what = f"{t} {shape} {given}"
                longer = 0 if n == 0 else int(rng.integers(0, 2 * n + 1))
                element = tuple(longer if d == axis else int(rng.integers(s // 2, s + 1)) for d, s in enumerate(shape))
                values, index = indices(element, n)
                part = x[tuple(slice(None) if d == axis else slice(0, e) for d, e in enumerate(element))]
                case("gather", what, t, np.take_along_axis(part, values, axis), [src, index], axes=[given])
                source = tuple(1 if rng.integers(0, 3) == 0 else e for e in element)[int(rng.integers(0, 2)) * int(rng.integers(0, len(shape))):]
                new = of_any_type(t, source)
                wide = np.broadcast_to(new, element)
                updates = [((*at[:axis], int(values[at]), *at[axis + 1:]), wide[at]) for at in np.ndindex(*element)]
                put = x.copy()
                for at, bits in updates:
                    put[at] = bits
                ins = [src, index, Array(t, new)]
                case("scatter", what, t, put, ins, axes=[given])
                if t != "bool":
                    case("scatter", what + " add", t, combined(t, x, updates, False, 1), ins, axes=[given], combine=1)
                    case("scatter", what + " mul", t, combined(t, x, updates, True, 1), ins, axes=[given], combine=2)
                for dims in ((), (4,), (2, 3)) if len(shape) < 7 else ((), (4,)):
                    if n == 0:
                        dims = (*dims[:-1], 0)
                    values, index = indices(dims, n)
                    case("take", what + f" by {dims}", t, np.take(x, values, axis) if n else np.zeros(shape[:axis] + dims + shape[axis + 1:]), [src, index], axes=[given])
                    new = of_any_type(t, shape[:axis] + dims + shape[axis + 1:])
                    ins = [src, index, Array(t, new)]
                    m = len(dims)
                    updates = [((*at[:axis], int(values[at[axis : axis + m]]), *at[axis + m :]), new[at]) for at in np.ndindex(*new.shape)]
                    put = x.copy()
                    for at, bits in updates:
                        put[at] = bits
                    case("scatter_update", what + f" by {dims}", t, put, ins, axes=[given])
                    if t != "bool":
                        alpha = [1, -2, 0.5][int(rng.integers(0, 3 if el.is_float(t) else 2))]
                        case("index_add", what + f" by {dims}", t, combined(t, x, updates, False, alpha), ins, axes=[given], combine=1, alpha=alpha)
        for t in NUMBERS + ["bool"]:
            for count in range(1, len(shape) + 1):
                x = of_any_type(t, shape)
                k = 0 if 0 in shape[:count] else 5
                lists = [indices((k,), shape[i]) for i in range(count)]
                new = of_any_type(t, (k, *shape[count:]))
                updates = [((*(int(v[at[0]]) for v, _ in lists), *at[1:]), new[at]) for at in np.ndindex(*new.shape)]
                put = x.copy()
                for at, bits in updates:
                    put[at] = bits
                ins = [Array(t, x), Array(t, new)] + [i for _, i in lists]
                case("index_put", f"{t} {shape} {count}", t, put, ins)
                if t != "bool":
                    case("index_put", f"{t} {shape} {count} accumulate", t, combined(t, x, updates, False, 1), ins, combine=1)
        for t in NUMBERS + ["bool"]:
            if len(shape) == 8:
                continue
            kind = INDEX_TYPES[int(rng.integers(0, 3))]
            values = rng.integers(-2, 9, size=shape)
            want = (values[..., None] == np.arange(7)).astype(np.int64)
            bits = rounded(t, want) if el.is_float(t) else to_bits(t, want) if t != "bool" else want
            case("one_hot", f"{t} {shape} of {kind}", t, bits, [Array(kind, el.int_bits(kind, values) if values.size else np.zeros(shape))])


def order(values, axis, descending):
    """Stable, NaN above all numbers."""
    if not descending:
        return np.argsort(values, axis=axis, kind="stable")
    last = values.shape[axis] - 1
    return np.flip(last - np.argsort(np.flip(values, axis), axis=axis, kind="stable"), axis)


def scanned(values, axis, multiplies, exclusive, reverse):
    """Of float64, or of Python integers."""
    v = np.flip(values, axis) if reverse else values
    one = np.full(tuple(1 if d == axis else s for d, s in enumerate(v.shape)), int(multiplies), dtype=v.dtype)
    v = np.concatenate([one, v], axis=axis)
    v = (np.multiply if multiplies else np.add).accumulate(v, axis=axis)
    v = np.take(v, range(v.shape[axis] - 1) if exclusive else range(1, v.shape[axis]), axis)
    return np.flip(v, axis) if reverse else v


def order_cases():
    for shape in LINES:
        for axis in range(len(shape)):
            for t in NUMBERS:
                x = data(t, shape) if rng.integers(0, 2) else np.array(rng.choice(special(t), size=shape), dtype=el.bits_type(t))
                src = Array(t, x)
                values = el.decode(t, x)
                given = axis - len(shape) if rng.integers(0, 2) else axis
                for descending in (False, True):
                    what = f"{t} {shape} {given} {'down' if descending else ''}"
                    places = order(values, axis, descending)
                    kind = ("i32", "i64")[int(rng.integers(0, 2))]
                    bits = lambda p, kind=kind: el.int_bits(kind, p) if p.size else np.zeros(p.shape)
                    ordered = np.take_along_axis(x, places, axis)
                    case("sort", what, t, ordered, [src], axes=[given], descending=descending)
                    case("argsort", what, kind, bits(places), [src], axes=[given], descending=descending)
                    for k in {0, min(1, shape[axis]), shape[axis] // 2, shape[axis]}:
                        first = tuple(slice(0, k) if d == axis else slice(None) for d in range(len(shape)))
                        case("topk", what + f" {k}", t, ordered[first], [src], axes=[given], descending=descending, second=(kind, bits(places[first])))
                for multiplies in (False, True):
                    x = data(t, shape, "moderate" if rng.integers(0, 2) else None)
                    exclusive, reverse = bool(rng.integers(0, 2)), bool(rng.integers(0, 2))
                    with np.errstate(all="ignore"):
                        v = scanned(el.decode(t, x) if el.is_float(t) else ints(t, x), axis, multiplies, exclusive, reverse)
                    case("cumprod" if multiplies else "cumsum", f"{t} {shape} {given} {exclusive} {reverse}", t, rounded(t, v) if el.is_float(t) else to_bits(t, v),
                         [Array(t, x)], axes=[given], exclusive=exclusive, reverse=reverse)


for make in (unary_cases, binary_cases, pair_cases, truth_cases, reduce_cases, iota_cases, matmul_cases, follow_cases, composite_cases, shape_cases, window_cases, quantise_cases, scaled_product_cases, random_cases, index_cases, order_cases):
    make()
with open(sys.argv[1], "wb") as f:
    f.write(struct.pack("<q", len(out)))
    f.write(b"".join(out))
print(len(out), "cases")
