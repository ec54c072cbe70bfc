"""Inputs and reference of attention with a sink: o = sum of e^(s - m) kv / (sum of e^(s - m) + e^(sink - m)) over the rows of a window (-1: none), the last 64 elements turned back, and two products for 8 groups."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from case_data import Case, angles, quantised, rounded, turned, wide  # noqa: E402

case = Case(seed=23)
t, w, p, r, d = (case[name] for name in "TWPRD")
q, cache, sink = case.bf16(t, 64, 512), case.bf16(p, 512), case.normal(64, 1)
rows = np.stack([case.rng.permutation(max(p, w))[:w] % p for _ in range(t)]).astype(np.int32)
for i in range(t):
    rows[i, w - i * w // (2 * t):] = -1  # windows of the first tokens are not full
cos, sin = angles(case.rng.integers(0, 4096, (t, 1)), 32)
wa, wb, wb_scale = case.bf16(8, r, 4096, scale=1 / 16), case.i8(8, d, r), case.positive(d, scale=1 / (73 * (8 * r) ** 0.5))
kv = wide(cache)[np.maximum(rows, 0)]
s = np.where((rows >= 0)[:, None], np.einsum("thd,twd->thw", wide(q), kv) / 512**0.5, -1e20)
m = s.max(axis=2, keepdims=True)
e = np.exp(s - m)
o = np.einsum("thw,twd->thd", rounded(e), kv) / (e.sum(axis=2, keepdims=True) + np.exp(sink - m))
o = rounded(np.concatenate([o[..., :448], turned(o[..., 448:], cos.astype(np.float64), -sin.astype(np.float64), interleaved=True)], -1))
z, scale = quantised(np.einsum("tgk,grk->gtr", o.reshape(t, 8, 4096), wide(wa)))
y = (np.einsum("gtr,gdr->gtd", z, wb.astype(np.float64)) * scale).sum(axis=0) * wb_scale
case.save(q=q, cache=cache, rows=rows, sink=sink, cos=cos, sin=sin, wa=wa, wb=wb, wb_scale=wb_scale, y=y)
