"""Runs columns.ptir as machines with `dense-lines` compute it, against numpy: all results are exact."""
import os
import subprocess

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
rng = np.random.default_rng(9)


def floats(*shape):
    return rng.integers(-64, 64, shape).astype(np.float32) / 4


def in_a_loop(x):
    x = x.copy()
    for i in range(5):
        x[:, i + 1] += x[:, i]
    return x


# Of each function what makes its inputs for n rows, and its outputs.
ROWS = {
    "scaled_rows": (lambda n: (floats(n, 8), floats(n, 64)), lambda x, y: {"r": y * np.abs(x[:, 3:4])}),
    "two_columns": (lambda n: (floats(2, n, 4),), lambda x: {"r": x[..., 1:2] * x[..., 2:3] - x[..., 1:2]}),
    "interleaved": (lambda n: (floats(n, 1), floats(n, 1)), lambda a, b: {"r": np.concatenate([a + b, a - b], 1)}),
    "wide": (
        lambda n: (rng.integers(-(2**23), 2**23, (n, 2)), rng.integers(-(2**62), 2**62, (n, 5))),
        lambda x, y: {"f": x[:, 1:].astype(np.float32), "r": y + x[:, 1:]},
    ),
    "bytes": (
        lambda n: (rng.integers(-128, 128, (n, 3), np.int8), rng.integers(0, 2, (n, 3)).astype(bool), floats(n, 40)),
        lambda x, m, y: {"r": y * np.where(m[:, 2:], x[:, 1:2].astype(np.float32), np.float32(1))},
    ),
    "in_a_loop": (lambda n: (floats(n, 6),), lambda x: {"r": in_a_loop(x)}),
    "padded": (lambda n: (floats(n, 7),), lambda x: {"r": np.pad(x, 1, constant_values=2.5)}),
    "statistics": (lambda n: (floats(n, 33),), lambda x: {"r": np.stack([x.max(1), x.min(1)], 1)}),
    "compared": (lambda n: (rng.integers(-9, 9, (n, 4), np.int32),), lambda x: {"c": x[:, 1:2] < x, "b": ~x[:, 1:2]}),
}
NAMES = {"interleaved": ("a", "b"), "bytes": ("x", "m", "y")}


def run(function, machine, inputs, outputs):
    names = NAMES.get(function, ("x", "y"))
    np.savez("in.npz", **dict(zip(names, inputs)))
    command = ["pto-run", os.path.join(HERE, "columns.ptir"), f"--entry={function}", f"--machine={machine}.yaml"]
    command += ["--set=backend.with.semantics=chip"]
    command += [f"--in={n}=in.npz:{n}" for n in names[: len(inputs)]] + [f"--out={n}=out.npz:{n}" for n in outputs]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    with np.load("out.npz") as out:
        for name, want in outputs.items():
            got = out[name].astype(want.dtype)
            assert np.array_equal(got, want), f"{function} on {machine}, {len(inputs[0])} rows: %{name} is not what numpy has"


for function, (make, expect) in ROWS.items():
    for rows in (1, 7, 100, 1500):
        inputs = make(rows)
        for machine in ("ascend-910b", "ascend-950"):
            run(function, machine, inputs, expect(*inputs))
print(f"{len(ROWS)} functions")
