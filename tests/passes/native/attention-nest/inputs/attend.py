"""Attention in all forms of the nest against numpy.

attend.py PIPELINE [PROGRAM ..]

Each of the programs below, or those that are named, runs at each of its sizes through PIPELINE, and must be what numpy
computes. Those that are named run at their last size with 2 and 7 threads too: all give the same bits. Says how many
runs there were."""

import os
import subprocess
import sys

import numpy as np

ROOT = os.environ["TEST_ROOT"]
sys.path[:0] = [os.path.join(ROOT, "tests", "kernels"), os.path.join(ROOT, "examples")]
sys.dont_write_bytecode = True
import composite_ops  # noqa: E402
from case_data import bf16_from_f32, f32_from_bf16  # noqa: E402

NEAR = {"f32": 2e-5, "f16": 2e-3, "bf16": 1.6e-2}
SIZES = [(0, 3), (3, 0), (1, 1), (1, 67), (13, 5), (5, 13), (67, 131), (64, 64), (65, 300)]
FEW = [(7, 19), (130, 70)]
# Name; type; batches, heads of q and of k, elements, values; dims of the mask and its type; attributes; settings; sizes
# of queries and keys: of symbols, or in the text where they are a list of one.
PROGRAMS = [
    ("full", "f32", (2, 3, 3, 16, 24), None, "", "", SIZES),
    ("causal", "f32", (1, 2, 2, 16, 16), None, "{causal = true}", "keys=16 rows=32", SIZES),
    ("shared", "f32", (2, 6, 2, 8, 8), None, "{scale = 0.3}", "keys=32", FEW),
    ("shared-causal", "f32", (2, 6, 2, 8, 8), ("1 x 1 x $T", "bool"), "{causal = true}", "keys=48 rows=16 few=0", FEW),
    ("padding", "f32", (2, 4, 2, 7, 3), ("2 x 1 x 1 x $T", "bool"), "", "keys=16", FEW + [(1, 40)]),
    ("bias", "f32", (2, 2, 1, 33, 5), ("2 x $S x $T", "f32"), "", "keys=32 few=0", FEW),
    ("hidden", "f32", (1, 2, 2, 16, 16), ("$S x $T", "bool"), "{causal = true}", "keys=8", FEW),
    ("half", "f16", (1, 2, 1, 16, 24), ("$S x $T", "f16"), "{causal = true}", "keys=32 few=0", FEW),
    ("narrow", "bf16", (2, 4, 2, 64, 32), None, "{causal = true}", "keys=48 rows=16 few=0", [(5, 13), (67, 131), (1, 70)]),
    ("whole", "f32", (1, 2, 2, 16, 16), ("2 x $S x $T", "f32"), "{causal = true}", "", [(70, 97)]),
    ("whole-half", "f16", (1, 4, 2, 16, 16), None, "", "", [(33, 101)]),
    ("whole-narrow", "bf16", (1, 2, 1, 16, 16), ("$S x $T", "bool"), "", "rows=24", [(37, 70)]),
    ("few-or-many", "bf16", (2, 4, 2, 16, 16), None, "{causal = true}", "few=13", [(1, 70), (13, 19), (14, 20), (0, 3)]),
    ("over", "f32", (1, 2, 2, 16, 16), ("$S x $T", "bool"), "{causal = true}", "keys=8 by=reciprocal", FEW + [(13, 5), (3, 0)]),
    ("narrow-over", "bf16", (1, 2, 1, 16, 8), None, "{causal = true}", "keys=16 rows=8 few=0 by=reciprocal", [(13, 5), (67, 131)]),
    ("whole-over", "bf16", (1, 2, 1, 16, 16), ("$S x $T", "bool"), "", "rows=24 by=reciprocal", [(37, 70)]),
    ("one-query", "f32", (2, 8, 2, 64, 64), None, "{causal = true}", "", [(1, 300)]),
]


def stored(dtype, x):
    return bf16_from_f32(x) if dtype == "bf16" else x.astype({"f32": np.float32, "f16": np.float16, "bool": np.bool_}[dtype])


def wide(dtype, x):
    return x if dtype == "bool" else (f32_from_bf16(x) if dtype == "bf16" else x).astype(np.float64)


def program(name, dtype, shape, mask, words, known):
    b, h, shared, d, e = shape
    s, t = known or ("$S", "$T")
    text = lambda *dims, of=dtype: f"tensor<{' x '.join(str(n) for n in dims)} x {of}>"  # noqa: E731
    parameters = [f"%q: {text(b, h, s, d)}", f"%k: {text(b, shared, t, d)}", f"%v: {text(b, shared, t, e)}"]
    if mask:
        parameters.append(f"%m: {text(mask[0].replace('$S', str(s)).replace('$T', str(t)), of=mask[1])}")
    y = text(b, h, s, e)
    with open(f"{name}.ptir", "w") as f:
        f.write(f"func @f({', '.join(parameters)}) -> {y} {{\n  %y = tensor.attention %q, %k, %v{', %m' if mask else ''} {words} : {y}\n  return %y\n}}\n")


def draw(random, dtype, shape, mask, size):
    b, h, shared, d, e = shape
    s, t = size
    dims = {"q": (b, h, s, d), "k": (b, shared, t, d), "v": (b, shared, t, e)}
    data = {n: stored(dtype, random.standard_normal(x)) for n, x in dims.items()}
    if mask:
        form = [int(n) if n.isdigit() else {"$S": s, "$T": t}[n] for n in mask[0].split(" x ")]
        data["m"] = stored(mask[1], random.random(form) < 0.6 if mask[1] == "bool" else random.standard_normal(form))
        if mask[1] != "bool":
            data["m"][random.random(form) < 0.2] = -np.inf
    return data


def run(name, pipeline, data, options, threads):
    command = ["pto-run", f"{name}.ptir", "--quiet", f"--pipeline={pipeline}", *options]
    for n, x in data.items():
        np.save(f"{n}.npy", x)
        command.append(f"--in={n}={n}.npy")
    made = []
    for count in threads or [0]:
        settings = [f"--set=backend.with.threads={count}"] if count else []
        done = subprocess.run([*command, *settings, f"--out=y=y{count}.npy"], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{name}: exit {done.returncode}: {' '.join(command)}\n{done.stdout}{done.stderr}")
        made.append(np.load(f"y{count}.npy"))
    if any(m.tobytes() != made[0].tobytes() for m in made):
        sys.exit(f"{name}: other bits with other numbers of threads of {threads}")
    return made[0]


def main():
    pipeline, names, runs = sys.argv[1], sys.argv[2:], 0
    random = np.random.default_rng(11)
    share = int(os.environ["TEST_SHARE"])
    for number, (name, dtype, shape, mask, words, settings, sizes) in enumerate(PROGRAMS):
        if number % share or (names and name not in names):
            continue
        known = sizes[0] if len(sizes) == 1 else None
        program(name, dtype, shape, mask, words, known)
        options = [f"--set=attention-nest.with.{s}" for s in settings.split()]
        for size in sizes:
            data = draw(random, dtype, shape, mask, size)
            symbols = [] if known else [f"--sym={n}={x}" for n, x in zip("ST", size)]
            threads = [1, 2, 7] if names and size == sizes[-1] else []
            got = wide(dtype, run(name, pipeline, data, [*options, *symbols], threads))
            of = {n: wide(mask[1] if n == "m" else dtype, x) for n, x in data.items()}
            scale = 0.3 if "scale" in words else None
            with np.errstate(all="ignore"):
                want = composite_ops.attend(of["q"], of["k"], of["v"], of.get("m"), "causal" in words, scale, dtype)
            if not np.allclose(got, want, NEAR[dtype], NEAR[dtype], equal_nan=True):
                sys.exit(f"{name} {size}: is\n{got}\nnot\n{want}")
            runs += 1
    print(f"{runs} runs")


main()
