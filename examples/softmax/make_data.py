"""Inputs and reference of softmax: y = exp(x - max) / sum(exp(x - max)) over the last axis."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from case_data import Case  # noqa: E402

case = Case(seed=1)
shape = (case["B"], 32, 256) if "B" in case.sizes else (case["R"], case["C"])
x = case.normal(*shape, scale=3.0)
d = x.astype(np.float64) - x.astype(np.float64).max(axis=-1, keepdims=True)
e = np.exp(d)
y = e / e.sum(axis=-1, keepdims=True)
# A relative error of the argument d of exp becomes an error |d| times as large.
case.save(x=x, y=y, y_magnitude=y * (1.0 + np.abs(d)))
