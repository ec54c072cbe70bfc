"""A table of instructions: tiles and masks as test_insn.c reads them, cases, and elements to compute on."""
import functools
import math
import struct

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


def layouts_for(n):
    yield ["nd"] * n
    yield ["dn"] * n
    yield [any_layout() for _ in range(n)]
