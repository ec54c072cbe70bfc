"""What the rows of workloads.txt compute: for each program its text, its inputs and its results in float64.

`sizes` are numbers; in `text` they are what stands in types: a number, or `$M` of a symbolic size. Arrays of bf16 are
uint16. A reference is a list of (number of the output, index into it, values): of large outputs some rows only.
"""
import os
import re

import numpy as np


def to_bf16(x):
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def from_bf16(x):
    return (x.astype(np.uint32) << 16).view(np.float32)


def as_f64(x):
    return (from_bf16(x) if x.dtype == np.uint16 else x).astype(np.float64)


def rows_of(n, most=32):
    return np.unique(np.linspace(0, n - 1, min(n, most)).astype(int))


def normal(r, *shape, scale=1.0):
    """Of many, each number comes up several times, at places that no tile size divides: drawing them takes long."""
    different = 16777213
    if np.prod(shape) <= different:
        return r.standard_normal(shape, dtype=np.float32) * np.float32(scale)
    return np.resize(r.standard_normal(different, dtype=np.float32) * np.float32(scale), shape)


def narrow(x, type):
    return to_bf16(x) if type == "bf16" else x.astype(np.float16) if type == "f16" else x


def softmax64(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def gelu64(v):
    return 0.5 * v * (1 + np.tanh(0.7978845608028654 * (v + 0.044715 * v**3)))


def rms64(x, gamma):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6) * gamma


def rope64(x, c, s):
    h = x.shape[-1] // 2
    p, q = x[..., :h], x[..., h:]
    return np.concatenate([p * c - q * s, q * c + p * s], -1)


BYTES = {"f32": 4, "f16": 2, "bf16": 2, "i8": 1, "i32": 4}


class Program:
    weights = ()  # parameters that are the same in all calls
    outputs = 1
    symbols = ()  # sizes that may be symbolic

    def flops(self, sizes):
        return 0


class Softmax(Program):
    symbols = ("R", "C")

    def text(self, s):
        t = f"tensor<{s['R']} x {s['C']} x f32>"
        return f"func @softmax(%x: {t}) -> {t} {{\n  %y = tensor.softmax %x : {t}\n  return %y\n}}\n"

    def inputs(self, s, r):
        return {"x": normal(r, s["R"], s["C"])}

    def reference(self, s, x):
        at = rows_of(s["R"])
        return [(0, at, softmax64(as_f64(x[at])))]

    def written(self, s):
        return 4 * s["R"] * s["C"]


class RmsNorm(Softmax):
    def text(self, s):
        t = f"tensor<{s['R']} x {s['C']} x f32>"
        return (f"func @rms_norm(%x: {t}, %gamma: tensor<{s['C']} x f32>) -> {t} {{\n"
                f"  %y = tensor.rms_norm %x, %gamma : {t}\n  return %y\n}}\n")

    def inputs(self, s, r):
        return {"x": normal(r, s["R"], s["C"]), "gamma": normal(r, s["C"])}

    def reference(self, s, x, gamma):
        at = rows_of(s["R"])
        return [(0, at, rms64(as_f64(x[at]), as_f64(gamma)))]


class LayerNorm(Softmax):
    def text(self, s):
        t, c = f"tensor<{s['R']} x {s['C']} x f32>", f"tensor<{s['C']} x f32>"
        return (f"func @layer_norm(%x: {t}, %gamma: {c}, %beta: {c}) -> {t} {{\n"
                f"  %y = tensor.layer_norm %x, %gamma, %beta : {t}\n  return %y\n}}\n")

    def inputs(self, s, r):
        return {"x": normal(r, s["R"], s["C"]), "gamma": normal(r, s["C"]), "beta": normal(r, s["C"])}

    def reference(self, s, x, gamma, beta):
        at = rows_of(s["R"])
        d = as_f64(x[at]) - as_f64(x[at]).mean(-1, keepdims=True)
        y = d / np.sqrt((d * d).mean(-1, keepdims=True) + 1e-6) * as_f64(gamma) + as_f64(beta)
        return [(0, at, y)]


class GeluChain(Program):
    symbols = ("N",)

    def text(self, s):
        t = f"tensor<{s['N']} x f32>"
        return (f"func @gelu_chain(%x: {t}, %y: {t}, %z: {t}) -> {t} {{\n  %p = tensor.mul %x, %y : {t}\n"
                f"  %v = tensor.add %p, %z : {t}\n  %g = tensor.gelu %v : {t}\n  return %g\n}}\n")

    def inputs(self, s, r):
        return {name: normal(r, s["N"]) for name in "xyz"}

    def reference(self, s, x, y, z):
        at = rows_of(s["N"], 100000)
        return [(0, at, gelu64(as_f64(x[at]) * as_f64(y[at]) + as_f64(z[at])))]

    def written(self, s):
        return 4 * s["N"]


class Matmul(Program):
    """[M x K] [K x N]; i8 gives i32, bf16 gives bf16."""
    symbols = ("M", "N", "K")

    def __init__(self, type, out, weights=()):
        self.type, self.out, self.weights = type, out, weights

    def text(self, s):
        a, b = f"tensor<{s['M']} x {s['K']} x {self.type}>", f"tensor<{s['K']} x {s['N']} x {self.type}>"
        c, const = f"tensor<{s['M']} x {s['N']} x {self.out}>", "const " if self.weights else ""
        form = "" if self.out == self.type else f" {{out = {self.out}}}"
        return f"func @matmul(%a: {a}, {const}%b: {b}) -> {c} {{\n  %c = tensor.matmul %a, %b{form} : {c}\n  return %c\n}}\n"

    def inputs(self, s, r):
        if self.type == "i8":
            return {"a": r.integers(-127, 128, (s["M"], s["K"]), np.int8),
                    "b": r.integers(-127, 128, (s["K"], s["N"]), np.int8)}
        return {"a": narrow(normal(r, s["M"], s["K"]), self.type),
                "b": narrow(normal(r, s["K"], s["N"], scale=s["K"]**-0.5), self.type)}

    def reference(self, s, a, b):
        at = rows_of(s["M"], 16)
        return [(0, at, as_f64(a[at]) @ as_f64(b))]

    def written(self, s):
        return BYTES[self.out] * s["M"] * s["N"]

    def flops(self, s):
        return 2.0 * s["M"] * s["N"] * s["K"]


class ScaledMatmul(Matmul):
    """i8 by i8, with a scale of each row of a and each column of b, to f32."""

    def __init__(self):
        super().__init__("i8", "f32", ("b", "sb"))

    def text(self, s):
        m, n, k = s["M"], s["N"], s["K"]
        c = f"tensor<{m} x {n} x f32>"
        return (f"func @scaled(%a: tensor<{m} x {k} x i8>, %sa: tensor<{m} x 1 x f32>, const %b: tensor<{k} x {n} x i8>, "
                f"const %sb: tensor<1 x {n} x f32>) -> {c} {{\n"
                f"  %sum = tensor.matmul %a, %b {{out = i32}} : tensor<{m} x {n} x i32>\n"
                f"  %wide = tensor.cast %sum : {c}\n  %rows = tensor.mul %wide, %sa : {c}\n"
                f"  %c = tensor.mul %rows, %sb : {c}\n  return %c\n}}\n")

    def inputs(self, s, r):
        made = super().inputs(s, r)
        return {"a": made["a"], "sa": np.abs(normal(r, s["M"], 1)) * np.float32(0.01) + np.float32(0.001),
                "b": made["b"], "sb": np.abs(normal(r, 1, s["N"])) * np.float32(0.01) + np.float32(0.001)}

    def reference(self, s, a, sa, b, sb):
        at = rows_of(s["M"], 16)
        return [(0, at, (as_f64(a[at]) @ as_f64(b)) * as_f64(sa[at]) * as_f64(sb))]


class NibbleMatmul(Matmul):
    """f32 by weights of 4 bits, from -8 to 7, 32 along k with one scale."""

    def __init__(self):
        super().__init__("f32", "f32", ("b", "sb"))

    def text(self, s):
        m, n, k = s["M"], s["N"], s["K"]
        c = f"tensor<{m} x {n} x f32>"
        return (f"func @nibbles(%a: tensor<{m} x {k} x f32>, const %b: tensor<{k} x {n // 2} x u8>, "
                f"const %sb: tensor<{k // 32} x {n} x f32>) -> {c} {{\n"
                f"  %q = tensor.unpack %b : tensor<{k} x {n} x i8>\n"
                f"  %w = tensor.dequantize %q, %sb {{axis = 0, block = 32}} : tensor<{k} x {n} x f32>\n"
                f"  %c = tensor.matmul %a, %w : {c}\n  return %c\n}}\n")

    def inputs(self, s, r):
        return {"a": normal(r, s["M"], s["K"]), "b": r.integers(0, 256, (s["K"], s["N"] // 2), np.uint8),
                "sb": np.abs(normal(r, s["K"] // 32, s["N"])) * np.float32(0.01) + np.float32(0.001)}

    @staticmethod
    def whole(b, sb):
        q = np.empty((b.shape[0], b.shape[1] * 2), np.int8)
        q[:, 0::2], q[:, 1::2] = (b & 15).view(np.int8), (b >> 4).view(np.int8)
        return np.where(q > 7, q - 16, q).astype(np.int8), np.repeat(sb, 32, 0)

    def reference(self, s, a, b, sb):
        at = rows_of(s["M"], 16)
        q, scale = self.whole(b, sb)
        return [(0, at, as_f64(a[at]) @ (as_f64(q) * scale))]


class TurnedNibbleMatmul(NibbleMatmul):
    """The same with each column of the weights, and its scales, side by side."""

    def text(self, s):
        m, n, k = s["M"], s["N"], s["K"]
        c = f"tensor<{m} x {n} x f32>"
        return (f"func @nibbles(%a: tensor<{m} x {k} x f32>, const %b: tensor<{n} x {k // 2} x u8>, "
                f"const %sb: tensor<{n} x {k // 32} x f32>) -> {c} {{\n"
                f"  %q = tensor.unpack %b : tensor<{n} x {k} x i8>\n"
                f"  %w = tensor.dequantize %q, %sb {{axis = 1, block = 32}} : tensor<{n} x {k} x f32>\n"
                f"  %c = tensor.matmul %a, %w {{transpose_b = true}} : {c}\n  return %c\n}}\n")

    def inputs(self, s, r):
        return super().inputs({**s, "N": s["K"], "K": s["N"]}, r) | {
            "a": normal(r, s["M"], s["K"]),
            "sb": np.abs(normal(r, s["N"], s["K"] // 32)) * np.float32(0.01) + np.float32(0.001)}

    @staticmethod
    def whole(b, sb):
        q, _ = NibbleMatmul.whole(b, sb)
        return q.T, np.repeat(sb.T, 32, 0)


class Mlp(Program):
    """gelu(x w + b) v + d."""
    weights = ("w", "b", "v", "d")
    symbols = ("M",)

    def __init__(self, type):
        self.type = type

    def text(self, s):
        m, n, k, t = s["M"], s["N"], s["K"], self.type
        h, y = f"tensor<{m} x {n} x f32>", f"tensor<{m} x {k} x f32>"
        narrow_h = f"  %n = tensor.cast %g : tensor<{m} x {n} x {t}>\n" if t != "f32" else ""
        narrow_y = f"  %y = tensor.cast %r : tensor<{m} x {k} x {t}>\n" if t != "f32" else ""
        out = "" if t == "f32" else " {out = f32}"
        return (f"func @mlp(%x: tensor<{m} x {k} x {t}>, const %w: tensor<{k} x {n} x {t}>, const %b: tensor<{n} x f32>, "
                f"const %v: tensor<{n} x {k} x {t}>, const %d: tensor<{k} x f32>) -> tensor<{m} x {k} x {t}> {{\n"
                f"  %p = tensor.matmul %x, %w{out} : {h}\n  %q = tensor.add %p, %b : {h}\n  %g = tensor.gelu %q : {h}\n"
                f"{narrow_h}  %o = tensor.matmul %{'n' if narrow_h else 'g'}, %v{out} : {y}\n"
                f"  %r = tensor.add %o, %d : {y}\n{narrow_y}  return %{'y' if narrow_y else 'r'}\n}}\n")

    def inputs(self, s, r):
        m, n, k, t = s["M"], s["N"], s["K"], self.type
        return {"x": narrow(normal(r, m, k), t), "w": narrow(normal(r, k, n, scale=k**-0.5), t), "b": normal(r, n),
                "v": narrow(normal(r, n, k, scale=n**-0.5), t), "d": normal(r, k)}

    def reference(self, s, x, w, b, v, d):
        at = rows_of(s["M"], 16)
        return [(0, at, gelu64(as_f64(x[at]) @ as_f64(w) + as_f64(b)) @ as_f64(v) + as_f64(d))]

    def written(self, s):
        return BYTES[self.type] * s["M"] * s["K"]

    def flops(self, s):
        return 4.0 * s["M"] * s["N"] * s["K"]


class Attention(Program):
    """H heads, S queries of D elements, T keys; with G there are so many heads of queries for each of keys."""

    def __init__(self, type, causal=False):
        self.type, self.causal = type, causal

    def heads(self, s):
        return s["H"] * s.get("G", 1)

    def text(self, s):
        q, k = (f"tensor<1 x {heads} x {s[n]} x {s['D']} x {self.type}>"
                for heads, n in ((self.heads(s), "S"), (s["H"], "T")))
        form = " {causal = true}" if self.causal else ""
        return (f"func @attention(%q: {q}, %k: {k}, %v: {k}) -> {q} {{\n"
                f"  %y = tensor.attention %q, %k, %v{form} : {q}\n  return %y\n}}\n")

    def inputs(self, s, r):
        return {"q": narrow(normal(r, 1, self.heads(s), s["S"], s["D"]), self.type),
                **{name: narrow(normal(r, 1, s["H"], s["T"], s["D"]), self.type) for name in "kv"}}

    def reference(self, s, q, k, v):
        last, h, at = self.heads(s) - 1, s["H"] - 1, rows_of(s["S"], 16)
        score = as_f64(q[0, last, at]) @ as_f64(k[0, h]).T / s["D"]**0.5
        if self.causal:
            score = np.where(np.arange(s["T"])[None] <= at[:, None] + s["T"] - s["S"], score, -np.inf)
        return [(0, (0, last, at), softmax64(score) @ as_f64(v[0, h]))]

    def written(self, s):
        return BYTES[self.type] * self.heads(s) * s["S"] * s["D"]

    def flops(self, s):
        return 4.0 * self.heads(s) * s["S"] * s["T"] * s["D"] * (0.5 if self.causal else 1)


class Gate(Program):
    """Softmax over E experts and the eight largest with their places."""
    outputs = 2
    symbols = ("T",)

    def text(self, s):
        t = s["T"]
        return (f"func @gate(%x: tensor<{t} x {s['E']} x f32>) -> (tensor<{t} x 8 x f32>, tensor<{t} x 8 x i32>) {{\n"
                f"  %p = tensor.softmax %x : tensor<{t} x {s['E']} x f32>\n"
                f"  %y, %i = tensor.topk %p {{axis = 1, k = 8}} : tensor<{t} x 8 x f32>, tensor<{t} x 8 x i32>\n"
                f"  return %y, %i\n}}\n")

    def inputs(self, s, r):
        return {"x": normal(r, s["T"], s["E"])}

    def reference(self, s, x):
        p = softmax64(as_f64(x))
        best = np.argsort(-p, -1, "stable")[:, :8]
        return [(0, slice(None), np.take_along_axis(p, best, -1)), (1, slice(None), best.astype(np.float64))]

    def written(self, s):
        return 8 * 8 * s["T"]


class Rope(Program):
    """B heads, S places, D elements."""
    weights = ("cos", "sin")

    def text(self, s):
        t, c = f"tensor<{s['B']} x {s['S']} x {s['D']} x f32>", f"tensor<{s['S']} x {s['D'] // 2} x f32>"
        return (f"func @rope(%x: {t}, const %cos: {c}, const %sin: {c}) -> {t} {{\n"
                f"  %y = tensor.rope %x, %cos, %sin : {t}\n  return %y\n}}\n")

    def inputs(self, s, r):
        angle = np.arange(s["S"])[:, None] / 10000**(np.arange(0, s["D"], 2) / s["D"])
        return {"x": normal(r, s["B"], s["S"], s["D"]), "cos": np.cos(angle).astype("f4"), "sin": np.sin(angle).astype("f4")}

    def reference(self, s, x, cos, sin):
        at = rows_of(s["B"], 4)
        return [(0, at, rope64(as_f64(x[at]), as_f64(cos), as_f64(sin)))]

    def written(self, s):
        return 4 * s["B"] * s["S"] * s["D"]


class Swiglu(Softmax):
    def text(self, s):
        t = f"tensor<{s['R']} x {s['C']} x f32>"
        return f"func @swiglu(%a: {t}, %b: {t}) -> {t} {{\n  %y = tensor.swiglu %a, %b : {t}\n  return %y\n}}\n"

    def inputs(self, s, r):
        return {name: normal(r, s["R"], s["C"]) for name in "ab"}

    def reference(self, s, a, b):
        at = rows_of(s["R"])
        x = as_f64(a[at])
        return [(0, at, x / (1 + np.exp(-x)) * as_f64(b[at]))]


class Transpose(Softmax):
    def text(self, s):
        x, y = f"tensor<{s['R']} x {s['C']} x f32>", f"tensor<{s['C']} x {s['R']} x f32>"
        return f"func @transpose(%x: {x}) -> {y} {{\n  %y = tensor.transpose %x {{perm = [1, 0]}} : {y}\n  return %y\n}}\n"

    def reference(self, s, x):
        at = rows_of(s["C"])
        return [(0, at, as_f64(x[:, at].T))]


class PrefillLayer(Program):
    """A layer of a decoder on T tokens at once: 128 elements in each head, as many heads as H has of them."""
    weights = ("g1", "wq", "wk", "wv", "wo", "g2", "w_gate", "w_up", "w_down", "cos", "sin")

    def text(self, s):
        t, h, i = s["T"], s["H"], s["I"]
        x, xf, heads = f"tensor<{t} x {h} x bf16>", f"tensor<{t} x {h} x f32>", f"{h // 128} x {t} x 128"
        w, g, c = f"tensor<{h} x {h} x bf16>", f"tensor<{h} x f32>", f"tensor<{t} x 64 x f32>"
        lines = [f"func @prefill_layer(%x: {x}, const %g1: {g}, const %wq: {w}, const %wk: {w}, const %wv: {w}, "
                 f"const %wo: {w}, const %g2: {g}, const %w_gate: tensor<{h} x {i} x bf16>, "
                 f"const %w_up: tensor<{h} x {i} x bf16>, const %w_down: tensor<{i} x {h} x bf16>, const %cos: {c}, "
                 f"const %sin: {c}) -> {x} {{",
                 f"  %xf = tensor.cast %x : {xf}", f"  %n = tensor.rms_norm %xf, %g1 : {xf}", f"  %nb = tensor.cast %n : {x}"]
        for o in "qk":
            lines += [f"  %{o}r = tensor.matmul %nb, %w{o} {{out = f32}} : {xf}",
                      f"  %{o}s = tensor.reshape %{o}r : tensor<{t} x {h // 128} x 128 x f32>",
                      f"  %{o}h = tensor.transpose %{o}s {{perm = [1, 0, 2]}} : tensor<{heads} x f32>",
                      f"  %{o}t = tensor.rope %{o}h, %cos, %sin : tensor<{heads} x f32>",
                      f"  %{o} = tensor.cast %{o}t : tensor<{heads} x bf16>"]
        lines += [f"  %vr = tensor.matmul %nb, %wv : {x}",
                  f"  %vs = tensor.reshape %vr : tensor<{t} x {h // 128} x 128 x bf16>",
                  f"  %v = tensor.transpose %vs {{perm = [1, 0, 2]}} : tensor<{heads} x bf16>",
                  f"  %a = tensor.attention %q, %k, %v {{causal = true}} : tensor<{heads} x bf16>",
                  f"  %at = tensor.transpose %a {{perm = [1, 0, 2]}} : tensor<{t} x {h // 128} x 128 x bf16>",
                  f"  %context = tensor.reshape %at : {x}", f"  %o = tensor.matmul %context, %wo {{out = f32}} : {xf}",
                  f"  %r = tensor.add %o, %xf : {xf}", f"  %m = tensor.rms_norm %r, %g2 : {xf}", f"  %mb = tensor.cast %m : {x}",
                  f"  %gate = tensor.matmul %mb, %w_gate {{out = f32}} : tensor<{t} x {i} x f32>",
                  f"  %up = tensor.matmul %mb, %w_up {{out = f32}} : tensor<{t} x {i} x f32>",
                  f"  %gated = tensor.swiglu %gate, %up : tensor<{t} x {i} x f32>",
                  f"  %hidden = tensor.cast %gated : tensor<{t} x {i} x bf16>",
                  f"  %down = tensor.matmul %hidden, %w_down {{out = f32}} : {xf}",
                  f"  %sum = tensor.add %down, %r : {xf}", f"  %y = tensor.cast %sum : {x}", "  return %y", "}"]
        return "\n".join(lines) + "\n"

    def weight_arrays(self, s, r, keys):
        h, i = s["H"], s["I"]
        shapes = {"wq": (h, h), "wk": (h, keys), "wv": (h, keys), "wo": (h, h), "w_gate": (h, i), "w_up": (h, i),
                  "w_down": (i, h)}
        made = {name: to_bf16(normal(r, *shape, scale=shape[0]**-0.5)) for name, shape in shapes.items()}
        return {**made, "g1": normal(r, h), "g2": normal(r, h)}

    def inputs(self, s, r):
        places = s.get("S", s["T"])
        angle = np.arange(places)[:, None] / 10000**(np.arange(0, 128, 2) / 128)
        return {"x": to_bf16(normal(r, s["T"], s["H"])), **self.weight_arrays(s, r, s["H"]),
                "cos": np.cos(angle).astype("f4"), "sin": np.sin(angle).astype("f4")}

    @staticmethod
    def after_attention(context, x, t):
        r = context @ as_f64(t["wo"]) + x
        n = rms64(r, as_f64(t["g2"]))
        gate = n @ as_f64(t["w_gate"])
        return gate / (1 + np.exp(-gate)) * (n @ as_f64(t["w_up"])) @ as_f64(t["w_down"]) + r

    def reference(self, s, **t):
        """Of three tokens, so that most products are of few rows."""
        at, heads, x = np.array([0, s["T"] // 2, s["T"] - 1]), s["H"] // 128, as_f64(t["x"])
        n = rms64(x, as_f64(t["g1"]))
        apart = lambda y: y.reshape(-1, heads, 128).transpose(1, 0, 2)
        c, d = as_f64(t["cos"]), as_f64(t["sin"])
        q = rope64(apart(n[at] @ as_f64(t["wq"])), c[at], d[at])
        k, v = rope64(apart(n @ as_f64(t["wk"])), c, d), apart(n @ as_f64(t["wv"]))
        score = np.where(np.arange(s["T"]) <= at[:, None], q @ k.transpose(0, 2, 1) / 128**0.5, -np.inf)
        context = (softmax64(score) @ v).transpose(1, 0, 2).reshape(len(at), -1)
        return [(0, at, self.after_attention(context, x[at], t))]

    def written(self, s):
        return 2 * s["T"] * s["H"]

    def flops(self, s):
        t, h = s["T"], s["H"]
        return 2.0 * t * (4 * h * h + 3 * h * s["I"]) + 2.0 * t * t * h


class DecodeLayer(PrefillLayer):
    """The layer of examples/qwen3_decode_layer on one token of each of B sequences, after S - 1 others."""

    def text(self, s):
        here = os.path.dirname(os.path.abspath(__file__))
        with open(os.path.join(here, "../../../examples/qwen3_decode_layer/qwen3_decode_layer.ptir")) as file:
            text = file.read()
        for name, size in s.items():
            text = re.sub(rf"\${name}\b", str(size), text)
        text = re.sub(r"\b(\d+(?: \* \d+)+)\b", lambda m: str(eval(m.group())), text)
        # An index expression of a number is not one of a symbol.
        return text.replace(f"tensor.index_cast from({s['S']})", f"tensor.constant {{value = {s['S']}}}")

    def inputs(self, s, r):
        b, g = s["B"], s["G"]
        made = super().inputs({**s, "T": b}, r)
        made.update(self.weight_arrays(s, r, 128 * g))
        return {**made, "lengths": np.full(b, s["S"], np.int32), "keys": to_bf16(normal(r, b, g, s["S"], 128)),
                "values": to_bf16(normal(r, b, g, s["S"], 128))}

    def reference(self, s, **t):
        b, g, x = s["B"], s["G"], as_f64(t["x"])
        n = rms64(x, as_f64(t["g1"]))
        c, d = as_f64(t["cos"])[-1], as_f64(t["sin"])[-1]
        q = rope64((n @ as_f64(t["wq"])).reshape(b, g, 8, 128), c, d)
        k, v = as_f64(t["keys"]).copy(), as_f64(t["values"]).copy()
        k[:, :, -1] = rope64((n @ as_f64(t["wk"])).reshape(b, g, 128), c, d)
        v[:, :, -1] = (n @ as_f64(t["wv"])).reshape(b, g, 128)
        context = softmax64(q @ k.transpose(0, 1, 3, 2) / 128**0.5) @ v
        return [(0, slice(None), self.after_attention(context.reshape(b, -1), x, t))]

    def written(self, s):
        return 2 * s["B"] * s["H"]

    def flops(self, s):
        return 2.0 * s["B"] * (s["H"] * (2 * s["H"] + 256 * s["G"]) + 3 * s["H"] * s["I"] + 2048 * s["G"] * s["S"])


PROGRAMS = {
    "softmax": Softmax(), "rms_norm": RmsNorm(), "layer_norm": LayerNorm(), "gelu_chain": GeluChain(),
    "matmul_f32": Matmul("f32", "f32"), "matmul_bf16": Matmul("bf16", "bf16"), "matmul_i8": Matmul("i8", "i32"),
    "weights_f32": Matmul("f32", "f32", ("b",)), "weights_bf16": Matmul("bf16", "bf16", ("b",)),
    "weights_f16": Matmul("f16", "f16", ("b",)), "weights_i8": ScaledMatmul(), "weights_i4": NibbleMatmul(),
    "weights_i4_turned": TurnedNibbleMatmul(),
    "mlp_f32": Mlp("f32"), "mlp_bf16": Mlp("bf16"),
    "attention_f32": Attention("f32"), "causal_f32": Attention("f32", True), "attention_bf16": Attention("bf16"),
    "grouped_f32": Attention("f32"), "grouped_bf16": Attention("bf16"),
    "causal_bf16": Attention("bf16", True), "gate": Gate(), "rope": Rope(), "swiglu": Swiglu(), "transpose": Transpose(),
    "decode_layer": DecodeLayer(), "prefill_layer": PrefillLayer(),
}
