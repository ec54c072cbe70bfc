"""Broadcasts and reductions, as forms."""

import numpy as np

from form import Form

ABC = [dict(A=3, B=5, C=7), dict(A=1, B=1, C=1), dict(A=2, B=17, C=40), dict(A=0, B=3, C=4), dict(A=5, B=0, C=3), dict(A=2, B=3, C=0),
       dict(A=7, B=33, C=129)]
AB = [dict(A=5, B=7), dict(A=1, B=1), dict(A=0, B=4), dict(A=4, B=0), dict(A=67, B=129), dict(A=300, B=3), dict(A=2, B=1000)]


def broadcasts():
    for z in ("A x 1 x C", "B x C", "1 x B x 1", "A x 1 x 1", "B x 1", "A x 1", "1 x 1 x C", "1 x B x C"):
        if z == "A x 1":
            continue
        yield Form(f"add-[{z}]", {"x": "<A x B x C x f32>", "z": f"<{z} x f32>"}, {"y": "<A x B x C x f32>"},
                   "%y = tensor.add %x, %z : <A x B x C x f32>", lambda x, z: x + z, ABC, 1e-6)
    for op, fn in (("sub", np.subtract), ("mul", np.multiply), ("div", np.divide)):
        yield Form(f"{op}-middle-first", {"x": "<A x B x C x f32>", "z": "<A x 1 x C x f32>"}, {"y": "<A x B x C x f32>"},
                   f"%y = tensor.{op} %z, %x : <A x B x C x f32>", lambda x, z, fn=fn: fn(z, x), ABC[:3], 1e-6, fill="positive")
    yield Form("fused-middle", {"x": "<A x B x C x f32>", "z": "<A x 1 x C x f32>", "w": "<B x 1 x f32>"}, {"y": "<A x B x C x f32>"},
               """%a = tensor.add %x, %z : <A x B x C x f32>
                  %b = tensor.mul %a, %w : <A x B x C x f32>
                  %y = tensor.exp %b : <A x B x C x f32>""", lambda x, z, w: np.exp((x + z) * w), ABC, 2e-5, fill="positive")
    yield Form("special-values", {"x": "<A x B x C x f32>", "z": "<A x 1 x C x f32>"}, {"y": "<A x B x C x f32>"},
               "%y = tensor.add %x, %z : <A x B x C x f32>", lambda x, z: x + z, ABC[:3], 1e-6, fill="special")
    yield Form("maximum-middle", {"x": "<A x B x C x f32>", "z": "<1 x B x 1 x f32>"}, {"y": "<A x B x C x f32>"},
               "%y = tensor.maximum %x, %z : <A x B x C x f32>", lambda x, z: np.maximum(x, z), ABC[:3], 0, fill="special")
    yield Form("cast-of-middle", {"x": "<A x B x C x f32>", "z": "<A x 1 x C x bf16>"}, {"y": "<A x B x C x f32>"},
               """%w = tensor.cast %z : <A x 1 x C x f32>
                  %y = tensor.add %x, %w : <A x B x C x f32>""", lambda x, z: x + z, ABC, 1e-6)
    yield Form("middle-is-result-too", {"x": "<A x B x C x f32>", "z": "<A x 1 x C x f32>"},
               {"w": "<A x 1 x C x f32>", "y": "<A x B x C x f32>"},
               """%w = tensor.exp %z : <A x 1 x C x f32>
                  %y = tensor.add %x, %w : <A x B x C x f32>""", lambda x, z: (np.exp(z), x + np.exp(z)), ABC, 2e-5)
    yield Form("both-narrow", {"x": "<A x 1 x C x f32>", "z": "<1 x B x 1 x f32>"}, {"y": "<A x B x C x f32>"},
               "%y = tensor.sub %x, %z : <A x B x C x f32>", lambda x, z: x - z, ABC, 1e-6)
    yield Form("integers", {"x": "<A x B x C x i32>", "z": "<A x 1 x C x i32>"}, {"y": "<A x B x C x i32>"},
               "%y = tensor.mul %x, %z : <A x B x C x i32>", lambda x, z: x * z, ABC, fill="extreme")
    yield Form("f16-middle", {"x": "<A x B x C x f16>", "z": "<A x 1 x C x f16>"}, {"y": "<A x B x C x f16>"},
               "%y = tensor.add %x, %z : <A x B x C x f16>", lambda x, z: x + z, ABC, 1e-3)
    yield Form("broadcast-op", {"z": "<A x 1 x C x f32>", "w": "<B x f32>"}, {"y": "<A x B x C x f32>"},
               "%y = tensor.broadcast %z : <A x B x C x f32>", lambda z, w: np.broadcast_to(z, (z.shape[0], w.shape[0], z.shape[2])), ABC)
    sizes = [dict(A=2, B=3, C=5, D=4), dict(A=1, B=2, C=1, D=9), dict(A=3, B=1, C=17, D=33), dict(A=2, B=4, C=0, D=3)]
    for z in ("A x 1 x 1 x D", "1 x B x 1 x D", "A x 1 x C x 1", "1 x B x C x 1", "A x 1 x C x D", "1 x 1 x C x D", "B x 1 x 1"):
        yield Form(f"rank-4-[{z}]", {"x": "<A x B x C x D x f32>", "z": f"<{z} x f32>"}, {"y": "<A x B x C x D x f32>"},
                   "%y = tensor.mul %x, %z : <A x B x C x D x f32>", lambda x, z: x * z, sizes, 1e-6)
    yield Form("attention-mask", {"x": "<A x B x C x D x f32>", "z": "<A x 1 x 1 x D x f32>"}, {"y": "<A x B x C x D x f32>"},
               """%a = tensor.add %x, %z : <A x B x C x D x f32>
                  %y = tensor.softmax %a : <A x B x C x D x f32>""", lambda x, z: softmax(x + z, -1), sizes[:3] + [dict(A=2, B=3, C=5, D=3000)], 1e-5)


def softmax(x, axis):
    e = np.exp(x - np.max(x, axis, keepdims=True)) if x.size else x
    return e / np.sum(e, axis, keepdims=True)


def reductions():
    for axis in (0, 1):
        kept = "1 x B" if axis == 0 else "A x 1"
        dropped = "B" if axis == 0 else "A"
        for name, fn in (("sum", np.sum), ("max", np.max), ("min", np.min)):
            sizes = AB if name == "sum" else [s for s in AB if s["AB"[axis]]]
            yield Form(f"{name}-[A,B]-{axis}", {"x": "<A x B x f32>"}, {"y": f"<{kept} x f32>"},
                       f"%y = tensor.reduce_{name} %x {{axis = {axis}}} : <{kept} x f32>", lambda x, fn=fn, a=axis: fn(x, a, keepdims=True), sizes, 1e-4)
            yield Form(f"{name}-[A,B]-{axis}-dropped", {"x": "<A x B x f32>"}, {"y": f"<{dropped} x f32>"},
                       f"%y = tensor.reduce_{name} %x {{axis = {axis}, keepdim = false}} : <{dropped} x f32>", lambda x, fn=fn, a=axis: fn(x, a), sizes[:5], 1e-4)
    for axes, kept, dropped in (((1,), "A x 1 x C", "A x C"), ((0,), "1 x B x C", "B x C"), ((0, 2), "1 x B x 1", "B"), ((0, 1), "1 x 1 x C", "C"),
                                ((1, 2), "A x 1 x 1", "A"), ((0, 1, 2), "1 x 1 x 1", "")):
        for name, fn in (("sum", np.sum), ("max", np.max), ("mean", np.mean)):
            sizes = [s for s in ABC if name == "sum" or all(s["ABC"[a]] for a in axes)]
            listed = "[" + ", ".join(map(str, axes)) + "]"
            yield Form(f"{name}-[A,B,C]-{listed}", {"x": "<A x B x C x f32>"}, {"y": f"<{kept} x f32>"},
                       f"%y = tensor.reduce_{name} %x {{axis = {listed}}} : <{kept} x f32>", lambda x, fn=fn, a=axes: fn(x, a, keepdims=True), sizes, 1e-4)
            if not dropped:
                continue
            yield Form(f"{name}-[A,B,C]-{listed}-dropped", {"x": "<A x B x C x f32>"}, {"y": f"<{dropped} x f32>"},
                       f"%y = tensor.reduce_{name} %x {{axis = {listed}, keepdim = false}} : <{dropped} x f32>", lambda x, fn=fn, a=axes: fn(x, a), sizes[:4], 1e-4)
    full = [s for s in ABC if all(s.values())]
    yield Form("softmax-middle", {"x": "<A x B x C x f32>"}, {"y": "<A x B x C x f32>"}, "%y = tensor.softmax %x {axis = 1} : <A x B x C x f32>",
               lambda x: softmax(x, 1), full + [dict(A=2, B=3000, C=9), dict(A=3, B=40, C=2000)], 1e-5)
    yield Form("softmax-first", {"x": "<A x B x f32>"}, {"y": "<A x B x f32>"}, "%y = tensor.softmax %x {axis = 0} : <A x B x f32>",
               lambda x: softmax(x, 0), [s for s in AB if s["A"]] + [dict(A=5000, B=20)], 1e-5)
    yield Form("centred", {"x": "<A x B x C x f32>"}, {"m": "<A x 1 x C x f32>", "y": "<A x B x C x f32>"},
               """%m = tensor.reduce_mean %x {axis = 1} : <A x 1 x C x f32>
                  %y = tensor.sub %x, %m : <A x B x C x f32>""", lambda x: (np.mean(x, 1, keepdims=True), x - np.mean(x, 1, keepdims=True)), full, 1e-5)
    yield Form("batch-norm", {"x": "<A x B x C x f32>", "g": "<1 x B x 1 x f32>"}, {"y": "<A x B x C x f32>"},
               """%m = tensor.reduce_mean %x {axis = [0, 2]} : <1 x B x 1 x f32>
                  %d = tensor.sub %x, %m : <A x B x C x f32>
                  %s = tensor.mul %d, %d : <A x B x C x f32>
                  %v = tensor.reduce_mean %s {axis = [0, 2]} : <1 x B x 1 x f32>
                  %e = tensor.constant {value = 1e-5} : <f32>
                  %u = tensor.add %v, %e : <1 x B x 1 x f32>
                  %r = tensor.rsqrt %u : <1 x B x 1 x f32>
                  %n = tensor.mul %d, %r : <A x B x C x f32>
                  %y = tensor.mul %n, %g : <A x B x C x f32>""", batch_norm, full, 1e-4)
    yield Form("first-axis-with-middle-operand", {"x": "<A x B x C x f32>", "z": "<A x 1 x C x f32>"}, {"y": "<1 x B x C x f32>"},
               """%a = tensor.mul %x, %z : <A x B x C x f32>
                  %y = tensor.reduce_sum %a {axis = 0} : <1 x B x C x f32>""", lambda x, z: np.sum(x * z, 0, keepdims=True), ABC, 1e-4)
    yield Form("first-axis-back", {"x": "<A x B x C x f32>", "z": "<B x 1 x f32>"}, {"y": "<A x B x C x f32>"},
               """%a = tensor.add %x, %z : <A x B x C x f32>
                  %m = tensor.reduce_max %a {axis = 0} : <1 x B x C x f32>
                  %d = tensor.sub %a, %m : <A x B x C x f32>
                  %s = tensor.reduce_sum %d {axis = 0} : <1 x B x C x f32>
                  %y = tensor.mul %d, %s : <A x B x C x f32>""", first_back, full, 1e-3)
    yield Form("sum-of-repeated", {"x": "<A x 1 x C x f32>", "z": "<1 x B x 1 x f32>"}, {"y": "<A x 1 x C x f32>"},
               """%a = tensor.add %x, %z : <A x B x C x f32>
                  %y = tensor.reduce_sum %a {axis = 1} : <A x 1 x C x f32>""", lambda x, z: np.sum(x + z, 1, keepdims=True), ABC, 1e-4)
    for dtype in ("i32", "i16"):
        yield Form(f"{dtype}-first", {"x": f"<A x B x {dtype}>"}, {"y": f"<1 x B x {dtype}>", "m": f"<1 x B x {dtype}>"},
                   f"""%y = tensor.reduce_sum %x {{axis = 0}} : <1 x B x {dtype}>
                       %m = tensor.reduce_min %x {{axis = 0}} : <1 x B x {dtype}>""",
                   lambda x: (np.sum(x, 0, keepdims=True, dtype=x.dtype), np.min(x, 0, keepdims=True)), [s for s in AB if s["A"]], fill="extreme")
    for dtype in ("f16", "bf16"):
        yield Form(f"{dtype}-first", {"x": f"<A x B x {dtype}>"}, {"y": f"<1 x B x {dtype}>"},
                   f"%y = tensor.reduce_sum %x {{axis = 0}} : <1 x B x {dtype}>", lambda x: np.sum(x, 0, keepdims=True), AB[:5], 2e-2)
    for name, fn in (("max", np.max), ("min", np.min), ("sum", np.sum)):
        yield Form(f"special-{name}", {"x": "<A x B x C x f32>"}, {"y": "<A x 1 x C x f32>"},
                   f"%y = tensor.reduce_{name} %x {{axis = 1}} : <A x 1 x C x f32>", lambda x, fn=fn: fn(x, 1, keepdims=True), full, 1e-4, fill="special")


def batch_norm(x, g):
    m = np.mean(x, (0, 2), keepdims=True)
    v = np.mean((x - m) ** 2, (0, 2), keepdims=True)
    return (x - m) / np.sqrt(v + 1e-5) * g


def first_back(x, z):
    a = x + z
    d = a - np.max(a, 0, keepdims=True)
    return d * np.sum(d, 0, keepdims=True)
