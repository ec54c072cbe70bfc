"""Inputs and reference of the indexer: score = k_scale sum over heads of f16(q_scale weight) f16(relu(q k) / 2048); the 2048 best keys of those that a query sees, -1 where there are fewer.
Elements are so small that every sum is exact, so the order is that of the maths."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from case_data import Case  # noqa: E402

case = Case(seed=16)
b, s, m, p = (case[name] for name in "BSMP")
q, keys = (case.rng.integers(-7, 8, shape).astype(np.int8) for shape in ((b, s, 64, 128), (p, 128, 128)))
q_scale, weights = (2.0 ** case.rng.integers(-2, 1, (b, s, 64)) * sign for sign in (1, case.rng.choice([-1, 1], (b, s, 64))))
k_scale = case.rng.uniform(0.5, 1.5, (p, 128)).astype(np.float16)
pages = np.stack([case.rng.permutation(p)[:m] for _ in range(b)]).astype(np.int32)
lengths = np.linspace(2048, 128 * m, b).astype(np.int32)  # the first query of the first sequence sees 2047
k, ks = (a[pages].reshape(b, 128 * m, -1).astype(np.float64) for a in (keys, k_scale))
parts = (np.maximum(np.einsum("bshd,bkd->bshk", q.astype(np.float64), k, optimize=True), 0) / 2048).astype(np.float16)
w = (q_scale * weights).astype(np.float16).astype(np.float64)
score = (np.einsum("bsh,bshk->bsk", w, parts.astype(np.float64)) * ks[:, None, :, 0]).astype(np.float32)
ids = np.full((b, s, 2048), -1, np.int32)
for i in range(b):
    for j in range(s):
        best = np.argsort(-score[i, j, :lengths[i] - (s - 1 - j)], kind="stable")[:2048]
        ids[i, j, :len(best)] = best
case.save(q=q, q_scale=q_scale.astype(np.float16), keys=keys, k_scale=k_scale, weights=weights.astype(np.float16), pages=pages, lengths=lengths, ids=ids)
