"""Cases of instructions that compute: elements, masks, conversions, rows and columns, products, factors of rows."""
import math

import numpy as np

import elements as el
import numpy_ops
from insn_table import *


def maximum(t, a, b, smaller=False):
    """Bits; a NaN loses against a number, -0 < +0."""
    if not el.is_float(t):
        f = np.minimum if smaller else np.maximum
        return f(el.decode(t, a), el.decode(t, b)).view(el.bits_type(t))
    x, y = el.decode(t, a), el.decode(t, b)
    key = lambda v: (v, not np.signbit(v))
    bits = np.empty(np.shape(a), dtype=el.bits_type(t))
    for i in np.ndindex(*np.shape(a)):
        if np.isnan(x[i]):
            bits[i] = b[i]
        elif np.isnan(y[i]):
            bits[i] = a[i]
        else:
            a_wins = (key(x[i]) < key(y[i])) == smaller
            bits[i] = a[i] if a_wins else b[i]
    return el.canonical(t, bits)


def binary(op, t, a, b):
    """(bits, divisions by zero)"""
    a, b = np.broadcast_arrays(a, b)
    if op in ("max", "min"):
        return maximum(t, a, b, op == "min"), 0
    with np.errstate(all="ignore"):
        if el.is_float(t):
            x, y = el.decode(t, a), el.decode(t, b)
            if t == "f32":
                x, y = x.astype(np.float32), y.astype(np.float32)
            r = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide}[op](x, y)
            return el.encode(t, r).reshape(a.shape), 0
        pairs = [(int(x), int(y)) for x, y in zip(np.ravel(el.decode(t, a)), np.ravel(el.decode(t, b)))]
    def quotient(x, y):
        if y == 0:
            return -1
        return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
    f = {"add": lambda x, y: x + y, "sub": lambda x, y: x - y, "mul": lambda x, y: x * y, "div": quotient}[op]
    faults = sum(y == 0 for _, y in pairs) if op == "div" else 0
    return el.int_bits(t, [f(x, y) for x, y in pairs]).reshape(a.shape), faults


def binary_cases():
    for op in ("add", "sub", "mul", "div", "max", "min"):
        for t in NUMBERS:
            for k, shape in enumerate(SIZES):
                layouts = list(layouts_for(3))[k % 3]
                a, b = data(t, shape), data(t, shape)
                want, faults = binary(op, t, a, b)
                d = Tile(t, data(t, shape), layouts[0])
                case("t" + op, f"{t} {shape} {layouts}", d, [Tile(t, a, layouts[1]), Tile(t, b, layouts[2])], d.with_valid(want), faults=faults)
                s = int(rng.integers(0, 5)) if not el.is_float(t) else float(rng.choice([0.0, -0.0, 1.5, np.inf, np.nan, 3.1]))
                sbits = el.encode(t, s) if el.is_float(t) else el.int_bits(t, [s])
                for reversed_ in (False, True):
                    if reversed_ and op != "div":
                        continue
                    want, faults = binary(op, t, sbits[0], a) if reversed_ else binary(op, t, a, sbits[0])
                    case("tr" + op + "s" if reversed_ else "t" + op + "s", f"{t} {shape} {layouts} s={s}", d, [Tile(t, a, layouts[1])], d.with_valid(want), scalar=s, faults=faults)
                if not el.is_float(t):
                    continue
                want, _ = binary(op, t, a, sbits[0])
                if s == 1.5:
                    case("t" + op + "s", f"{t} integer scalar", d, [Tile(t, a)], d.with_valid(binary(op, t, a, el.encode(t, 2.0)[0])[0]), scalar=2)


def relu(t, a):
    """Bits; a NaN is the canonical one, -0 is +0."""
    x = el.decode(t, a)
    return np.where(x > 0, a, np.zeros_like(a)) if not el.is_float(t) else el.canonical(t, np.where(np.isnan(x) | (x > 0), a, np.zeros_like(a)))


def unary_cases():
    for t in NUMBERS:
        for k, shape in enumerate(SIZES + [(16, 64)]):
            layouts = list(layouts_for(2))[k % 3]
            a = data(t, shape)
            d = Tile(t, data(t, shape), layouts[0])
            s = Tile(t, a, layouts[1])
            top = el.bits_type(t)(1 << (8 * el.size(t) - 1))
            if el.is_float(t):
                neg, absolute = a ^ top, a & ~top
            else:
                v = [int(x) for x in np.ravel(el.decode(t, a))]
                neg = el.int_bits(t, [-x for x in v]).reshape(shape)
                absolute = el.int_bits(t, [abs(x) for x in v]).reshape(shape)
            case("tneg", f"{t} {shape} {layouts}", d, [s], d.with_valid(neg))
            case("tabs", f"{t} {shape} {layouts}", d, [s], d.with_valid(absolute))
            case("trelu", f"{t} {shape} {layouts}", d, [s], d.with_valid(relu(t, a)))
            if not el.is_float(t):
                continue
            for slope in (0.25, -2.0, -0.0, math.inf):
                x = el.decode(t, a)
                with np.errstate(all="ignore"):
                    want = el.encode(t, np.where(x > 0, x, x * slope).ravel()).reshape(shape)
                case("tlrelu", f"{t} {shape} {layouts} {slope}", d, [s], d.with_valid(want), scalar=slope)
                slopes = data(t, shape)
                with np.errstate(all="ignore"):
                    want = el.encode(t, np.where(x > 0, x, x * el.decode(t, slopes)).ravel()).reshape(shape)
                case("tprelu", f"{t} {shape} {layouts}", d, [s, Tile(t, slopes, layouts[0])], d.with_valid(want))
                base = data(t, shape)
                with np.errstate(all="ignore"):
                    product = el.decode(t, el.encode(t, (x * el.decode(t, el.encode(t, slope))[()]).ravel())).reshape(shape)
                    want = el.encode(t, (el.decode(t, base) + product).ravel()).reshape(shape)
                case("taxpy", f"{t} {shape} {layouts} {slope}", d, [Tile(t, base, layouts[0]), s], d.with_valid(want), scalar=slope)
            for name, (f, ulp) in numpy_ops.INSTRUCTIONS.items():
                with np.errstate(all="ignore"):
                    want = el.encode(t, f(el.decode(t, a)).ravel()).reshape(shape)
                case("t" + name, f"{t} {shape} {layouts}", d, [s], d.with_valid(want), ulp=ulp)
            for name, (f, ulp) in numpy_ops.CALLED.items() if t == "f32" else ():
                with np.errstate(all="ignore"):
                    want = el.encode(t, f(el.decode(t, a)).ravel()).reshape(shape)
                case("tfunction", f"{name} {shape} {layouts}", d, [s], d.with_valid(want), ulp=ulp)
            b = data(t, shape)
            for name, (f, ulp) in numpy_ops.CALLED_PAIRS.items() if t == "f32" else ():
                with np.errstate(all="ignore"):
                    want = el.encode(t, f(el.decode(t, a), el.decode(t, b)).ravel()).reshape(shape)
                case("tfunction2", f"{name} {shape} {layouts}", d, [s, Tile(t, b, layouts[0])], d.with_valid(want), ulp=ulp)


def remainder_cases():
    for k, shape in enumerate(SIZES + [(16, 64)]):
        layout = ("nd", "dn")[k % 2]
        for t in NUMBERS:
            a, b = data(t, shape), data(t, shape)
            d = Tile(t, data(t, shape), layout)
            s = float(rng.choice([0.5, -3.0, np.inf, 2.0])) if el.is_float(t) else int(rng.integers(0, 5))
            sbits = el.encode(t, s)[0] if el.is_float(t) else el.int_bits(t, [s])[0]
            for name, (floats, integers, ulp) in numpy_ops.TILE_PAIRS.items():
                for suffix, other, sources in (("", b, [Tile(t, a, layout), Tile(t, b, layout)]), ("s", np.full(shape, sbits), [Tile(t, a, layout)])):
                    x, y = el.decode(t, a), el.decode(t, other)
                    if el.is_float(t):
                        with np.errstate(all="ignore"):
                            want, faults = el.encode(t, floats(x, y).ravel()).reshape(shape), 0
                    elif integers is None:
                        continue
                    else:
                        want, faults = el.int_bits(t, integers(x.astype(object), y.astype(object))), int(np.sum(y == 0))
                    case(f"t{name}{suffix}", f"{t} {shape} {layout} {s}", d, sources, d.with_valid(want), scalar=s, faults=faults, ulp=ulp)


def mask_cases():
    for k, shape in enumerate(SIZES + [(16, 64), (0, 7), (7, 0), (2, 257)]):
        layout = ("nd", "dn")[k % 2]
        some = rng.integers(0, 2, shape).astype(np.uint8)
        for t in NUMBERS:
            a, b = data(t, shape), data(t, shape)
            same = rng.integers(0, 3, shape) == 0
            b = np.where(same, a, b).astype(el.bits_type(t))
            x, y = el.decode(t, a), el.decode(t, b)
            s = float(rng.choice([0.0, -0.0, 1.0, np.inf, np.nan])) if el.is_float(t) else int(rng.integers(0, 4))
            sbits = el.encode(t, s)[0] if el.is_float(t) else el.int_bits(t, [s])[0]
            for word, f in numpy_ops.RELATIONS.items():
                d = Mask(some, layout)
                case("tcmp", f"{t} {shape} {layout} {word}", d, [Tile(t, a, layout), Tile(t, b, layout)], d.with_bits(f(x, y).astype(np.uint8)), relation=word)
                case("tcmps", f"{t} {shape} {layout} {word} {s}", d, [Tile(t, a, layout)], d.with_bits(f(x, el.decode(t, [sbits])[0]).astype(np.uint8)),
                     relation=word, scalar=s)
            d = Tile(t, data(t, shape), layout)
            m = Mask(some, layout)
            case("tsel", f"{t} {shape} {layout}", d, [m, Tile(t, a, layout), Tile(t, b, layout)], d.with_valid(np.where(some, a, b).astype(el.bits_type(t))))
            case("tsels", f"{t} {shape} {layout} {s}", d, [m, Tile(t, a, layout)], d.with_valid(np.where(some, a, sbits).astype(el.bits_type(t))), scalar=s)
            if el.is_float(t):
                continue
            for name, f in numpy_ops.BITS.items():
                case(f"t{name}", f"{t} {shape} {layout}", d, [Tile(t, a, layout), Tile(t, b, layout)][: 1 + (name != "not")], d.with_valid((~a if name == "not" else f(a, b)).astype(el.bits_type(t))))
            for name, f in numpy_ops.SHIFTS.items():
                case(f"t{name}", f"{t} {shape} {layout}", d, [Tile(t, a, layout), Tile(t, b, layout)], d.with_valid(el.int_bits(t, f(x.astype(object), y.astype(object), 8 * el.size(t)))))
        for name, f in numpy_ops.BITS.items():
            d = Mask(some, layout)
            sources = [Mask(rng.integers(0, 2, shape).astype(np.uint8), layout, d.capacity) for _ in range(1 + (name != "not"))]
            count = shape[0 if layout == "nd" else 1] if some.size else 0
            rows = d.rows.copy()
            rows[:count] = ~sources[0].rows[:count] if name == "not" else f(sources[0].rows[:count], sources[1].rows[:count])
            case(f"t{name}", f"mask {shape} {layout}", d, sources, d.image(rows))


def convert_cases():
    every = list(el.TYPES)
    for src in every:
        for to in every:
            if to == "index" or src == "index":
                continue
            for mode in el.MODES:
                for saturate in (False, True):
                    shape = (3, 37)
                    a = data(src, shape)
                    if el.is_float(src):  # halves and values near the limits of narrow types
                        near = el.encode(src, np.concatenate([np.arange(-8, 8) / 2 + 0.0, [126.5, 127.5, -128.5, 255.5, 65519.0, 65520.0, 464.0, 465.0, 2.0**31, 2.0**63, 2.0**64, -(2.0**63)]]))
                        a[0, : len(near)] = near
                    if src in ("f8e8m0",) and to == "f8e8m0" and mode != "none":
                        continue  # integral rounding of 2^-k has no meaning in a type without zero
                    l1, l2 = any_layout(), any_layout()
                    d = Tile(to, data(to, shape), l1)
                    case("tcvt", f"{src}->{to} {mode} {'sat' if saturate else ''} {l1} {l2}", d, [Tile(src, a, l2)], d.with_valid(el.convert(to, src, a, mode, saturate, True)), mode=mode, saturate=saturate)
    for t in ("f16", "bf16"):
        a = np.arange(65536, dtype=np.uint16).reshape(256, 256)
        d = Tile("f32", np.zeros((256, 256), dtype=np.uint32))
        wide = el.convert("f32", t, a, "rint", False, True)
        case("tcvt", f"all of {t}->f32", d, [Tile(t, a)], d.with_valid(wide), mode="rint")
        # all values of the type, their middles and the neighbours of the middles
        for step in (0, -1, 1):
            mids = (wide + np.uint32({"f16": 0x1000, "bf16": 0x8000}[t] + step)).astype(np.uint32)
            d = Tile(t, a)
            case("tcvt", f"middles of {t} {step}", d, [Tile("f32", mids)], d.with_valid(el.convert(t, "f32", mids, "rint", False, True)), mode="rint")


def reduce_all(op, t, a, axis):
    """Bits of the fold along axis, in the order and the precision of the contract."""
    a = np.moveaxis(a, axis, 0)
    n = a.shape[1]
    if op in ("sum", "prod"):
        if not el.is_float(t):
            return el.int_bits(t, [(sum if op == "sum" else math.prod)(int(v) for v in el.decode(t, a[:, i])) for i in range(n)])
        acc = np.full(n, 0 if op == "sum" else 1, dtype=np.float32)
        with np.errstate(all="ignore"):
            for row in a:
                value = el.decode(t, row).astype(np.float32)
                acc = acc + value if op == "sum" else acc * value
                if axis == 0:
                    acc = el.decode(t, el.encode(t, acc.astype(np.float64))).astype(np.float32)
        return el.encode(t, acc.astype(np.float64)) if n else np.zeros(0, dtype=el.bits_type(t))
    if len(a) == 0:
        lo, hi = (-np.inf, np.inf) if el.is_float(t) else el.limits(t)
        v = lo if op == "max" else hi
        return np.repeat(el.encode(t, v) if el.is_float(t) else el.int_bits(t, [v]), n)
    acc = a[0]
    for row in a[1:]:
        acc = maximum(t, acc, row, op == "min")
    return el.canonical(t, acc)


def reduce_cases():
    for t in NUMBERS:
        for k, shape in enumerate(SIZES + [(7, 0), (0, 7), (16, 64)]):
            layouts = list(layouts_for(2))[k % 3]
            for op in ("sum", "prod", "max", "min"):
                a = data(t, shape, "moderate" if k % 2 or op in ("sum", "prod") else None)
                if op == "sum" and k == 2:
                    a = data(t, shape)
                if el.is_float(t) and op not in ("sum", "prod") and shape[0] > 2 and shape[1] > 2:
                    a[1, :] = el.encode(t, np.nan)[0]
                    a[:, 1] = el.encode(t, np.nan)[0]
                s = Tile(t, a, layouts[1])
                d = Tile(t, data(t, (shape[0], 1)), layouts[0])
                case("trow" + op, f"{t} {shape} {layouts}", d, [s], d.with_valid(reduce_all(op, t, a, 1).reshape(-1, 1)))
                d = Tile(t, data(t, (1, shape[1])), layouts[0])
                case("tcol" + op, f"{t} {shape} {layouts}", d, [s], d.with_valid(reduce_all(op, t, a, 0).reshape(1, -1)))


def spread_cases():
    for t in NUMBERS:
        for k, shape in enumerate(SIZES + [(16, 64), (0, 7)]):
            layouts = list(layouts_for(3))[k % 3]
            a, v, w = data(t, shape), data(t, (shape[0], 1)), data(t, (1, shape[1]))
            d = Tile(t, data(t, shape), layouts[0])
            sa = Tile(t, a, layouts[1])
            vectors = [("row", v, Tile(t, v, layouts[2])), ("col", w, Tile(t, w, layouts[2]))]
            for axis, x, tile in vectors:
                case(f"t{axis}expand", f"{t} {shape} {layouts}", d, [tile], d.with_valid(np.broadcast_to(x, shape)))
                for op in ("add", "sub", "mul", "div", "max", "min"):
                    want, faults = binary(op, t, a, x)
                    case(f"t{axis}expand{op}", f"{t} {shape} {layouts} v={x.shape}", d, [sa, tile], d.with_valid(want), faults=faults)


def fma32(a, b, c):
    """Exact fused multiply-add of float32 arrays: the product is exact in float64; the sum is rounded to odd there."""
    with np.errstate(all="ignore"):
        p = a.astype(np.float64) * b.astype(np.float64)
        c = c.astype(np.float64)
        s = p + c
        bb = s - p
        err = (p - (s - bb)) + (c - bb)
        even = (s.view(np.uint64) & 1) == 0
        fix = np.isfinite(s) & (err != 0) & even & ~np.isnan(err)
        s = np.where(fix, np.nextafter(s, np.where(err > 0, np.inf, -np.inf)), s)
        return s.astype(np.float32)


def product(t, acc_type, left, right, start):
    """start + left x right, k ascending; start is broadcast to all rows."""
    shape = left.shape[0], right.shape[1]
    if t == "i8":
        s = el.decode(t, left).astype(np.int64) @ el.decode(t, right).astype(np.int64)
        return el.int_bits(acc_type, s + (el.decode(acc_type, start).astype(np.int64) if start is not None else 0))
    x, y = el.decode(t, left).astype(np.float32), el.decode(t, right).astype(np.float32)
    s = np.broadcast_to(el.decode(acc_type, start).astype(np.float32) if start is not None else np.float32(0), shape)
    for i in range(left.shape[1]):
        s = fma32(np.broadcast_to(x[:, i : i + 1], shape), np.broadcast_to(y[i : i + 1], shape), s)
    return el.encode(acc_type, s.astype(np.float64).ravel()).reshape(shape)


def matmul_cases():
    shapes = [(1, 1, 1), (1, 300, 70), (5, 7, 3), (17, 300, 31), (16, 16, 16), (33, 520, 70), (2, 0, 3)]
    for t in FLOATS + ["i8"]:
        acc_type = "i32" if t == "i8" else "f32"
        for m, k, n in shapes:
            for kind in ("moderate", None):
                l, r, c = data(t, (m, k), kind), data(t, (k, n), kind), data(acc_type, (m, n), kind)
                b = data(acc_type, (1, n), kind)
                zero, acc, bias = (product(t, acc_type, l, r, start) for start in (None, c, b))
                for ll, rl, al in (("zz", "zn", "nz"), ("nz", "zn", "nz"), ("nd", "dn", "nd")):
                    srcs = [Tile(t, l, ll, "left"), Tile(t, r, rl, "right")]
                    what = f"{t} {m}x{k}x{n} {ll} {rl} {al}"
                    d = Tile(acc_type, data(acc_type, (m, n)), al, "acc")
                    case("tmatmul", what, d, srcs, d.with_valid(zero))
                    if m == 1:
                        case("tgemv", what, d, srcs, d.with_valid(zero))
                        case("tgemv_bias", what, d, srcs + [Tile(acc_type, b, "nd", "bias")], d.with_valid(bias))
                        case("tgemv_acc", what, d, [Tile(acc_type, c, al, "acc")] + srcs, d.with_valid(acc))
                    case("tmatmul_bias", what, d, srcs + [Tile(acc_type, b, "nd", "bias")], d.with_valid(bias))
                    case("tmatmul_acc", what, d, [Tile(acc_type, c, al, "acc")] + srcs, d.with_valid(acc))
                    d = Tile(acc_type, c, al, "acc")
                    same = Tile(acc_type, c, al, "acc", capacity=d.capacity)
                    case("tmatmul_acc", what + " in place", d, [same] + srcs, d.with_valid(acc), aliases=[0, -1, -1])


def whole(t, x):
    """Bits of x to nearest even, within the range of t; of NaN 0."""
    least, most = el.limits(t)
    return el.int_bits(t, np.nan_to_num(np.clip(np.rint(x), least, most), nan=0).astype(np.int64).ravel()).reshape(x.shape)


def quantized_cases():
    """Rows of f32 as 8 bits and back, by a factor and an offset of each row."""
    for shape in SIZES:
        for kind in ("moderate", None):
            column = (shape[0], 1)
            a, factor, offset = data("f32", shape, kind), data("f32", column, kind), data("f32", column, kind)
            x, f, o = (el.decode("f32", v).astype(np.float32) for v in (a, factor, offset))
            of_rows = [Tile("f32", v, any_layout()) for v in (factor, offset)]
            with np.errstate(all="ignore"):
                scaled = x * f
                moved = scaled + o
            d = Tile("i8", data("i8", shape), any_layout())
            case("tquant", f"{shape} {kind}", d, [Tile("f32", a, any_layout()), of_rows[0]], d.with_valid(whole("i8", scaled)))
            d = Tile("u8", data("u8", shape), any_layout())
            case("tquant_from", f"{shape} {kind}", d, [Tile("f32", a, any_layout())] + of_rows, d.with_valid(whole("u8", moved)))
            for t in ("i8", "i16"):
                a = data(t, shape)
                with np.errstate(all="ignore"):
                    want = el.encode("f32", ((el.decode(t, a).astype(np.float32) - o) * f).astype(np.float64).ravel()).reshape(shape)
                d = Tile("f32", data("f32", shape), any_layout())
                case("tdequant", f"{t} {shape} {kind}", d, [Tile(t, a, any_layout())] + of_rows, d.with_valid(want))
