"""Inputs and reference of the indexer's prolog: q = bf16(c w_q) and k = bf16(layer_norm(x w_k)) of 128 elements, of which the first 64 are turned by the place, times a Hadamard matrix, in i8."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from case_data import Case, angles, bf16_from_f32, quantised, rounded, turned, wide  # noqa: E402

case = Case(seed=17)
t, h, r, p = (case[name] for name in "THRP")
x, w_k, w_weights = case.bf16(t, h), case.bf16(h, 128, scale=h**-0.5), case.bf16(h, 64, scale=h**-0.5)
c, w_q = case.i8(t, r), case.i8(r, 8192)
c_scale, w_q_scale = case.positive(t, 1, scale=1 / 73), case.positive(8192, scale=1 / (73 * r**0.5))
gamma, beta = case.positive(128), case.normal(128, scale=0.1)
cos, sin = angles(case.rng.integers(0, 4096, (t, 1)), 32)
signs = np.array([[(-1) ** (i & j).bit_count() for j in range(128)] for i in range(128)])
hadamard = bf16_from_f32((signs / 128**0.5).astype(np.float32))
cache, cache_scale = case.i8(p, 128), case.positive(p, 1).astype(np.float16)
rows = case.rng.permutation(p)[:t].astype(np.int64)


def mixed(v, cosine, sine):
    v = rounded(np.concatenate([turned(v[..., :64], cosine, sine), v[..., 64:]], -1))
    return quantised(rounded(v @ wide(hadamard)))


q = rounded((c.astype(np.float64) @ w_q.astype(np.float64) * c_scale * w_q_scale)).reshape(t, 64, 128)
k = wide(x) @ wide(w_k)
k = k - k.mean(axis=1, keepdims=True)
k = rounded(k / np.sqrt((k * k).mean(axis=1, keepdims=True) + 1e-6) * gamma + beta)
turn = [a.astype(np.float64) for a in (cos, sin)]
q8, q_scale = mixed(rounded(q), *turn)
k8, k_scale = mixed(k, *(a[:, 0] for a in turn))
new_cache, new_scale = cache.copy(), cache_scale.astype(np.float64)
new_cache[rows], new_scale[rows] = k8, k_scale
weights = rounded(wide(x) @ wide(w_weights)) / (64 * 128) ** 0.5
case.save(x=x, c=c, c_scale=c_scale, w_q=w_q, w_q_scale=w_q_scale, w_k=w_k, w_weights=w_weights, gamma=gamma, beta=beta, cos=cos, sin=sin, hadamard=hadamard, cache=cache, cache_scale=cache_scale, rows=rows)
case.save(q=q8.astype(np.int8), q_scale=q_scale[..., 0], weights=weights, new_cache=new_cache, new_scale=new_scale)
