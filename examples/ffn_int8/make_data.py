"""Inputs and reference of the feed-forward block on i8: q = rint(x / s), s = max |x| / 127 of each token; the same for silu(l) * r of the product."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from case_data import Case, bf16_from_f32, f32_from_bf16, quantised  # noqa: E402

case = Case(seed=11)
t, k = case["T"], case["K"]
x = bf16_from_f32(case.normal(t, k))
w13, w2 = (case.rng.integers(-127, 128, shape).astype(np.int8) for shape in ((k, 384), (192, k)))
s13, s2 = (case.rng.uniform(0.5, 1.5, n).astype(np.float32) / np.float32(73 * terms**0.5) for n, terms in ((384, k), (k, 192)))
q, s = quantised(f32_from_bf16(x))
u = q @ w13.astype(np.float64) * s * s13.astype(np.float64)
left, right = u[:, :192], u[:, 192:]
g, gs = quantised(left / (1.0 + np.exp(-left)) * right)
case.save(x=x, w13=w13, s13=s13, w2=w2, s2=s2, y=g @ w2.astype(np.float64) * gs * s2.astype(np.float64))
