"""Runs the kernels beside this file on a pipeline and compares with numpy in f64: kernels_of_users.py PIPELINE KERNEL.. Extents are odd, 1 and 0."""
import os
import subprocess
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
RNG = np.random.default_rng(11)
f32, f64 = np.float32, np.float64


def normal(*shape):
    return RNG.normal(size=shape).astype(f32)


def softmax(x):
    if x.size == 0:
        return x
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def weighted_scan(t, c=37):
    """A step of RWKV's time mixing after the other."""
    k, v, w, u = normal(t, c), normal(t, c), np.abs(normal(c)), normal(c)
    a, b, y = np.zeros(c), np.zeros(c), np.zeros((t, c))
    for i in range(t):
        e, q = np.exp(u.astype(f64) + k[i]), np.exp(k[i].astype(f64))
        y[i] = (a + e * v[i]) / (b + e)
        a, b = np.exp(-w.astype(f64)) * a + q * v[i], np.exp(-w.astype(f64)) * b + q
    return dict(k=k, v=v, w=w, u=u), dict(y=y)


def sinkhorn(n):
    c = np.abs(normal(n, n))
    p = np.exp(-c.astype(f64))
    while np.abs(p.sum(1) - 1).max() >= 1e-4:
        p = p / p.sum(1, keepdims=True)
        p = p / p.sum(0, keepdims=True)
    return dict(c=c), dict(p=p)


def cholesky(n):
    a = normal(n, n).astype(f64)
    s = (a @ a.T + n * np.eye(n)).astype(f32)
    return dict(a=s), dict(l=np.linalg.cholesky(s.astype(f64)) if n else s)


def delta_rule(t, d=6, e=5):
    q, k, v, b = normal(t, d), normal(t, d) / 3, normal(t, e), (1 / (1 + np.exp(-normal(t, 1)))).astype(f32)
    s, y = np.zeros((d, e)), np.zeros((t, e))
    for i in range(t):
        column = k[i].astype(f64)[:, None]
        s = s + b[i] * column @ (v[i].astype(f64)[None] - column.T @ s)
        y[i] = q[i].astype(f64) @ s
    return dict(q=q, k=k, v=v, b=b), dict(y=y, s=s)


def nucleus(b, v=17):
    """Of each row the likeliest words that have nine tenths together."""
    x = normal(b, v) * 2
    p = softmax(x.astype(f64))
    i = np.argsort(-x, 1, kind="stable")
    s = np.take_along_axis(p, i, 1)
    s = np.where(np.cumsum(s, 1) - s < 0.9, s, 0)
    y = np.zeros_like(p)
    np.put_along_axis(y, i, s / s.sum(1, keepdims=True), 1)
    return dict(l=x), dict(y=y)


def dispatch(t, experts=4, most=3, d=8):
    """Each row goes to its expert, the first three of them."""
    x, score = normal(t, d), normal(t, experts)
    y, count = np.zeros((experts, most, d)), [0] * experts
    for i in range(t):
        e = int(score[i].argmax())
        if count[e] < most:
            y[e, count[e]] = x[i]
        count[e] += 1
    return dict(x=x, l=score), dict(y=y)


def cache_step(s):
    """The cache is replaced in part, read whole, and its old row is read."""
    at = s // 2
    c, k, q = normal(s, 2, 8), normal(1, 2, 8), normal(2, 1, 8)
    new = c.copy()
    new[at] = k[0]
    keys = new.astype(f64).transpose(1, 0, 2)
    y = softmax(q.astype(f64) @ keys.swapaxes(1, 2) / np.sqrt(8)) @ keys
    return dict(c=c, k=k, q=q, at=np.array([at], np.int32)), dict(c=new, y=y, old=c[at:at + 1])


def histogram(n):
    i = RNG.integers(0, 8, n).astype(np.int32)
    return dict(i=i), dict(h=np.bincount(i, minlength=8))


SIZES = {weighted_scan: (13, 0), sinkhorn: (5, 1), cholesky: (7, 0), delta_rule: (9, 0), nucleus: (3, 0), dispatch: (23, 1, 0),
         cache_step: (9, 1), histogram: (23, 0)}


def check(pipeline, kernel, size):
    inputs, wanted = kernel(size)
    command = ["pto-run", os.path.join(HERE, kernel.__name__ + ".ptir"), f"--pipeline={pipeline}"]
    for name, x in inputs.items():
        np.save(f"{name}.npy", x)
        command += ["--in", f"{name}={name}.npy"]
    for name, y in wanted.items():
        np.save(f"wanted-{name}.npy", np.asarray(y).astype(np.int32 if kernel is histogram else f32))
        command += ["--expect", f"{name}=wanted-{name}.npy"]
    ran = subprocess.run([*command, "--rtol=1e-4", "--atol=1e-5"], capture_output=True, text=True)
    if ran.returncode:
        print(f"{kernel.__name__} of {size} on {pipeline}: status {ran.returncode}\n{ran.stdout}{ran.stderr}")
    return ran.returncode


sys.exit(max(check(sys.argv[1], k, n) for k, sizes in SIZES.items() if not sys.argv[2:] or k.__name__ in sys.argv[2:] for n in sizes) != 0)
