"""Composites: what passes of their own take apart. Bounds leave each step its rounding to the element type."""
import numpy as np

import composite_ops
import conv_ops
from program import draws
from quantity import UNIT, Quantity, Reject, made, need_exact, numpy_type



@draws("softmax")
def softmax(f, op, dtype):
    x = f.pick(dtype, low=-8, high=8, rank=(1, 5))
    axis = f.r.randrange(-len(f.of(x)[0]), len(f.of(x)[0]))
    if f.shape(f.of(x)[0])[axis] == 0:
        raise Reject

    def want(q):
        t = np.exp(q.v - np.max(q.v, axis, keepdims=True))
        v = t / np.sum(t, axis, keepdims=True)
        moved = 0.0 if q.e is None else 2 * v * np.max(q.e, axis, keepdims=True) * 1.1
        # Each step may be rounded to the type.
        return made(dtype, v, moved + v * (12 + np.abs(q.v - np.max(q.v, axis, keepdims=True))) * UNIT[dtype] * 2 + v * v.shape[axis] * 2.0**-23, 4)

    f.op(f"tensor.softmax %0 {{axis = {axis}}}", [x], [f.of(x)], want)


@draws("rms_norm")
def rms_norm(f, op, dtype):
    x = f.pick(dtype, low=-64, high=64, rank=(1, 4))
    g = f.pick(dtype, (f.of(x)[0][-1],), -9, 9)
    if f.shape(f.of(x)[0])[-1] == 0:
        raise Reject

    def want(q, g):
        n = q.v.shape[-1]
        mean = np.mean(q.v**2, -1, keepdims=True)
        if np.any(mean < 0.01):
            raise Reject
        v = q.v / np.sqrt(mean + 1e-6) * g.v
        size = np.sqrt(mean)
        moved = np.abs(g.v) * (q.bound + np.abs(q.v) / size * np.max(q.bound, -1, keepdims=True) if q.e is not None else 0.0) / size + np.abs(q.v) / size * g.bound
        return made(dtype, v, 1.1 * moved + np.abs(v) * (16 * UNIT[dtype] + n * 2.0**-23), 4)

    f.op("tensor.rms_norm %0, %1", [x, g], [f.of(x)], want)


@draws("swiglu")
def swiglu(f, op, dtype):
    a = f.pick(dtype, low=-8, high=8)
    b = f.partner(a, dtype, -16, 16)

    def want(p, q):
        v = p.v / (1 + np.exp(-p.v)) * q.v
        return made(dtype, v, 1.2 * p.bound * np.abs(q.v) + (np.abs(p.v) + p.bound) * q.bound + np.abs(v) * 2.0**-20, 9)

    f.op("tensor.swiglu %0, %1", [a, b], [(f.joined(a, b), dtype)], want)


def normal(dtype, v, x, scale, count):
    """A bound for (x - mean) / deviation * scale, which `v` is."""
    size = np.maximum(np.max(np.abs(v), initial=0), 1)
    return made(dtype, v, (np.abs(v) + np.max(np.abs(scale), initial=1) + size) * (count + 32) * 2.0**-23 + np.abs(v) * 4 * UNIT[dtype], 4)


def spread_out(x, axes):
    """Deviations that are not nearly nothing: else the quotient has no digits."""
    if x.size and np.min(np.var(x, axis=axes)) < 0.05:
        raise Reject


@draws("layer_norm")
def layer_norm(f, op, dtype):
    x = f.pick(dtype, low=-16, high=16, exact=True, rank=(1, 4))
    dims = f.of(x)[0]
    axis = f.r.randrange(len(dims))
    given = [f.pick(dtype, (dims[axis],), -9, 9, exact=True) for _ in range(f.r.randrange(3))]
    tail = [-1] + [1] * (len(dims) - axis - 1)

    def want(q, *given):
        need_exact(q, *given)
        if 0 in q.v.shape:
            raise Reject
        spread_out(q.v, axis)
        v = composite_ops.normal(q.v, axis, 1e-6)
        for i, g in enumerate(given):
            v = v * g.v.reshape(tail) if i == 0 else v + g.v.reshape(tail)
        return normal(dtype, v, q.v, max([1.0, *(np.max(np.abs(g.v), initial=0) for g in given)]), q.v.shape[axis])

    listed = "".join(f", %{k + 1}" for k in range(len(given)))
    f.op(f"tensor.layer_norm %0{listed} {{axis = {f.r.choice((axis, axis - len(dims)))}}}", [x, *given], [f.of(x)], want)


@draws("group_norm")
def group_norm(f, op, dtype):
    groups, per = f.r.choice((1, 2, 3)), f.r.choice((1, 2, 4))
    dims = (f.r.choice(("1", "2", "A")), str(groups * per), *f.r.choice(((), ("3",), ("B",), ("2", "5"))))
    x = f.pick(dtype, dims, -16, 16, exact=True)
    given = [f.pick(dtype, (dims[1],), -9, 9, exact=True) for _ in range(f.r.randrange(3))]
    tail = [-1] + [1] * (len(dims) - 2)

    def want(q, *given):
        need_exact(q, *given)
        if 0 in q.v.shape:
            raise Reject
        parts = q.v.reshape(q.v.shape[0], groups, -1)
        spread_out(parts, -1)
        v = composite_ops.normal(parts, -1, 1e-6).reshape(q.v.shape)
        for i, g in enumerate(given):
            v = v * g.v.reshape(tail) if i == 0 else v + g.v.reshape(tail)
        return normal(dtype, v, q.v, max([1.0, *(np.max(np.abs(g.v), initial=0) for g in given)]), parts.shape[-1])

    listed = "".join(f", %{k + 1}" for k in range(len(given)))
    f.op(f"tensor.group_norm %0{listed} {{groups = {groups}}}", [x, *given], [(dims, dtype)], want)


@draws("rope")
def rope(f, op, dtype):
    dims, pairs = f.dims(0, 3, 300), f.r.choice(("1", "3", "8"))
    x = f.pick(dtype, (*dims, str(2 * int(pairs))), -16, 16)
    table = (*(dims[-1:] if f.r.random() < 0.7 else ()), pairs)
    c, s = (f.pick("f32", table, -2, 2) for _ in range(2))
    interleaved = f.r.random() < 0.5

    def want(q, c, s):
        v = composite_ops.rotated(q.v, c.v, s.v, interleaved)
        most = composite_ops.rotated(np.abs(q.v), np.abs(c.v), -np.abs(s.v), interleaved)
        most = np.abs(most) + np.max(np.abs(c.v) + np.abs(s.v), initial=0) * np.max(np.abs(q.v), initial=0)
        moved = np.max(q.bound, initial=0) * 4 + np.max(c.bound + s.bound, initial=0) * np.max(np.abs(q.v), initial=0) * 2 if (q.e is not None or c.e is not None or s.e is not None) else 0.0
        return made(dtype, v, moved + most * 2.0**-22)

    f.op("tensor.rope %0, %1, %2" + (' {pairs = "interleaved"}' if interleaved else ""), [x, c, s], [(f.of(x)[0], dtype)], want)


@draws("embedding")
def embedding(f, op, dtype):
    table = f.pick(dtype, rank=(1, 3))
    dims = f.of(table)[0]
    rows = f.shape(dims)[0]
    if rows == 0:
        raise Reject
    listed = f.r.choice((("A",), ("5",), ("2", "3")))
    at = f.indices(listed, rows)
    f.op("tensor.embedding %0, %1", [table, at], [((*listed, *dims[1:]), dtype)],
         lambda q, at: Quantity(q.v[at.v.astype(np.int64)], None if q.e is None else np.broadcast_to(q.e, q.v.shape)[at.v.astype(np.int64)]))


@draws("cross_entropy")
def cross_entropy(f, op, dtype):
    x = f.pick(dtype, low=-16, high=16, rank=(1, 4))
    dims = f.of(x)[0]
    if f.shape(dims)[-1] == 0:
        raise Reject
    at = f.indices(dims[:-1], f.shape(dims)[-1])

    def want(q, at):
        v = composite_ops.surprise(q.v, at.v.astype(np.int64))
        moved = 2.1 * np.max(q.e, axis=-1) if q.e is not None else 0.0
        return made(dtype, v, moved + (np.abs(v) + 40) * 2.0**-20)

    f.op("tensor.cross_entropy %0, %1", [x, at], [(dims[:-1], dtype)], want)


@draws("attention")
def attention(f, op, dtype):
    r = f.r
    batch, heads, shared = r.choice(((), ("2",))), r.choice((1, 2)), r.choice((1, 1, 2))
    queries, keys, n, m = r.choice(("1", "A", "3")), r.choice(("B", "5", "16")), r.choice(("4", "8")), r.choice(("4", "5"))
    causal = r.random() < 0.4 and f.p.size(queries) <= f.p.size(keys)
    if f.p.size(keys) == 0:
        raise Reject
    q = f.pick(dtype, (*batch, str(heads * shared), queries, n), -4, 4, exact=True)
    k, v = (f.pick(dtype, (*batch, str(heads), keys, e), -4, 4, exact=True) for e in (n, m))

    def want(q, k, v):
        need_exact(q, k, v)
        y = composite_ops.attend(q.v, k.v, v.v, None, causal)
        return made(dtype, y, (np.abs(y) + np.max(np.abs(v.v), initial=0)) * (2.0**-18 + 4 * UNIT[dtype]), 2)

    f.op("tensor.attention %0, %1, %2" + (" {causal = true}" if causal else ""), [q, k, v], [((*batch, str(heads * shared), queries, m), dtype)], want)


@draws("conv2d")
def conv2d(f, op, dtype):
    r = f.r
    groups, channels, results = r.choice((1, 1, 2, 3)), r.choice((1, 2, 5)), r.choice((1, 3, 4))
    rows, columns, kernel = r.choice(("5", "7", "12")), r.choice(("6", "9", "13")), (r.choice((1, 2, 3)), r.choice((1, 3)))
    given = {name: tuple(r.choice(some) for _ in range(2)) for name, some in (("strides", (1, 1, 2)), ("dilations", (1, 1, 2)), ("low", (0, 1, 2)), ("high", (0, 0, 1))) if r.random() < 0.5}
    batch = r.choice(("1", "2", "A"))
    first = r.random() < 0.3
    all_channels, all_results = str(groups * channels), str(groups * results)
    x = f.pick(dtype, (batch, all_channels, rows, columns) if first else (batch, rows, columns, all_channels), -4, 4, exact=True)
    w = f.pick(dtype, (all_results, str(channels), *map(str, kernel)) if first else (*map(str, kernel), str(channels), all_results), -4, 4, exact=True)
    out = {"i8": "i32"}.get(dtype, r.choice((dtype, "f32")))
    bias = [f.pick(out, (str(groups * results),), -4, 4, exact=True)] if r.random() < 0.5 else []
    shape = conv_ops.extents((0, int(rows), int(columns)), (*kernel, channels, groups * results), **given)
    words = [f"{name} = {list(v)}" for name, v in given.items()] + ([f"groups = {groups}"] if groups > 1 else []) + (['layout = "nchw"'] if first else []) + ([f"out = {out}"] if out != dtype else [])

    given["layout"] = "nchw" if first else "nhwc"

    def want(q, w, b=None):
        need_exact(q, w, *([b] if b else []))
        if dtype == "i8":
            return Quantity(conv_ops.convolved(q.v.astype(np.int32), w.v.astype(np.int32), b and b.v, **given, groups=groups))
        y = conv_ops.convolved(q.v, w.v, b and b.v, **given, groups=groups)
        most = conv_ops.convolved(np.abs(q.v), np.abs(w.v), b and np.abs(b.v), **given, groups=groups)
        return made(out, y, most * (kernel[0] * kernel[1] * channels + 2) * 2.0**-23)

    listed = ", ".join(f"%{k}" for k in range(2 + len(bias)))
    f.op(f"tensor.conv2d {listed}" + (" {" + ", ".join(words) + "}" if words else ""), [x, w, *bias], [((batch, all_results, str(shape[1]), str(shape[2])) if first else (batch, str(shape[1]), str(shape[2]), all_results), out)], want)
