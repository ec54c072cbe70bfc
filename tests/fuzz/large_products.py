"""Random products and attention with more rows than a block has, natively: the bits of one thread, of two and of more than there are
blocks are the same, whose right sides are packed once or by each block; and results are near numpy in float64. Constants have few rows,
too, and one of the runs is one after others, for which they stay packed."""

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../kernels"))
from form import stored, wide

MANY = 64  # threads: each has a block at most
BITS = {"f32": 24, "f16": 11, "bf16": 8}


class Case:
    """Text, inputs by name, what they are, and the exact result."""

    def __init__(self, seed):
        self.random, self.rng = random.Random(seed), np.random.default_rng(seed)
        self.dtype = self.random.choice(["f32", "f16", "bf16", "i8"])
        self.inputs, self.exact, self.terms, self.symbols, self.is_constant = {}, None, 1, {}, False
        if self.random.random() < 0.6:
            self.make_product()
        else:
            self.make_attention()

    def draw(self, name, dims):
        if self.dtype == "i8":
            values = self.rng.integers(-128, 128, dims, dtype=np.int8)
        else:
            values = stored(self.dtype, self.rng.standard_normal(dims))
        self.inputs[name] = values
        return wide(self.dtype, values)

    def make_product(self):
        r = self.random
        self.is_constant = r.random() < 0.5
        sizes = {"M": r.randint(1, 100) if self.is_constant and r.random() < 0.5 else r.randint(100, 1500), "N": r.randint(1, 400), "K": r.randint(1, 600)}
        turns_a, turns_b, batch = r.random() < 0.3, r.random() < 0.4, [r.randint(1, 4)] * (r.random() < 0.4)
        if r.random() < 0.3:
            self.symbols = sizes
        out = "i32" if self.dtype == "i8" else r.choice([self.dtype, "f32"])

        def dims(names):
            return [*(str(b) for b in batch), *(f"${n}" if self.symbols else str(sizes[n]) for n in names)]

        a_names, b_names = "KM" if turns_a else "MK", "NK" if turns_b else "KN"
        a, b = (self.draw(name, [*batch, *(sizes[n] for n in names)]) for name, names in (("a", a_names), ("b", b_names)))
        attributes = f"transpose_a = {str(turns_a).lower()}, transpose_b = {str(turns_b).lower()}, out = {out}"
        types = [f"tensor<{' x '.join(dims(names))} x {dtype}>" for names, dtype in ((a_names, self.dtype), (b_names, self.dtype), ("MN", out))]
        self.text = f"func @f(%a: {types[0]}, {'const ' * self.is_constant}%b: {types[1]}) -> {types[2]} {{\n" \
            f"  %y = tensor.matmul %a, %b {{{attributes}}} : {types[2]}\n  return %y\n}}\n"
        self.exact = (np.swapaxes(a, -1, -2) if turns_a else a).astype(np.float64) @ (np.swapaxes(b, -1, -2) if turns_b else b)
        self.out, self.terms = out, sizes["K"]

    def make_attention(self):
        r = self.random
        self.dtype = "f32" if self.dtype == "i8" else self.dtype
        heads, depth, queries, causal = r.randint(1, 4), r.choice([8, 24, 64, 100]), r.randint(100, 900), r.random() < 0.5
        keys = queries if causal else r.randint(50, 1200)
        q, k, v = (self.draw(name, [1, heads, n, depth]) for name, n in (("q", queries), ("k", keys), ("v", keys)))
        of_q, of_k = (f"tensor<1 x {heads} x {n} x {depth} x {self.dtype}>" for n in (queries, keys))
        self.text = f"func @f(%q: {of_q}, %k: {of_k}, %v: {of_k}) -> {of_q} {{\n" \
            f"  %y = tensor.attention %q, %k, %v {{causal = {str(causal).lower()}}} : {of_q}\n  return %y\n}}\n"
        scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(depth)
        if causal:
            scores = np.where(np.arange(keys) <= np.arange(queries)[:, None], scores, -np.inf)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        self.exact = weights / weights.sum(-1, keepdims=True) @ v
        self.out, self.terms = self.dtype, keys

    def bound(self):
        """Of the difference, relative to the largest result: each term is rounded, and what is stored; scores of attention are of its type."""
        if self.out == "i32":
            return 0.0
        return 4 * 2.0 ** -BITS[self.out if self.out != "f32" else self.dtype if "attention" in self.text else "f32"] + self.terms * 2.0 ** -24


def run(case, tools, folder, threads):
    out = os.path.join(folder, f"y{threads}.npy")
    command = [os.path.join(tools, "pto-run"), os.path.join(folder, "f.ptir"), "--pipeline=native.yaml", f"--threads={threads}", f"--out=y={out}"]
    command += ["--repeat=2"] * (threads == 2) + ["--set=backend.with.constant-bytes=0"] * (threads == MANY)
    command += [f"--in={name}={folder}/{name}.npy" for name in case.inputs] + [f"--sym={name}={value}" for name, value in case.symbols.items()]
    done = subprocess.run(command, capture_output=True, text=True)
    return (None, f"status {done.returncode}: {done.stderr[:500]}") if done.returncode != 0 else (np.load(out), None)


def check(seed, tools, folder):
    """What is wrong, or None."""
    case = Case(seed)
    with open(os.path.join(folder, "f.ptir"), "w") as file:
        file.write(case.text)
    for name, values in case.inputs.items():
        np.save(os.path.join(folder, name + ".npy"), values)
    results = []
    for threads in (1, 2, MANY):
        result, why = run(case, tools, folder, threads)
        if why is not None:
            return why
        results.append(result)
    for threads, result in zip((2, MANY), results[1:]):
        if result.tobytes() != results[0].tobytes():
            return f"{threads} threads have other bits than one"
    got = wide(case.out, results[0]).astype(np.float64)
    apart = np.abs(got - case.exact).max() / max(np.abs(case.exact).max(), 1e-30)
    return None if apart <= case.bound() else f"off by {apart:.2g}, the bound is {case.bound():.2g}\n{case.text}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", required=True, help="the folder of the tools")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--keep", help="a folder for what goes wrong")
    given = parser.parse_args()
    begin, wrong, seed = time.monotonic(), 0, given.seed
    while seed < given.seed + given.count and time.monotonic() - begin < given.seconds:
        with tempfile.TemporaryDirectory() as folder:
            why = check(seed, given.bin, folder)
            if why is not None:
                wrong += 1
                print(f"WRONG seed {seed}: {why}", flush=True)
                if given.keep:
                    os.makedirs(given.keep, exist_ok=True)
                    shutil.copy(os.path.join(folder, "f.ptir"), os.path.join(given.keep, f"{seed}.ptir"))
        seed += 1
    print(f"seeds {given.seed} to {seed - 1}: {seed - given.seed} programs, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
