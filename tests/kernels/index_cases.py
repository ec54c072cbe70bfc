"""Ops that go by indices, that order elements, and scans."""
import numpy as np

import elements as el
from tensor_table import Array, NUMBERS, case, data, ints, rng, rounded, special, to_bits


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
            for t in el.TYPES:
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
                if t in NUMBERS + ["bool"]:
                    case("scatter", what, t, put, ins, axes=[given])
                if t in NUMBERS:
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
                    if t in NUMBERS:
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
