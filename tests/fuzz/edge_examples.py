"""The example of each op of the table in each of its element types, on the values where numbers go wrong: NaN, infinities, zeros of both
signs, denormals, the largest and lowest values. Compiled for a machine by a pipeline, it computes what the reference does, whose results
tests/kernels compares with numpy's.

    edge_examples.py [--bin DIR] [--pipeline NAME] [--machine NAME] [--only PATTERN] [--share N] [--seed N] [--draws N] [--seconds N]
                     [--keep DIR]

A pair that passes of types refuse for the machine is counted; docs/reference/op-types.md lists them. Ends with 1 when something is wrong."""
import argparse
import collections
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np

sys.dont_write_bytecode = True  # the tree may be read-only, and stays as it is
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
sys.path[:0] = [os.path.join(ROOT, "tests", "kernels"), os.path.join(ROOT, "docs")]
import elements  # noqa: E402
import op_types  # noqa: E402
import single_ops  # noqa: E402

DIVISIONS = ("div", "mod", "fmod", "floordiv", "remainder")  # of integers by 0 is an error


def edges(t, has_zero):
    """Bits of the values at which something changes, of small floats all."""
    if t == "bool":
        return np.array([0, 1], np.uint8)
    if elements.is_float(t) and elements.size(t) == 1:
        return np.arange(256, dtype=np.uint8)
    bits = single_ops.edges(t)
    return bits if has_zero else bits[bits != 0]


def parameters(example):
    return re.findall(r"%(\w+): tensor<((?:[^<>]* x )?)(\w+)>", example.split("; ", 1)[0])


def edge_array(op, t, shape, rng):
    """As pto-run reads it."""
    bits = np.asarray(rng.choice(edges(t, elements.is_float(t) or op not in DIVISIONS), shape))
    return bits if elements.is_float(t) and elements.size(t) == 1 else single_ops.given(t, bits)


def put_inputs(folder, op, example, rng):
    """Writes edges for each tensor; arguments that name them."""
    given = [(name, t, tuple(int(d.replace("$N", "5")) for d in dims.split(" x ") if d)) for name, dims, t in parameters(example) if t != "index"]
    np.savez(os.path.join(folder, "in.npz"), **{name: edge_array(op, t, shape, rng) for name, t, shape in given})
    return [f"--in={name}=in.npz:{name}" for name, _, _ in given]


class Tools:
    def __init__(self, a, folder):
        self.bin, self.folder = a.bin and os.path.abspath(a.bin), folder
        self.pipeline = [f"--pipeline={a.pipeline}.yaml", *([f"--machine={a.machine}"] if a.machine else [])]

    def run(self, tool, *arguments):
        return subprocess.run([os.path.join(self.bin, tool), *arguments], capture_output=True, text=True, timeout=300, cwd=self.folder)

    def pairs(self):
        """[(op, type, example)] of the table."""
        rows = [o for o in json.loads(self.run("pto-inspect", "ops", "--format=json").stdout) if o["name"].startswith("tensor.")]
        return [(o["name"][7:], t, o["example"]) for o in rows if o["name"][7:] not in op_types.MADE_BY_PASSES
                for t in o.get("element types", "").split(", ") if t and t != "index"]

    def compare(self, op, t, example, rng):
        """What is wrong, None when nothing is, or "refused"."""
        example = op_types.in_type(op, example, t)
        text = op_types.module(op, example)
        with open(os.path.join(self.folder, "f.ptir"), "w", encoding="utf-8") as f:
            f.write(text)
        given = put_inputs(self.folder, op, example, rng)
        done = self.run("pto-run", "f.ptir", *self.pipeline, *given, "--random-inputs=1", *(["--sym=N=5"] if "$N" in text else []), "--compare=reference.yaml")
        if done.returncode == 5 and "error: [pto.legalize-types/" in done.stderr:
            return "refused"
        return f"status {done.returncode}\n{text}{done.stderr[:600]}{done.stdout[-700:]}" if done.returncode else None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", default="", help="folder of the tools")
    parser.add_argument("--pipeline", default="default")
    parser.add_argument("--machine", default="")
    parser.add_argument("--only", default="", help="pairs `op type` that this pattern finds")
    parser.add_argument("--share", type=int, default=1, help="every N-th pair alone")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--draws", type=int, default=1, help="of values for each pair")
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--keep", default="", help="folder for what is wrong")
    a = parser.parse_args()
    found, end = collections.Counter(), time.monotonic() + a.seconds
    with tempfile.TemporaryDirectory() as folder:
        tools = Tools(a, folder)
        pairs = [(n, *pair) for n, pair in enumerate(tools.pairs()) if n % a.share == 0 and re.search(a.only, f"{pair[0]} {pair[1]}")]
        for draw in range(a.draws):
            for n, op, t, example in pairs:
                if time.monotonic() > end:
                    break
                what = tools.compare(op, t, example, np.random.default_rng([a.seed, n, draw]))
                found["runs"] += 1
                found["refused"] += what == "refused"
                if what not in (None, "refused"):
                    found["wrong"] += 1
                    print(f"WRONG {op} {t}, --seed {a.seed}, draw {draw}: {what}", flush=True)
                    if a.keep:
                        shutil.copytree(folder, os.path.join(a.keep, f"{op}-{t}-{draw}"), dirs_exist_ok=True)
    print(f"{found['runs']} runs, {found['refused']} refused, {found['wrong']} wrong")
    return found["wrong"] != 0 or not found["runs"]


if __name__ == "__main__":
    sys.exit(main())
