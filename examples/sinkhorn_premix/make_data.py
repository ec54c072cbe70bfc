"""Inputs and reference of the pre-mix of four streams: m = x f^T / sqrt(mean(x*x) + eps) * scale + base; pre = sigmoid(m[:4]) + eps, post = 2 sigmoid(m[4:8]),
comb of the softmax of m[8:], and y = sum of pre[i] x[i]."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from case_data import Case  # noqa: E402

EPS = 1e-6
case = Case(seed=12)
t, d = case["T"], case["D"]
x, f = case.normal(t, 4, d), case.normal(24, 4 * d, scale=(4 * d) ** -0.5)
scale, base = case.rng.uniform(0.5, 1.5, 24).astype(np.float32), case.normal(24, scale=0.3)
flat, f64 = x.astype(np.float64).reshape(t, -1), f.astype(np.float64)
r = 1 / np.sqrt((flat * flat).mean(axis=1, keepdims=True) + EPS)
m = flat @ f64.T * r * scale + base
terms = np.abs(flat) @ np.abs(f64.T) * r * scale + np.abs(base)
sigmoid = lambda z: 1 / (1 + np.exp(-z))  # noqa: E731
pre, post = sigmoid(m[:, :4]) + EPS, 2 * sigmoid(m[:, 4:8])
c = np.exp(m[:, 8:].reshape(t, 4, 4))
c = c / c.sum(axis=2, keepdims=True) + EPS
c = c / (c.sum(axis=1, keepdims=True) + EPS)
for _ in range(19):
    c = c / (c.sum(axis=2, keepdims=True) + EPS)
    c = c / (c.sum(axis=1, keepdims=True) + EPS)
y = (pre[:, :, None] * x).sum(axis=1)
# Errors of m become errors as large times what is made of it; those of a quotient become errors of its row and column.
case.save(x=x, f=f, scale=scale, base=base, y=y, post=post, post_magnitude=post * (1 + terms[:, 4:8]), comb=c, comb_magnitude=c * (1 + terms[:, 8:].reshape(t, -1).max(axis=1)[:, None, None]))
