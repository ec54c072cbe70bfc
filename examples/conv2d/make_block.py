"""Inputs and reference of a residual block: relu(x + norm(conv(relu(norm(conv(x)))))), kernels of 3 x 3, norms over 4 groups of channels of each picture."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from case_data import Case  # noqa: E402

EPS = 1e-6
case = Case(seed=26)
n, h, w = (case[name] for name in "NHW")
given = {"x": case.normal(n, 16, h, w)}
for i in "12":
    given |= {"w" + i: case.normal(16, 16, 3, 3, scale=1 / 12), "g" + i: case.positive(16), "b" + i: case.normal(16, scale=0.3)}
x, w1, g1, b1, w2, g2, b2 = (a.astype(np.float64) for a in given.values())


def conv(x, kernel):
    x = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    return sum(np.einsum("nchw,oc->nohw", x[:, :, i:i + h, j:j + w], kernel[:, :, i, j]) for i in range(3) for j in range(3))


def norm(x, gamma, beta):
    groups = x.reshape(n, 4, -1)
    d = groups - groups.mean(axis=2, keepdims=True)
    y = (d / np.sqrt((d * d).mean(axis=2, keepdims=True) + EPS)).reshape(x.shape)
    return y * gamma[:, None, None] + beta[:, None, None]


middle = np.maximum(norm(conv(x, w1), g1, b1), 0)
case.save(**given, y=np.maximum(norm(conv(middle, w2), g2, b2) + x, 0))
