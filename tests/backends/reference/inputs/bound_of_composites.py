"""Sets of values of composites against numpy: float64, and f32 with sums in other orders, lie inside; the sets are narrow."""

import subprocess
import sys

import numpy as np

R = np.random.default_rng(7)
EPS = {"f32": 2.0**-23, "f16": 2.0**-10}
NUMPY = {"f32": np.float32, "f16": np.float16, "i8": np.int8, "i32": np.int32, "bool": np.bool_}


def type_of(array):
    name = {v: k for k, v in NUMPY.items()}[array.dtype.type]
    return "tensor<" + " x ".join([*map(str, array.shape), name]) + ">"


def first_floats(arrays):
    return next((i for i, a in enumerate(arrays) if a.dtype.kind == "f"), None)


def run(op, attrs, arrays, shape, dtype, is_open):
    """Least, most and NaN of every element. is_open: the first floats are exponentials of what is given, which may err."""
    result = "tensor<" + " x ".join([*map(str, shape), dtype]) + ">"
    names = [f"%a{i}" for i in range(len(arrays))]
    at = first_floats(arrays)
    lines = [f"  %e = tensor.exp %a{at} : {type_of(arrays[at])}"] if is_open else []
    used = ["%e" if is_open and i == at else n for i, n in enumerate(names)]
    parameters = ", ".join(f"{n}: {type_of(a)}" for n, a in zip(names, arrays))
    lines.append(f"  %y = tensor.{op} {', '.join(used)} {attrs} : {result}")
    with open("f.ptir", "w") as f:
        f.write(f"func @f({parameters}) -> {result} {{\n" + "\n".join(lines) + "\n  return %y\n}\n")
    command = ["pto-run", "f.ptir", "--pipeline=p.yaml"]
    for i, a in enumerate(arrays):
        np.save(f"a{i}.npy", a)
        command += ["--in", f"a{i}=a{i}.npy"]
    out = []
    for mode in ("least", "most", "nan"):
        with open("p.yaml", "w") as f:
            f.write(f"pto-pipeline: 1\npasses: []\nbackend: {{ use: pto.reference, with: {{ bound: {mode} }} }}\n")
        p = subprocess.run([*command, "--out", "y=y.npy"], capture_output=True, text=True)
        if p.returncode != 0:
            sys.exit(f"{op}: {p.stderr}\n{open('f.ptir').read()}")
        out.append(np.load("y.npy").astype(np.float64))
    return out


def wide(a, t=np.float64):
    return a.astype(t)


def exponential(x):
    with np.errstate(all="ignore"):
        return np.exp(x - x.max(-1, keepdims=True))


def attention(q, k, v, mask, causal, scale, t, weights):
    """In t, with sums in an order of their own; `weights` is what they are rounded to."""
    s = np.empty(q.shape[:-1] + k.shape[-2:-1], t)
    order, keys = R.permutation(q.shape[-1]), R.permutation(k.shape[-2])
    s = np.einsum("bhqd,bhkd->bhqk", wide(q, t)[..., order], wide(k, t)[..., order]).astype(t) * t(scale)
    if mask is not None:
        s = np.where(mask, s, -np.inf).astype(t) if mask.dtype == np.bool_ else s + wide(mask, t)
    if causal:
        i, j = np.indices(s.shape[-2:])
        s = np.where(j <= i + s.shape[-1] - s.shape[-2], s, -np.inf).astype(t)
    with np.errstate(all="ignore"):
        e = exponential(s)
        w = (e / e[..., keys].sum(-1, keepdims=True, dtype=t)).astype(weights).astype(t)
    return np.einsum("bhqk,bhkd->bhqd", w[..., keys], wide(v, t)[..., keys, :]).astype(t)


def variance(x, axis, correction, t):
    x = np.moveaxis(wide(x, t), axis, -1)[..., R.permutation(x.shape[axis])]
    with np.errstate(all="ignore"):
        d = x - (x.sum(-1, keepdims=True, dtype=t) / t(x.shape[-1])).astype(t)
        y = (d * d).sum(-1, keepdims=True, dtype=t) / t(max(x.shape[-1] - correction, 0))
    return np.moveaxis(y, -1, axis)


def norm(x, gamma, is_centred, t):
    x = wide(x, t)
    order = R.permutation(x.shape[-1])
    with np.errstate(all="ignore"):
        d = x - (x[..., order].sum(-1, keepdims=True, dtype=t) / t(x.shape[-1])).astype(t) if is_centred else x
        mean = (d * d)[..., order].sum(-1, keepdims=True, dtype=t) / t(x.shape[-1])
        return d * (1 / np.sqrt(mean + t(1e-6))).astype(t) * wide(gamma, t)


def cross_entropy(x, index, t):
    with np.errstate(all="ignore"):
        shifted = wide(x, t) - wide(x, t).max(-1, keepdims=True)
        total = np.exp(shifted)[..., R.permutation(x.shape[-1])].sum(-1, dtype=t)
        return np.log(total) - np.take_along_axis(shifted, index[..., None].astype(np.int64), -1)[..., 0]


def conv2d(x, w, bias, strides, dilations, low, groups, shape, t):
    n, rows, columns, out = shape
    x = np.pad(wide(x, t), [(0, 0), (low[0], low[0]), (low[1], low[1]), (0, 0)])
    y = np.zeros(shape, t)
    places = [(i, j) for i in range(w.shape[0]) for j in range(w.shape[1])]
    for p in R.permutation(len(places)):
        i, j = places[p]
        part = x[:, i * dilations[0] :: strides[0], j * dilations[1] :: strides[1]][:, :rows, :columns]
        for g in range(groups):
            of_x, of_y = x.shape[3] // groups, out // groups
            y[..., g * of_y : (g + 1) * of_y] += part[..., g * of_x : (g + 1) * of_x] @ wide(w, t)[i, j, :, g * of_y : (g + 1) * of_y]
    return y if bias is None else y + wide(bias, t)


def scaled_matmul(a, b, s, u, block, t):
    order = R.permutation(a.shape[1])
    left = (a.astype(np.float32) * np.repeat(s, block, 1)).astype(np.float32)[:, order]
    right = (b.astype(np.float32) * np.repeat(u, block, 0)).astype(np.float32)[order]
    return wide(left, t) @ wide(right, t)


def check(name, op, attrs, arrays, shape, dtype, reference, limit):
    """reference(arrays, t): the op in numpy type t. limit: widest set, in units of the result's type at the largest result."""
    at = first_floats(arrays)
    for is_open in (False, True) if at is not None else (False,):
        given = list(arrays)
        if is_open:
            with np.errstate(over="ignore"):
                given[at] = np.exp(wide(arrays[at]))
        least, most, nan = run(op, attrs, arrays, shape, dtype, is_open)
        for t in (np.float64, np.float32):
            with np.errstate(all="ignore"):
                y = reference(given if t == np.float64 else [g.astype(a.dtype) for g, a in zip(given, arrays)], t)
                y = y.astype(NUMPY[dtype]).astype(np.float64)
            inside = np.where(np.isnan(y), nan != 0, (least <= y) & (y <= most))
            if not inside.all():
                at = tuple(np.argwhere(~inside)[0])
                sys.exit(f"{name} {dtype} open {is_open} in {t.__name__}: {y[at]} at {at} is not in {least[at]} .. {most[at]}")
        with np.errstate(all="ignore"):
            size = np.nanmax(np.where(np.isfinite(y), np.abs(y), 0)) if y.size else 0
            width = np.nanmax(np.where(np.isfinite(y), most - least, 0)) if y.size else 0
        unit = EPS.get(dtype, 0) * max(size, 1e-30)
        if limit is not None and width > limit * (64 if is_open else 1) * unit:
            sys.exit(f"{name} {dtype} open {is_open}: sets are {width / unit if unit else width:.1f} units wide, the limit is {limit}")


def numbers(shape, t, scale=1.0):
    return (R.standard_normal(shape) * scale).astype(t)


def main():
    f32, f16 = np.float32, np.float16
    for t, name in ((f32, "f32"), (f16, "f16")):
        for mask_type, causal, scale in ((None, False, None), (np.bool_, False, 0.3), (t, True, -1.5), (f32, False, None)):
            q, k, v = numbers((2, 2, 5, 16), t), numbers((2, 2, 9, 16), t), numbers((2, 2, 9, 7), t)
            mask = None if mask_type is None else R.random((5, 9)) < 0.7 if mask_type == np.bool_ else numbers((5, 9), mask_type)
            attrs = ", ".join((["causal = true"] if causal else []) + ([f"scale = {scale}"] if scale else []))
            used = scale if scale else 0.25
            arrays = [q, k, v] + ([] if mask is None else [mask])

            def made(a, n, m=mask, c=causal, s=used, w=t):
                return attention(a[0], a[1], a[2], m, c, s, n, w if w == f16 else n)

            check("attention", "attention", "{" + attrs + "}" if attrs else "", arrays, (2, 2, 5, 7), name, made, 2000 if t == f32 else 40)
        for kind, scale, more in (("small", 1, 0), ("far from 0", 0.01, 100), ("huge", 1e3 if t == f16 else 1e22, 0)):
            x = (numbers((3, 50), t, scale) + t(more)).astype(t)
            for correction in (0, 1, 50):
                attrs = f"{{axis = [1], correction = {correction}}}"
                limit = None if kind != "small" or correction == 50 else 200
                check(f"var {kind}", "var", attrs, [x], (3, 1), name, lambda a, n, c=correction: variance(a[0], 1, c, n), limit)
        # Of 1e20 squares overflow in f32, and not in a wider type.
        for n, scale in ((50, 1), (50, 1e20), (1, 1e20)) if t == f32 else ((50, 1),):
            x, gamma = numbers((3, n), t, scale), numbers((n,), t)
            for op in ("rms_norm", "layer_norm"):
                check(f"{op} {scale}", op, "", [x, gamma], (3, n), name, lambda a, n, c=op == "layer_norm": norm(a[0], a[1], c, n), 500 if scale == 1 else None)
        x = numbers((4, 33), t, 3)
        index = R.integers(0, 33, 4).astype(np.int32)
        with_infinity = x.copy()
        with_infinity[0, 5], with_infinity[1], with_infinity[2, 7] = -np.inf, -np.inf, np.nan
        check("cross_entropy", "cross_entropy", "", [x, index], (4,), name, lambda a, n: cross_entropy(a[0], a[1], n), 200)
        check("cross_entropy", "cross_entropy", "", [with_infinity, index], (4,), name, lambda a, n: cross_entropy(a[0], a[1], n), None)
        for groups, strides, dilations, low, has_bias in ((1, (1, 1), (1, 1), (0, 0), False), (2, (2, 1), (1, 2), (1, 2), True), (1, (2, 3), (2, 1), (2, 1), True)):
            x, w = numbers((2, 7, 8, 4), t), numbers((3, 2, 4 // groups, 6), t)
            bias = numbers((6,), t) if has_bias else None
            shape = (2, (7 + 2 * low[0] - 2 * dilations[0] - 1) // strides[0] + 1, (8 + 2 * low[1] - dilations[1] - 1) // strides[1] + 1, 6)
            attrs = f"{{groups = {groups}, strides = {list(strides)}, dilations = {list(dilations)}, low = {list(low)}, high = {list(low)}}}"

            def windows(a, n, b=bias, s=strides, d=dilations, p=low, g=groups, to=shape):
                return conv2d(a[0], a[1], b, s, d, p, g, to, n)

            check("conv2d", "conv2d", attrs, [x, w] + ([bias] if has_bias else []), shape, name, windows, 200)
            first = [np.ascontiguousarray(x.transpose(0, 3, 1, 2)), np.ascontiguousarray(w.transpose(3, 2, 0, 1))]

            def channels_first(a, n, f=windows):
                return f([a[0].transpose(0, 2, 3, 1), a[1].transpose(2, 3, 1, 0)], n).transpose(0, 3, 1, 2)

            attrs = attrs[:-1] + ', layout = "nchw"}'
            turned = (shape[0], shape[3], shape[1], shape[2])
            check("conv2d", "conv2d", attrs, first + ([bias] if has_bias else []), turned, name, channels_first, 200)
    for t, out in ((np.int8, "f32"), (f32, "f32"), (np.int8, "f16")):
        a = R.integers(-99, 99, (5, 24)).astype(t) if t == np.int8 else numbers((5, 24), t)
        b = R.integers(-99, 99, (24, 7)).astype(t) if t == np.int8 else numbers((24, 7), t)
        s, u = np.exp(numbers((5, 3), f32)), np.exp(numbers((3, 7), f32))
        attrs = "{block = 8, out = " + out + "}"
        check("scaled_matmul", "scaled_matmul", attrs, [a, b, s, u], (5, 7), out, lambda x, n: scaled_matmul(*x, 8, n), 200)
    # Orders and few bits.
    x = numbers((4, 33), f32)
    check("sort", "sort", "{axis = 1}", [x], (4, 33), "f32", lambda a, n: np.sort(wide(a[0], n), 1), 1)
    check("sort", "sort", "{axis = 0, descending = true}", [x], (4, 33), "f32", lambda a, n: -np.sort(-wide(a[0], n), 0), 1)
    scale, zero = np.exp(numbers((4, 3), f32)) / f32(9), np.arange(-2, 2, dtype=np.int8)[:, None]
    blocks = np.repeat(scale, 11, 1)
    check("quantize", "quantize", "{axis = 1, block = 11}", [x, scale], (4, 33), "i8", lambda a, n: np.clip(np.rint((wide(a[0], f32) / blocks).astype(f32)), -128, 127), None)
    check("quantize", "quantize", "", [x, scale[:, :1], zero], (4, 33), "i8", lambda a, n: np.clip(np.rint((wide(a[0], f32) / wide(a[1], f32)).astype(f32)) + a[2], -128, 127), None)
    few = R.integers(-128, 127, (4, 33)).astype(np.int8)
    check("dequantize", "dequantize", "{axis = 1, block = 11}", [few, scale], (4, 33), "f32", lambda a, n: wide(a[0], f32) * np.repeat(wide(a[1], f32), 11, 1), 1)
    # Integers are exact, also those that a scale follows.
    x, w = R.integers(-128, 127, (1, 5, 5, 3)).astype(np.int8), R.integers(-128, 127, (2, 2, 3, 4)).astype(np.int8)
    check("conv2d", "conv2d", "{out = i32}", [x, w], (1, 4, 4, 4), "i32", lambda a, n: conv2d(a[0], a[1], None, (1, 1), (1, 1), (0, 0), 1, (1, 4, 4, 4), n), 0)
    a, b, s = R.integers(-99, 99, (5, 24)).astype(np.int8), R.integers(-99, 99, (24, 7)).astype(np.int8), np.exp(numbers((1, 7), f32))
    check("matmul", "matmul", '{third = "scale", out = f16}', [a, b, s], (5, 7), "f16", lambda x, n: wide(x[0], n) @ wide(x[1], n) * wide(x[2], n), 8)


if __name__ == "__main__":
    main()
