"""Products, and quantised numbers, as forms."""

import itertools

import numpy as np

import elements
from form import Form


def products():
    sizes = [dict(A=2, B=3, M=5, N=7, K=9), dict(A=1, B=1, M=1, N=1, K=1), dict(A=3, B=2, M=33, N=17, K=65), dict(A=0, B=2, M=3, N=4, K=5),
             dict(A=2, B=2, M=3, N=4, K=0), dict(A=2, B=1, M=130, N=70, K=40)]
    for a, b, out in (("A x M x K", "A x K x N", "A x M x N"), ("A x M x K", "K x N", "A x M x N"), ("1 x M x K", "A x K x N", "A x M x N"),
                      ("A x B x M x K", "A x B x K x N", "A x B x M x N"), ("A x B x M x K", "A x 1 x K x N", "A x B x M x N"),
                      ("A x 1 x M x K", "B x K x N", "A x B x M x N"), ("M x K", "A x K x N", "A x M x N")):
        yield Form(f"product-[{a}]-[{b}]", {"a": f"<{a} x f32>", "b": f"<{b} x f32>"}, {"y": f"<{out} x f32>"},
                   f"%y = tensor.matmul %a, %b : <{out} x f32>", np.matmul, sizes, 1e-4)
    yield Form("product-transposed", {"a": "<A x K x M x f16>", "b": "<A x N x K x f16>"}, {"y": "<A x M x N x f32>"},
               "%y = tensor.matmul %a, %b {transpose_a = true, transpose_b = true, out = f32} : <A x M x N x f32>",
               lambda a, b: np.matmul(np.swapaxes(a, 1, 2), np.swapaxes(b, 1, 2)), sizes, 1e-4)
    yield Form("product-i8", {"a": "<A x M x K x i8>", "b": "<1 x K x N x i8>"}, {"y": "<A x M x N x i32>"},
               "%y = tensor.matmul %a, %b {out = i32} : <A x M x N x i32>",
               lambda a, b: np.matmul(a.astype(np.int32), b.astype(np.int32)), sizes, fill="extreme")
    yield from other_products()


def relu(x):
    return np.where(x < 0, 0 * x, x)


def other_products():
    """Vectors, what follows the sum, and integers that no matrix unit multiplies."""
    sizes = [dict(A=2, M=5, N=7, K=9), dict(A=1, M=1, N=1, K=1), dict(A=2, M=3, N=4, K=0), dict(A=0, M=3, N=4, K=5), dict(A=2, M=33, N=17, K=65)]
    for a, b, out in (("K", "K", ""), ("K", "K x N", "N x "), ("M x K", "K", "M x "), ("K", "A x K x N", "A x N x "), ("A x M x K", "K", "A x M x ")):
        for dtype in ("f32", "i16"):
            yield Form(f"product-{dtype}-[{a}]-[{b}]", {"a": f"<{a} x {dtype}>", "b": f"<{b} x {dtype}>"}, {"y": f"<{out}{dtype}>"},
                       f"%y = tensor.matmul %a, %b : <{out}{dtype}>",
                       (lambda a, b: np.matmul(a, b)) if dtype == "f32" else lambda a, b: elements.decode("i16", elements.int_bits("i16", np.matmul(a.astype(np.int64), b.astype(np.int64)))),
                       sizes, 1e-4 if dtype == "f32" else 0, fill="normal" if dtype == "f32" else "extreme")
    operands = {"a": "<A x M x K x f16>", "b": "<K x N x f16>", "bias": "<N x f32>", "scale": "<A x 1 x 1 x f32>"}
    t = "<A x M x N x f32>"
    for ins, attributes, want in (("a b bias", "", lambda a, b, c: np.matmul(a, b) + c), ("a b bias", ', activation = "relu"', lambda a, b, c: relu(np.matmul(a, b) + c)),
                                  ("a b", ', activation = "relu"', lambda a, b: relu(np.matmul(a, b))), ("a b scale", ', third = "scale"', lambda a, b, s: np.matmul(a, b) * s),
                                  ("a b bias scale", ', activation = "relu"', lambda a, b, c, s: relu((np.matmul(a, b) + c) * s))):
        names = ins.split()
        yield Form(f"product-{'-'.join(names)}{attributes[-5:-1]}", {n: operands[n] for n in names}, {"y": t},
                   f"%y = tensor.matmul {', '.join('%' + n for n in names)} {{out = f32{attributes}}} : {t}", want, sizes, 1e-3)
    yield Form("product-i8-bias", {"a": "<M x K x i8>", "b": "<K x N x i8>", "bias": "<N x i32>"}, {"y": "<M x N x i32>"},
               "%y = tensor.matmul %a, %b, %bias {out = i32, activation = \"relu\"} : <M x N x i32>",
               lambda a, b, c: relu(np.matmul(a.astype(np.int64), b.astype(np.int64)) + c.astype(np.int64)), sizes)
    for ta, tb in itertools.product((False, True), repeat=2):
        for dtype, out in (("i32", "i32"), ("u8", "i32"), ("i32", "i8")):
            a, b = "A x K x M" if ta else "A x M x K", "N x K" if tb else "K x N"
            swapped = lambda x, yes: np.swapaxes(x, -1, -2) if yes else x
            yield Form(f"product-{dtype}-{out}{'-ta' * ta}{'-tb' * tb}", {"a": f"<{a} x {dtype}>", "b": f"<{b} x {dtype}>"}, {"y": f"<A x M x N x {out}>"},
                       f"%y = tensor.matmul %a, %b {{transpose_a = {str(ta).lower()}, transpose_b = {str(tb).lower()}, out = {out}}} : <A x M x N x {out}>",
                       lambda a, b, ta=ta, tb=tb, out=out: elements.decode(out, elements.int_bits(out, np.matmul(swapped(a, ta).astype(np.int64), swapped(b, tb).astype(np.int64)))),
                       sizes, fill="extreme")


def quantised(x, scale, zero, dtype):
    with np.errstate(all="ignore"):
        q = np.rint((np.asarray(x, np.float32) / np.asarray(scale, np.float32)).astype(np.float64))
    lo, hi = elements.limits(dtype)
    return np.where(np.isnan(q), 0, np.clip(np.nan_to_num(q, nan=0.0, posinf=1e300, neginf=-1e300) + zero, lo, hi))


def dequantised(q, scale, zero=0.0):
    return ((np.asarray(q, np.float32) - np.float32(zero)) * np.asarray(scale, np.float32)).astype(np.float64)


def block_scales(x, block):
    with np.errstate(all="ignore"):
        parts = np.asarray(x, np.float32).reshape(x.shape[:-1] + (x.shape[-1] // block, block))
        s = np.abs(parts).max(axis=-1, initial=0) / np.float32(127)
    return np.where(s == 0, np.float32(1), s)


def quantisation():
    """tensor.quantize and its kin, computed in float32 as the rows say: exact."""
    sizes = [dict(A=3, B=5, C=8), dict(A=1, B=1, C=2), dict(A=0, B=3, C=4), dict(A=17, B=2, C=64)]
    for dtype in ("i8", "u8", "i16"):
        for shape in ("", "C x ", "B x 1 x ", "A x B x C x "):
            scale = f"<{shape}f32>" if shape else "<f32>"
            yield Form(f"quantize-{dtype}-[{shape.rstrip(' x')}]", {"x": "<A x B x C x f32>", "s": scale}, {"y": f"<A x B x C x {dtype}>"},
                       f"%y = tensor.quantize %x, %s : <A x B x C x {dtype}>", lambda x, s, d=dtype: quantised(x, s, 0.0, d), sizes)
            yield Form(f"quantize-{dtype}-[{shape.rstrip(' x')}]-zero", {"x": "<A x B x C x f16>", "s": scale, "z": scale.replace("f32", dtype)}, {"y": f"<A x B x C x {dtype}>"},
                       f"%y = tensor.quantize %x, %s, %z : <A x B x C x {dtype}>", lambda x, s, z, d=dtype: quantised(x, s, z, d), sizes)
            yield Form(f"dequantize-{dtype}-[{shape.rstrip(' x')}]", {"x": f"<A x B x C x {dtype}>", "s": scale, "z": scale.replace("f32", dtype)}, {"y": "<A x B x C x f32>"},
                       "%y = tensor.dequantize %x, %s, %z : <A x B x C x f32>", lambda x, s, z: dequantised(x, s, z), sizes)
    for axis, wide, narrow in ((1, "A x 8 x C", "A x 2 x C"), (-1, "A x B x 8", "A x B x 2"), (-1, "A x B x 8", "A x 1 x 2"), (0, "12 x B x C", "3 x B x C")):
        yield Form(f"quantize-blocks-[{narrow}]", {"x": f"<{wide} x f32>", "s": f"<{narrow} x f32>"}, {"y": f"<{wide} x i8>"},
                   f"%y = tensor.quantize %x, %s {{axis = {axis}, block = 4}} : <{wide} x i8>", lambda x, s, a=axis: quantised(x, np.repeat(s, 4, a), 0.0, "i8"), sizes)
        yield Form(f"dequantize-blocks-[{narrow}]", {"x": f"<{wide} x i8>", "s": f"<{narrow} x f32>"}, {"y": f"<{wide} x f32>"},
                   f"%y = tensor.dequantize %x, %s {{axis = {axis}, block = 4}} : <{wide} x f32>", lambda x, s, a=axis: dequantised(x, np.repeat(s, 4, a)), sizes)
    for block in (1, 2, 16):
        yield Form(f"quantize_block-{block}", {"x": "<A x B x 32 x f32>"}, {"y": "<A x B x 32 x i8>", "s": f"<A x B x {32 // block} x f32>"},
                   f"%y, %s = tensor.quantize_block %x {{block = {block}}} : <A x B x 32 x i8>, <A x B x {32 // block} x f32>",
                   lambda x, b=block: (quantised(x, np.repeat(block_scales(x, b), b, -1), 0.0, "i8"), block_scales(x, b)), sizes)
    yield Form("scaled_matmul", {"a": "<A x B x 8 x i8>", "b": "<8 x C x i8>", "p": "<A x B x 2 x f32>", "q": "<1 x C x f32>"}, {"y": "<A x B x C x f32>"},
               "%q2 = tensor.broadcast %q : <2 x C x f32>\n%y = tensor.scaled_matmul %a, %b, %p, %q2 {block = 4} : <A x B x C x f32>",
               lambda a, b, p, q: np.matmul(dequantised(a, np.repeat(p, 4, -1)), dequantised(b, q)), sizes, 1e-4)
    for dtype in ("i8", "u8"):
        yield Form(f"pack-{dtype}", {"x": f"<A x B x 8 x {dtype}>"}, {"y": "<A x B x 4 x u8>"}, "%y = tensor.pack %x : <A x B x 4 x u8>",
                   lambda x: (x.astype(np.int64)[..., 0::2] & 15) | (x.astype(np.int64)[..., 1::2] & 15) << 4, sizes, fill="extreme")
        yield Form(f"unpack-{dtype}", {"x": "<A x B x 4 x u8>"}, {"y": f"<A x B x 8 x {dtype}>"}, f"%y = tensor.unpack %x : <A x B x 8 x {dtype}>",
                   lambda x, d=dtype: unpacked(x, d), sizes, fill="extreme")


def unpacked(x, dtype):
    halves = np.stack([x.astype(np.int64) & 15, x.astype(np.int64) >> 4 & 15], -1).reshape(x.shape[:-1] + (2 * x.shape[-1],))
    return np.where(halves >= 8, halves - 16, halves) if dtype == "i8" else halves
