"""Inputs and reference of ragged experts: of the first rows[e] rows of each expert, h = silu(min(x w1, 10)) clamp(x w3, 10), in i8, and y = h w2 weight; the other rows are 0."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from case_data import Case, quantised  # noqa: E402

case = Case(seed=22)
e, r, d, i = (case[name] for name in "ERDI")
x, w1, w3, w2 = case.i8(e, r, d), case.i8(e, i, d), case.i8(e, i, d), case.i8(e, d, i)
xs, weight = case.positive(e, r, scale=1 / 73), case.positive(e, r)
s1, s3, s2 = case.positive(e, i, scale=4 / (73 * d**0.5)), case.positive(e, i, scale=4 / (73 * d**0.5)), case.positive(e, d, scale=1 / (73 * i**0.5))
rows = np.array([r, 0, 1, *case.rng.integers(0, r + 1, e)][:e], np.int32)  # a full expert, one without rows, one with one
y = np.zeros((e, r, d))
for j, n in enumerate(rows):
    xf = x[j, :n].astype(np.float64) * xs[j, :n, None]
    g = np.minimum(xf @ w1[j].T * s1[j], 10)
    h, hs = quantised(g / (1 + np.exp(-g)) * np.clip(xf @ w3[j].T * s3[j], -10, 10))
    y[j, :n] = h @ w2[j].T * hs * weight[j, :n, None] * s2[j]
case.save(x=x, xs=xs, weight=weight, rows=rows, w1=w1, s1=s1, w3=w3, s3=s3, w2=w2, s2=s2, y=y)
