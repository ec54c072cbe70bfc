"""Forms of composite ops for forms.py: norms, rope, swiglu, embedding, cross entropy, attention, conv2d. Numpy's side is tests/kernels/composite_ops.py and
conv_ops.py."""
import json

import composite_ops as maths
import conv_ops
import elements
import numpy as np
import numpy_ops

NEAR = {"f32": 2e-5, "f16": 2e-3, "bf16": 1.6e-2}
# Rows, channels and places: beyond a tile, primes, 1 and 0.
SIZES = [dict(A=3, B=12, C=37), dict(A=1, B=4, C=1), dict(A=0, B=8, C=3), dict(A=2, B=4, C=2003), dict(A=67, B=8, C=5)]


def scaled(y, axis, gamma=None, beta=None):
    tail = [-1] + [1] * (y.ndim - axis - 1)
    y = y if gamma is None else y * gamma.reshape(tail)
    return y if beta is None else y + beta.reshape(tail)


def of_axis(axis):
    return lambda x, *p: scaled(maths.normal(x, axis, 1e-6), axis, *p)


def of_groups(groups):
    return lambda x, *p: scaled(maths.normal(x.reshape(x.shape[0], groups, -1), -1, 1e-6).reshape(x.shape) if x.size else x, 1, *p)


def norms(Form):
    x = "<A x B x C x {}>"
    for dtype in NEAR:
        kind = x.format(dtype)
        for axis, n in enumerate("ABC"):
            if dtype != "f32" and axis == 0:
                continue
            sizes = [s for s in SIZES if s[n]]
            given = {"g": f"<{n} x {dtype}>", "b": f"<{n} x f32>"}
            for fill in ("normal", "special"):
                yield Form(f"layer_norm-{axis}-{dtype}-{fill}", {"x": kind, **given}, {"y": kind}, f"%y = tensor.layer_norm %x, %g, %b {{axis = {axis}}} : {kind}", of_axis(axis), sizes, NEAR[dtype] * 5, fill)
        yield Form(f"layer_norm-alone-{dtype}", {"x": kind}, {"y": kind}, f"%y = tensor.layer_norm %x : {kind}", of_axis(2), SIZES, NEAR[dtype])
        for groups in (1, 4):
            channels = "B" if groups == 1 else "8"
            wide, given = kind.replace("B", channels), {n: f"<{channels} x {dtype}>" for n in "gb"}
            yield Form(f"group_norm-{groups}-{dtype}", {"x": wide, **given}, {"y": wide}, f"%y = tensor.group_norm %x, %g, %b {{groups = {groups}}} : {wide}", of_groups(groups), SIZES, NEAR[dtype] * 5)
    kind = "<A x 6 x B x C x f32>"
    yield Form("group_norm-of-pictures", {"x": kind, "g": "<6 x f32>"}, {"y": kind}, f"%y = tensor.group_norm %x, %g {{groups = 3}} : {kind}", of_groups(3), SIZES[:4], 1e-4)
    # What is far from 0 keeps its variance.
    yield Form("layer_norm-far-away", {"x": "<A x C x f32>", "d": "<f32>"}, {"y": "<A x C x f32>"}, """%s = tensor.mul %x, %d : <A x C x f32>
               %c = tensor.constant {value = 4096.0} : <f32>
               %r = tensor.floor %s : <A x C x f32>
               %f = tensor.add %r, %c : <A x C x f32>
               %y = tensor.layer_norm %f : <A x C x f32>""", lambda x, d: maths.normal(np.floor(np.float32(x) * np.float32(d)).astype(float) + 4096, 1, 1e-6), [dict(A=5, C=64)], 1e-2)


def turns(Form):
    for dtype in NEAR:
        for pairs in ("halves", "interleaved"):
            for table in ("B x {}", "A x B x {}", "A x 1 x {}", "{}"):
                if dtype == "f16" and table != "B x {}":
                    continue
                for n in (2, 64):
                    kind, turn = f"<A x B x {n} x {dtype}>", f"<{table.format(n // 2)} x f32>"
                    yield Form(f"rope-{pairs}-{table}-{n}-{dtype}", {"x": kind, "c": turn, "s": turn}, {"y": kind}, f'%y = tensor.rope %x, %c, %s {{pairs = "{pairs}"}} : {kind}',
                               lambda x, c, s, i=pairs == "interleaved": maths.rotated(x, c, s, i), [{k: v for k, v in s.items() if k in "AB"} for s in SIZES[:3]] + [dict(A=2, B=301)], NEAR[dtype] * 3, "special")
        kind = f"<A x C x {dtype}>"
        yield Form(f"swiglu-{dtype}", {"a": kind, "b": f"<C x {dtype}>"}, {"y": kind}, f"%y = tensor.swiglu %a, %b : {kind}", numpy_ops.FLOAT_PAIRS["swiglu"][0],
                   [{k: v for k, v in s.items() if k in "AC"} for s in SIZES], NEAR[dtype], "special")


def losses(Form):
    for dtype in NEAR:
        for kind in ("i32", "i64"):
            form = Form(f"cross_entropy-{dtype}-{kind}", {"x": f"<A x B x C x {dtype}>", "i": f"<A x B x {kind}>"}, {"y": f"<A x B x {dtype}>"}, f"%y = tensor.cross_entropy %x, %i : <A x B x {dtype}>",
                        lambda x, i: maths.surprise(x, i), SIZES, NEAR[dtype], "special" if kind == "i64" else "normal")
            form.legal = {"i": "C"}
            yield form
        form = Form(f"embedding-{dtype}", {"t": f"<C x B x {dtype}>", "i": "<A x 3 x i32>"}, {"y": f"<A x 3 x B x {dtype}>"}, f"%y = tensor.embedding %t, %i : <A x 3 x B x {dtype}>", lambda t, i: t[i], SIZES, 0, "special")
        form.legal = {"i": "C"}
        yield form
    form = Form("cross_entropy-of-large-numbers", {"x": "<A x C x f32>", "i": "<A x i32>"}, {"y": "<A x f32>"}, """%c = tensor.constant {value = 1048576.0} : <f32>
                %r = tensor.floor %x : <A x C x f32>
                %f = tensor.add %r, %c : <A x C x f32>
                %y = tensor.cross_entropy %f, %i : <A x f32>""", lambda x, i: maths.surprise(np.floor(x) + 2**20, i), [dict(A=5, C=64)], 1e-5)
    form.legal = {"i": "C"}
    yield form


def heads(Form):
    """Sizes: K heads of keys, G times as many of queries, S queries, T keys."""
    sizes = [dict(B=2, S=7, T=19), dict(B=1, S=1, T=1), dict(B=1, S=13, T=5), dict(B=0, S=2, T=3), dict(B=1, S=0, T=3), dict(B=2, S=3, T=0), dict(B=1, S=130, T=140)]
    for dtype in NEAR:
        for shared in (1, 3):
            q, k, v, y = (f"<B x {h} x {n} x {d} x {dtype}>" for h, n, d in ((2 * shared, "S", 16), (2, "T", 16), (2, "T", 24), (2 * shared, "S", 24)))
            for mask, causal in ((None, False), (None, True), (f"<S x T x {dtype}>", False), ("<B x 1 x 1 x T x bool>", True)):
                if dtype != "f32" and (mask is None) == causal:
                    continue
                words = " {causal = true}" if causal else ""
                # With fewer keys than queries the first queries see none, and become NaN.
                legal = [s for s in sizes if s["T"] >= s["S"]] if dtype != "f32" else sizes
                yield Form(f"attention-{shared}-{dtype}-{(mask or 'none').split(' ')[-1].strip('>')}{'-causal' if causal else ''}", {"q": q, "k": k, "v": v, **({"m": mask} if mask else {})}, {"y": y},
                           f"%y = tensor.attention %q, %k, %v{', %m' if mask else ''}{words} : {y}", lambda q, k, v, m=None, c=causal, t=dtype: maths.attend(q, k, v, m, c, kind=t), legal, NEAR[dtype] * 4)
    yield Form("attention-of-one-head", {"q": "<S x D x f32>", "k": "<T x D x f32>", "v": "<T x E x f32>"}, {"y": "<S x E x f32>"}, "%y = tensor.attention %q, %k, %v {scale = 0.3} : <S x E x f32>",
               lambda q, k, v: maths.attend(q, k, v, scale=0.3), [dict(S=5, T=37, D=7, E=3), dict(S=1, T=300, D=64, E=1)], 1e-4)
    yield Form("attention-of-NaN", {"q": "<S x 4 x f32>", "k": "<T x 4 x f32>", "v": "<T x 4 x f32>"}, {"y": "<S x 4 x f32>"}, "%y = tensor.attention %q, %k, %v : <S x 4 x f32>",
               maths.attend, [dict(S=9, T=3)], 1e-4, "special")


def windows(Form):
    """Sizes: A pictures of R rows and C columns. Extents of w, with 1 channel of a group at least, and attributes."""
    sizes = [dict(A=2, R=7, C=13), dict(A=1, R=5, C=5), dict(A=0, R=6, C=5), dict(A=3, R=37, C=11), dict(A=1, R=6, C=131)]
    kernels = {
        "one": ((1, 1, 5, 7), {}), "one-by-strides": ((1, 1, 3, 4), dict(strides=(2, 3))), "plain": ((3, 2, 5, 4), {}),
        "padded": ((3, 3, 4, 8), dict(low=(1, 2), high=(1, 0))), "strides": ((3, 3, 3, 5), dict(strides=(2, 2), low=(1, 1), high=(1, 1))),
        "dilated": ((2, 3, 2, 3), dict(dilations=(3, 2))), "groups": ((3, 3, 2, 6), dict(groups=3, high=(2, 2))),
        "each-channel": ((3, 3, 1, 8), dict(groups=8, strides=(2, 1), low=(1, 1), high=(1, 1))), "large": ((5, 5, 16, 17), dict(low=(2, 2), high=(2, 2))),
        "first": ((3, 2, 5, 4), dict(layout="nchw")), "first-one": ((1, 1, 3, 4), dict(layout="nchw")),
        "first-groups": ((2, 3, 2, 6), dict(groups=3, low=(1, 0), high=(2, 2), strides=(2, 1), dilations=(1, 2), layout="nchw")),
    }
    for dtype in (*NEAR, "i8"):
        for name, (w, given) in kernels.items():
            for out, bias in {"f32": ((dtype, None), (dtype, "f32")), "i8": (("i32", None), ("i32", "i32"))}.get(dtype, ((dtype, dtype), ("f32", None))):
                def extent(d, n):
                    more = given.get("low", (0, 0))[d] + given.get("high", (0, 0))[d] - (w[d] - 1) * given.get("dilations", (1, 1))[d] - 1
                    return f"({n} + {more}) floordiv {given.get('strides', (1, 1))[d]} + 1".replace("+ -", "- ")
                channels = w[2] * given.get("groups", 1)
                first = "layout" in given
                ins = {"x": f"<A x {channels} x R x C x {dtype}>" if first else f"<A x R x C x {channels} x {dtype}>",
                       "w": f"<{' x '.join(str(w[d]) for d in ((3, 2, 0, 1) if first else range(4)))} x {dtype}>", **({"b": f"<{w[3]} x {bias}>"} if bias else {})}
                words = [f"{k} = {json.dumps(v)}" for k, v in given.items()] + ([f"out = {out}"] if out != dtype else [])
                kind = f"<A x {w[3]} x {extent(0, 'R')} x {extent(1, 'C')} x {out}>" if first else f"<A x {extent(0, 'R')} x {extent(1, 'C')} x {w[3]} x {out}>"
                want = lambda x, w, b=None, g=given, i=dtype == "i8": conv_ops.convolved(*(a.astype(np.int64) if i else a for a in (x, w)), b, **g)
                yield Form(f"conv2d-{name}-{dtype}-{out}{'-bias' if bias else ''}", ins, {"y": kind}, f"%y = tensor.conv2d {', '.join('%' + n for n in ins)}{' {' + ', '.join(words) + '}' if words else ''} : {kind}",
                           want, sizes, NEAR.get(out, 0) * 4 + 2e-6 * np.prod(w[:3]), "extreme" if dtype == "i8" else "normal")


def composites(Form):
    for make in (norms, turns, losses, heads, windows):
        yield from make(Form)
