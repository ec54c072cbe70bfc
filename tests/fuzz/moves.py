"""Ops that move elements, as forms of forms.py whose results are bits: what numpy's slices, concatenations and pads make of all bits of a
type, NaN payloads among them; windows at the edges, of nothing, of everything, in steps, backwards, of what a nest computes, and where
memory is updated in place or may not be."""

import numpy as np

import elements

FLOATS, INTEGERS = ("f32", "f16", "bf16"), ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")
SIZES = [dict(A=7, B=53), dict(A=1, B=3), dict(A=2, B=1031), dict(A=70, B=4)]
BOXES = [dict(A=5, B=13, C=7), dict(A=1, B=1, C=1), dict(A=0, B=3, C=2), dict(A=3, B=0, C=2), dict(A=2, B=3, C=300)]


def given(dtype, bits):
    if dtype == "bool":
        return bits.view(np.bool_)
    return bits.view({"f32": np.float32, "f16": np.float16, "bf16": np.uint16}.get(dtype) or elements.int_type(dtype))


def any_bits(name, dtype, shape, rng):
    t = elements.bits_type(dtype)
    count = int(np.prod(shape))
    bits = np.frombuffer(rng.bytes(count * np.dtype(t).itemsize), t).reshape(shape) if count else np.zeros(shape, t)
    return given(dtype, bits & 1 if dtype == "bool" else bits)


def moves(Form):
    for dtype in FLOATS + INTEGERS + ("bool",):
        yield from of_type(Form, dtype)
    yield from fused(Form)


def of_type(Form, t):
    def form(name, inputs, outputs, text, want, sizes=SIZES):
        f = Form(f"{name}-{t}", inputs, outputs, text, want, sizes, prepare=any_bits)
        return f

    x = {"x": f"<A x B x {t}>"}
    one = 1 if t in INTEGERS + ("bool",) else -2.5
    number = elements.encode(t, [one])[0] if t in FLOATS else elements.int_bits(t, [one])[0] if t != "bool" else np.uint8(1)
    yield form("view", x, {"y": f"<A x B - 2 x {t}>"}, f"%y = tensor.view %x[0, 2] : <A x B - 2 x {t}>", lambda x: x[:, 2:])
    yield form("view-of-rows", x, {"y": f"<1 x B x {t}>"}, f"%y = tensor.view %x[$A - 1, 0] : <1 x B x {t}>", lambda x: x[-1:])
    yield form("view-of-all", x, {"y": f"<A x B x {t}>"}, f"%y = tensor.view %x[0, 0] : <A x B x {t}>", lambda x: x)
    yield form("view-of-nothing", x, {"y": f"<A x 0 x {t}>"}, f"%y = tensor.view %x[0, 1] : <A x 0 x {t}>", lambda x: x[:, :0])
    yield form("view-in-steps", x, {"y": f"<A x 2 x {t}>"}, f"%y = tensor.view %x[0, 0] {{strides = [1, 2]}} : <A x 2 x {t}>", lambda x: x[:, :3:2])
    yield form("view-backwards", x, {"y": f"<A x B x {t}>"}, f"%y = tensor.view %x[$A - 1, 0] {{strides = [-1, 1]}} : <A x B x {t}>", lambda x: x[::-1])
    yield form("view-of-a-vector", {"x": f"<A x {t}>"}, {"y": f"<A - 1 x {t}>"}, f"%y = tensor.view %x[1] : <A - 1 x {t}>", lambda x: x[1:], [dict(A=5), dict(A=1), dict(A=100003)])
    yield form("flip", x, {"y": f"<A x B x {t}>"}, f"%y = tensor.flip %x {{axis = [0, 1]}} : <A x B x {t}>", np.flip)
    yield form("split", x, {"p": f"<A x 2 x {t}>", "q": f"<A x B - 3 x {t}>", "r": f"<A x 1 x {t}>"},
               f"%p, %q, %r = tensor.split %x {{axis = 1}} : <A x 2 x {t}>, <A x B - 3 x {t}>, <A x 1 x {t}>", lambda x: (x[:, :2], x[:, 2:-1], x[:, -1:]))
    yield form("concat-rows", {**x, "z": f"<C x B x {t}>"}, {"y": f"<A + C x B x {t}>"}, f"%y = tensor.concat %x, %z {{axis = 0}} : <A + C x B x {t}>",
               lambda x, z: np.concatenate((x, z)), BOXES)
    yield form("concat-columns", {**x, "z": f"<A x C x {t}>"}, {"y": f"<A x B + C + B x {t}>"}, f"%y = tensor.concat %x, %z, %x {{axis = -1}} : <A x B + C + B x {t}>",
               lambda x, z: np.concatenate((x, z, x), -1), BOXES)
    yield form("concat-middle", {"x": f"<A x B x C x {t}>", "z": f"<A x 3 x C x {t}>"}, {"y": f"<A x B + 3 x C x {t}>"},
               f"%y = tensor.concat %x, %z {{axis = 1}} : <A x B + 3 x C x {t}>", lambda x, z: np.concatenate((x, z), 1), BOXES)
    yield form("pad", x, {"y": f"<A + 3 x B + 1 x {t}>"}, f"%y = tensor.pad %x low(1, 0) high(2, 1) {{value = {one}}} : <A + 3 x B + 1 x {t}>",
               lambda x: np.pad(x, ((1, 2), (0, 1)), constant_values=number), SIZES + [dict(A=0, B=3), dict(A=2, B=0)])
    yield form("pad-by-nothing", x, {"y": f"<A x B x {t}>"}, f"%y = tensor.pad %x low(0, 0) high(0, 0) : <A x B x {t}>", lambda x: x)
    yield form("assemble", {**x, "z": f"<A x 2 x {t}>"}, {"y": f"<A x B x {t}>"}, f"%y = tensor.assemble %z, %x[0, 1] : <A x B x {t}>",
               lambda x, z: np.concatenate((x[:, :1], z, x[:, 3:]), 1))
    yield form("assemble-all", {**x, "z": f"<A x B x {t}>"}, {"y": f"<A x B x {t}>"}, f"%y = tensor.assemble %z, %x[0, 0] : <A x B x {t}>", lambda x, z: z)
    if t in INTEGERS:
        added = lambda x, z, at=0: np.concatenate((x[:, :at], x[:, at:at + z.shape[1]] + z, x[:, at + z.shape[1]:]), 1)
        for name, at, n in ("assemble-sums", 1, "2"), ("assemble-all-sums", 0, "B"), ("assemble-sums-of-nothing", 1, "0"):
            yield form(name, {**x, "z": f"<A x {n} x {t}>"}, {"y": f"<A x B x {t}>"}, f'%y = tensor.assemble %z, %x[0, {at}] {{atomic = "add"}} : <A x B x {t}>',
                       lambda x, z, at=at: added(x, z, at))
    yield form("squeeze", {"x": f"<A x 1 x B x 1 x {t}>"}, {"y": f"<A x B x {t}>"}, f"%y = tensor.squeeze %x {{axis = [1, -1]}} : <A x B x {t}>", lambda x: x[:, 0, :, 0])
    yield form("unsqueeze", x, {"y": f"<1 x A x 1 x B x {t}>"}, f"%y = tensor.unsqueeze %x {{axis = [0, 2]}} : <1 x A x 1 x B x {t}>", lambda x: x[None, :, None])
    yield form("roll", x, {"y": f"<A x B x {t}>"},
               f"""%p, %q = tensor.split %x {{axis = 1}} : <A x B - 1 x {t}>, <A x 1 x {t}>
                   %y = tensor.concat %q, %p {{axis = 1}} : <A x B x {t}>""", lambda x: np.roll(x, 1, 1))
    yield form("five-dims", {"x": f"<2 x A x 3 x B x 4 x {t}>"}, {"y": f"<2 x A x 2 x B x 2 x {t}>"},
               f"%y = tensor.view %x[0, 0, 1, 0, 1] : <2 x A x 2 x B x 2 x {t}>", lambda x: x[:, :, 1:, :, 1:3], [dict(A=2, B=3), dict(A=1, B=1)])


def fused(Form):
    def form(name, inputs, outputs, text, want, sizes=SIZES):
        return Form(name, inputs, outputs, text, want, sizes, bound=1e-5)

    x = {"x": "<A x B x f32>"}
    yield form("rotate-halves", {"x": "<A x 8 x C x f32>", "c": "<8 x C x f32>"}, {"y": "<A x 8 x C x f32>"},
               """%p, %q = tensor.split %x {axis = 1} : <A x 4 x C x f32>, <A x 4 x C x f32>
                  %n = tensor.neg %q : <A x 4 x C x f32>
                  %r = tensor.concat %n, %p {axis = 1} : <A x 8 x C x f32>
                  %m = tensor.mul %r, %c : <A x 8 x C x f32>
                  %y = tensor.add %m, %x : <A x 8 x C x f32>""",
               lambda x, c: np.concatenate((-x[:, 4:], x[:, :4]), 1) * c + x, [dict(A=3, C=16), dict(A=1, C=1), dict(A=2, C=129)])
    yield form("gate", x, {"y": "<A x 2 x f32>"},
               """%p = tensor.view %x[0, 0] : <A x 2 x f32>
                  %q = tensor.view %x[0, 1] : <A x 2 x f32>
                  %s = tensor.sigmoid %p : <A x 2 x f32>
                  %y = tensor.mul %s, %q : <A x 2 x f32>""", lambda x: x[:, 1:3] / (1 + np.exp(-x[:, :2])))
    yield form("rows-of-a-view", x, {"y": "<A x 1 x f32>", "v": "<A x B - 1 x f32>"},
               """%v = tensor.view %x[0, 1] : <A x B - 1 x f32>
                  %y = tensor.reduce_sum %v {axis = 1} : <A x 1 x f32>""", lambda x: (np.sum(x[:, 1:], 1, keepdims=True), x[:, 1:]), SIZES[:2] + SIZES[3:])
    yield form("product-of-views", {"x": "<A x 2 x B x f32>", "z": "<2 x B x C x f32>"}, {"y": "<A x C x f32>"},
               """%p = tensor.view %x[0, 1, 0] : <A x 1 x B x f32>
                  %a = tensor.squeeze %p {axis = 1} : <A x B x f32>
                  %q = tensor.view %z[1, 0, 0] : <1 x B x C x f32>
                  %b = tensor.squeeze %q {axis = 0} : <B x C x f32>
                  %y = tensor.matmul %a, %b : <A x C x f32>""", lambda x, z: x[:, 1] @ z[1], [dict(A=5, B=33, C=17), dict(A=1, B=1, C=1)])
    yield form("sum-into-what-dies", x, {"y": "<A x B x f32>"},
               """%n = tensor.exp %x : <A x B x f32>
                  %v = tensor.view %x[0, 1] : <A x 2 x f32>
                  %y = tensor.assemble %v, %n[0, 0] {atomic = "add"} : <A x B x f32>""", lambda x: np.exp(x) + np.pad(x[:, 1:3], ((0, 0), (0, x.shape[1] - 2))))
    yield form("sum-into-itself", x, {"y": "<A x B x f32>", "n": "<A x B x f32>"},
               """%n = tensor.neg %x : <A x B x f32>
                  %v = tensor.view %n[0, 1] : <A x B - 1 x f32>
                  %y = tensor.assemble %v, %n[0, 0] {atomic = "add"} : <A x B x f32>""", lambda x: (-x - np.pad(x[:, 1:], ((0, 0), (0, 1))), -x))
    yield form("sums-into-sums", x, {"y": "<A x B x f32>"},
               """%v = tensor.view %x[0, 0] : <A x 2 x f32>
                  %a = tensor.assemble %v, %x[0, 1] {atomic = "add"} : <A x B x f32>
                  %y = tensor.assemble %v, %a[0, 1] {atomic = "add"} : <A x B x f32>""",
               lambda x: x + 2 * np.pad(x[:, :2], ((0, 0), (1, x.shape[1] - 3))))
    yield form("update-what-dies", x, {"y": "<A x B x f32>"},
               """%n = tensor.neg %x : <A x B x f32>
                  %v = tensor.view %x[0, 1] : <A x 2 x f32>
                  %y = tensor.assemble %v, %n[0, 0] : <A x B x f32>""", lambda x: np.concatenate((x[:, 1:3], -x[:, 2:]), 1))
    yield form("update-what-lives", x, {"y": "<A x B x f32>", "n": "<A x B x f32>", "w": "<A x B x f32>"},
               """%n = tensor.neg %x : <A x B x f32>
                  %v = tensor.view %n[0, 1] : <A x 2 x f32>
                  %y = tensor.assemble %v, %n[0, 0] : <A x B x f32>
                  %w = tensor.assemble %v, %y[0, 1] : <A x B x f32>""",
               lambda x: (np.concatenate((-x[:, 1:3], -x[:, 2:]), 1), -x, np.concatenate((-x[:, 1:2], -x[:, 1:3], -x[:, 3:]), 1)))
    yield form("update-of-itself", x, {"y": "<A x B x f32>"},
               """%n = tensor.neg %x : <A x B x f32>
                  %v = tensor.view %n[0, 1] : <A x B - 1 x f32>
                  %y = tensor.assemble %v, %n[0, 0] : <A x B x f32>""", lambda x: np.concatenate((-x[:, 1:], -x[:, -1:]), 1))
    yield form("into-a-constant", {"x": "<A x 2 x f32>"}, {"y": "<A x 8 x f32>"},
               """%c = tensor.constant {value = 1.5} : <A x 8 x f32>
                  %y = tensor.assemble %x, %c[0, 3] : <A x 8 x f32>""",
               lambda x: np.concatenate((np.full((len(x), 3), 1.5), x, np.full((len(x), 3), 1.5)), 1), [dict(A=7), dict(A=1), dict(A=0)])
    yield form("into-listed-numbers", {"x": "<2 x f32>"}, {"y": "<4 x f32>", "z": "<4 x f32>"},
               """%c = tensor.constant {value = dense [1.0, 2.0, 3.0, 4.0] : <4 x f32>} : <4 x f32>
                  %y = tensor.assemble %x, %c[1] : <4 x f32>
                  %z = tensor.neg %c : <4 x f32>""", lambda x: (np.array([1, x[0], x[1], 4]), -np.arange(1.0, 5)), [{}])
    yield form("padded-rows", x, {"y": "<A x 1 x f32>"},
               """%p = tensor.pad %x low(0, 2) high(0, 3) {value = -1e30} : <A x B + 5 x f32>
                  %y = tensor.reduce_max %p {axis = 1} : <A x 1 x f32>""", lambda x: np.max(x, 1, keepdims=True, initial=-1e30))
    yield form("number", {"x": "<f32>"}, {"y": "<1 x 1 x f32>", "z": "<f32>"},
               """%y = tensor.unsqueeze %x {axis = [0, 1]} : <1 x 1 x f32>
                  %v = tensor.view %x[] : <f32>
                  %z = tensor.neg %v : <f32>""", lambda x: (x.reshape(1, 1), -x), [{}])
    boxes = [dict(A=5, B=13, C=7), dict(A=3, B=1, C=1), dict(A=3, B=70, C=300), dict(A=4, B=0, C=2)]
    cube = {"x": "<A x B x C x f32>"}
    yield form("middle-of-a-box", {"x": "<A x 6 x C x f32>", "z": "<A x 3 x C x f32>"}, {"y": "<A x 3 x C x f32>"},
               """%v = tensor.view %x[0, 2, 0] : <A x 3 x C x f32>
                  %y = tensor.sub %z, %v : <A x 3 x C x f32>""", lambda x, z: z - x[:, 2:5], boxes)
    yield form("rows-of-a-middle", {"x": "<A x 6 x C x f32>"}, {"y": "<A x 3 x 1 x f32>"},
               """%v = tensor.view %x[0, 2, 0] : <A x 3 x C x f32>
                  %y = tensor.reduce_sum %v {axis = 2} : <A x 3 x 1 x f32>""", lambda x: np.sum(x[:, 2:5], 2, keepdims=True), boxes)
    yield form("one-head", {"x": "<A x 4 x C x f32>"}, {"y": "<A x C x f32>", "m": "<A x 1 x f32>"},
               """%v = tensor.view %x[0, 2, 0] : <A x 1 x C x f32>
                  %h = tensor.squeeze %v {axis = 1} : <A x C x f32>
                  %m = tensor.reduce_sum %h {axis = 1} : <A x 1 x f32>
                  %y = tensor.sub %h, %m : <A x C x f32>""", lambda x: (x[:, 2] - np.sum(x[:, 2], 1, keepdims=True), np.sum(x[:, 2], 1, keepdims=True)), boxes)
    yield form("by-a-column", x, {"y": "<A x B x f32>"},
               """%v = tensor.view %x[0, 1] : <A x 1 x f32>
                  %y = tensor.sub %x, %v : <A x B x f32>""", lambda x: x - x[:, 1:2])
    yield form("by-the-last-row", x, {"y": "<A x B x f32>"},
               """%v = tensor.view %x[$A - 1, 0] : <1 x B x f32>
                  %y = tensor.sub %x, %v : <A x B x f32>""", lambda x: x - x[-1:])
    yield form("by-one-number", x, {"y": "<A x B x f32>"},
               """%v = tensor.view %x[0, 2] : <1 x 1 x f32>
                  %y = tensor.sub %x, %v : <A x B x f32>""", lambda x: x - x[0, 2])
    yield form("every-other-plane", cube, {"y": "<2 x B x C x f32>"},
               """%v = tensor.view %x[2, 0, 0] {strides = [-2, 1, 1]} : <2 x B x C x f32>
                  %y = tensor.neg %v : <2 x B x C x f32>""", lambda x: -x[2::-2], boxes)
    yield form("differences", x, {"y": "<A x B - 2 x f32>"},
               """%p = tensor.view %x[0, 0] : <A x B - 2 x f32>
                  %q = tensor.view %x[0, 1] : <A x B - 2 x f32>
                  %r = tensor.view %x[0, 2] : <A x B - 2 x f32>
                  %s = tensor.add %p, %r : <A x B - 2 x f32>
                  %t = tensor.sub %s, %q : <A x B - 2 x f32>
                  %y = tensor.sub %t, %q : <A x B - 2 x f32>""", lambda x: x[:, :-2] + x[:, 2:] - 2 * x[:, 1:-1])
    yield form("window-of-planes", cube, {"y": "<A - 2 x B x 1 x f32>"},
               """%v = tensor.view %x[1, 0, 0] : <A - 2 x B x C x f32>
                  %m = tensor.reduce_sum %v {axis = 2} : <A - 2 x B x 1 x f32>
                  %y = tensor.neg %m : <A - 2 x B x 1 x f32>""", lambda x: -np.sum(x[1:-1], 2, keepdims=True), boxes)
    yield form("some-truth", {"c": "<A x B x bool>", **x}, {"y": "<A x B - 1 x f32>"},
               """%d = tensor.view %c[0, 1] : <A x B - 1 x bool>
                  %v = tensor.view %x[0, 0] : <A x B - 1 x f32>
                  %n = tensor.neg %v : <A x B - 1 x f32>
                  %y = tensor.where %d, %n, %v : <A x B - 1 x f32>""", lambda c, x: np.where(c[:, 1:], -x[:, :-1], x[:, :-1]))
    yield form("rows-in-a-loop", {"x": "<8 x B x f32>"}, {"y": "<8 x B x f32>"},
               """%y = for %i to 4 carry(%l = %x) {
                  %v = tensor.view %l[2 * %i, 0] : <2 x B x f32>
                  %n = tensor.neg %v : <2 x B x f32>
                  %a = tensor.assemble %n, %l[6 - 2 * %i, 0] : <8 x B x f32>
                  yield %a
                  } : <8 x B x f32>""", lambda x: np.concatenate((x[:2], x[2:4], -x[2:4], -x[:2])), [dict(B=33), dict(B=1)])
    yield form("sum-of-windows", {"x": "<A x B x f32>"}, {"y": "<A x B - 2 x f32>"},
               """%z = tensor.constant {value = 0.0} : <A x B - 2 x f32>
                  %y = for %i to 3 carry(%s = %z) {
                  %v = tensor.view %x[0, %i] : <A x B - 2 x f32>
                  %t = tensor.add %s, %v : <A x B - 2 x f32>
                  yield %t
                  } : <A x B - 2 x f32>""", lambda x: x[:, :-2] + x[:, 1:-1] + x[:, 2:])
    yield form("parts-in-a-loop", {"x": "<A x 3 x f32>"}, {"y": "<A x 3 x f32>"},
               """%y = for %i to 3 carry(%l = %x) {
                  %p, %q = tensor.split %l {axis = 1} : <A x 2 x f32>, <A x 1 x f32>
                  %n = tensor.neg %q : <A x 1 x f32>
                  %c = tensor.concat %n, %p {axis = 1} : <A x 3 x f32>
                  yield %c
                  } : <A x 3 x f32>""", lambda x: -x, [dict(A=5), dict(A=1)])
