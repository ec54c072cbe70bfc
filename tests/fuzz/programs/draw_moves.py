"""Ops that move elements, go by indices, or change types."""
import numpy as np

import elements
from program import draws
from quantity import FLOATS, INTEGERS, LARGEST, SMALL_FLOATS, UNIT, Quantity, Reject, is_float, made, need_exact, numpy_type, rounded, stored, whole


def moved(function):
    return lambda *q: Quantity(np.array(function(*(o.v for o in q))), None if all(o.e is None for o in q) else np.array(function(*(np.broadcast_to(o.bound, o.v.shape) for o in q))))


def not_index(dtype):
    if dtype == "index":
        raise Reject


def brackets(numbers):
    return "[" + ", ".join(map(str, numbers)) + "]"


def source(f, dtype, least=1, most=5):
    not_index(dtype)
    return f.pick(dtype, rank=(least, most))


@draws("reshape")
def reshape(f, op, dtype):
    x = source(f, dtype, 1)
    dims, r = f.of(x)[0], f.r
    kind = r.randrange(3)
    if kind == 0 and len(dims) > 1:
        k = r.randrange(len(dims) - 1)
        to = (*dims[:k], f"({dims[k]}) * ({dims[k + 1]})", *dims[k + 2:])
    elif kind == 1:
        to = (*dims, "1")
    else:
        k = r.randrange(len(dims) + 1)
        to = (*dims[:k], "1", *dims[k:])
    if len(to) > 5:
        raise Reject
    f.op("tensor.reshape %0", [x], [(to, dtype)], moved(lambda v: v.reshape(f.shape(to))))


@draws("transpose")
def transpose(f, op, dtype):
    x = source(f, dtype)
    dims = f.of(x)[0]
    perm = f.r.sample(range(len(dims)), len(dims))
    f.op(f"tensor.transpose %0 {{perm = {perm}}}", [x], [(tuple(dims[p] for p in perm), dtype)], moved(lambda v: np.transpose(v, perm)))


@draws("broadcast")
def broadcast(f, op, dtype):
    not_index(dtype)
    to = f.dims(1)
    part = tuple(d if f.r.random() < 0.6 else "1" for d in to)[f.r.randrange(len(to)):]
    x = f.pick(dtype, part)
    f.op("tensor.broadcast %0", [x], [(to, dtype)], moved(lambda v: np.broadcast_to(v, f.shape(to))))


@draws("tril", "triu")
def triangle(f, op, dtype):
    x, k = source(f, dtype, 2), f.r.randrange(-3, 4)
    f.op(f"tensor.{op} %0 {{diagonal = {k}}}", [x], [f.of(x)], moved(lambda v: getattr(np, op)(v, k)))


@draws("view")
def view(f, op, dtype):
    x = source(f, dtype)
    dims, shape, r = f.of(x)[0], f.shape(f.of(x)[0]), f.r
    starts, strides, to, cut = [], [], [], []
    strided = r.random() < 0.3
    for d, n in zip(dims, shape):
        kind = r.randrange(3)
        if n < 3 or kind == 0:
            starts, strides, to, cut = starts + [0], strides + [1], to + [d], cut + [slice(None)]
        elif kind == 1 or not strided:
            k = r.randrange(3)
            starts, strides, to, cut = starts + [k], strides + [1], to + [f"{d} - 2"], cut + [slice(k, k + n - 2)]
        else:
            starts, strides, to, cut = starts + [1], strides + [2], to + ["1"], cut + [slice(1, 2)]
    words = f" {{strides = {brackets(strides)}}}" if strided else ""
    f.op(f"tensor.view %0{brackets(starts)}{words}", [x], [(tuple(to), dtype)], moved(lambda v: v[tuple(cut)]))


@draws("flip")
def flip(f, op, dtype):
    x = source(f, dtype)
    n = len(f.of(x)[0])
    axes = f.r.sample(range(n), f.r.randrange(1, n + 1))
    text = str(axes[0]) if len(axes) == 1 else brackets(axes)
    f.op(f"tensor.flip %0 {{axis = {text}}}", [x], [f.of(x)], moved(lambda v: np.flip(v, axes)))


@draws("split")
def split(f, op, dtype):
    x = source(f, dtype)
    dims, axis = f.of(x)[0], f.r.randrange(len(f.of(x)[0]))
    n = f.shape(dims)[axis]
    if n < 3:
        raise Reject
    parts = ["1", f"{dims[axis]} - 2", "1"]
    f.r.shuffle(parts)
    at = np.cumsum([f.p.size(p) for p in parts])[:-1]
    f.op(f"tensor.split %0 {{axis = {axis}}}", [x], [((*dims[:axis], p, *dims[axis + 1:]), dtype) for p in parts],
         lambda q: tuple(Quantity(v, e) for v, e in zip(np.split(q.v, at, axis), [None] * 3 if q.e is None else np.split(np.broadcast_to(q.e, q.v.shape), at, axis))))


@draws("concat")
def concat(f, op, dtype):
    x = source(f, dtype)
    dims, axis = f.of(x)[0], f.r.randrange(len(f.of(x)[0]))
    other = (*dims[:axis], f.r.choice(("1", "2", dims[axis])), *dims[axis + 1:])
    y = f.pick(dtype, other)
    total = f"{dims[axis]} + {other[axis]}"
    f.op(f"tensor.concat %0, %1 {{axis = {f.r.choice((axis, axis - len(dims)))}}}", [x, y], [((*dims[:axis], total, *dims[axis + 1:]), dtype)],
         moved(lambda *v: np.concatenate(v, axis)))


@draws("pad")
def pad(f, op, dtype):
    x = source(f, dtype)
    dims, r = f.of(x)[0], f.r
    around = [(r.randrange(3), r.randrange(3)) if r.random() < 0.6 else (0, 0) for _ in dims]
    number = f.numbers(dtype, (), -9, 9)
    low, high = (", ".join(str(p[k]) for p in around) for k in (0, 1))
    text = ("true" if number else "false") if dtype == "bool" else repr(float(number)) if is_float(dtype) else str(int(number))
    to = tuple(f"{d} + {p[0] + p[1]}" if sum(p) else d for d, p in zip(dims, around))
    f.op(f"tensor.pad %0 low({low}) high({high}) {{value = {text}}}", [x], [(to, dtype)],
         lambda q: Quantity(np.pad(q.v, around, constant_values=number), None if q.e is None else np.pad(np.broadcast_to(q.e, q.v.shape), around)))


@draws("assemble")
def assemble(f, op, dtype):
    base = source(f, dtype)
    dims, r = f.of(base)[0], f.r
    small, starts = [], []
    for d, n in zip(dims, f.shape(dims)):
        inside = n >= 3 and r.random() < 0.5
        small, starts = small + [f"{d} - 2" if inside else d], starts + [r.randrange(3) if inside else 0]
    x = f.pick(dtype, tuple(small))

    def put(base, x):
        made_ = np.array(base)
        made_[tuple(slice(s, s + n) for s, n in zip(starts, x.shape))] = x
        return made_

    if dtype == "bool" or dtype in SMALL_FLOATS or r.random() < 0.6:
        f.op(f"tensor.assemble %1, %0{brackets(starts)}", [base, x], [(dims, dtype)], moved(put))
        return

    def added(p, q):
        window = tuple(slice(s, s + n) for s, n in zip(starts, q.v.shape))
        if not is_float(dtype):
            v = np.array(p.v)
            v[window] = whole(dtype, v[window].astype(object) + q.v.astype(object)).v
            return Quantity(v)
        v = np.array(p.v, np.float64)
        v[window] += q.v
        e = np.array(np.broadcast_to(p.bound, v.shape), np.float64)
        e[window] += np.broadcast_to(q.bound, q.v.shape)
        return made(dtype, v, None if p.e is None and q.e is None else e)

    f.op(f'tensor.assemble %1, %0{brackets(starts)} {{atomic = "add"}}', [base, x], [(dims, dtype)], added)


@draws("squeeze")
def squeeze(f, op, dtype):
    not_index(dtype)
    dims = list(f.dims(0, 4))
    axis = f.r.randrange(len(dims) + 1)
    x = f.pick(dtype, (*dims[:axis], "1", *dims[axis:]))
    f.op(f"tensor.squeeze %0 {{axis = {axis}}}", [x], [(tuple(dims), dtype)], moved(lambda v: np.squeeze(v, axis)))


@draws("unsqueeze")
def unsqueeze(f, op, dtype):
    x = source(f, dtype, 0, 4)
    dims = f.of(x)[0]
    axis = f.r.randrange(len(dims) + 1)
    f.op(f"tensor.unsqueeze %0 {{axis = {axis}}}", [x], [((*dims[:axis], "1", *dims[axis:]), dtype)], moved(lambda v: np.expand_dims(v, axis)))


# ---- by indices ----

def indexed(f, dtype, most=4):
    """A table with a dim that is not empty, and the dim."""
    x = source(f, dtype, 1, most)
    dims, axis = f.of(x)[0], f.r.randrange(len(f.of(x)[0]))
    if f.shape(dims)[axis] == 0:
        raise Reject
    return x, dims, axis


def legal(at, below):
    if at.v.size and (np.min(at.v) < 0 or np.max(at.v) >= below):
        raise Reject


@draws("take")
def take(f, op, dtype):
    x, dims, axis = indexed(f, dtype)
    listed = f.r.choice((("A",), ("5",), ("1",), ("2", "3")))
    if len(dims) + len(listed) - 1 > 5:
        raise Reject
    at = f.indices(listed, f.shape(dims)[axis])
    f.op(f"tensor.take %0, %1 {{axis = {axis}}}", [x, at], [((*dims[:axis], *listed, *dims[axis + 1:]), dtype)],
         lambda q, at: moved(lambda v: np.take(v, at.v, axis))(q))


@draws("gather")
def gather(f, op, dtype):
    x, dims, axis = indexed(f, dtype)
    index = (*dims[:axis], f.r.choice(("1", "2", "5")), *dims[axis + 1:])
    at = f.indices(index, f.shape(dims)[axis])
    f.op(f"tensor.gather %0, %1 {{axis = {axis}}}", [x, at], [(index, dtype)], lambda q, at: moved(lambda v: np.take_along_axis(v, at.v.astype(np.int64), axis))(q))


def put(v, at, parts, axis, how):
    """Slices of parts at places along the axis, in order: with wrap for integers."""
    made_ = np.moveaxis(np.array(v), axis, 0)
    for k, i in enumerate(at):
        made_[i] = how(made_[i], np.moveaxis(parts, axis, 0)[k])
    return np.moveaxis(made_, 0, axis)


@draws("scatter_update", "index_add")
def put_slices(f, op, dtype):
    x, dims, axis = indexed(f, dtype)
    count = f.r.choice(("1", "2", "5"))
    at, src = f.indices((count,), f.shape(dims)[axis]), f.pick(dtype, (*dims[:axis], count, *dims[axis + 1:]))
    alpha = f.r.choice((1, 1, 2, 3)) if op == "index_add" else 1
    words = f"{{axis = {axis}" + (f", alpha = {alpha}" if alpha != 1 else "") + "}"

    def want(q, at, s):
        if op == "scatter_update":
            return moved(lambda v, w: put(v, at.v, w, axis, lambda old, new: new))(q, s)
        with np.errstate(all="ignore"):
            v = put(q.v, at.v, (s.v * np.asarray(alpha).astype(s.v.dtype)).astype(s.v.dtype), axis, lambda old, new: (old + new).astype(q.v.dtype))
        if not is_float(dtype):
            return Quantity(v)
        most = put(np.abs(q.v), at.v, alpha * np.abs(s.v), axis, lambda old, new: old + new)
        off = put(np.broadcast_to(q.bound, q.v.shape), at.v, np.broadcast_to(alpha * s.bound, s.v.shape), axis, lambda old, new: old + new)
        return made(dtype, v, off + most * UNIT[dtype] * 2 * (len(at.v) + 1))

    f.op(f"tensor.{op} %0, %1, %2 {words}", [x, at, src], [(dims, dtype)], want)


@draws("scatter")
def scatter(f, op, dtype):
    x, dims, axis = indexed(f, dtype)
    index = (*dims[:axis], f.r.choice(("1", "2", "4")), *dims[axis + 1:])
    at, src = f.indices(index, f.shape(dims)[axis]), f.pick(dtype, index)
    how = f.r.choice(("none", "add", "mul")) if dtype != "bool" else "none"
    words = f"{{axis = {axis}" + (f', reduce = "{how}"' if how != "none" else "") + "}"

    def put_each(v, at, s, way):
        made_ = np.array(v)
        for k in np.ndindex(*s.shape):
            to = (*k[:axis], int(at[k]), *k[axis + 1:])
            made_[to] = way(made_[to], s[k])
        return made_

    def want(q, at, s):
        if how == "none":
            return moved(lambda v, w: put_each(v, at.v, w, lambda old, new: new))(q, s)
        way = (lambda old, new: old + new) if how == "add" else (lambda old, new: old * new)
        with np.errstate(all="ignore"):
            v = put_each(q.v, at.v, s.v, way)
        if not is_float(dtype):
            return Quantity(v)
        most = put_each(np.abs(q.v) + q.bound, at.v, np.abs(s.v) + s.bound, way)
        plain = put_each(np.abs(q.v), at.v, np.abs(s.v), way)
        return made(dtype, v, (most - plain) + most * UNIT[dtype] * 2 * (s.v.shape[axis] + 1))

    f.op(f"tensor.scatter %0, %1, %2 {words}", [x, at, src], [(dims, dtype)], want)


@draws("index_put")
def index_put(f, op, dtype):
    x, dims, _ = indexed(f, dtype, 3)
    if len(dims) < 2 or 0 in f.shape(dims):
        raise Reject
    many, count = f.r.choice((1, 2)), f.r.choice(("1", "3", "6"))
    kind = f.r.choice(("i32", "i64"))
    lists = [f.indices((count,), f.shape(dims)[k], kind) for k in range(many)]
    values = f.pick(dtype, (count, *dims[many:]))
    add = dtype != "bool" and f.r.random() < 0.4

    def put_lists(v, s, at):
        made_ = np.array(v)
        for k in range(s.shape[0]):
            to = tuple(int(a[k]) for a in at)
            with np.errstate(all="ignore"):
                made_[to] = made_[to] + s[k] if add else s[k]
        return made_

    def want(q, s, *lists):
        at = [one.v for one in lists]
        if not add:
            return moved(lambda v, w: put_lists(v, w, at))(q, s)
        v = put_lists(q.v, s.v, at)
        if not is_float(dtype):
            return Quantity(v)
        most = put_lists(np.abs(q.v), np.abs(s.v), at)
        off = put_lists(np.broadcast_to(q.bound, q.v.shape), np.broadcast_to(s.bound, s.v.shape), at)
        return made(dtype, v, off + most * UNIT[dtype] * 2 * (s.v.shape[0] + 1))

    listed = ", ".join(f"%{k + 2}" for k in range(many))
    f.op(f"tensor.index_put %0, %1, {listed}" + (" {accumulate = true}" if add else ""), [x, values, *lists], [(dims, dtype)], want)


@draws("one_hot")
def one_hot(f, op, dtype):
    listed, depth, out = f.r.choice((("A",), ("3",), ("2", "B"))), f.r.choice(("2", "5", "8")), f.r.choice(("f32", "f16", "i32", "i8"))
    x = f.pick(dtype, listed, 0, int(depth) - 1)

    def want(q):
        legal(q, int(depth))
        return Quantity((q.v[..., None] == np.arange(int(depth))).astype(numpy_type(out)))

    f.op("tensor.one_hot %0", [x], [((*listed, depth), out)], want)


@draws("sort", "argsort", "topk")
def ordered(f, op, dtype):
    x = f.pick(dtype, exact=True, rank=(1, 3))
    dims, r = f.of(x)[0], f.r
    axis, down = r.randrange(len(dims)), r.random() < 0.5
    n = f.shape(dims)[axis]
    if n == 0 or n > 40:
        raise Reject
    k = r.randrange(1, min(n, 4) + 1)

    def want(q):
        need_exact(q)
        key = q.v.astype(object) if not is_float(dtype) else q.v
        at = np.argsort(-key if down else key, axis, kind="stable")
        values = np.take_along_axis(q.v, at, axis)
        if op == "topk":
            first = tuple(slice(0, k) if i == axis else slice(None) for i in range(len(dims)))
            return Quantity(values[first]), Quantity(at[first].astype(np.int32))
        return Quantity(values) if op == "sort" else Quantity(at.astype(np.int32))

    if op == "topk":
        to = (*dims[:axis], str(k), *dims[axis + 1:])
        f.op(f"tensor.topk %0 {{axis = {axis}, k = {k}, largest = {str(down).lower()}}}", [x], [(to, dtype), (to, "i32")], want)
    else:
        f.op(f"tensor.{op} %0 {{axis = {axis}, descending = {str(down).lower()}}}", [x], [(dims, dtype if op == "sort" else "i32")], want)


# ---- types ----

@draws("cast")
def cast(f, op, dtype):
    r = f.r
    to = r.choice([t for t in (*FLOATS, *INTEGERS, "bool", "f8e4m3", "f8e5m2") if t != dtype])
    if dtype == "bool":
        to = r.choice(("f32", "f16", "i32", "i8", "u8", "i64"))
    if to == "bool" or dtype == "f8e8m0" and to not in FLOATS or dtype in SMALL_FLOATS and to not in FLOATS:
        to = "f32" if to != "bool" or not is_float(dtype) else to
    unsigned = to in INTEGERS and elements.is_unsigned(to)
    x = f.pick(dtype, low=0 if unsigned and is_float(dtype) else -100 if is_float(dtype) else None, high=100 if is_float(dtype) or to in SMALL_FLOATS else 30000 if to in FLOATS else None,
               exact=to not in FLOATS)
    mode = r.choice(("none", "rint", "round", "floor", "ceil", "trunc")) if (is_float(dtype) and not is_float(to) and to != "bool") and r.random() < 0.6 else None
    saturate = to in INTEGERS and r.random() < 0.3

    def want(q):
        if to == "bool":
            need_exact(q)
            return Quantity(q.v != 0)
        if is_float(to):
            v = q.v.astype(np.float64)
            if to in SMALL_FLOATS:
                need_exact(q)
                if not np.array_equal(rounded(to, v), v):
                    raise Reject
                return Quantity(v)
            return made(to, v, q.e)
        need_exact(q)
        if not is_float(dtype):
            if saturate:
                low, high = elements.limits(to)
                return Quantity(np.array([min(max(int(v), low), high) for v in np.ravel(q.v)], dtype=object).reshape(q.v.shape).astype(numpy_type(to)))
            return whole(to, q.v.astype(object))
        low, high = elements.limits(to)
        whole_ = elements.round_integral(q.v, mode or "rint")
        if q.v.size and (np.min(whole_) < low or np.max(whole_) > high):
            raise Reject
        return Quantity(whole_.astype(numpy_type(to)))

    words = elements.cast_options(to, dtype, mode, saturate)
    f.op("tensor.cast %0" + (" {" + ", ".join(words) + "}" if words else ""), [x], [(f.of(x)[0], to)], want)


@draws("bitcast")
def bitcast(f, op, dtype):
    x, r = f.pick(dtype, exact=True, rank=(1, 4)), f.r
    size, dims = elements.size(dtype), f.of(x)[0]
    to = r.choice([t for t in (*FLOATS, *INTEGERS, *SMALL_FLOATS) if t != dtype and elements.size(t) <= size])
    many = size // elements.size(to)
    back = (*dims, str(many)) if many > 1 else dims

    def want(q):
        need_exact(q)
        bits = np.ascontiguousarray(stored(dtype, q.v)).view(elements.bits_type(to)).reshape(f.shape(back))
        v = elements.decode(to, bits) if to in ("bf16", *SMALL_FLOATS) else bits.view({"f32": np.float32, "f16": np.float16}.get(to) or numpy_type(to))
        return made(to, v) if is_float(to) else Quantity(v)

    f.op("tensor.bitcast %0", [x], [(back, to)], want)


@draws("pack")
def pack(f, op, dtype):
    dims = f.dims(0, 3, 500)
    x = f.pick(dtype, (*dims, "8"))
    f.op("tensor.pack %0", [x], [((*dims, "4"), "u8")],
         lambda q: Quantity(((q.v.astype(np.int64)[..., 0::2] & 15) | (q.v.astype(np.int64)[..., 1::2] & 15) << 4).astype(np.uint8)))


@draws("unpack")
def unpack(f, op, dtype):
    dims, to = f.dims(0, 3, 500), f.r.choice(("i8", "u8"))
    x = f.pick(dtype, (*dims, "4"))

    def want(q):
        v = np.stack([q.v.astype(np.int64) & 15, q.v.astype(np.int64) >> 4], -1).reshape(f.shape((*dims, "8")))
        return Quantity((np.where(v >= 8, v - 16, v) if to == "i8" else v).astype(numpy_type(to)))

    f.op("tensor.unpack %0", [x], [((*dims, "8"), to)], want)


@draws("quantize")
def quantize(f, op, dtype):
    x, to = f.pick(dtype, low=-64, high=64, exact=True, rank=(1, 4)), f.r.choice(("i8", "u8", "i16"))
    s = f.partner(x, "f32", 0.125, 4, exact=True, scalars=False)
    if f.joined(x, s) != f.of(x)[0]:
        raise Reject

    def want(q, s):
        need_exact(q, s)
        if np.any(s.v < 0.125):
            raise Reject
        quotient = (q.v.astype(np.float32) / s.v.astype(np.float32)).astype(np.float64)
        low, high = elements.limits(to)
        return Quantity(np.clip(np.rint(quotient), low, high).astype(numpy_type(to)))

    f.op("tensor.quantize %0, %1", [x, s], [(f.of(x)[0], to)], want)


@draws("dequantize")
def dequantize(f, op, dtype):
    x, to = f.pick(dtype, low=-1000, high=1000, exact=True, rank=(1, 4)), f.r.choice(("f32", "f16", "bf16"))
    s = f.partner(x, "f32", -4, 4, scalars=False)
    if f.joined(x, s) != f.of(x)[0]:
        raise Reject

    def want(q, s):
        v = q.v.astype(np.float64) * s.v
        return made(to, v, None if s.e is None else np.abs(q.v.astype(np.float64)) * s.e, 1)

    f.op("tensor.dequantize %0, %1", [x, s], [(f.of(x)[0], to)], want)


@draws("quantize_block")
def quantize_block(f, op, dtype):
    dims, block = f.dims(0, 2, 200), f.r.choice((2, 4, 8))
    x = f.pick(dtype, (*dims, "16"), -64, 64, exact=True)

    def want(q):
        need_exact(q)
        parts = q.v.astype(np.float32).reshape(*q.v.shape[:-1], 16 // block, block)
        s = np.abs(parts).max(-1, keepdims=True) / np.float32(127)
        s = np.where(s == 0, np.float32(1), s).astype(np.float64)
        v = np.clip(np.rint(parts / s), -128, 127).reshape(q.v.shape)
        # A quotient near a half may go either way.
        return Quantity(v.astype(np.int8), np.ones(v.shape)), made("f32", s[..., 0], None, 1.5)

    f.op(f"tensor.quantize_block %0 {{block = {block}}}", [x], [((*dims, "16"), "i8"), ((*dims, str(16 // block)), "f32")], want)
