"""Inputs and reference of the matrix product, f32; with bf16=1 bf16 operands, with nt=1 the second operand transposed."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from case_data import Case, bf16_from_f32, f32_from_bf16  # noqa: E402

case = Case(seed=3)
m, n, k = case["M"], case["N"], case["K"]
bf16, nt = case.sizes.get("bf16", 0), case.sizes.get("nt", 0)
a, b = case.normal(m, k), case.normal(*((n, k) if nt else (k, n)))
if bf16:
    a, b = bf16_from_f32(a), bf16_from_f32(b)
a64 = (f32_from_bf16(a) if bf16 else a).astype(np.float64)
b64 = (f32_from_bf16(b) if bf16 else b).astype(np.float64)
if nt:
    b64 = b64.T
case.save(a=a, b=b, c=a64 @ b64, c_magnitude=np.abs(a64) @ np.abs(b64))
