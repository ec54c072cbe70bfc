"""Elementwise ops: of one operand, of two, of three, and of truth values."""
import numpy as np

import elements as el
import numpy_ops
from tensor_table import Array, NUMBERS, SHAPES, case, data, ints, rng, rounded, to_bits


def unary_cases():
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
                case("gelu", what + " tanh", t, rounded(t, numpy_ops.gelu_tanh(x)), [Array(t, a)], approx=0, ulp=1)
                case("gelu", what + " sigmoid", t, rounded(t, numpy_ops.gelu_sigmoid(x)), [Array(t, a)], approx=1, ulp=1)


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
