"""Writes the cases of test_insn: one record for each instruction, element type, layout and size.

usage: make_insn_tables.py OUT. Records are little-endian; test_insn.c says how they are read."""
import functools
import math
import struct
import sys

import numpy as np

import elements as el
import numpy_ops

rng = np.random.default_rng(20240229)
MASK, REC64 = 17, 18  # rows of types.def
SPACES = {"vec": 1, "mat": 2, "left": 3, "right": 4, "acc": 5, "bias": 6, "scaling": 7}
LAYOUTS = {"nd": 1, "dn": 2, "nz": 3, "zn": 4, "zz": 5, "nn": 6}
FLOATS = el.FLOATS
INTS = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"]
NUMBERS = FLOATS + INTS
SIZES = [(1, 1), (5, 13), (17, 31), (3, 300)]
out = []


def up(n, k):
    return -(-n // k) * k


class Tile:
    """A tile whose memory image `bytes` is built by numpy's reshape and transpose."""

    records = False  # elements of u64 are records of a sort

    def __init__(self, t, bits, layout="nd", space="vec", capacity=None, fill=None):
        self.t, self.layout, self.space, self.valid = t, layout, space, bits.shape
        vr, vc = bits.shape
        br, bc = self.box()
        rows, cols = capacity or (up(max(vr, 1), br) + br * int(rng.integers(0, 2)), up(max(vc, 1), bc) + bc * int(rng.integers(0, 2)))
        self.capacity = rows, cols
        full = np.frombuffer(rng.bytes(rows * cols * el.size(t)), dtype=el.bits_type(t)).reshape(rows, cols).copy()
        if fill is not None:
            full[:] = fill
        full[:vr, :vc] = bits
        self.full = full

    def box(self):
        if self.layout in ("nd", "dn"):
            return 1, 1
        if self.space == "acc":
            return 16, 16
        wide = 32 // el.size(self.t)
        return (16, wide) if self.layout in ("nz", "zz") else (wide, 16)

    def image(self, full=None):
        full = self.full if full is None else full
        if self.layout == "nd":
            return full.tobytes()
        if self.layout == "dn":
            return full.T.tobytes()
        br, bc = self.box()
        rows, cols = self.capacity
        boxes = full.reshape(rows // br, br, cols // bc, bc)
        order = {"nz": (2, 0, 1, 3), "zn": (0, 2, 3, 1), "zz": (0, 2, 1, 3), "nn": (2, 0, 3, 1)}[self.layout]
        return boxes.transpose(order).tobytes()

    def with_valid(self, bits):
        """The image with other elements in the valid region."""
        full = self.full.copy()
        full[: bits.shape[0], : bits.shape[1]] = bits
        return self.image(full)

    def record(self, alias=-1):
        image = self.image()
        head = struct.pack("<9q", REC64 if self.records else el.TYPES[self.t][0], SPACES[self.space], LAYOUTS[self.layout], *self.capacity, *self.valid, alias, len(image))
        return head + image


class Mask:
    """A tile of bits: a row of them begins at a multiple of 32 bytes, the first in the lowest bit; columns, where the layout is dn."""

    def __init__(self, bits, layout="nd", capacity=None):
        self.layout, self.space, self.valid = layout, "vec", bits.shape
        self.capacity = capacity or (max(bits.shape[0], 1) + int(rng.integers(0, 2)), max(bits.shape[1], 1) + int(rng.integers(0, 300)))
        lines, length = self.capacity if layout == "nd" else self.capacity[::-1]
        self.rows = np.frombuffer(rng.bytes(lines * 32 * -(-length // 256)), dtype=np.uint8).reshape(lines, -1)
        self.rows = self.packed(bits, self.rows)

    def packed(self, bits, rows):
        """`rows` with other bits in the valid region."""
        lines = bits if self.layout == "nd" else bits.T
        spread = np.unpackbits(rows, axis=1, bitorder="little")
        spread[: lines.shape[0], : lines.shape[1]] = lines
        return np.packbits(spread, axis=1, bitorder="little")

    def image(self, rows=None):
        return (self.rows if rows is None else rows).tobytes()

    def with_bits(self, bits):
        """The image after a comparison: the rest of each row is 0."""
        rows = self.rows.copy()
        count = bits.shape[0 if self.layout == "nd" else 1]
        if bits.size:
            rows[:count] = 0
        return self.image(self.packed(bits, rows))

    def record(self, alias=-1):
        image = self.image()
        return struct.pack("<9q", MASK, SPACES["vec"], LAYOUTS[self.layout], *self.capacity, *self.valid, alias, len(image)) + image


def number(x):
    return struct.pack("<qqd", int(isinstance(x, int)), x if isinstance(x, int) else 0, x if isinstance(x, float) else 0.0)


def gm_record(gm, expected=None):
    if gm is None:
        return struct.pack("<q", 0)
    t, data, strides, offsets, rows, cols, transpose = gm
    dims = data.shape
    pad = lambda v: list(v) + [0] * (8 - len(v))
    head = struct.pack("<4q24q3q", 1, el.TYPES[t][0], len(dims), int(transpose), *pad(dims), *pad(strides), *pad(offsets), rows, cols, data.size * el.size(t))
    return head + data.tobytes() + (data if expected is None else expected).tobytes()


def case(name, what, dst, srcs, expected, scalar=0, pad=None, mode="none", saturate=False, ulp=0, faults=0, gm=None, gm_expected=None, aliases=None, at=None, relation=None):
    """expected: image of dst afterwards (None when there is no dst). at: of what is read, which then is `scalar`."""
    body = struct.pack("<24s64s", name.encode(), what.encode()[:63])
    related = list(numpy_ops.RELATIONS).index(relation) + 1 if relation else 0
    body += struct.pack("<7q", el.MODES.index(mode), int(saturate), int(pad is not None), related, ulp, faults, len(srcs))
    body += number(scalar) + number(0 if pad is None else pad)
    body += struct.pack("<q", int(dst is not None))
    if dst is not None:
        body += dst.record() + expected
    for i, s in enumerate(srcs):
        body += s.record(aliases[i] if aliases else -1)
    body += gm_record(gm, gm_expected)
    if at is not None:
        body += struct.pack("<2q", *at)
    out.append(struct.pack("<q", len(body)) + body)


def any_layout():
    return str(rng.choice(list(LAYOUTS)))


@functools.cache
def special(t):
    lo, hi = (0, 0) if el.is_float(t) else el.limits(t)
    if el.is_float(t):
        tiny, top = el.decode(t, [1, el.FORMATS[t][2]]) if t in FLOATS else (1.0, 1.0)
        return el.encode(t, [0.0, -0.0, 1.0, -1.0, np.nan, np.inf, -np.inf, tiny, -tiny, top, -top, 0.5, 1.5, -2.5, 3.0, 88.8])
    return el.int_bits(t, [0, 1, hi, lo, hi - 1, lo + 1, 2, 3, hi // 2, 7])


def data(t, shape, kind=None):
    """A third special values, a third any bits, a third moderate numbers; `kind` moderate: those alone."""
    n = math.prod(shape)
    any_bits = np.frombuffer(rng.bytes(n * el.size(t)), dtype=el.bits_type(t))
    if t == "bool":
        return (any_bits & 1).reshape(shape)
    if el.is_float(t):
        moderate = el.encode(t, rng.normal(size=n) * 4) if n else any_bits
    else:
        lo, hi = el.limits(t)
        moderate = el.int_bits(t, rng.integers(max(lo, -9), 10, size=n))
    if kind == "moderate":
        return moderate.reshape(shape)
    pick = rng.integers(0, 3, size=n)
    picked = np.where(pick == 0, rng.choice(special(t), size=n), np.where(pick == 1, any_bits, moderate))
    return picked.astype(el.bits_type(t)).reshape(shape)


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


def layouts_for(n):
    yield ["nd"] * n
    yield ["dn"] * n
    yield [any_layout() for _ in range(n)]


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


def block_cases():
    """Blocks of 32 bytes at offsets."""
    for t in NUMBERS:
        block = 32 // el.size(t)
        for rows, blocks, of in ((5, 3, (7, 4)), (1, 9, (1, 2)), (16, 1, (3, 1)), (0, 2, (1, 1))):
            x = data(t, (of[0], of[1] * block))
            line = (of[1] + 1) * block
            row, at = rng.integers(0, of[0], (rows, blocks)), rng.integers(0, of[1], (rows, blocks))
            offset = el.int_bits("i32", ((row * line + at * block) * el.size(t)).ravel()).reshape(rows, blocks) if rows else np.zeros((0, blocks), np.uint32)
            want = np.array([[x[r, b * block + i] for b_, r in zip(bs, rs) for b in [b_] for i in range(block)] for bs, rs in zip(at, row)], dtype=x.dtype).reshape(rows, blocks * block)
            d = Tile(t, data(t, (rows, blocks * block)), any_layout())
            srcs = [Tile(t, x, "nd", capacity=(of[0] + 1, line)), Tile("i32", offset, any_layout())]
            case("tgatherb", f"{t} {rows} {blocks} {of}", d, srcs, d.with_valid(want))


def accumulator_cases():
    """An accumulator put into a tile of its type, or a narrower float."""
    for t in ("f32", "f16", "bf16"):
        for shape, part, at in (((32, 48), (16, 17), (3, 16)), ((5, 7), (5, 7), (0, 0)), ((19, 35), (1, 2), (18, 0))):
            base, x = data(t, shape), data("f32", part)
            want = base.copy()
            with np.errstate(all="ignore"):
                want[at[0] : at[0] + part[0], at[1] : at[1] + part[1]] = x if t == "f32" else el.encode(t, el.decode("f32", x).ravel()).reshape(part)
            d = Tile(t, data(t, shape), "nz", "mat")
            case("tinsert", f"acc {t} {shape} {part} {at}", d, [Tile(t, base, "nz", "mat"), Tile("f32", x, "nz", "acc")], d.with_valid(want), at=at)


def array(t, dims):
    a = data(t, dims)
    strides = [math.prod(dims[i + 1 :]) for i in range(len(dims))]
    return a, strides


def memory_cases():
    for t in list(el.TYPES):
        if t == "index":
            continue
        for layout in LAYOUTS:
            space = "vec"
            for dims, offsets, rows, cols, transpose in (
                ((40, 50), (3, 7), 20, 33, False), ((40, 50), (3, 7), 33, 20, True), ((1, 1), (0, 0), 1, 1, False), ((3, 5, 11, 17), (2, 4, 1, 0), 10, 17, False),
                ((29,), (5,), 1, 24, False), ((29,), (5,), 24, 1, True), ((), (), 1, 1, False), ((9, 9), (9, 2), 0, 7, False)):
                a, strides = array(t, dims)
                window = a
                for d in range(len(dims) - 2):
                    window = window[offsets[d]]
                if len(dims) == 0:
                    window = window.reshape(1, 1)
                elif len(dims) == 1:
                    window = window.reshape(1, -1)[:, offsets[0] :]
                else:
                    window = window[offsets[-2] :, offsets[-1] :]
                window = (window.T if transpose else window)[:rows, :cols]
                gm = (t, a, strides, offsets, rows, cols, transpose)
                d = Tile(t, data(t, (rows, cols)), layout, space)
                what = f"{t} {dims} {layout} {'T' if transpose else ''}"
                case("tload", what, d, [], d.with_valid(window), gm=gm)
                for pad in (0, -1.0, float("-inf"), 3):
                    if t in ("bool", "f8e8m0") and pad in (-1.0, float("-inf"), 0):
                        continue
                    if el.is_float(t):
                        bits = el.encode(t, float(pad))[0]
                    else:
                        lo, hi = el.limits(t)
                        bits = el.int_bits(t, [int(min(max(pad, lo), hi))])[0]
                    full = np.full(d.capacity, bits, dtype=el.bits_type(t))
                    full[:rows, :cols] = window
                    p = Tile(t, data(t, d.capacity), layout, space, capacity=d.capacity)
                    case("tload", what + f" pad {pad}", p, [], p.image(full), pad=pad, gm=gm)
                    src = Tile(t, data(t, (rows, cols)), layout, space, capacity=d.capacity)
                    filled = np.full(d.capacity, bits, dtype=el.bits_type(t))
                    filled[:rows, :cols] = src.full[:rows, :cols]
                    case("tfillpad", what + f" pad {pad}", p, [src], p.image(filled), pad=pad)
                if not transpose:
                    src = Tile(t, data(t, (rows, cols)), layout, space)
                    after = a.copy()
                    place = after
                    for i in range(len(dims) - 2):
                        place = place[offsets[i]]
                    if len(dims) == 0:
                        after = src.full[:1, :1].reshape(())
                    elif len(dims) == 1:
                        after[offsets[0] : offsets[0] + cols] = src.full[0, :cols]
                    else:
                        place[offsets[-2] : offsets[-2] + rows, offsets[-1] : offsets[-1] + cols] = src.full[:rows, :cols]
                    case("tstore", what, None, [src], b"", gm=gm, gm_expected=after)


def move_cases():
    for t in list(el.TYPES):
        if t == "index":
            continue
        for a_layout in LAYOUTS:
            for d_layout in LAYOUTS:
                bits = data(t, (19, 35))
                d = Tile(t, data(t, (19, 35)), d_layout, "mat")
                case("tmov", f"{t} {a_layout}->{d_layout}", d, [Tile(t, bits, a_layout)], d.with_valid(bits))
                d = Tile(t, data(t, (35, 19)), d_layout)
                case("ttrans", f"{t} {a_layout}->{d_layout}", d, [Tile(t, bits, a_layout)], d.with_valid(bits.T))
        for shape in SIZES:
            s = 3 if not el.is_float(t) else 3.25
            bits = {True: lambda: el.encode(t, s), False: lambda: el.int_bits(t, [1 if t == "bool" else s])}[el.is_float(t)]()
            d = Tile(t, data(t, shape), any_layout())
            case("texpands", f"{t} {shape} {d.layout}", d, [], d.with_valid(np.full(shape, bits[0])), scalar=s)
    for t in ("i32", "i16", "u32", "u16", "i64", "u64", "i8", "u8"):
        for n, start in ((1, 0), (7, -3), (300, 5), (0, 1), (64, el.limits(t)[1] - 9 if t != "u64" else 2)):
            d = Tile(t, data(t, (1, n)), any_layout())
            case("tci", f"{t} {n} {start} {d.layout}", d, [], d.with_valid(el.int_bits(t, [start + i for i in range(n)]).reshape(1, n) if n else np.zeros((1, 0), el.bits_type(t))), scalar=start)
    for t in NUMBERS:
        for n, count in ((1, 1), (300, 7), (40, 301), (9, 0)):
            x, at = data(t, (1, n)), rng.integers(0, n, (1, count))
            index = lambda: Tile("i32", el.int_bits("i32", at) if count else np.zeros((1, 0), np.uint32), "nd", capacity=(1, count + 3))
            d = Tile(t, data(t, (1, count)), "nd", capacity=(1, count + 2))
            case("tgather", f"{t} {n} {count}", d, [Tile(t, x, "nd", capacity=(1, n + 1)), index()], d.with_valid(x[:, at[0]]))
            d, v, want = Tile(t, data(t, (1, n)), "nd", capacity=(1, n + 5)), data(t, (1, count)), x.copy()
            for i in range(count):
                want[0, at[0, i]] = v[0, i]
            case("tscatter", f"{t} {n} {count}", d, [Tile(t, x, "nd", capacity=(1, n)), Tile(t, v, "nd", capacity=(1, count + 1)), index()], d.with_valid(want))
    for t in ("f16", "bf16"):  # accumulators are rounded on their way out
        x = data("f32", (19, 35))
        want = el.convert(t, "f32", x, "rint", False, True)
        d = Tile(t, data(t, (19, 35)), "nd")
        case("tmov", f"acc f32->{t}", d, [Tile("f32", x, "nz", "acc")], d.with_valid(want))
        a, strides = array(t, (40, 50))
        after = a.copy()
        after[2:21, 9:44] = want
        case("tstore", f"acc f32->{t}", None, [Tile("f32", x, "nz", "acc")], b"", gm=(t, a, strides, (2, 9), 19, 35, False), gm_expected=after)
    for t, to in (("f32", "i8"), ("f32", "u8"), ("i32", "f16"), ("i32", "i8"), ("i32", "u8")):
        for shape in ((19, 35), (1, 300), (7, 1)):
            scaled_store_case(t, to, shape, "moderate")
            scaled_store_case(t, to, shape, None)


def scaled_store_case(t, to, shape, kind):
    """Sums times factors, of which the last 13 bits do not count; the word after each says whether integers are signed."""
    rows, cols = shape
    x, factors = data(t, shape, kind if t == "f32" else None), data("f32", (1, cols), kind)
    words = np.stack([factors, np.full((1, cols), 0x4000 if to == "i8" else 0, np.uint32)], axis=-1).reshape(1, 2 * cols)
    with np.errstate(all="ignore"):
        sums = (el.decode(t, x) if el.is_float(t) else x.view(np.int32)).astype(np.float32)
        y = sums * (factors & np.uint32(0xFFFFE000)).view(np.float32)
    want = el.convert(to, "f32", np.where(np.isnan(y), np.uint32(0x7FC00000), y.view(np.uint32)), "rint", not el.is_float(to), False)
    a, strides = array(to, (40, 350))
    after = a.copy()
    after[2 : 2 + rows, 9 : 9 + cols] = want
    case("tstore_fp", f"{t}->{to} {shape} {kind}", None, [Tile(t, x, "nz", "acc"), Tile("f32", words, "nd", "scaling")], b"",
         gm=(to, a, strides, (2, 9), rows, cols, False), gm_expected=after)


def sorted_records(records, by_index):
    """Stable: descending keys, NaN last; of equal keys the lower index first, or what was first."""
    keys = el.decode("f32", (records & 0xFFFFFFFF).astype(np.uint32))
    index = records >> np.uint64(32) if by_index else np.zeros(records.shape, np.uint64)
    with np.errstate(invalid="ignore"):
        return records[np.lexsort((index, np.where(np.isnan(keys), 0, -keys), np.isnan(keys)))]


def records_of(keys, index):
    return keys.astype(np.uint64) | index.astype(np.uint64) << np.uint64(32)


def merged(records, run, count):
    """Runs of sorted records: each four become one."""
    parts = [sorted_records(records[at : at + 4 * run], False) for at in range(0, len(records), 4 * run)]
    return np.concatenate([records[:0], *parts])[:count]


def order_of(t, bits, descending):
    """Places of each row by ascending elements, or descending ones: NaN is above all, and equal ones stay as they are."""
    if el.is_float(t):
        keys = [[(bool(np.isnan(v)), 0.0 if np.isnan(v) else float(v)) for v in row] for row in el.decode(t, bits)]
    else:
        keys = [[int(v) for v in row] for row in bits.view(el.int_type(t))]
    order = [sorted(range(len(row)), key=row.__getitem__, reverse=bool(descending)) for row in keys]
    return np.array(order, np.int64).reshape(bits.shape)


def sort_cases():
    def tile(t, bits, more):
        made = Tile("u64" if t == "rec64" else t, bits.reshape(1, -1), "nd", capacity=(1, bits.size + more))
        made.records = t == "rec64"
        return made

    for n in (0, 32, 64, 160, 544, 1152):
        keys = data("f32", (1, n))[0]
        keys = np.where(rng.random(n) < 0.5, rng.choice(special("f32"), n), keys).astype(np.uint32)
        index = np.where(rng.random(n) < 0.5, rng.integers(0, 9, n), rng.integers(0, 2**32, n)).astype(np.uint32)
        records = records_of(keys, index)
        runs = np.concatenate([sorted_records(records[at : at + 32], True) for at in range(0, n, 32)] or [records])
        d = tile("rec64", data("u64", (1, n))[0], 2)
        case("tsort32", f"{n}", d, [tile("f32", keys, 8), tile("i32", index, 16)], d.with_valid(runs.reshape(1, -1)))
        d = tile("i32", data("i32", (1, n))[0], 1)
        case("tgather_mask", f"{n}", d, [tile("rec64", records, 3)], d.with_valid(index.reshape(1, -1)))
        for run in (32, 128):
            for count in sorted({n, min(n, 1), min(n, 70), min(n, 500)}):
                d = tile("rec64", data("u64", (1, count))[0], 5)
                case("tmrgsort", f"{n} by {run} to {count}", d, [tile("rec64", runs, 1)], d.with_valid(merged(runs, run, count).reshape(1, -1)), scalar=run)
            runs = merged(runs, run, n) if n else runs
        for count in (1, 33, 200) if n else ():
            first = sorted_records(records_of(rng.choice(keys, count), rng.integers(0, 99, count)), False)
            both = sorted_records(np.concatenate([first, sorted_records(records, False)]), False)[:count]
            d = tile("rec64", data("u64", (1, count))[0], 0)
            case("tmrgsort_lists", f"{n} and {count}", d, [tile("rec64", sorted_records(records, False), 2), tile("rec64", first, 0)], d.with_valid(both.reshape(1, -1)))
    for t in NUMBERS:
        for shape, kept in (((1, 1), 1), ((5, 13), 4), ((3, 70), 70), ((2, 300), 9), ((0, 8), 3)):
            x = data(t, shape)
            if el.is_float(t):
                x = np.where(rng.random(shape) < 0.5, rng.choice(special(t), shape), x).astype(x.dtype)
            for descending in (0, 1):
                layout = any_layout()
                at = order_of(t, x, descending)[:, :kept]
                d = Tile("i32", data("i32", (shape[0], kept)), any_layout())
                case("torder", f"{t} {shape} {kept} {descending}", d, [Tile(t, x, layout)], d.with_valid(at.astype(np.uint32)), scalar=descending)
                d = Tile(t, data(t, (shape[0], kept)), any_layout())
                case("trowgather", f"{t} {shape} {kept}", d, [Tile(t, x, layout), Tile("i32", at.astype(np.uint32), any_layout())], d.with_valid(np.take_along_axis(x, at, 1)))
    for t in NUMBERS:
        for shape, part, at in (((19, 35), (7, 20), (12, 15)), ((40, 64), (16, 32), (16, 32)), ((3, 5), (3, 5), (0, 0)), ((3, 5), (0, 2), (3, 3)), ((1, 300), (1, 7), (0, 293))):
            x = data(t, shape)
            d = Tile(t, data(t, part), any_layout())
            case("textract", f"{t} {shape} {part} {at}", d, [Tile(t, x, any_layout())], d.with_valid(x[at[0] : at[0] + part[0], at[1] : at[1] + part[1]]), at=at)
            base = data(t, shape)
            want = base.copy()
            want[at[0] : at[0] + part[0], at[1] : at[1] + part[1]] = x = data(t, part)
            d = Tile(t, data(t, shape), any_layout())
            case("tinsert", f"{t} {shape} {part} {at}", d, [Tile(t, base, any_layout()), Tile(t, x, any_layout())], d.with_valid(want), at=at)
        for shape, at in (((19, 35), (0, 0)), ((16, 32), (3, 0)), ((16, 32), (0, 40)), ((5, 7), (0, 5)), ((1, 300), (290, 1)), ((0, 4), (0, 0))):
            for upper in (False, True):
                d = Tile(t, data(t, shape), any_layout())
                keep = np.triu if upper else np.tril
                bits = el.encode(t, 1.0)[0] if el.is_float(t) else el.int_bits(t, [1])[0]
                case("ttri", f"{t} {shape} {at} {upper}", d, [], d.with_valid(keep(np.full(shape, bits), at[0] - at[1])), scalar=int(upper), at=at)
        for shape in ((19, 35), (5, 13), (1, 300), (300, 2), (1, 1), (0, 3)):
            x = data(t, shape, "moderate" if shape[0] == 19 else None)
            for name, along, best in (("row", 1, max), ("row", 1, min), ("col", 0, max), ("col", 0, min)):
                v = el.decode(t, x)
                lines = (v if along else v.T).tolist()
                numbers = [[n for n in l if n == n] for l in lines]
                places = [l.index(best(n)) if n else 0 for l, n in zip(lines, numbers)]
                at = el.int_bits("i32", places).reshape((-1, 1) if along else (1, -1)) if places else np.zeros((0, 1) if along else (1, 0), np.uint32)
                d = Tile("i32", data("i32", at.shape), any_layout())
                case(f"t{name}arg{best.__name__}", f"{t} {shape}", d, [Tile(t, x, any_layout())], d.with_valid(at))
        for rows, p, q in ((19, 35, 7), (16, 32, 32), (1, 1, 300), (5, 0, 3), (5, 3, 0), (0, 4, 4)):
            a, b = data(t, (rows, p)), data(t, (rows, q))
            d = Tile(t, data(t, (rows, p + q)), any_layout())
            case("tconcat", f"{t} {rows} {p} {q} {d.layout}", d, [Tile(t, a, any_layout()), Tile(t, b, any_layout())], d.with_valid(np.concatenate([a, b], 1)))
    for t in ("f32", "i32", "u32"):
        for a_layout in ("nd", "dn"):
            bits = data("i32", (19, 35))
            d = Tile(t, data(t, (19, 35)), a_layout)
            case("treshape", f"{t} {a_layout}", d, [Tile("f32", bits, a_layout)], d.with_valid(bits))


def read_cases():
    for t in NUMBERS:
        for layout in LAYOUTS:
            bits = data(t, (19, 35))
            for at in ((0, 0), (18, 34), (7, 20)):
                x = float(el.decode(t, bits[at])) if el.is_float(t) else int(bits[at].view(el.int_type(t)))
                if t == "u64":
                    x = int(bits[at].view(np.int64))
                case("tgetval", f"{t} {layout} {at}", None, [Tile(t, bits, layout)], b"", scalar=x, at=at)


def overlap_cases():
    """Sources in the bytes of the destination: results are as if all sources had been read first."""
    t, shape = "f32", (24, 24)
    a, b = data(t, shape), data(t, shape)
    d = Tile(t, a, "nd", capacity=(24, 24))
    other = Tile(t, b, "dn")
    case("tadd", "in place", d, [d, other], d.with_valid(binary("add", t, a, b)[0]), aliases=[0, -1])
    case("tmul", "square in place", d, [d, d], d.with_valid(binary("mul", t, a, a)[0]), aliases=[0, 0])
    case("ttrans", "in place", d, [d], d.with_valid(a.T), aliases=[0])
    turned = Tile(t, a.T, "dn", capacity=(24, 24))
    case("tmov", "in place, other layout", d, [turned], d.with_valid(a.T), aliases=[0])
    for layout in ("nd", "dn"):
        first = Tile(t, a[:, :1], "dn", capacity=(24, 1))
        wide = Tile(t, a, "nd", capacity=(24, 24))
        v = np.frombuffer(wide.image(), dtype=np.uint32)[:24].reshape(24, 1)
        first = Tile(t, v, "dn", capacity=(24, 1))
        case("trowexpandsub", "row values in the destination", wide, [wide, first], wide.with_valid(binary("sub", t, a, v)[0]), aliases=[0, 0])
    half = Tile("f16", np.frombuffer(d.image(), dtype=np.uint16)[: 24 * 24].reshape(24, 24), "nd", capacity=(24, 24))
    case("tcvt", "to a wider type in place", d, [half], d.with_valid(el.convert("f32", "f16", half.full, "rint", False, True)), aliases=[0], mode="rint")
    words = Tile("i32", data("i32", shape), "nd", capacity=shape)
    as_float = Tile("f32", words.full, "nd", capacity=shape)
    case("tcvt", "same size in place", as_float, [words], as_float.with_valid(el.convert("f32", "i32", words.full, "rint", False, True)), aliases=[0], mode="rint")


for make in (binary_cases, unary_cases, mask_cases, remainder_cases, convert_cases, reduce_cases, spread_cases, matmul_cases, memory_cases, move_cases, read_cases, overlap_cases, sort_cases, quantized_cases, block_cases, accumulator_cases):
    make()
with open(sys.argv[1], "wb") as f:
    f.write(struct.pack("<q", len(out)))
    f.write(b"".join(out))
print(len(out), "cases")
