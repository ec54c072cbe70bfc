"""Inputs and reference of what precedes attention: n = bf16(rms(x + residual) gamma + beta), i8 = rint(n scale + offset), z = bf16((i8 w + bias) back); heads of z for q and k are normalised and turned."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from case_data import Case, angles, rms, rounded, turned, wide  # noqa: E402

EPS = 1e-5
case = Case(seed=19)
t, h = case["T"], case["H"]
given = {"x": case.bf16(t, h), "residual": case.bf16(t, h), "gamma": case.bf16(h), "beta": case.bf16(h, scale=0.1), "scale": case.bf16(h, scale=30), "offset": case.bf16(h, scale=5)}
w, bias, back = case.i8(h, 1792), case.rng.integers(-5000, 5000, 1792).astype(np.int32), case.positive(1792, scale=1 / (2000 * h**0.5))
norms = {name: case.bf16(128, scale=0.5) for name in ("gamma_q", "beta_q", "gamma_k", "beta_k")}
cos, sin = angles(case.rng.integers(0, 4096, (t, 1)), 32)
x, residual, gamma, beta, scale, offset = map(wide, given.values())
r = x + residual
n = rounded(rms(r, EPS) * gamma + beta)
i8 = np.clip(np.rint((n * scale).astype(np.float32) + offset.astype(np.float32)), -128, 127)  # the sum is of f32
z = rounded((i8 @ w.astype(np.float64) + bias) * back)


def normal(heads, gain, shift):
    v = rounded(rms(heads.reshape(t, -1, 128), EPS) * wide(gain) + wide(shift))
    return np.concatenate([turned(v[..., :64], cos.astype(np.float64), sin.astype(np.float64)), v[..., 64:]], -1)


case.save(**given, **norms, w=w, bias=bias, back=back, cos=cos, sin=sin)
case.save(q=normal(z[:, :1536], norms["gamma_q"], norms["beta_q"]), k=normal(z[:, 1536:1664], norms["gamma_k"], norms["beta_k"]), v=z[:, 1664:], r=r)
