"""Inputs and reference of the router: the two largest logits x w of each token, the lower expert first where they are equal, and their softmax."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from case_data import Case, bf16_from_f32, f32_from_bf16  # noqa: E402

case = Case(seed=10)
t, e = case["T"], case["E"]
x, w = bf16_from_f32(case.normal(t, 256)), bf16_from_f32(case.normal(256, e, scale=1 / 16))
wide = lambda p: f32_from_bf16(p).astype(np.float64)  # noqa: E731
logits, terms = wide(x) @ wide(w), np.abs(wide(x)) @ np.abs(wide(w))
experts = np.argsort(-logits, axis=1, kind="stable")[:, :2]
best = np.take_along_axis(logits, experts, 1)
p = np.exp(best - best[:, :1])
weights = p / p.sum(axis=1, keepdims=True)
# A weight changes as the difference of the two logits does, of which the errors are those of their sums.
magnitude = weights * (1.0 + np.take_along_axis(terms, experts, 1).sum(axis=1, keepdims=True))
case.save(x=x, w=w, weights=weights, weights_magnitude=magnitude, experts=experts.astype(np.int32))
