"""Inputs and reference of the gate: score = sqrt(log(1 + e^logit)), logit = x gamma w / sqrt(mean(x*x) + eps); the six largest score + bias, or those of a table; weights = 1.5 score / sum."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from case_data import Case, quantised, wide  # noqa: E402

case = Case(seed=27)
t, d, v = (case[name] for name in "TDV")
x, gamma, w, bias = case.bf16(t, d), case.positive(d), case.normal(256, d, scale=d**-0.5), case.normal(256, scale=0.1)
table = np.stack([case.rng.permutation(256)[:6] for _ in range(v)]).astype(np.int32)
tokens, count = case.rng.integers(0, v, t).astype(np.int32), max(1, t - 2)
xf = wide(x)
r = 1 / np.sqrt((xf * xf).mean(axis=1, keepdims=True) + 1e-6)
q, scale = quantised(xf * gamma)
logits, terms = xf * gamma @ w.astype(np.float64).T * r, np.abs(xf * gamma) @ np.abs(w.astype(np.float64)).T * r
score = np.sqrt(np.maximum(logits, 0) + np.log1p(np.exp(-np.abs(logits))))
is_token = np.arange(t)[:, None] < count
case.save(x=x, gamma=gamma, w=w, bias=bias, table=table, tokens=tokens, count=np.array([count], np.int32), late=np.array([3], np.int32), early=np.array([2], np.int32))
case.save(q=q.astype(np.int8), scale=scale * r * is_token)
for name, experts in (("late", np.argsort(-(score + bias), axis=1, kind="stable")[:, :6]), ("early", table[tokens])):
    parts = np.take_along_axis(score, experts, 1)
    weights = 1.5 * parts / parts.sum(axis=1, keepdims=True) * is_token
    # A weight changes as the logits of all six do, of which the errors are those of their sums.
    magnitude = weights * (1 + np.take_along_axis(terms, experts, 1).sum(axis=1, keepdims=True))
    case.save(**{name + "_experts": (experts * is_token).astype(np.int32), name + "_weights": weights, name + "_magnitude": magnitude})
