"""Inputs and reference of the feed-forward block: y = bf16(bf16(gelu(x w1 + b1)) w2), gelu(u) = u / (1 + exp(-1.702 u))."""

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
wide = lambda p: f32_from_bf16(p).astype(np.float64)  # noqa: E731
u = wide(x) @ wide(w1) + b1.astype(np.float64)
# The program rounds here: part of the specification, not of an implementation.
a = wide(bf16_from_f32((u / (1.0 + np.exp(-1.702 * u))).astype(np.float32)))
y = a @ wide(w2)
case.save(x=x, w1=w1, b1=b1, w2=w2, y=y)
