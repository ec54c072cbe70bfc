"""Inputs and reference of the feed-forward block: y = bf16(bf16(gelu(x w1 + b1)) w2), gelu(u) = u / (1 + exp(-1.702 u)); with relu=1
max(u, 0) in its place, with swiglu=1 y = bf16(bf16(silu(x wg) * (x wu)) wd)."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from case_data import Case, bf16_from_f32, f32_from_bf16  # noqa: E402

case = Case(seed=4)
x = bf16_from_f32(case.normal(case["T"], 128))
w1 = bf16_from_f32(case.normal(128, 1024, scale=128**-0.5))
b1 = case.normal(1024, scale=0.5)
w2 = bf16_from_f32(case.normal(1024, 128, scale=1024**-0.5))
wu = bf16_from_f32(case.normal(128, 1024, scale=128**-0.5))
wide = lambda p: f32_from_bf16(p).astype(np.float64)  # noqa: E731
u = wide(x) @ wide(w1)
if case.sizes.get("swiglu"):
    a = u / (1.0 + np.exp(-u)) * (wide(x) @ wide(wu))
elif case.sizes.get("relu"):
    a = np.maximum(u + b1.astype(np.float64), 0)
else:
    u = u + b1.astype(np.float64)
    a = u / (1.0 + np.exp(-1.702 * u))
# The program rounds here: part of the specification, not of an implementation.
y = wide(bf16_from_f32(a.astype(np.float32))) @ wide(w2)
case.save(x=x, w1=w1, b1=b1, w2=w2, wg=w1, wu=wu, wd=w2, y=y)
