"""Ops that make, move and convert elements."""
import numpy as np

import elements as el
from tensor_table import Array, NUMBERS, SHAPES, case, data, ints, rng, rounded, to_bits


def iota_cases():
    for shape in SHAPES + [(1, 300), (300, 2)]:
        for t in NUMBERS + ["bool"]:
            for axis in range(-len(shape), len(shape)) if t != "bool" else ():
                along = np.broadcast_to(np.arange(shape[axis]).reshape([-1 if d == axis % len(shape) else 1 for d in range(len(shape))]), shape)
                want = rounded(t, along) if el.is_float(t) else to_bits(t, along.astype(object))
                case("iota", f"{t} {shape} {axis}", t, want, [], axes=[axis])
            if len(shape) < 2:
                continue
            a = data(t, shape) & 1 if t == "bool" else data(t, shape)
            for diagonal in (0, 1, -2, 1000, -(1 << 40)):
                place = np.arange(shape[-1])[None, :] - np.arange(shape[-2])[:, None]
                for name, keep in (("tril", place <= diagonal), ("triu", place >= diagonal)):
                    case(name, f"{t} {shape} {diagonal}", t, np.where(keep, a, 0), [Array(t, a)], offsets=[diagonal])


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
            case("bitcast", f"{t} {shape}", t, a, [src])
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
            if t in el.FLOATS:
                for value in (0, 3, 2049, (1 << 24) + 1, -(1 << 24) - 3):
                    case("index_cast", f"{t} {shape} {value}", t, np.full(shape, el.encode(t, float(value))[0]), [], value=value)
            elif t in NUMBERS:
                for value in (0, 3, 127):
                    case("index_cast", f"{t} {shape} {value}", t, np.full(shape, el.int_bits(t, [value])[0]), [], value=value)
    for src in el.TYPES:
        for to in el.TYPES:
            if "index" in (src, to):
                continue
            for mode in el.MODES:
                for saturate in (False, True):
                    shape = SHAPES[int(rng.integers(0, len(SHAPES)))]
                    a = data(src, shape)
                    if src == "bool":
                        a = a & 1
                    want = el.convert(to, src, a, mode, saturate, False) if a.size else np.zeros(shape)
                    case("cast", f"{src}->{to} {shape} {mode} {saturate}", to, want, [Array(src, a)], mode=mode, saturate=saturate)


def added(t, a, b):
    if not el.is_float(t):
        return to_bits(t, ints(t, a) + ints(t, b))
    with np.errstate(all="ignore"):
        return rounded(t, el.decode(t, a) + el.decode(t, b)).reshape(np.shape(b))


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
                if t in NUMBERS:
                    sums = a.copy()
                    sums[window] = added(t, a[window], part)
                    case("assemble", f"{t} {shape} {first} {sizes} add", t, sums, [Array(t, part), src], offsets=first, combine=1)
                rest = before.copy()
                rest[window] = part
                case("concat", f"{t} {shape} {first} {sizes}", t, rest, [Array(t, part)], offsets=first, before=before)
                axes = [d for d in range(n) if rng.integers(0, 2)]
                case("flip", f"{t} {shape} {axes}", t, np.flip(a, axes), [src], axes=[d - n if rng.integers(0, 2) else d for d in axes])
                around = [(int(rng.integers(0, 4)), int(rng.integers(0, 4))) for _ in shape]
                if n > 4:
                    continue
                value = 2.0 if t == "f8e8m0" else -2.5 if el.is_float(t) else 1
                bits = el.encode(t, value) if el.is_float(t) else el.int_bits(t, [value])
                case("pad", f"{t} {shape} {around}", t, np.pad(a, around, constant_values=bits[0]) if n else a, [src], offsets=[l for l, _ in around], value=value)
            case("squeeze", f"{t} {shape}", t, a.reshape([d for d in shape if d != 1]), [src], axes=[i for i, d in enumerate(shape) if d == 1])
            if n < 8:
                case("unsqueeze", f"{t} {shape}", t, a[None], [src], axes=[0])
