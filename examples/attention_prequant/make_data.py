"""Inputs and reference of what precedes attention: n = bf16(rms(x + residual) gamma + beta), i8 = rint(n scale + offset), z = bf16((i8 w + bias) back); heads of z for q and k are normalised and turned."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from case_data import Case, angles, bf16_out_magnitude, doubt, rms, rms_error, rounded, sum_error, turned, turned_step, wide  # noqa: E402

EPS = 1e-5
case = Case(seed=19)
t, h = case["T"], case["H"]
given = {"x": case.bf16(t, h), "residual": case.bf16(t, h), "gamma": case.bf16(h), "beta": case.bf16(h, scale=0.1), "scale": case.bf16(h, scale=30), "offset": case.bf16(h, scale=5)}
w, bias, back = case.i8(h, 1792), case.rng.integers(-5000, 5000, 1792).astype(np.int32), case.positive(1792, scale=1 / (2000 * h**0.5))
norms = {name: case.bf16(128, scale=0.5) for name in ("gamma_q", "beta_q", "gamma_k", "beta_k")}
cos, sin = angles(case.rng.integers(0, 4096, (t, 1)), 32)
residual, gamma, beta, scale, offset = (wide(given[name]) for name in ("residual", "gamma", "beta", "scale", "offset"))


def integers(moved):
    n = rounded(moved)
    return np.clip(np.rint((n * scale).astype(np.float32) + offset.astype(np.float32)), -128, 127)  # the sum is of f32


def doubtful(scaled):
    """Rows in which an integer depends on the order of the sum of squares. It is off by rule f32-reduce, the root by half of that; other steps are off by 2^-22."""
    error = sum_error(np.abs(scaled), h) / 2 + 2.0**-22 * (np.abs(scaled) + np.abs(beta))
    return np.any(integers(scaled + beta + error) != integers(scaled + beta - error), axis=1)


# One step of an integer moves all that is made of its row, by more than bf16 rounds: doubtful rows are drawn again.
again = np.ones(t, bool)
while again.any():
    given["x"][again] = case.bf16(again.sum(), h)
    r = wide(given["x"]) + residual
    scaled = rms(r, EPS) * gamma
    again = doubtful(scaled)
i8 = integers(scaled + beta)
exact = (i8 @ w.astype(np.float64) + bias) * back
z, z_doubt = rounded(exact), doubt(exact, 2.0**-22 * np.abs(exact))
c, s = cos.astype(np.float64), sin.astype(np.float64)


def normal(part, gain, shift):
    """Heads normalised and turned, with the bounds of where z and the norm may be rounded to either of two neighbours."""
    scaled, error = rms_error(z[:, part].reshape(t, -1, 128), z_doubt[:, part].reshape(t, -1, 128), wide(gain), EPS)
    moved = scaled + wide(shift)
    v, v_doubt = rounded(moved), doubt(moved, error + 2.0**-22 * (np.abs(scaled) + np.abs(wide(shift))))
    y = np.concatenate([turned(v[..., :64], c, s), v[..., 64:]], -1)
    return y, bf16_out_magnitude(y, np.concatenate([turned_step(v_doubt[..., :64], c, s), v_doubt[..., 64:]], -1))


q, q_magnitude = normal(slice(0, 1536), norms["gamma_q"], norms["beta_q"])
k, k_magnitude = normal(slice(1536, 1664), norms["gamma_k"], norms["beta_k"])
case.save(**given, **norms, w=w, bias=bias, back=back, cos=cos, sin=sin)
case.save(q=q, q_magnitude=q_magnitude, k=k, k_magnitude=k_magnitude, v=z[:, 1664:], r=r)
