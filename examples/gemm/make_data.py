"""Inputs and reference of the matrix product, f32; with bf16=1 bf16 operands, with int8=1 i8 operands, with tn=1 and nt=1 the first and the second operand transposed."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from case_data import Case, bf16_from_f32, f32_from_bf16  # noqa: E402

case = Case(seed=3)
m, n, k = case["M"], case["N"], case["K"]
bf16, int8, tn, nt = (case.sizes.get(word, 0) for word in ("bf16", "int8", "tn", "nt"))
a, b = case.normal(*((k, m) if tn else (m, k))), case.normal(*((n, k) if nt else (k, n)))
if bf16:
    a, b = bf16_from_f32(a), bf16_from_f32(b)
if int8:
    a, b = (case.rng.integers(-128, 128, x.shape).astype(np.int8) for x in (a, b))
a64 = (f32_from_bf16(a) if bf16 else a).astype(np.float64)
b64 = (f32_from_bf16(b) if bf16 else b).astype(np.float64)
if tn:
    a64 = a64.T
if nt:
    b64 = b64.T
case.save(a=a, b=b, c=a64 @ b64, c_magnitude=np.abs(a64) @ np.abs(b64))
