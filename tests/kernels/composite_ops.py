"""Cases of the norms, rope, embedding, cross entropy and attention for make_tensor_ops_tables.py, from their maths in float64."""
import numpy as np

import elements as el

FLOATS = el.FLOATS


def normal(x, axes, eps):
    d = x - x.mean(axis=axes, keepdims=True)
    return d / np.sqrt((d * d).mean(axis=axes, keepdims=True) + eps)


def rotated(x, c, s, interleaved):
    n = x.shape[-1] // 2
    p, q = (x[..., ::2], x[..., 1::2]) if interleaved else (x[..., :n], x[..., n:])
    a, b = p * c - q * s, q * c + p * s
    return np.stack([a, b], -1).reshape(x.shape) if interleaved else np.concatenate([a, b], -1)


def surprise(x, index):
    d = x - x.max(axis=-1, keepdims=True)
    return np.log(np.exp(d).sum(axis=-1)) - np.take_along_axis(d, index[..., None], -1)[..., 0]


def attend(q, k, v, mask=None, causal=False, scale=None, kind="f32"):
    """Weights of 16 bits are rounded before they are multiplied by v."""
    if q.ndim > 2:
        k, v = (np.repeat(t, q.shape[-3] // k.shape[-3], axis=-3) for t in (k, v))
    s = q @ np.swapaxes(k, -1, -2) * (1 / np.sqrt(q.shape[-1]) if scale is None else scale)
    if mask is not None:
        s = np.where(mask, s, -np.inf) if mask.dtype == bool else s + mask
    if causal:
        queries, keys = s.shape[-2:]
        s = np.where(np.arange(keys) <= np.arange(queries)[:, None] + keys - queries, s, -np.inf)
    if not s.shape[-1]:
        return np.zeros((*s.shape[:-1], v.shape[-1]))
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    p = e / e.sum(axis=-1, keepdims=True)
    return (p if kind == "f32" or not p.size else el.decode(kind, el.encode(kind, p.ravel())).reshape(p.shape)) @ v


def norm_cases(make):
    for t in FLOATS:
        for shape, axis in (((1,), 0), ((7,), -1), ((5, 13), 0), ((5, 13), 1), ((3, 0, 5), 2), ((2, 301), -1), ((2, 3, 5, 7), 1), ((2, 1, 2, 3, 1, 2, 2, 3), 3)):
            for given in range(3):
                make.line("layer_norm", f"{t} {shape} {axis} {given}", t, shape, [shape[axis]] * given, lambda x, *p: normal(x, axis, 1e-6), axis, axes=[axis], eps=1e-6)
        for shape, groups in (((1, 1), 1), ((2, 6), 3), ((2, 6, 5), 2), ((3, 4, 2, 3), 4), ((0, 4, 3), 2), ((2, 5, 7, 1, 2), 1)):
            def grouped(x):
                return normal(x.reshape(shape[0], groups, -1) if x.size else x, -1, 1e-5).reshape(shape)
            for given in range(3):
                make.line("group_norm", f"{t} {shape} {groups} {given}", t, shape, [shape[1]] * given, grouped, 1, groups=groups, eps=1e-5)


def composite_cases(case, data, rounded, Array, rng):
    class Make:
        def put(self, name, what, t, want, ins, **more):
            case(name, what, t, rounded(t, want), [Array(kind, bits) for kind, bits in ins], ulp=1, **more)

        def line(self, name, what, t, shape, given, fn, axis, **more):
            x = data(t, shape, "moderate")
            kinds = [t, "f32"][: len(given)]
            scales = [data(kind, (n,), "moderate") for kind, n in zip(kinds, given)]
            tail = [-1] + [1] * (len(shape) - axis % len(shape) - 1)
            with np.errstate(all="ignore"):
                want = fn(el.decode(t, x).reshape(shape))
                for i, (kind, bits) in enumerate(zip(kinds, scales)):
                    wide = el.decode(kind, bits).reshape(tail)
                    want = want * wide if i == 0 else want + wide
            # A sum that is nearly nothing has no ulp to be within.
            want = np.where(np.abs(want) < 1e-12, 0, want)
            self.put(name, what, t, want, [(t, x)] + list(zip(kinds, scales)), **more)

    make = Make()
    norm_cases(make)
    values = lambda t, shape: data(t, shape, "moderate")
    for t in FLOATS:
        wide = lambda bits, kind=t: el.decode(kind, bits).reshape(np.shape(bits))
        for shape, table in (((2,), (1,)), ((5, 14), (5, 7)), ((2, 3, 5, 8), (5, 4)), ((2, 3, 5, 8), (2, 1, 5, 4)), ((0, 4), (2,)), ((3, 0), (0,)), ((1, 2, 1, 1, 2, 1, 3, 6), (3, 3))):
            for interleaved in (False, True):
                x, c, s = values(t, shape), values("f32", table), values(t, table)
                make.put("rope", f"{t} {shape} {table} {interleaved}", t, rotated(wide(x), wide(c, "f32"), wide(s), interleaved), [(t, x), ("f32", c), (t, s)], interleaved=interleaved)
        for shape, kind in (((1,), "i32"), ((7, 5), "i64"), ((2, 3, 301), "i16"), ((0, 4), "i32")):
            x, index = values(t, shape), rng.integers(0, shape[-1], shape[:-1])
            if x.size > 20:
                x.ravel()[3] = el.encode(t, -np.inf)[0]
            with np.errstate(all="ignore"):
                want = surprise(wide(x), index)
            make.put("cross_entropy", f"{t} {shape} {kind}", t, want, [(t, x), (kind, el.int_bits(kind, index.ravel()).reshape(index.shape))])
        for q, k, n, mask, more in (((5, 4), (7, 4), 3, None, {}), ((5, 4), (7, 4), 3, (5, 7), dict(causal=True)), ((1, 1, 1), (1, 1, 1), 1, None, {}), ((6, 3, 8), (2, 11, 8), 5, (3, 1), {}),
                                    ((2, 4, 3, 8), (2, 2, 5, 8), 6, (2, 4, 1, 5), dict(causal=True, scale=0.5)), ((2, 4, 3, 8), (2, 4, 2, 8), 6, None, dict(causal=True)), ((2, 0, 3), (2, 4, 3), 2, None, {}), ((2, 2, 3), (1, 0, 3), 2, None, {})):
            for kind in ([None] if mask is None else ["bool", "f32"]):
                a, b, v = values(t, q), values(t, k), values(t, (*k[:-1], n))
                ins, sees = [(t, a), (t, b), (t, v)], None
                if kind:
                    bits = rng.integers(0, 2, mask).astype(np.uint8) if kind == "bool" else values("f32", mask)
                    ins, sees = ins + [(kind, bits)], bits.astype(bool) if kind == "bool" else wide(bits, "f32")
                with np.errstate(all="ignore"):
                    want = attend(wide(a), wide(b), wide(v), sees, **more, kind=t)
                make.put("attention", f"{t} {q} {k} {kind} {more}", t, want, ins, **more)
    for t in el.TYPES:
        table = data(t, (5, 3, 2)) & 1 if t == "bool" else data(t, (5, 3, 2))
        at = rng.integers(0, 5, (2, 4))
        case("embedding", t, t, table[at], [Array(t, table), Array("i32", el.int_bits("i32", at.ravel()).reshape(at.shape))])
    for x, want in (([1e4, 1e4, -1e4], [np.log(2.0)]), ([np.inf, 0, 1], [np.nan]), ([np.nan, 0, 1], [np.nan]), ([-np.inf, 0, 0], [np.inf]), ([-0.0, -np.inf, -np.inf], [0.0]), ([3e38, -3e38, 0], [0.0])):
        make.put("cross_entropy", f"{x}", "f32", np.array(want), [("f32", el.encode("f32", [x])), ("i64", np.zeros(1, dtype=np.uint64))])
    for x, want in (([np.nan, 1, 2], [np.nan] * 3), ([np.inf, 1, 2], [np.nan] * 3), ([5, 5, 5], [0, 0, 0]), ([-0.0, 0, 0], [0, 0, 0])):
        make.put("layer_norm", f"{x}", "f32", np.array(want, dtype=float), [("f32", el.encode("f32", x))], eps=1e-6)
