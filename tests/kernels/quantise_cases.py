"""Quantised numbers: to them, from them, and products of them."""
import math

import numpy as np

import elements as el
from reduce_cases import ascending_sum
from tensor_table import Array, FLOATS, case, data, rng, rounded, to_bits


def f32(t, bits):
    return el.decode(t, bits).astype(np.float32)


def bits_of_quotient(to, quotient, zero=0.0):
    """What quantising makes of a quotient in float32."""
    if el.is_float(to):
        return el.encode(to, quotient.astype(np.float64).ravel(), "rint", True).reshape(quotient.shape) if quotient.size else np.zeros(quotient.shape)
    lo, hi = el.limits(to)
    q = np.rint(quotient.astype(np.float64)) + zero
    return to_bits(to, np.array([0 if np.isnan(v) else int(min(max(v, lo), hi)) for v in q.ravel()], dtype=object).reshape(quotient.shape))


def scales(t, shape):
    """Zeros, NaN and infinities among them."""
    n = math.prod(shape)
    if t == "f8e8m0":
        return np.array(rng.choice([0, 1, 100, 126, 127, 128, 140, 254, 255], size=n), dtype=np.uint8).reshape(shape)
    return el.encode("f32", rng.choice([0.0, -0.0, 1.0, 0.1, 0.037, 3.0, -2.0, 1e-42, 1e30, np.inf, np.nan, 0.5, 0.02], size=n)).reshape(shape) if n else np.zeros(shape)


def quantise_cases():
    for shape, axis, block in [((), 0, 0), ((7,), 0, 0), ((5, 13), 0, 0), ((2, 3, 5, 4), 0, 0), ((0, 3), 0, 0), ((12,), 0, 4), ((5, 12), 1, 3), ((5, 12), -1, 12), ((4, 3, 5), 0, 2), ((2, 3, 4, 1, 1, 2, 3), 2, 2), ((3, 0), 1, 2), ((3, 4), 1, 1)]:
        if block:
            d = axis % len(shape)
            of_scale = [tuple(s // block if i == d else s for i, s in enumerate(shape)), tuple(s // block if i == d else 1 for i, s in enumerate(shape))]
            spread = lambda v: np.broadcast_to(np.repeat(v, block, d), shape)
        else:
            of_scale = [(), shape, shape[-1:], tuple(1 if i else s for i, s in enumerate(shape))]
            spread = lambda v: np.broadcast_to(v, shape)
        args = {"axes": [axis] if block else [], "block": block}
        for parameters in dict.fromkeys(of_scale):
            for st in ("f32", "f8e8m0"):
                for to in ("i8", "u8", "i16", "u16", "i32", "f8e4m3", "f8e5m2"):
                    t = FLOATS[int(rng.integers(0, 3))]
                    what = f"{t}->{to} {shape} {parameters} {st} {block}"
                    x, s = data(t, shape), scales(st, parameters)
                    z = None if el.is_float(to) or rng.integers(0, 2) else data(to, parameters)
                    with np.errstate(all="ignore"):
                        quotient = np.asarray(f32(t, x) / spread(f32(st, s)))
                    ins = [Array(t, x), Array(st, s)] + ([] if z is None else [Array(to, z)])
                    if to != "i32":
                        case("quantize", what, to, bits_of_quotient(to, quotient, 0.0 if z is None else spread(el.decode(to, z)).astype(np.float64)), ins, **args)
                    q = data(to, shape)
                    with np.errstate(all="ignore"):
                        y = np.asarray((f32(to, q) - (np.float32(0) if z is None else spread(f32(to, z)))) * spread(f32(st, s)))
                    case("dequantize", what, t, rounded(t, y.astype(np.float64)), [Array(to, q), Array(st, s)] + ([] if z is None else [Array(to, z)]), **args)
        if block:
            block_case(shape, axis, block)
    for n in (0, 1, 5):
        for lead in ((), (3,), (2, 0), (1, 2, 3, 1, 1, 2, 2)):
            byte = np.asarray(rng.integers(0, 256, size=lead + (n,)), dtype=np.uint8)
            halves = np.stack([byte & 15, byte >> 4], -1).reshape(lead + (2 * n,))
            case("unpack", f"u8 {lead} {n}", "u8", halves, [Array("u8", byte)])
            case("unpack", f"i8 {lead} {n}", "i8", np.where(halves >= 8, halves | 0xF0, halves), [Array("u8", byte)])
            for t in ("i8", "u8"):
                case("pack", f"{t} {lead} {n}", "u8", byte, [Array(t, halves | np.asarray(rng.integers(0, 16, size=halves.shape) << 4, dtype=np.uint8))])
            wider = np.ascontiguousarray(byte.astype(np.uint16) * 259)
            case("bitcast", f"u8 {lead} {n}", "i8", byte, [Array("u8", byte)])
            if len(lead) == 7:
                continue
            case("bitcast", f"u16 {lead} {n}", "u8", wider.view(np.uint8).reshape(*wider.shape, 2), [Array("u16", wider)])
            case("bitcast", f"2 u8 {lead} {n}", "u16", wider, [Array("u8", wider.view(np.uint8).reshape(*wider.shape, 2))])


def bitcast_cases():
    """The same bytes in each type of the width."""
    for t in el.TYPES:
        for to in (u for u in el.TYPES if el.size(u) == el.size(t) and u not in ("bool", t)):
            bits = data(t, (3, 5)) & 1 if t == "bool" else data(t, (3, 5))
            case("bitcast", f"{t} {to}", to, bits, [Array(t, bits)])


def block_case(shape, axis, block):
    d = axis % len(shape)
    parts = shape[:d] + (shape[d] // block, block) + shape[d + 1:]
    for t in FLOATS:
        for to, largest, power in (("i8", 127, 64), ("f8e4m3", 448, 256), ("f8e5m2", 57344, 32768)):
            for st in ("f32", "f8e8m0"):
                x = data(t, shape, None if rng.integers(0, 2) else "moderate")
                if rng.integers(0, 3) == 0:
                    x = np.zeros_like(x)
                v = f32(t, x).reshape(parts)
                with np.errstate(all="ignore"):
                    most = np.abs(v).max(axis=d + 1, initial=0)
                    if st == "f32":
                        s = most / np.float32(largest)
                        s = np.where(s == 0, np.float32(1), s)
                        bits = rounded("f32", s.astype(np.float64))
                    else:
                        bits = el.encode(st, (most / np.float32(power)).astype(np.float64).ravel(), "floor", True).reshape(most.shape) if most.size else np.zeros(most.shape, dtype=np.uint8)
                        s = f32(st, bits)
                    quotient = (v / np.expand_dims(s, d + 1)).reshape(shape)
                case("quantize_block", f"{t}->{to} {shape} {axis} {block} {st}", to, bits_of_quotient(to, quotient), [Array(t, x)], axes=[axis], block=block, second=(st, bits))


def scaled_product_cases():
    for a_shape, b_shape, block in (((5, 8), (8, 3), 4), ((2, 5, 8), (8, 3), 8), ((2, 1, 3, 6), (4, 6, 2), 1), ((0, 4), (4, 2), 2), ((3, 0), (0, 2), 2), ((1, 1), (1, 1), 1)):
        k = a_shape[-1]
        for at in ("f8e4m3", "f8e5m2", "i8", "f16", "bf16", "f32"):
            for ta in (False, True):
                for tb in (False, True):
                    bt, st, to = str(rng.choice(["f8e4m3", "f8e5m2", "i8", "bf16"])), str(rng.choice(["f32", "f8e8m0"])), str(rng.choice(FLOATS))
                    a, b = data(at, a_shape, "moderate"), data(bt, b_shape, "moderate")
                    one = (1,) * (len(a_shape) - 2)
                    sa = scales(st, one + (a_shape[-2], k // block)) if st == "f8e8m0" else data("f32", one + (a_shape[-2], k // block), "moderate")
                    sb = data("f32", b_shape[:-2] + (k // block, b_shape[-1]), "moderate")
                    with np.errstate(all="ignore"):
                        wide_a = f32(at, a) * np.repeat(f32(st, sa), block, -1)
                        wide_b = f32(bt, b) * np.repeat(f32("f32", sb), block, -2)
                        products = wide_a.astype(np.float64)[..., :, :, None] * wide_b.astype(np.float64)[..., None, :, :]
                        want = rounded(to, ascending_sum(products, [products.ndim - 2]))
                    swap = lambda x, yes: np.swapaxes(x, -1, -2) if yes else x
                    case("scaled_matmul", f"{at} {bt} {st}->{to} {a_shape} {ta} {tb}", to, want, [Array(at, swap(a, ta)), Array(bt, swap(b, tb)), Array(st, swap(sa, ta)), Array("f32", swap(sb, tb))], ta=ta, tb=tb, block=block)
