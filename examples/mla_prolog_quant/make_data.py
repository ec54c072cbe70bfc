"""Inputs and reference of the prolog of latent attention: q8 = i8(bf16(rms(bf16(x w_down)) gamma)), heads = bf16(q8 w_up scales), of 192 elements: 128 times w_row, 64 turned; of x w_kv 512 normalised and in i8, 64 turned."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from case_data import Case, angles, bf16_out_magnitude, chance_error, doubt, quantised, quantised_doubts, rms, rms_error, rounded, rounded_spread, turned, turned_step, wide  # noqa: E402

case = Case(seed=20)
t, h, r, n, p = (case[name] for name in "THRNP")
x, w_down, w_kv, w_row = case.bf16(t, h), case.bf16(h, r, scale=h**-0.5), case.bf16(h, 576, scale=h**-0.5), case.bf16(n, 128, 512, scale=128**-0.5)
w_up, up_scale = case.i8(r, 192 * n), case.positive(192 * n, scale=1 / (73 * r**0.5))
gamma_q, gamma_kv = case.positive(r), case.positive(512)
cos, sin = angles(case.rng.integers(0, 4096, (t, 1)), 32)
kv_cache, kv_scale, kr_cache = case.i8(p, 512), case.positive(p, 4), case.bf16(p, 64)
places = case.rng.permutation(p)[:t].astype(np.int64)


c, s = cos.astype(np.float64), sin.astype(np.float64)


def halves(v):
    """Neighbours are a pair; results are halves: all first elements, then all second ones."""
    return np.concatenate([v[..., ::2], v[..., 1::2]], -1)


def turn(v, doubts):
    """Pairs turned, with the bounds of where v may be rounded to either of two neighbours."""
    y = turned(halves(v), c, s)
    return y, bf16_out_magnitude(y, turned_step(halves(doubts), c, s))


def product(w):
    """x w in bf16, and how far it may be off: sums in float32 are rounded to either of two neighbours."""
    exact = wide(x) @ wide(w)
    return rounded(exact), doubt(exact, chance_error(wide(x), wide(w)))


# Another scale moves all integers of its row: rows whose scale may be rounded to either neighbour are drawn again.
again = np.ones(t, bool)
while again.any():
    x[again] = case.bf16(again.sum(), h)
    narrow, narrow_error = rms_error(*product(w_down), gamma_q)
    q_doubt, scale_doubt = quantised_doubts(rounded(narrow), doubt(narrow, narrow_error))
    again = scale_doubt[:, 0] > 0
q_norm, q_scale = quantised(rounded(narrow))
by_column = q_scale * up_scale
exact = q_norm @ w_up.astype(np.float64) * by_column
spread = np.sqrt(q_doubt**2 @ w_up.astype(np.float64) ** 2) * by_column + 2.0**-22 * np.abs(exact)
heads, heads_spread, heads_doubt = (v.reshape(t, n, 192) for v in (rounded(exact), rounded_spread(exact, spread), doubt(exact, 4 * spread)))
rows = lambda v: v[..., :128].transpose(1, 0, 2)  # noqa: E731
q, q_step = (v.transpose(1, 0, 2) for v in (rows(heads) @ wide(w_row), 4 * np.sqrt(rows(heads_spread) ** 2 @ wide(w_row) ** 2)))
q_turned, q_turned_magnitude = turn(heads[..., 128:], heads_doubt[..., 128:])
kv, kv_doubt = product(w_kv)
k8, k_scale = quantised(rounded(rms(kv[:, :512]) * gamma_kv).reshape(t, 4, 128))
new_kv, new_scale, new_kr, new_kr_magnitude = kv_cache.copy(), kv_scale.astype(np.float64), wide(kr_cache), bf16_out_magnitude(wide(kr_cache), 0)
new_kv[places], new_scale[places] = k8.reshape(t, 512), k_scale[..., 0]
new_kr[places], new_kr_magnitude[places] = (v[:, 0] for v in turn(kv[:, None, 512:], kv_doubt[:, None, 512:]))
case.save(x=x, w_down=w_down, gamma_q=gamma_q, w_up=w_up, up_scale=up_scale, w_row=w_row, w_kv=w_kv, gamma_kv=gamma_kv, cos=cos, sin=sin, kv_cache=kv_cache, kv_scale=kv_scale, kr_cache=kr_cache, places=places)
case.save(q=q, q_magnitude=bf16_out_magnitude(q, q_step), q_turned=q_turned, q_turned_magnitude=q_turned_magnitude, q_norm=q_norm.astype(np.int8), q_scale=q_scale)
case.save(new_kv=new_kv, new_scale=new_scale, new_kr=new_kr, new_kr_magnitude=new_kr_magnitude)
