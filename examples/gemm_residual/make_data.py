"""Inputs and reference of a product with a residual: r = a w + h."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from case_data import Case, bf16_from_f32, f32_from_bf16  # noqa: E402

case = Case(seed=13)
m, n, k = case["M"], case["N"], case["K"]
a, w, h = bf16_from_f32(case.normal(m, k)), bf16_from_f32(case.normal(k, n, scale=k**-0.5)), bf16_from_f32(case.normal(m, n))
a64, w64, h64 = (f32_from_bf16(v).astype(np.float64) for v in (a, w, h))
case.save(a=a, w=w, h=h, r=a64 @ w64 + h64, r_magnitude=np.abs(a64) @ np.abs(w64) + np.abs(h64))
