"""Inputs and reference of a decoder's layer: n = bf16(rms(x) g1); q, k = rope(n w), v = n w; attention over the cache with the new row; r = x + o wo; y = r + (silu(n2 gate) * (n2 up)) down."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from case_data import Case, angles, rms, rounded, turned, wide  # noqa: E402

case = Case(seed=24)
b, h, g, i, s = (case[name] for name in "BHGIS")
weights = {name: case.bf16(*shape, scale=shape[0] ** -0.5) for name, shape in (("wq", (h, 1024 * g)), ("wk", (h, 128 * g)), ("wv", (h, 128 * g)), ("wo", (1024 * g, h)), ("w_gate", (h, i)), ("w_up", (h, i)), ("w_down", (i, h)))}
x, keys, values = case.bf16(b, h), case.bf16(b, g, s, 128), case.bf16(b, g, s, 128)
g1, g2 = case.positive(h), case.positive(h)
cos, sin = angles(np.arange(s), 64)
lengths = np.linspace(s, max(1, s // 3), b).astype(np.int32)
wq, wk, wv, wo, w_gate, w_up, w_down = map(wide, weights.values())
xf, p = wide(x), lengths - 1
n = rounded(rms(xf) * g1)
turn = lambda v: rounded(turned(v.reshape(b, -1, 128), *(a[p][:, None].astype(np.float64) for a in (cos, sin))))  # noqa: E731
q, k, v = turn(n @ wq), wide(keys), wide(values)
k[np.arange(b), :, p], v[np.arange(b), :, p] = turn(n @ wk), rounded(n @ wv).reshape(b, g, 128)
scores = np.einsum("bgqd,bgsd->bgqs", q.reshape(b, g, 8, 128), k) / 128**0.5
scores = np.where(np.arange(s) < lengths[:, None, None, None], scores, -np.inf)
e = np.exp(scores - scores.max(axis=3, keepdims=True))
o = np.einsum("bgqs,bgsd->bgqd", rounded(e / e.sum(axis=3, keepdims=True)), v)  # the op rounds weights to bf16
r = rounded(o).reshape(b, -1) @ wo + xf
n2 = rounded(rms(r) * g2)
gate = n2 @ w_gate
y = rounded(gate / (1 + np.exp(-gate)) * (n2 @ w_up)) @ w_down + r
case.save(x=x, g1=g1, g2=g2, cos=cos, sin=sin, lengths=lengths, keys=keys, values=values, **weights)
case.save(y=y, new_keys=k, new_values=v)
