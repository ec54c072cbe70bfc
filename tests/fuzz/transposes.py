"""Transposes and constants, as forms."""

import itertools

import numpy as np

from form import Form, stored, wide
from vector_work import softmax

ABCD = [dict(A=2, B=3, C=5, D=7), dict(A=1, B=1, C=1, D=1), dict(A=3, B=1, C=17, D=33), dict(A=1, B=19, C=1, D=66), dict(A=2, B=0, C=3, D=4),
        dict(A=2, B=40, C=3, D=129)]


def transposes():
    for rank in (2, 3, 4):
        names = "ABCD"[:rank]
        for perm in itertools.permutations(range(rank)):
            if list(perm) == sorted(perm):
                continue
            to = " x ".join(names[p] for p in perm)
            yield Form(f"transpose-{list(perm)}", {"x": f"<{' x '.join(names)} x f32>"}, {"y": f"<{to} x f32>"},
                       f"%y = tensor.transpose %x {{perm = {list(perm)}}} : <{to} x f32>", lambda x, p=perm: np.transpose(x, p),
                       [{k: v for k, v in size.items() if k in names} for size in (ABCD if rank == 4 else ABCD + [dict(A=70, B=33, C=21)])])
    for dtype in ("f16", "bf16", "i32", "i16", "i8", "u8", "u16", "u32"):
        for perm in ((0, 2, 1, 3), (3, 0, 1, 2), (2, 1, 0, 3)):
            to = " x ".join("ABCD"[p] for p in perm)
            yield Form(f"transpose-{dtype}-{list(perm)}", {"x": f"<A x B x C x D x {dtype}>"}, {"y": f"<{to} x {dtype}>"},
                       f"%y = tensor.transpose %x {{perm = {list(perm)}}} : <{to} x {dtype}>", lambda x, p=perm: np.transpose(x, p), ABCD[:4])
    for dtype in ("i64", "u64", "bool"):
        yield Form(f"transpose-{dtype}", {"x": f"<A x B x C x D x {dtype}>"}, {"y": f"<A x C x B x D x {dtype}>"},
                   f"%y = tensor.transpose %x {{perm = [0, 2, 1, 3]}} : <A x C x B x D x {dtype}>", lambda x: np.transpose(x, (0, 2, 1, 3)), ABCD[:4])
    yield Form("heads", {"x": "<A x B x C x D x f32>"}, {"y": "<A x B x C x D x f32>"},
               """%h = tensor.transpose %x {perm = [0, 2, 1, 3]} : <A x C x B x D x f32>
                  %s = tensor.softmax %h : <A x C x B x D x f32>
                  %y = tensor.transpose %s {perm = [0, 2, 1, 3]} : <A x B x C x D x f32>""", lambda x: softmax(x, -1), ABCD[:4] + ABCD[5:], 1e-5)
    yield Form("rank-5", {"x": "<A x B x C x D x 3 x f32>"}, {"y": "<3 x C x A x D x B x f32>"},
               "%y = tensor.transpose %x {perm = [4, 2, 0, 3, 1]} : <3 x C x A x D x B x f32>", lambda x: np.transpose(x, (4, 2, 0, 3, 1)), ABCD)
    yield Form("only-ones-move", {"x": "<A x 1 x B x f32>"}, {"y": "<1 x A x B x 1 x f32>", "z": "<A x B x f32>"},
               """%t = tensor.transpose %x {perm = [1, 0, 2]} : <1 x A x B x f32>
                  %y = tensor.reshape %t : <1 x A x B x 1 x f32>
                  %u = tensor.reshape %x : <A x B x f32>
                  %z = tensor.neg %u : <A x B x f32>""", lambda x: (np.transpose(x, (1, 0, 2))[..., None], -x[:, 0]), [dict(A=3, B=5), dict(A=1, B=1)])


def constants():
    table = [0.5, 0.5, -1.25, float("inf"), -0.0, 3.0, float("-inf"), 1e-40]
    text = "[0.5, 0.5, -1.25, inf, -0.0, 3.0, -inf, 1e-40]"
    sizes = [dict(A=3), dict(A=1), dict(A=0), dict(A=100)]
    stored_table = wide("f32", np.array(table, np.float32))
    yield Form("bias", {"x": "<A x 8 x f32>"}, {"y": "<A x 8 x f32>"},
               f"""%b = tensor.constant {{value = dense {text} : <8 x f32>}} : <8 x f32>
                   %y = tensor.add %x, %b : <A x 8 x f32>""", lambda x: x + stored_table, sizes, 1e-6)
    yield Form("bias-of-a-middle-dim", {"x": "<A x 2 x 40 x f32>"}, {"y": "<A x 2 x 40 x f32>", "b": "<2 x 1 x f32>"},
               """%b = tensor.constant {value = dense [1.5, -2.0] : <2 x 1 x f32>} : <2 x 1 x f32>
                  %y = tensor.mul %x, %b : <A x 2 x 40 x f32>""", lambda x: (x * np.array([[1.5], [-2.0]]), np.array([[1.5], [-2.0]])), sizes, 1e-6)
    for dtype, words, values in (("f16", "[1.5, 2.0, -0.0, 65504.0]", [1.5, 2.0, -0.0, 65504.0]), ("bf16", "[1.5, 2.0, -0.0, inf]", [1.5, 2.0, -0.0, np.inf]),
                                 ("i32", "[1, -2147483648, 2147483647, 0]", [1, -2**31, 2**31 - 1, 0]), ("i16", "[1, -32768, 32767, 0]", [1, -2**15, 2**15 - 1, 0]),
                                 ("i8", "[1, -128, 127, 0]", [1, -128, 127, 0]), ("u8", "[1, 255, 127, 0]", [1, 255, 127, 0]),
                                 ("u16", "[1, 65535, 7, 7]", [1, 65535, 7, 7]), ("u32", "[1, 4294967295, 7, 0]", [1, 2**32 - 1, 7, 0]),
                                 ("bool", "[1, 0, 0, 1]", [1, 0, 0, 1])):
        yield Form(f"table-{dtype}", {}, {"y": f"<2 x 2 x {dtype}>"},
                   f"%y = tensor.constant {{value = dense {words} : <2 x 2 x {dtype}>}} : <2 x 2 x {dtype}>",
                   lambda d=dtype, v=values: wide(d, stored(d, v)).reshape(2, 2), [{}])
        one = values[1]
        yield Form(f"splat-{dtype}", {}, {"y": f"<9 x 5 x {dtype}>"}, f"%y = tensor.constant {{value = {words[1:-1].split(', ')[1]}}} : <9 x 5 x {dtype}>",
                   lambda d=dtype, v=one: np.broadcast_to(wide(d, stored(d, [v])), (9, 5)), [{}])
    yield Form("empty-table", {}, {"y": "<0 x f32>"}, "%y = tensor.constant {value = dense [] : <0 x f32>} : <0 x f32>", lambda: np.zeros(0), [{}])
