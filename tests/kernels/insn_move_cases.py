"""Cases of instructions that move elements: memory, layouts, parts of tiles, orders, reads."""
import math

import numpy as np

import elements as el
from insn_compute_cases import binary
from insn_table import *


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


def scaled(t, to, shape, kind):
    """Sums, words and results: factors lose their last 13 bits; the word after each says whether integers are signed."""
    rows, cols = shape
    x, factors = data(t, shape, kind if t == "f32" else None), data("f32", (1, cols), kind)
    words = np.stack([factors, np.full((1, cols), 0x4000 if to == "i8" else 0, np.uint32)], axis=-1).reshape(1, 2 * cols)
    with np.errstate(all="ignore"):
        sums = (el.decode(t, x) if el.is_float(t) else x.view(np.int32)).astype(np.float32)
        y = sums * (factors & np.uint32(0xFFFFE000)).view(np.float32)
    want = el.convert(to, "f32", np.where(np.isnan(y), np.uint32(0x7FC00000), y.view(np.uint32)), "rint", not el.is_float(to), False)
    return Tile(t, x, "nz", "acc"), Tile("f32", words, "nd", "scaling"), want


def scaled_store_case(t, to, shape, kind):
    rows, cols = shape
    sums, words, want = scaled(t, to, shape, kind)
    a, strides = array(to, (40, 350))
    after = a.copy()
    after[2 : 2 + rows, 9 : 9 + cols] = want
    case("tstore_fp", f"{t}->{to} {shape} {kind}", None, [sums, words], b"", gm=(to, a, strides, (2, 9), rows, cols, False), gm_expected=after)


def scaled_move_cases():
    """Whole, in part, and put into a tile."""
    for t, to in (("f32", "i8"), ("i32", "f16"), ("i32", "i8"), ("i32", "u8")):
        for shape in ((19, 35), (1, 300), (7, 1), (0, 5)):
            for kind in ("moderate", None):
                sums, words, want = scaled(t, to, shape, kind)
                d = Tile(to, data(to, shape), "nz", "mat")
                case("tmov_fp", f"{t}->{to} {shape} {kind}", d, [sums, words], d.with_valid(want))
                at = min(3, shape[0]), 16 * (shape[1] // 32)
                part = want[at[0] :, at[1] :]
                d = Tile(to, data(to, part.shape), "nz", "mat")
                case("textract_fp", f"{t}->{to} {shape} {kind}", d, [sums, words], d.with_valid(part), at=at)
                base = Tile(to, data(to, (25, 340)), "nz", "mat")
                d = Tile(to, data(to, (25, 340)), "nz", "mat")
                whole = base.full[:25, :340].copy()
                whole[5 : 5 + shape[0], 16 : 16 + shape[1]] = want
                case("tinsert_fp", f"{t}->{to} {shape} {kind}", d, [base, sums, words], d.with_valid(whole), at=(5, 16))


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
            case("tprint", f"{t} {layout}", None, [Tile(t, bits, layout)], b"")


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
