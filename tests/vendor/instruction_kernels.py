"""A kernel for each instruction of ascend.def and element type, on edge values: used by instructions.py.

A kernel has one or more parts, each with arrays, the instruction, and a result in memory."""

import os
import sys

import numpy as np

root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.append(os.path.join(root, "tests/kernels"))
import elements as el  # noqa: E402

FLOATS = ["f32", "f16", "bf16"]
INTEGERS = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"]
NUMBERS = FLOATS + INTEGERS
SHAPES = [(29, 45), (16, 64), (1, 1), (3, 300)]
RELATIONS = ["eq", "ne", "lt", "le", "gt", "ge"]


def up(n, k):
    return -(-n // k) * k


def tile(t, shape, layout="nd", space="vec"):
    """The type of a tile: lines are whole blocks in every element type; one of one column has its rows one after the other."""
    rows, columns = shape
    return f"tile<{up(rows, 32)} x {1 if layout == 'dn' else up(columns, 32)} x {t}, {space}, {layout}>"


def line(t, n):
    """A tile of one row."""
    return f"tile<1 x {up(n, 32)} x {t}, vec, nd>"


def special(t):
    if not el.is_float(t):
        least, most = el.limits(t)
        return el.int_bits(t, [0, 1, most, least, most - 1, least + 1, 2, 3, most // 2, 7])
    ends = {"f32": (3.4028234663852886e38, 2.0**-149), "f16": (65504.0, 2.0**-24), "bf16": (3.3895313892515355e38, 2.0**-133)}
    most, least = ends[t]
    return el.encode(t, [0.0, -0.0, 1.0, -1.0, np.nan, np.inf, -np.inf, least, -least, most, -most, 0.5, 1.5, -2.5, 3.0, 88.8])


class Kernel:
    """`parts`: functions that add lines, each with what it is called in a report."""

    def __init__(self, instruction, types, parts, core="vector"):
        self.instruction, self.types, self.parts, self.core = instruction, types, parts, core
        self.r = np.random.default_rng(20240229)
        self.parameters, self.lines, self.arrays, self.outputs = [], [], {}, {}
        for what, part in parts:
            self.what = what
            part(self)

    def each_alone(self):
        return [Kernel(self.instruction, self.types, [part], self.core) for part in self.parts]

    # ---- numbers ----

    def numbers(self, t, shape, kind="any"):
        """Bits: special values, any bits and moderate numbers in equal parts; `moderate`: these alone; `divisor`: no 0 and no -1."""
        n = shape[0] * shape[1]
        bits = np.frombuffer(self.r.bytes(n * el.size(t)), dtype=el.bits_type(t))
        if el.is_float(t):
            moderate = el.encode(t, self.r.normal(size=n) * 4)
        else:
            moderate = el.int_bits(t, self.r.integers(max(el.limits(t)[0], -9), 10, size=n))
        pick = np.ones(n, int) * 2 if kind == "moderate" else self.r.integers(0, 3, size=n)
        bits = np.where(pick == 0, self.r.choice(special(t), size=n), np.where(pick == 1, bits, moderate)).astype(el.bits_type(t))
        if kind == "divisor" and not el.is_float(t):
            bits = np.where((bits == 0) | (bits == el.bits_type(t)(-1 % 2 ** (8 * el.size(t)))), el.bits_type(t)(3), bits)
        return bits.reshape(shape)

    def pairs(self, t, shape, kind="any"):
        """Operands of which the first have all pairs of special values."""
        a, b = self.numbers(t, shape), self.numbers(t, shape, kind)
        s = special(t)
        if kind == "any" and a.size >= s.size**2:
            a.ravel()[: s.size**2], b.ravel()[: s.size**2] = np.repeat(s, s.size), np.tile(s, s.size)
        return a, b

    # ---- lines ----

    def name(self):
        return f"%t{len(self.lines)}"

    def array(self, t, bits):
        name = f"x{len(self.arrays)}"
        self.parameters.append(f"%{name}: gm<{bits.shape[0]} x {bits.shape[1]} x {t}>")
        self.arrays[name] = bits if t == "bf16" else bits.astype(bool) if t == "bool" else bits.view(np.float32 if t == "f32" else np.float16 if t == "f16" else el.int_type(t))
        return "%" + name

    def load(self, t, bits, type_=None, more=""):
        name, array = self.name(), self.array(t, bits)
        self.lines.append(f"{name} = tile.load {array}[0, 0] size({bits.shape[0]}, {bits.shape[1]}){more} : {type_ or tile(t, bits.shape)}")
        return name

    def scalar(self, t, value):
        name = self.name()
        self.lines.append(f"{name} = constant {{value = {value}}} : {t}")
        return name

    def op(self, text, type_):
        name = self.name()
        self.lines.append(f"{name} = tile.{text} : {type_}")
        return name

    def store(self, value, t, shape, more="", factors=None):
        name = f"z{len(self.outputs)}"
        self.parameters.append(f"out %{name}: gm<{shape[0]} x {shape[1]} x {t}>")
        self.outputs[name] = (t, self.what)
        self.lines.append(f"tile.store_fp {value}, {factors}, %{name}[0, 0]{more}" if factors else f"tile.store {value}, %{name}[0, 0]{more}")

    def text(self, n):
        head, inputs, outputs = ", ".join(self.parameters), ", ".join("%" + x for x in self.arrays), ", ".join("%" + z for z in self.outputs)
        handed = ", ".join(p.removeprefix("out ").split(":")[0] for p in self.parameters)
        reads = f" reads({inputs})" if inputs else ""
        return (f"func @f{n}({head}) {{\n  exec.launch @k{n} args({handed})\n  return\n}}\n"
                f"block.kernel @k{n} core({self.core}) grid(%i: 1){reads} writes({outputs}) ({head}) {{\n  " + "\n  ".join(self.lines) + "\n}\n")


# ---- one element after the other ----


def unary(op, t, shape):
    return lambda k: k.store(k.op(f"{op} {k.load(t, k.numbers(t, shape))}", tile(t, shape)), t, shape)


def binary(op, t, shape, kind="any"):
    def part(k):
        a, b = k.pairs(t, shape, kind)
        if kind == "amount":
            b = b % (8 * el.size(t))
        k.store(k.op(f"{op} {k.load(t, a)}, {k.load(t, b)}", tile(t, shape)), t, shape)
    return part


def with_scalar(op, t, shape, value, kind="any"):
    def part(k):
        s = k.scalar(t, value)
        k.store(k.op(f"{op} {k.load(t, k.numbers(t, shape, kind))}, {s}", tile(t, shape)), t, shape)
    return part


def scalars(t, op):
    """What the scalar is; of divisions not 0."""
    if el.is_float(t):
        return ["1.5", "-3.0"] + (["0.0"] if op not in ("divs", "rems", "fmods") else [])
    return ["3", str(el.limits(t)[1])] + ([] if el.is_unsigned(t) else ["-7"])


def elementwise():
    for op, word in [(w, w) for w in ("neg", "abs", "relu", "exp", "log", "sqrt", "rsqrt", "not")] + [("recip", "reciprocal")]:
        for t in NUMBERS:
            yield Kernel("t" + op, t, [(str(s), unary(word, t, s)) for s in SHAPES])
    for op in ("add", "sub", "mul", "div", "max", "min", "rem", "fmod", "pow", "and", "or", "xor", "shl", "shr"):
        kind = "divisor" if op in ("div", "rem", "fmod") else "amount" if op in ("shl", "shr") else "any"
        for t in NUMBERS:
            kind_of_type = "any" if kind == "divisor" and el.is_float(t) else kind
            yield Kernel("t" + op, t, [(str(s), binary(op, t, s, kind_of_type)) for s in SHAPES])
    for op in ("adds", "subs", "muls", "divs", "rdivs", "maxs", "mins", "lrelu", "rems", "fmods", "pows"):
        for t in NUMBERS:
            kind = "divisor" if op == "rdivs" else "any"
            yield Kernel("t" + op, t, [(f"{s} {v}", with_scalar(op, t, s, v, kind)) for s in SHAPES[:2] for v in scalars(t, op)])
    for t in FLOATS:
        yield Kernel("tprelu", t, [(str(s), binary("prelu", t, s)) for s in SHAPES])
        yield Kernel("taxpy", t, [(f"{s} {v}", product_added(t, s, v)) for s in SHAPES[:2] for v in ("1.5", "-3.0")])


def product_added(t, shape, value):
    def part(k):
        a, b = k.pairs(t, shape)
        k.store(k.op(f"axpy {k.load(t, a)}, {k.load(t, b)}, {k.scalar(t, value)}", tile(t, shape)), t, shape)
    return part


def converted(t, to, mode, saturate):
    def part(k):
        shape = SHAPES[0]
        words = f'{{mode = "{mode}", saturate = {"true" if saturate else "false"}}}'
        bits = k.numbers(t, shape) if t != "bool" else k.numbers("u8", shape) & 1
        k.store(k.op(f"cast {k.load(t, bits)} {words}", tile(to, shape)), to, shape)
    return part


def conversions():
    for t in [*NUMBERS, "bool"]:
        for to in [*NUMBERS, "bool"]:
            parts = [(mode + (" saturate" if s else ""), converted(t, to, mode, s)) for mode in el.MODES for s in (False, True)]
            yield Kernel("tcvt", f"{t}-{to}", parts)


def quantized(op, t, to, shape, kind):
    """By factors of rows, and offsets but of `quant`."""
    def part(k):
        a = k.load(t, k.numbers(t, shape, kind))
        of_rows = [k.load("f32", k.numbers("f32", (shape[0], 1), kind), tile("f32", shape, "dn")) for _ in range(1 if op == "quant" else 2)]
        k.store(k.op(f"{op} {', '.join([a, *of_rows])}", tile(to, shape)), to, shape)
    return part


def quantizations():
    for op, t, to in (("quant", "f32", "i8"), ("quant_from", "f32", "u8"), ("dequant", "i8", "f32"), ("dequant", "i16", "f32")):
        for kind in ("moderate", "any"):
            yield Kernel("t" + op, t + ("" if kind == "moderate" else " edges"), [(str(s), quantized(op, t, to, s, kind)) for s in SHAPES])


# ---- masks ----


def compared(t, relation, scalar):
    """Ones where it holds. `scalar`: what all are compared with; None: another tile."""
    def part(k):
        shape = SHAPES[0]
        a, b = k.pairs(t, shape)
        zero, one = (k.scalar(t, n + (".0" if el.is_float(t) else "")) for n in "01")
        op, other = ("cmp", k.load(t, b)) if scalar is None else ("cmps", k.scalar(t, scalar))
        mask = k.op(f'{op} {k.load(t, a)}, {other} {{relation = "{relation}"}}', tile("mask", shape))
        ones = k.op(f"fill {one} valid({shape[0]}, {shape[1]})", tile(t, shape))
        k.store(k.op(f"selects {mask}, {ones}, {zero}", tile(t, shape)), t, shape)
    return part


def chosen(t, shape, scalar):
    def part(k):
        a, b = k.numbers(t, shape), k.numbers(t, shape)
        half, sides = k.scalar("f32", "0.5"), k.load("f32", el.encode("f32", k.r.integers(0, 2, shape).ravel()).reshape(shape))
        mask = k.op(f'cmps {sides}, {half} {{relation = "gt"}}', tile("mask", shape))
        if scalar:
            value = k.scalar(t, "1.5" if el.is_float(t) else "3")
            k.store(k.op(f"selects {mask}, {k.load(t, a)}, {value}", tile(t, shape)), t, shape)
        else:
            k.store(k.op(f"select {mask}, {k.load(t, a)}, {k.load(t, b)}", tile(t, shape)), t, shape)
    return part


def masks():
    for t in NUMBERS:
        yield Kernel("tcmp", t, [(r, compared(t, r, None)) for r in RELATIONS])
        yield Kernel("tcmps", t, [(r, compared(t, r, "1.5" if el.is_float(t) else "3")) for r in RELATIONS])
        yield Kernel("tsel", t, [(str(s), chosen(t, s, False)) for s in SHAPES])
        yield Kernel("tsels", t, [(str(s), chosen(t, s, True)) for s in SHAPES])


# ---- rows and columns ----


def rows_reduced(op, t, shape):
    return lambda k: k.store(k.op(f"{op} {k.load(t, k.numbers(t, shape))}", tile(t, shape, "dn")), t, (shape[0], 1))


def columns_reduced(op, t, shape):
    return lambda k: k.store(k.op(f"{op} {k.load(t, k.numbers(t, shape))}", line(t, shape[1])), t, (1, shape[1]))


def places(text, t, shape, type_, of):
    return lambda k: k.store(k.op(text.format(k.load(t, k.numbers(t, shape))), type_), "i32", of)


def row_values(k, t, shape, kind):
    return k.load(t, k.numbers(t, (shape[0], 1), kind), tile(t, shape, "dn"))


def column_values(k, t, shape, kind):
    return k.load(t, k.numbers(t, (1, shape[1]), kind), line(t, shape[1]))


def spread(op, t, shape, values):
    wide = (shape[0] if values is row_values else up(shape[0], 32), shape[1] if values is column_values else up(shape[1], 32))
    return lambda k: k.store(k.op(f"{op} {values(k, t, shape, 'any')}", tile(t, shape)), t, wide)


def with_values(op, t, shape, values):
    kind = "divisor" if op.endswith("div") and not el.is_float(t) else "any"
    return lambda k: k.store(k.op(f"{op} {k.load(t, k.numbers(t, shape))}, {values(k, t, shape, kind)}", tile(t, shape)), t, shape)


def lines():
    for t in NUMBERS:
        for op in ("sum", "max", "min", "prod"):
            yield Kernel("trow" + op, t, [(str(s), rows_reduced("row" + op, t, s)) for s in SHAPES])
            yield Kernel("tcol" + op, t, [(str(s), columns_reduced("col" + op, t, s)) for s in SHAPES])
        for op in ("argmax", "argmin"):
            yield Kernel("trow" + op, t, [(str(s), places(f"row{op} {{0}}", t, s, tile("i32", s, "dn"), (s[0], 1))) for s in SHAPES])
            yield Kernel("tcol" + op, t, [(str(s), places(f"col{op} {{0}}", t, s, line("i32", s[1]), (1, s[1]))) for s in SHAPES])
        yield Kernel("trowexpand", t, [(str(s), spread("rowexpand", t, s, row_values)) for s in SHAPES])
        yield Kernel("tcolexpand", t, [(str(s), spread("colexpand", t, s, column_values)) for s in SHAPES])
        for op in ("add", "sub", "mul", "div", "max", "min"):
            yield Kernel("trowexpand" + op, t, [(str(s), with_values("rowexpand" + op, t, s, row_values)) for s in SHAPES])
            yield Kernel("tcolexpand" + op, t, [(str(s), with_values("colexpand" + op, t, s, column_values)) for s in SHAPES])


# ---- elements elsewhere ----


def copied(op, t, shape, to_shape=None):
    return lambda k: k.store(k.op(f"{op} {k.load(t, k.numbers(t, shape))}", tile(t, to_shape or shape)), t, to_shape or shape)


def part_of(t, shape, size, at):
    return lambda k: k.store(k.op(f"extract {k.load(t, k.numbers(t, shape))}[{at[0]}, {at[1]}] valid({size[0]}, {size[1]})", tile(t, size)), t, size)


def put_into(t, shape, size, at):
    return lambda k: k.store(k.op(f"insert {k.load(t, k.numbers(t, shape))}, {k.load(t, k.numbers(t, size))}[{at[0]}, {at[1]}]", tile(t, shape)), t, shape)


def triangle(t, shape, at, upper):
    return lambda k: k.store(k.op(f"triangle at({at[0]}, {at[1]}) valid({shape[0]}, {shape[1]}){' {upper = true}' if upper else ''}", tile(t, shape)), t, shape)


def scattered(t, n, count):
    def part(k):
        x, v, at = k.numbers(t, (1, n)), k.numbers(t, (1, count)), k.r.integers(0, n, (1, count)).astype(np.int32).view(np.uint32)
        k.store(k.op(f"scatter {k.load(t, x, line(t, n))}, {k.load(t, v, line(t, count))}, {k.load('i32', at, line('i32', count))}", line(t, n)), t, (1, n))
    return part


def blocks(t, shape, of):
    """Rows of blocks of 32 bytes, from a tile of rows of blocks."""
    def part(k):
        size, (rows, count), (from_rows, from_count) = 32 // el.size(t), shape, of
        wide = up(from_count * size, 32) * el.size(t)
        x = k.load(t, k.numbers(t, (from_rows, from_count * size)))
        at = k.r.integers(0, from_rows, shape) * wide + k.r.integers(0, from_count, shape) * 32
        to = (rows, count * size)
        at = k.load("i32", el.int_bits("i32", at.ravel()).reshape(shape), f"tile<{up(rows, 32)} x {up(count, 32)} x i32, vec, nd>")
        k.store(k.op(f"gather_blocks {x}, {at} valid({to[0]}, {to[1]})", tile(t, to)), t, to)
    return part


def side_by_side(t, rows, p, q):
    def part(k):
        a, b = k.load(t, k.numbers(t, (rows, p)), None), k.load(t, k.numbers(t, (rows, q)), None)
        k.store(k.op(f"concat {a}, {b} valid({rows}, {p + q})", tile(t, (rows, p + q))), t, (rows, p + q))
    return part


def loaded(t, shape, pad):
    whole = (up(shape[0], 32), up(shape[1], 32))
    return lambda k: k.store(k.load(t, k.numbers(t, shape), None, f" {{pad = {pad}}}" if pad else ""), t, whole if pad else shape)


def filled(t, shape, pad):
    whole = (up(shape[0], 32), up(shape[1], 32))
    return lambda k: k.store(k.op(f"fillpad {k.load(t, k.numbers(t, shape))} {{pad = {pad}}}", tile(t, shape)), t, whole)


def one_number(t, shape, value):
    return lambda k: k.store(k.op(f"fill {k.scalar(t, value)} valid({shape[0]}, {shape[1]})", tile(t, shape)), t, shape)


def counted(t, n, start):
    return lambda k: k.store(k.op(f"iota {k.scalar(t, start)} valid(1, {n})", line(t, n)), t, (1, n))


def gathered(t, n, count):
    def part(k):
        x, at = k.numbers(t, (1, n)), k.r.integers(0, n, (1, count)).astype(np.int32).view(np.uint32)
        k.store(k.op(f"gather {k.load(t, x, line(t, n))}, {k.load('i32', at, line('i32', count))}", line(t, count)), t, (1, count))
    return part


def retyped(t, to, shape):
    return lambda k: k.store(k.op(f"bitcast {k.load(t, k.numbers(t, shape))}", tile(to, shape)), to, shape)


def read(t, shape, at):
    def part(k):
        name = k.op(f"read_scalar {k.load(t, k.numbers(t, shape))}[{at[0]}, {at[1]}]", t)
        k.store(k.op(f"fill {name} valid(1, 8)", line(t, 8)), t, (1, 8))
    return part


def sorted_keys(n, kept, kind):
    """Records of 32 sorted, runs of them merged, their indices."""
    def part(k):
        keys, at = k.numbers("f32", (1, n), kind), np.arange(n, dtype=np.uint32).reshape(1, n)
        records = k.op(f"sort32 {k.load('f32', keys, line('f32', n))}, {k.load('i32', at, line('i32', n))}", line("rec64", n))
        if n > 32:
            records = k.op(f"merge_runs {records} valid(1, {kept}) {{run = 32}}", line("rec64", kept))
        k.store(k.op(f"record_index {records}", line("i32", kept)), "i32", (1, kept))
    return part


def merged(n, kept):
    """Two sorted lists as one."""
    def part(k):
        lists = []
        for first in (0, n):
            keys, at = k.numbers("f32", (1, n), "moderate"), np.arange(first, first + n, dtype=np.uint32).reshape(1, n)
            lists.append(k.op(f"sort32 {k.load('f32', keys, line('f32', n))}, {k.load('i32', at, line('i32', n))}", line("rec64", n)))
        k.store(k.op(f"record_index {k.op(f'merge {lists[0]}, {lists[1]}', line('rec64', kept))}", line("i32", kept)), "i32", (1, kept))
    return part


def printed(t):
    """What is stored after a tile was printed, between what is compared."""
    def part(k):
        x = k.load(t, k.numbers(t, (3, 32), "moderate"))
        k.lines.append(f"tile.print {x}")
        k.store(x, t, (3, 32))
    return part


def moves():
    for t in ("f32", "f16", "i32", "i16", "i8", "u32", "u16", "u8"):
        yield Kernel("tprint", t, [("", printed(t))])
    for t in NUMBERS:
        pads = ["0.0", "1.5", "inf", "-inf"] if el.is_float(t) else ["0", "3", str(el.limits(t)[0]), str(el.limits(t)[1])]
        yield Kernel("tload", t, [(f"{s} {p}", loaded(t, s, p)) for s in SHAPES for p in [None, *pads]])
        yield Kernel("tstore", t, [(str(s), loaded(t, s, None)) for s in SHAPES])
        yield Kernel("tfillpad", t, [(f"{s} {p}", filled(t, s, p)) for s in SHAPES for p in pads])
        yield Kernel("tmov", t, [(str(s), copied("move", t, s)) for s in SHAPES])
        yield Kernel("textract", t, [(f"{s} {at}", part_of(t, s, z, at)) for s, z, at in (((29, 45), (7, 32), (3, 0)), ((16, 64), (16, 32), (0, 32)), ((3, 300), (2, 32), (1, 256)))])
        yield Kernel("tinsert", t, [(f"{s} {at}", put_into(t, s, z, at)) for s, z, at in (((29, 45), (7, 13), (3, 32)), ((16, 64), (16, 32), (0, 32)), ((3, 300), (2, 32), (1, 256)))])
        yield Kernel("ttri", t, [(f"{s} {at} {u}", triangle(t, s, at, u)) for s in SHAPES for at in ((0, 0), (5, 0), (0, 33)) for u in (False, True)])
        yield Kernel("tscatter", t, [(f"{n} {c}", scattered(t, n, c)) for n, c in ((300, 7), (40, 301), (1, 1))])
        yield Kernel("tgatherb", t, [(f"{s} {of}", blocks(t, s, of)) for s, of in (((29, 9), (7, 4)), ((1, 3), (3, 2)), ((16, 8), (1, 16)))])
        yield Kernel("tconcat", t, [(f"{r} {p} {q}", side_by_side(t, r, p, q)) for r, p, q in ((29, 45, 7), (16, 32, 32), (3, 1, 300))])
        yield Kernel("ttrans", t, [(str(s), copied("transpose", t, s, s[::-1])) for s in SHAPES])
        yield Kernel("texpands", t, [(str(s), one_number(t, s, "1.5" if el.is_float(t) else "3")) for s in SHAPES])
        yield Kernel("tgather", t, [(f"{n} {c}", gathered(t, n, c)) for n, c in ((300, 7), (40, 301), (1, 1))])
        yield Kernel("tgetval", t, [(str(at), read(t, SHAPES[0], at)) for at in ((0, 0), (28, 44), (7, 20))])
        if not el.is_float(t):
            yield Kernel("tci", t, [(f"{n} {s}", counted(t, n, s)) for n, s in ((1, 0), (7, 3), (300, 5))])
    for t in ("f32", "i32", "u32"):
        for to in ("f32", "i32", "u32"):
            if t != to:
                yield Kernel("treshape", f"{t}-{to}", [(str(s), retyped(t, to, s)) for s in SHAPES])
    for types, kind in (("f32", "moderate"), ("f32 edges", "any")):
        yield Kernel("tsort32", types, [("32", sorted_keys(32, 32, kind))])
        yield Kernel("tgather_mask", types, [("32", sorted_keys(32, 32, kind))])
        yield Kernel("tmrgsort", types, [(f"{n} {kept}", sorted_keys(n, kept, kind)) for n, kept in ((128, 128), (512, 512))])
        yield Kernel("tmrgsort_runs", types, [(f"{n} {kept}", sorted_keys(n, kept, kind)) for n, kept in ((64, 64), (96, 96), (128, 40))])
    yield Kernel("tmrgsort_lists", "f32", [("32", merged(32, 32))])


# ---- products ----


def product(op, t, mkn, left, kind, out=None, more="", factors=None, then=None):
    """A product that is stored, times `factors` of its columns where these are a tile; `then`: what becomes of it instead."""
    def part(k):
        m, depth, n = mkn
        sums = "i32" if t == "i8" else "f32"
        acc = f"tile<{up(m, 32)} x {up(n, 32)} x {sums}, acc, nz>"
        def operands():
            a = k.load(t, k.numbers(t, (m, depth), kind), f"tile<{up(m, 32)} x {up(depth, 32)} x {t}, mat, nz>")
            b = k.load(t, k.numbers(t, (depth, n), kind), f"tile<{up(depth, 32)} x {up(n, 32)} x {t}, mat, nz>")
            return (k.op(f"move {a}", f"tile<{up(m, 32)} x {up(depth, 32)} x {t}, left, {left}>"),
                    k.op(f"move {b}", f"tile<{up(depth, 32)} x {up(n, 32)} x {t}, right, zn>"))
        a, b = operands()
        if op == "matmul_bias":
            bias = k.load(sums, k.numbers(sums, (1, n), kind), f"tile<1 x {up(n, 32)} x {sums}, mat, nd>")
            bias = k.op(f"move {bias}", f"tile<1 x {up(n, 32)} x {sums}, bias, nd>")
            c = k.op(f"matmul_bias {a}, {b}, {bias}", acc)
        else:
            c = k.op(f"matmul {a}, {b}", acc)
        if op == "matmul_acc":
            a, b = operands()
            c = k.op(f"matmul_acc {c}, {a}, {b}", acc)
        if then:
            then(c)
        else:
            k.store(c, out or sums, (m, n), more, factors)
    return part


def one_row(op, t, depth, n, kind):
    def part(k):
        sums, wide = "i32" if t == "i8" else "f32", up(depth, 512 // el.size(t))
        acc = f"tile<16 x {up(n, 32)} x {sums}, acc, nz>"
        def operands():
            a = k.load(t, k.numbers(t, (1, depth), kind), f"tile<1 x {wide} x {t}, mat, nd>")
            b = k.load(t, k.numbers(t, (depth, n), kind), f"tile<{wide} x {up(n, 32)} x {t}, mat, nz>")
            return (k.op(f"move {a}", f"tile<1 x {wide} x {t}, left, nd>"), k.op(f"move {b}", f"tile<{wide} x {up(n, 32)} x {t}, right, zn>"))
        a, b = operands()
        if op == "gemv_bias":
            bias = k.load(sums, k.numbers(sums, (1, n), kind), f"tile<1 x {up(n, 32)} x {sums}, mat, nd>")
            bias = k.op(f"move {bias}", f"tile<1 x {up(n, 32)} x {sums}, bias, nd>")
            c = k.op(f"gemv_bias {a}, {b}, {bias}", acc)
        else:
            c = k.op(f"gemv {a}, {b}", acc)
        if op == "gemv_acc":
            a, b = operands()
            c = k.op(f"gemv_acc {c}, {a}, {b}", acc)
        k.store(c, sums, (1, n))
    return part


def factors_of(k, n, out, is_one):
    """A factor of each column, of 10 bits. `is_one`: the same positive one for all."""
    words = np.zeros((1, 2 * n), np.uint32)
    words[0, ::2] = el.encode("f32", np.full(n, 0.40625) if is_one else k.r.normal(size=n)) & 0xFFFFE000
    words[0, 1::2] = 0x4000 if out == "i8" else 0
    factors = k.load("f32", words, f"tile<1 x {up(2 * n, 32)} x f32, mat, nd>")
    return k.op(f"move {factors}", f"tile<1 x {up(2 * n, 32)} x f32, scaling, nd>")


def scaled_columns(t, out, mkn, left, relu, is_one):
    """Factors of columns in the way of a product to memory."""
    def part(k):
        factors = factors_of(k, mkn[2], out, is_one)
        product("matmul", t, mkn, left, "moderate", out, " {relu = true}" if relu else "", factors)(k)
    return part


def scaled_move(op, t, left, is_one):
    """Factors of columns in the way of a product to `mat`, which is seen by its product with ones on the diagonal."""
    mkn, shape = (7, 33, 37), (32, 64) if op == "insert_fp" else (16, 64)
    of = f"tile<{shape[0]} x {shape[1]} x i8, "

    def part(k):
        factors = factors_of(k, mkn[2], "i8", is_one)
        base = k.load("i8", k.numbers("i8", shape, "moderate"), of + "mat, nz>") if op == "insert_fp" else None
        def seen(c):
            words, (rows, columns) = {"move_fp": (f"{c}, {factors}", (7, 37)), "insert_fp": (f"{base}, {c}[5, 16], {factors}", shape),
                                      "extract_fp": (f"{c}[2, 16], {factors} valid(5, 21)", (5, 21))}[op]
            whole = k.op(f"{op} {words}", of + "mat, nz>")
            one = k.load("i8", np.eye(columns, dtype=np.uint8), "tile<64 x 64 x i8, mat, nz>")
            a, b = k.op(f"move {whole}", of + f"left, {left}>"), k.op(f"move {one}", "tile<64 x 64 x i8, right, zn>")
            k.store(k.op(f"matmul {a}, {b}", f"tile<{shape[0]} x 64 x i32, acc, nz>"), "i32", (rows, columns))
        product("matmul", t, mkn, left, "moderate", then=seen)(k)
    return part


def sums_put_into(t, left):
    """An accumulator in a larger tile of `mat`, which is seen by its product with ones on the diagonal."""
    def part(k):
        (rows, columns), mkn = (32, 48), (7, 33, 21)
        base = k.load(t, k.numbers(t, (rows, columns), "moderate"), f"tile<{rows} x {columns} x {t}, mat, nz>")
        def seen(c):
            whole = k.op(f"insert {base}, {c}[5, 16]", f"tile<{rows} x {columns} x {t}, mat, nz>")
            one = k.load(t, el.encode(t, np.eye(columns).ravel()).reshape(columns, columns), f"tile<{columns} x {columns} x {t}, mat, nz>")
            a = k.op(f"move {whole}", f"tile<{rows} x {columns} x {t}, left, {left}>")
            b = k.op(f"move {one}", f"tile<{columns} x {columns} x {t}, right, zn>")
            k.store(k.op(f"matmul {a}, {b}", f"tile<{rows} x {columns} x f32, acc, nz>"), "f32", (rows, columns))
        product("matmul", t, mkn, left, "moderate", then=seen)(k)
    return part


def products(left):
    for t in ("f32", "f16", "bf16", "i8"):
        for op in ("gemv", "gemv_acc", "gemv_bias"):
            if left == "zz":
                yield Kernel("t" + op, t, [(f"{d} {n}", one_row(op, t, d, n, "moderate")) for d, n in ((45, 37), (1, 1), (150, 32))], "cube")
        for out in ("i8", "u8", "f16")[: 3 if t == "i8" else 2]:
            for one in (False, True):
                ways = [(f"{s} {relu}", scaled_columns(t, out, s, left, relu, one)) for s in ((29, 45, 37), (1, 1, 1)) for relu in (False, True)]
                yield Kernel("tstore_fp", f"{t} {out}" + (" one" if one else ""), ways, "cube")
        for op in ("move_fp", "extract_fp", "insert_fp"):
            for one in (False, True):
                yield Kernel("tmov_fp" if op == "move_fp" else "t" + op, f"{t} i8" + (" one" if one else ""), [("", scaled_move(op, t, left, one))], "cube")
        if t != "i8":
            yield Kernel("tinsert", f"sums-{t}", [("", sums_put_into(t, left))], "cube")
    sizes = [(29, 45, 37), (16, 64, 32), (1, 1, 1)]
    for t in ("f32", "f16", "bf16", "i8"):
        for op in ("matmul", "matmul_acc", "matmul_bias"):
            for kind in ("moderate", "any"):
                yield Kernel("t" + op, t + ("" if kind == "moderate" else " edges"), [(str(s), product(op, t, s, left, kind)) for s in sizes], "cube")
        for out in ("f16", "i8", "u8", "bf16")[: 3 if t == "i8" else 4]:
            for kind in ("moderate", "any"):
                ways = [(f"{s} {more}", product("matmul", t, s, left, kind, out, more)) for s in sizes for more in (" {scale = 0.3}", " {relu = true, scale = 2.5}")]
                yield Kernel("tstore", f"{t} scaled-{out}" + ("" if kind == "moderate" else " edges"), ways, "cube")
        for out in FLOATS:
            if t != "i8":
                yield Kernel("tstore", f"{t} sums-{out}", [(f"{s} {more}", product("matmul", t, s, left, "any", out, more)) for s in sizes for more in ("", " {relu = true}")], "cube")


def kernels(arch):
    yield from elementwise()
    yield from conversions()
    yield from quantizations()
    yield from masks()
    yield from lines()
    yield from moves()
    yield from products("zz" if arch == "a3" else "nz")
