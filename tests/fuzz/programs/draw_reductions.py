"""Reductions, scans, products, and what is made of them."""
import numpy as np

import numpy_ops
from program import draws
from quantity import FLOATS, LARGEST, Quantity, Reject, UNIT, around, integers, is_float, made, need_exact, numpy_type, settled, sum_of, whole


def axes_of(f, x):
    """Some axes, as they are written, the dims that are left, and keepdim."""
    dims, r = f.of(x)[0], f.r
    axes = sorted(r.sample(range(len(dims)), r.randrange(1, len(dims) + 1)))
    keep = r.random() < 0.75
    left = tuple("1" if i in axes else d for i, d in enumerate(dims) if keep or i not in axes)
    signed = [r.choice((a, a - len(dims))) for a in axes]
    text = str(signed[0]) if len(axes) == 1 and r.random() < 0.5 else str(signed)
    words = [f"axis = {text}"] + ([f"keepdim = {str(keep).lower()}"] if not keep or r.random() < 0.2 else [])
    return tuple(axes), left, keep, words


def braces(words):
    return "{" + ", ".join(words) + "}"


def shape_without(q, axes, keep):
    return tuple(1 if i in axes else n for i, n in enumerate(q.v.shape) if keep or i not in axes)


@draws("reduce_sum", "reduce_mean")
def add_up(f, op, dtype):
    x = f.pick(dtype, rank=(1, 5))
    axes, left, keep, words = axes_of(f, x)
    count = int(np.prod([f.shape(f.of(x)[0])[a] for a in axes]))
    if op == "reduce_mean" and count == 0:
        raise Reject
    if f.r.random() < 0.2:
        words.append(f'order = "{f.r.choice(("ascending", "tree(2)", "tree(16)", "tree(256)"))}"')
    if is_float(dtype):
        want = lambda q: sum_of(dtype, q, axes, keep, 1.0 / count if op == "reduce_mean" else 1.0)
    else:
        want = lambda q: Quantity(np.sum(q.v, axes, keepdims=keep, dtype=numpy_type(dtype)))
    f.op(f"tensor.{op} %0 {braces(words)}", [x], [(left, dtype)], want)


@draws("reduce_max", "reduce_min")
def extreme(f, op, dtype):
    x = f.pick(dtype, rank=(1, 5))
    axes, left, keep, words = axes_of(f, x)
    if any(f.shape(f.of(x)[0])[a] == 0 for a in axes):
        raise Reject
    if f.r.random() < 0.3:
        words.append(f'nan = "{f.r.choice(("propagate", "ignore", "any"))}"')
    function = np.max if op == "reduce_max" else np.min
    f.op(f"tensor.{op} %0 {braces(words)}", [x], [(left, dtype)],
         lambda q: Quantity(np.asarray(function(q.v, axes, keepdims=keep)), None if q.e is None else np.asarray(np.max(q.e, axes, keepdims=keep))))


@draws("reduce_prod")
def multiply_up(f, op, dtype):
    x = f.pick(dtype, low=-2 if is_float(dtype) else None, high=2 if is_float(dtype) else None, rank=(1, 5))
    axes, left, keep, words = axes_of(f, x)
    count = int(np.prod([f.shape(f.of(x)[0])[a] for a in axes]))
    if is_float(dtype) and count > 12:
        raise Reject

    def want(q):
        if not is_float(dtype):
            return Quantity(np.prod(q.v, axes, keepdims=keep, dtype=numpy_type(dtype)))
        v = np.prod(q.v, axes, keepdims=keep)
        e = np.prod(np.abs(q.v) + q.bound, axes, keepdims=keep) - np.abs(v)
        return made(dtype, v, e + count * 2.0**-23 * np.abs(v))

    f.op(f"tensor.{op} %0 {braces(words)}", [x], [(left, dtype)], want)


@draws("any", "all")
def truths(f, op, dtype):
    x = f.pick(dtype, rank=(1, 5))
    axes, left, keep, words = axes_of(f, x)
    f.op(f"tensor.{op} %0 {braces(words)}", [x], [(left, dtype)], lambda q: Quantity(np.asarray(getattr(np, op)(q.v, axes, keepdims=keep))))


@draws("var")
def variance(f, op, dtype):
    x = f.pick(dtype, low=-64, high=64, rank=(1, 5))
    axes, left, keep, words = axes_of(f, x)
    count = int(np.prod([f.shape(f.of(x)[0])[a] for a in axes]))
    correction = f.r.choice((0, 0, 1))
    if count <= correction:
        raise Reject
    words.append(f"correction = {correction}")
    if f.r.random() < 0.2:
        words.append(f'order = "{f.r.choice(("ascending", "tree(4)"))}"')

    def want(q):
        v = np.var(q.v, axes, keepdims=keep, ddof=correction)
        spread = np.sqrt(v) + 2.0**-20 * np.max(np.abs(q.v), axes, keepdims=keep)
        moved = np.max(q.e, axes, keepdims=keep) if q.e is not None else 0.0
        return made(dtype, v, 8 * count * 2.0**-24 * (v + np.mean(q.v**2, axes, keepdims=keep) * 2.0**-10) + 4 * spread * moved + 4 * moved**2 + count * 2.0**-23 * v + 1e-12, 2)

    f.op(f"tensor.{op} %0 {braces(words)}", [x], [(left, dtype)], want)


@draws("argmax", "argmin")
def place(f, op, dtype):
    x = f.pick(dtype, exact=True, rank=(1, 5))
    dims, r = f.of(x)[0], f.r
    axis, keep, out = r.randrange(len(dims)), r.random() < 0.7, r.choice((None, "i32", "i64"))
    if f.shape(dims)[axis] == 0:
        raise Reject
    left = tuple("1" if i == axis else d for i, d in enumerate(dims) if keep or i != axis)
    words = [f"axis = {axis}", f"keepdim = {str(keep).lower()}"] + ([f"out = {out}"] if out else [])

    def want(q):
        need_exact(q)
        v = getattr(np, op)(q.v, axis)
        return Quantity((np.expand_dims(v, axis) if keep else np.asarray(v)).astype(numpy_type(out or "i32")))

    f.op(f"tensor.{op} %0 {braces(words)}", [x], [(left, out or "i32")], want)


def scanned(function, v, axis, exclusive, reverse, neutral):
    turned = np.flip(v, axis) if reverse else v
    made_ = function(turned, axis=axis)
    if exclusive and v.shape[axis]:
        made_ = np.concatenate([np.full_like(np.take(made_, [0], axis), neutral), np.delete(made_, -1, axis)], axis)
    return np.flip(made_, axis) if reverse else made_


@draws("cumsum", "cumprod")
def scan(f, op, dtype):
    x = f.pick(dtype, low=-2 if is_float(dtype) and op == "cumprod" else None, high=2 if is_float(dtype) and op == "cumprod" else None, rank=(1, 5))
    dims, r = f.of(x)[0], f.r
    axis, exclusive, reverse = r.randrange(len(dims)), r.random() < 0.4, r.random() < 0.4
    count = f.shape(dims)[axis]
    if is_float(dtype) and op == "cumprod" and count > 8:
        raise Reject
    function, neutral = (np.cumsum, 0) if op == "cumsum" else (np.cumprod, 1)

    def want(q):
        if not is_float(dtype):
            return Quantity(scanned(lambda v, axis: function(v, axis=axis, dtype=v.dtype), q.v, axis, exclusive, reverse, neutral))
        v = scanned(function, q.v, axis, exclusive, reverse, neutral)
        most = scanned(function, np.abs(q.v) + q.bound, axis, exclusive, reverse, neutral)
        exact = q.e is None and np.array_equal(np.rint(q.v * 64), q.v * 64) and np.max(most, initial=0) * 64 < 2**24 and op == "cumsum"
        # Each partial result may be rounded to the type.
        unit = UNIT[dtype] if not exact or dtype != "f32" else 0.0
        moved = 0.0 if q.e is None else most - scanned(function, np.abs(q.v), axis, exclusive, reverse, neutral)
        return made(dtype, v, None if exact and dtype == "f32" else (count + 1) * unit * most + moved)

    f.op(f"tensor.{op} %0 {{axis = {axis}, exclusive = {str(exclusive).lower()}, reverse = {str(reverse).lower()}}}", [x], [f.of(x)], want)


# ---- products ----

def turned(dims):
    return (*dims[:-2], dims[-1], dims[-2])


@draws("matmul")
def product(f, op, dtype):
    r = f.r
    m, k, n = (r.choice(("A", "B", "C", "1", "5", "16")) for _ in range(3))
    batch = r.choice(((), (), (), ("2",), ("D",), ("2", "3")))
    if np.prod(f.shape((*batch, m, k, n)), dtype=np.int64) > 60000:
        raise Reject
    a_dims, b_dims, out_dims = (*batch, m, k), (*(batch if r.random() < 0.7 else ()), k, n), (*batch, m, n)
    ta, tb = r.random() < 0.25, r.random() < 0.25
    a = f.pick(dtype, turned(a_dims) if ta else a_dims, -9, 9)
    b = f.pick(dtype, turned(b_dims) if tb else b_dims, -9, 9)
    words = [w for w, on in (("transpose_a = true", ta), ("transpose_b = true", tb)) if on]
    narrow = dtype in ("f16", "bf16", "f8e4m3", "f8e5m2", "i8", "u8")
    out = (("f32" if is_float(dtype) else "i32") if narrow and (r.random() < 0.5 or dtype.startswith("f8")) else dtype)
    if out != dtype:
        words.append(f"out = {out}")
    operands, text = [a, b], "%0, %1"
    extra = r.choice((None, None, "bias")) if is_float(dtype) else None
    if extra:
        operands.append(f.pick(out if r.random() < 0.5 else "f32", (n,), -9, 9) if out == "f32" else f.pick(out, (n,), -9, 9))
        text += ", %2"
    if r.random() < 0.2:
        words.append(f'order = "{r.choice(("ascending", "tree(2)", "tree(8)", "tree(64)"))}"')
    relu = r.random() < 0.2
    if relu:
        words.append('activation = "relu"')

    def want(p, q, z=None):
        x, y = (np.swapaxes(v, -1, -2) if t else v for v, t in ((p.v, ta), (q.v, tb)))
        if not is_float(dtype):
            v = np.matmul(x.astype(numpy_type(out)), y.astype(numpy_type(out)))
            return Quantity(np.maximum(v, 0) if relu else v)
        dx, dy = (np.zeros_like(v) + (0.0 if one.e is None else np.swapaxes(one.e, -1, -2) if t else one.e) for v, one, t in ((x, p, ta), (y, q, tb)))
        v, most = np.matmul(x, y), np.matmul(np.abs(x) + dx, np.abs(y) + dy)
        plain = np.matmul(np.abs(x), np.abs(y))
        exact = p.e is None and q.e is None and np.array_equal(np.rint(v * 4096), v * 4096) and np.max(plain, initial=0) * 64 < 2**24
        exact = exact and np.array_equal(np.rint(x * 8), x * 8) and np.array_equal(np.rint(y * 8), y * 8)
        e = None if exact else (x.shape[-1] + 2) * 2.0**-24 * most + (most - plain)
        if z is not None:
            v, e = v + z.v, (None if e is None and z.e is None else (0.0 if e is None else e) + z.bound + 2.0**-23 * np.abs(v))
            if e is None and not np.array_equal(v.astype(np.float32).astype(np.float64), v):
                e = 2.0**-23 * np.abs(v)
        v = np.maximum(v, 0) if relu else v
        return made(out, v, e)

    f.op(f"tensor.matmul {text}" + (" " + braces(words) if words else ""), operands, [(out_dims, out)], want)


@draws("scaled_matmul")
def scaled_product(f, op, dtype):
    r = f.r
    m, n, k, block = r.choice(("A", "B", "3")), r.choice(("B", "C", "5")), r.choice(("8", "16")), r.choice((4, 8))
    narrow = str(int(k) // block)
    a, b = f.pick(dtype, (m, k), -9, 9, exact=True), f.pick(dtype, (k, n), -9, 9, exact=True)
    s, t = f.pick("f32", (m, narrow), 0.125, 4), f.pick("f32", (narrow, n), 0.125, 4)

    def want(p, q, s, t):
        x, y = p.v.astype(np.float64) * np.repeat(s.v, block, 1), q.v.astype(np.float64) * np.repeat(t.v, block, 0)
        v, plain = np.matmul(x, y), np.matmul(np.abs(x), np.abs(y))
        wide = np.abs(p.v.astype(np.float64)) * np.repeat(np.abs(s.v) + s.bound, block, 1)
        most = np.matmul(wide, np.abs(q.v.astype(np.float64)) * np.repeat(np.abs(t.v) + t.bound, block, 0))
        return made("f32", v, most - plain + most * (int(k) + 8) * 2.0**-23)

    order = r.choice(("", "", "", ', order = "ascending"', ', order = "tree(4)"'))
    f.op(f"tensor.scaled_matmul %0, %1, %2, %3 {{block = {block}{order}}}", [a, b, s, t], [((m, n), "f32")], want)
