"""Inputs and reference of a mixture of experts: y = sum of weight relu(x w) over the two experts with the largest logits x gate; the weights are their softmax."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from case_data import Case  # noqa: E402

case = Case(seed=25)
t, d, e = (case[name] for name in "TDE")
x, gate, experts = case.normal(t, d), case.normal(d, e, scale=d**-0.5), case.normal(e, d, d, scale=d**-0.5)
x64, g64, w64 = (a.astype(np.float64) for a in (x, gate, experts))
logits, terms = x64 @ g64, np.abs(x64) @ np.abs(g64)
chosen = np.argsort(-logits, axis=1, kind="stable")[:, :2]
best = np.take_along_axis(logits, chosen, 1)
p = np.exp(best - best[:, :1])
weights = p / p.sum(axis=1, keepdims=True)
of = np.einsum("td,tkde->tke", x64, w64[chosen])
most = np.einsum("td,tkde->tke", np.abs(x64), np.abs(w64[chosen]))
# An error of a logit becomes one of its weight, as large times the sum of the terms of both.
error = 1 + np.take_along_axis(terms, chosen, 1).sum(axis=1)[:, None, None]
case.save(x=x, gate=gate, experts=experts, y=(np.maximum(of, 0) * weights[..., None]).sum(axis=1), y_magnitude=(most * weights[..., None] * error).sum(axis=1))
