"""Inputs and reference of the feed-forward block: y = bf16(bf16(gelu(x w1 + b1)) w2), gelu(u) = u / (1 + exp(-1.702 u)); with relu=1
max(u, 0) in its place, with swiglu=1 y = bf16(bf16(silu(x wg) * (x wu)) wd)."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from case_data import Case, bf16_from_f32, bf16_out_magnitude, doubt, doubtful_sum, rounded, sum_error, wide  # noqa: E402

case = Case(seed=4)
x = bf16_from_f32(case.normal(case["T"], 128))
w1 = bf16_from_f32(case.normal(128, 1024, scale=128**-0.5))
b1 = case.normal(1024, scale=0.5)
w2 = bf16_from_f32(case.normal(1024, 128, scale=1024**-0.5))
wu = bf16_from_f32(case.normal(128, 1024, scale=128**-0.5))
product = lambda w: (wide(x) @ wide(w), sum_error(np.abs(wide(x)) @ np.abs(wide(w)), 128))  # noqa: E731
u, error = product(w1)
if case.sizes.get("swiglu"):
    v, v_error = product(wu)
    s = u / (1.0 + np.exp(-u))
    a, error = s * v, 1.1 * error * np.abs(v) + np.abs(s) * v_error  # 1.1: the largest slope of silu, and of gelu below
elif case.sizes.get("relu"):
    a = np.maximum(u + b1.astype(np.float64), 0)
else:
    u = u + b1.astype(np.float64)
    a, error = u / (1.0 + np.exp(-1.702 * u)), 1.1 * error
# The program rounds here: part of the specification, not of an implementation. Which way is not, where a sum in f32 may
# be on either side of the middle of two numbers.
y = rounded(a) @ wide(w2)
step = doubtful_sum(doubt(a, error), wide(w2))
case.save(x=x, w1=w1, b1=b1, w2=w2, wg=w1, wu=wu, wd=w2, y=y, y_magnitude=bf16_out_magnitude(y, step))
