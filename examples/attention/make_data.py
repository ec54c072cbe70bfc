"""Inputs and reference of attention: softmax(q k^T / sqrt(d) + mask) v. With H: f32, a mask for all heads; else bf16, causal, eight heads of q for two of k and v."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from case_data import Case, bf16_from_f32, f32_from_bf16  # noqa: E402

case = Case(seed=7)
b, s, t = case["B"], case["S"], case["T"]
masked = "H" in case.sizes
heads, shared, d = (case["H"], case["H"], 32) if masked else (8, 2, 64)
q, k, v = case.normal(b, heads, s, d), case.normal(b, shared, t, d), case.normal(b, shared, t, d)
mask = case.normal(s, t)
mask[case.rng.random((s, t)) < 0.2] = -np.inf
mask[:, 0] = 0.5  # every query sees a key
if not masked:
    q, k, v = bf16_from_f32(q), bf16_from_f32(k), bf16_from_f32(v)
wide = lambda x: (x if masked else f32_from_bf16(x)).astype(np.float64)  # noqa: E731
every = lambda x: np.repeat(wide(x), heads // shared, axis=1)  # noqa: E731
scores = wide(q) @ np.swapaxes(every(k), -1, -2) / np.sqrt(d)
if masked:
    scores = scores + mask
else:
    scores = np.where(np.arange(t) <= np.arange(s)[:, None] + t - s, scores, -np.inf)
below = scores - scores.max(axis=-1, keepdims=True)
e = np.exp(below)
p = e / e.sum(axis=-1, keepdims=True)
if not masked:  # the op rounds here: part of its specification
    p = wide(bf16_from_f32(p.astype(np.float32)))
# An error of a score becomes one of its weight, as large times the sum of the terms of the score.
terms = np.abs(wide(q)) @ np.swapaxes(np.abs(every(k)), -1, -2) / np.sqrt(d)
magnitude = (p * (1.0 + terms + np.where(e > 0, -below, 0))) @ np.abs(every(v))
case.save(q=q, k=k, v=v, mask=mask, y=p @ every(v), y_magnitude=magnitude)
