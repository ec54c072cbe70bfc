"""Inputs and reference of the choice of experts: c = sigmoid(logits) + bias; the 4 groups with the largest c, of these the 8 largest c, what is in other groups counts as 0."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from case_data import Case, bf16_from_f32, f32_from_bf16  # noqa: E402

case = Case(seed=15)
t, g = case["T"], case["G"]
logits, bias = case.normal(t, 8, g), bf16_from_f32(case.normal(8, g, scale=0.2))
w = 1 / (1 + np.exp(-logits.astype(np.float64)))
c = w + f32_from_bf16(bias)
groups = np.argsort(-c.max(axis=2), axis=1, kind="stable")[:, :4]
open_groups = (groups[:, :, None] == np.arange(8)).any(axis=1)
masked = np.where(open_groups[:, :, None], c, 0).reshape(t, -1)
experts = np.argsort(-masked, axis=1, kind="stable")[:, :8]
parts = np.take_along_axis(w.reshape(t, -1), experts, 1)
case.save(logits=logits, bias=bias, weights=parts / parts.sum(axis=1, keepdims=True), experts=experts.astype(np.int32))
