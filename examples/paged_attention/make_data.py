"""Inputs and reference of paged attention: softmax(q k / sqrt(128)) v over the rows of a sequence's pages, six heads of q for each of k and v. With S, the S last queries of each sequence, each of which sees up to its own place."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from case_data import Case, rounded, wide  # noqa: E402

case = Case(seed=18)
b, m, p = (case[name] for name in "BMP")
s = case.sizes.get("S", 1)
q, keys, values = case.bf16(b, s, 12, 128), case.bf16(p, 128, 2, 128), case.bf16(p, 128, 2, 128)
pages = case.rng.permutation(p)[np.arange(b * m).reshape(b, m) % p].astype(np.int32)
lengths = np.linspace(128 * m, max(s, 29), b).astype(np.int32)


def at_once(scores, v):
    """Weights are rounded to bf16 after they are divided by their sum: so the op has it."""
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.einsum("hk,khd->hd", rounded(e / e.sum(axis=1, keepdims=True)), v)


def by_pages(scores, v):
    """Weights are rounded to bf16 relative to the largest score so far, their sum is not."""
    total = out = 0
    for i in range(0, scores.shape[1], 128):
        top, part = scores[:, :i + 128].max(axis=1, keepdims=True), scores[:, i:i + 128]
        down = np.exp(scores[:, :i].max(axis=1, keepdims=True) - top) if i else 0
        e = np.exp(part - top)
        total, out = total * down + e.sum(axis=1, keepdims=True), out * down + np.einsum("hk,khd->hd", rounded(e), v[i:i + 128])
    return out / total


attend = at_once if "S" in case.sizes else by_pages
y = np.zeros((b, s, 12, 128))
for i in range(b):
    k, v = (wide(a[pages[i]]).reshape(128 * m, 2, 128).repeat(6, axis=1) for a in (keys, values))
    for j in range(s):
        seen = lengths[i] - (s - 1 - j)
        scores = np.einsum("hd,khd->hk", wide(q[i, j]), k[:seen]) / 128**0.5
        y[i, j] = attend(scores, v[:seen])
if "S" not in case.sizes:
    q, y = q[:, 0], y[:, 0]
case.save(q=q, keys=keys, values=values, pages=pages, lengths=lengths, y=y)
