"""Inputs and reference of attention to chosen rows: row i of a sequence is row pages[i // 128] * 128 + i % 128 of memory, v = bf16(i8 scale), k = [v, turned], softmax(q k / sqrt(576)) v."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from case_data import Case, bf16_out_magnitude, doubt, doubtful_sum, rounded, sum_error, wide  # noqa: E402

case = Case(seed=21)
b, s, n, k, m, p = (case[name] for name in "BSNKMP")
q, q_turned = case.bf16(b, s, n, 512), case.bf16(b, s, n, 64)
rows, scales, rows_turned = case.i8(p, 512), case.positive(p, 4, scale=1 / 73), case.bf16(p, 64)
pages = case.rng.permutation(p // 128)[np.arange(b * m).reshape(b, m) % (p // 128)].astype(np.int32)
lengths = np.linspace(128 * m, max(s, k // 3), b).astype(np.int32)  # the last sequence has fewer rows than are chosen
chosen, y, step = np.full((b, s, k), -1, np.int32), np.zeros((b, s, n, 512)), np.zeros((b, s, n, 512))
for i in range(b):
    for j in range(s):
        seen = lengths[i] - (s - 1 - j)
        chosen[i, j, :seen] = case.rng.permutation(seen)[:k]
        ids = chosen[i, j, :seen]
        at = pages[i, ids // 128] * 128 + ids % 128
        v = rounded(rows[at].astype(np.float64) * scales[at].astype(np.float64).repeat(128, axis=1))
        keys = np.concatenate([v, wide(rows_turned[at])], -1)
        queries = np.concatenate([wide(q[i, j]), wide(q_turned[i, j])], -1)
        scores, terms = queries @ keys.T / 576**0.5, np.abs(queries) @ np.abs(keys.T) / 576**0.5
        e = np.exp(scores - scores.max(axis=1, keepdims=True))
        weights = e / e.sum(axis=1, keepdims=True)
        y[i, j] = rounded(weights) @ v  # the op rounds weights to bf16
        step[i, j] = doubtful_sum(doubt(weights, sum_error(terms * weights, 576)), v)
case.save(q=q, q_turned=q_turned, rows=rows, scales=scales, rows_turned=rows_turned, chosen=chosen, pages=pages, lengths=lengths)
case.save(y=y, y_magnitude=bf16_out_magnitude(y, step))
