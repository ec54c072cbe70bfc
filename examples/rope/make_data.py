"""Inputs and reference of rope: pairs (p, q) become (p cos - q sin, q cos + p sin), of angles place / 10000^(pair / 32); with interleaved=1 pairs are neighbours, else halves."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from case_data import Case, bf16_from_f32, f32_from_bf16  # noqa: E402

case = Case(seed=6)
b, t = case["B"], case["T"]
x = bf16_from_f32(case.normal(b, t, 8, 64))
angle = np.arange(t)[:, None, None] / 10000.0 ** (np.arange(32) / 32)
cos, sin = np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)
wide, c, s = f32_from_bf16(x).astype(np.float64), cos.astype(np.float64), sin.astype(np.float64)
neighbours = case.sizes.get("interleaved", 0)
p, q = (wide[..., ::2], wide[..., 1::2]) if neighbours else (wide[..., :32], wide[..., 32:])
turned = p * c - q * s, q * c + p * s
y = np.stack(turned, -1).reshape(wide.shape) if neighbours else np.concatenate(turned, -1)
case.save(x=x, cos=cos, sin=sin, y=y)
