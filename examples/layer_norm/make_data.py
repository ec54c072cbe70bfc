"""Inputs and reference of layer_norm: y = d / sqrt(mean(d*d) + eps) * gamma + beta, d = x - mean(x), over the last axis; with bf16=1 of the sum of two bf16 tensors."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from case_data import Case, bf16_from_f32, f32_from_bf16  # noqa: E402

case = Case(seed=5)
m, n, bf16 = case["M"], case["N"], case.sizes.get("bf16", 0)
given = {"x": case.normal(m, n), "residual": case.normal(m, n), "gamma": case.normal(n), "beta": case.normal(n)}
if bf16:
    given = {name: bf16_from_f32(a) for name, a in given.items()}
x, residual, gamma, beta = ((f32_from_bf16(a) if bf16 else a).astype(np.float64) for a in given.values())
s = x + residual if bf16 else x
d = s - s.mean(axis=-1, keepdims=True)
root = np.sqrt((d * d).mean(axis=-1, keepdims=True) + (1e-5 if bf16 else 1e-6))
# The mean is a sum of x, of which the error stays in d.
magnitude = (np.abs(x) + np.abs(x).mean(axis=-1, keepdims=True)) / root * np.abs(gamma) + np.abs(beta)
case.save(**given, y=d / root * gamma + beta, y_magnitude=magnitude)
