"""Reductions, products with what follows their sum, and ops that are made of both."""
import math

import numpy as np

import elements as el
from elementwise_cases import extreme
from tensor_table import Array, FLOATS, NUMBERS, SHAPES, case, data, ints, rng, rounded, to_bits


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


def matmul_cases():
    shapes = [((1, 1), (1, 1)), ((5, 7), (7, 3)), ((17, 300), (300, 70)), ((0, 3), (3, 4)), ((4, 0), (0, 5)), ((2, 3, 5, 7), (2, 3, 7, 11)), ((3, 5, 7), (7, 2)), ((2, 1, 4, 3), (5, 3, 2)), ((1, 1, 2, 1, 1, 2, 3, 2), (1, 1, 2, 1, 1, 2, 2, 5))]
    for sa, sb in shapes:
        for t in FLOATS + ["i8", "i32", "u16", "u64"]:
            for to in {**{f: sorted({f, "f32"}) for f in FLOATS}, "i8": ["i8", "i32"], "i32": ["i32", "i64", "f32"], "u16": ["u16", "u32"], "u64": ["u64"]}[t]:
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
                                want = el.encode(to, [el.short_float(v) for v in wrap]).reshape(sums.shape)
                            else:
                                want = to_bits(to, sums)
                        case("matmul", f"{t}->{to} {sa} {sb} {ta} {tb}", to, want, ins, ta=ta, tb=tb)


def follow_cases():
    """Products of vectors, and bias, scale and relu after the sum: that in float64 or exact, each step after it in f32."""
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


def in_f32(y):
    with np.errstate(all="ignore"):
        return np.asarray(y, dtype=np.float64).astype(np.float32).astype(np.float64)


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
        y = in_f32(in_f32(y) + el.decode(bias_type, bias)) if el.is_float(t) else y + ints(bias_type, bias)
    if scale_shape is not None:
        if not el.is_float(t):
            sums = t if t in ("u32", "u64", "i64") else "i32"
            y = el.decode(sums, to_bits(sums, y)).astype(np.float64)
        scale_type = str(rng.choice(FLOATS))
        scale = data(scale_type, scale_shape, None)
        ins.append(Array(scale_type, scale))
        with np.errstate(all="ignore"):
            y = in_f32(in_f32(y) * el.decode(scale_type, scale))
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
        whole = np.clip(np.rint(y.ravel()), lo, hi).tolist()
        want = to_bits(to, np.array([0 if v != v else int(v) for v in whole], dtype=object).reshape(shape))
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
