"""Inputs and reference of the prolog of latent attention: q8 = i8(bf16(rms(bf16(x w_down)) gamma)), heads = bf16(q8 w_up scales), of 192 elements: 128 times w_row, 64 turned; of x w_kv 512 normalised and in i8, 64 turned."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from case_data import Case, angles, quantised, rms, rounded, turned, wide  # noqa: E402

case = Case(seed=20)
t, h, r, n, p = (case[name] for name in "THRNP")
x, w_down, w_kv, w_row = case.bf16(t, h), case.bf16(h, r, scale=h**-0.5), case.bf16(h, 576, scale=h**-0.5), case.bf16(n, 128, 512, scale=128**-0.5)
w_up, up_scale = case.i8(r, 192 * n), case.positive(192 * n, scale=1 / (73 * r**0.5))
gamma_q, gamma_kv = case.positive(r), case.positive(512)
cos, sin = angles(case.rng.integers(0, 4096, (t, 1)), 32)
kv_cache, kv_scale, kr_cache = case.i8(p, 512), case.positive(p, 4), case.bf16(p, 64)
places = case.rng.permutation(p)[:t].astype(np.int64)


def turn(v):
    """Neighbours are a pair; results are halves: all first elements, then all second ones."""
    return turned(np.concatenate([v[..., ::2], v[..., 1::2]], -1), cos.astype(np.float64), sin.astype(np.float64))


q_norm, q_scale = quantised(rounded(rms(rounded(wide(x) @ wide(w_down))) * gamma_q))
heads = rounded(q_norm @ w_up.astype(np.float64) * q_scale * up_scale).reshape(t, n, 192)
kv = rounded(wide(x) @ wide(w_kv))
k8, k_scale = quantised(rounded(rms(kv[:, :512]) * gamma_kv).reshape(t, 4, 128))
new_kv, new_scale, new_kr = kv_cache.copy(), kv_scale.astype(np.float64), wide(kr_cache)
new_kv[places], new_scale[places], new_kr[places] = k8.reshape(t, 512), k_scale[..., 0], turn(kv[:, None, 512:])[:, 0]
case.save(x=x, w_down=w_down, gamma_q=gamma_q, w_up=w_up, up_scale=up_scale, w_row=w_row, w_kv=w_kv, gamma_kv=gamma_kv, cos=cos, sin=sin, kv_cache=kv_cache, kv_scale=kv_scale, kr_cache=kr_cache, places=places)
case.save(q=np.einsum("tnd,nde->tne", heads[..., :128], wide(w_row)), q_turned=turn(heads[..., 128:]), q_norm=q_norm.astype(np.int8), q_scale=q_scale, new_kv=new_kv, new_scale=new_scale, new_kr=new_kr)
