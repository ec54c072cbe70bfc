"""Inputs and reference of the cross entropy: log(sum(exp(x - max))) - (x[label] - max) for each row, and the mean. Rows are far from 0, each in its own place."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from case_data import Case  # noqa: E402

case = Case(seed=9)
n, c = case["N"], case["C"]
x = case.normal(n, c, scale=3.0) + case.normal(n, 1, scale=1000.0)
labels = case.rng.integers(0, c, n).astype(np.int32)
d = x.astype(np.float64) - x.max(axis=-1, keepdims=True)
e = np.exp(d)
log, below = np.log(e.sum(axis=-1)), d[np.arange(n), labels]
rows = log - below
# The logarithm of a sum has the relative error of the sum as its error.
magnitude = 1.0 + log - below
case.save(x=x, labels=labels, rows=rows, rows_magnitude=magnitude, loss=rows.mean(keepdims=True), loss_magnitude=magnitude.mean(keepdims=True))
