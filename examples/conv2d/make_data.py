"""Inputs and reference of conv2d: sums over kernels of 3 x 3 with zeros around x, plus bias, then relu; with bf16=1 of every second window, in two groups of channels, without relu. With nchw=1 channels come first."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from case_data import Case, bf16_from_f32, f32_from_bf16  # noqa: E402

case = Case(seed=11)
n, h, w, c, o, bf16 = *(case[name] for name in ("N", "H", "W", "C", "O")), case.sizes.get("bf16", 0)
groups, stride = (2, 2) if bf16 else (1, 1)
given = {"x": case.normal(n, h, w, c), "w": case.normal(3, 3, c // groups, o, scale=0.2), "b": case.normal(o)}
if bf16:
    given = {name: bf16_from_f32(a) for name, a in given.items()}


def sums(x, kernel, bias):
    x = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    parts = []
    for of_x, of_kernel in zip(np.split(x, groups, -1), np.split(kernel, groups, -1)):
        parts.append(sum(of_x[:, i:i + h:stride, j:j + w:stride] @ of_kernel[i, j] for i in range(3) for j in range(3)))
    return np.concatenate(parts, -1) + bias


wide = [(f32_from_bf16(a) if bf16 else a).astype(np.float64) for a in given.values()]
y = sums(*wide)
y, magnitude = y if bf16 else np.maximum(y, 0), sums(*map(np.abs, wide))
if case.sizes.get("nchw"):
    given["x"], y, magnitude = (a.transpose(0, 3, 1, 2) for a in (given["x"], y, magnitude))
    given["w"] = given["w"].transpose(3, 2, 0, 1)
case.save(**given, y=y, y_magnitude=magnitude)
