"""Inputs and reference of rms_norm: y = x / sqrt(mean(x*x) + eps) * gamma over the last axis."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from case_data import Case, bf16_from_f32, f32_from_bf16  # noqa: E402

case = Case(seed=2)
bf16 = "N" not in case.sizes
m, n = case["M"], 128 if bf16 else case["N"]
x, gamma = case.normal(m, n), case.normal(n)
if bf16:
    x, gamma = bf16_from_f32(x), bf16_from_f32(gamma)
x64 = (f32_from_bf16(x) if bf16 else x).astype(np.float64)
g64 = (f32_from_bf16(gamma) if bf16 else gamma).astype(np.float64)
y = x64 / np.sqrt((x64 * x64).mean(axis=-1, keepdims=True) + 1e-6) * g64
case.save(x=x, gamma=gamma, y=y, y_magnitude=np.abs(y))
