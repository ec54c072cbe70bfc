"""No step of a shipped pipeline is blamed by --check=semantics: single ops of 65,536 elements and random programs.

    semantics_blames.py [--bin DIR] [--ops N] [--programs N] [--seed N] [--seconds N] [--jobs N] [--keep DIR] [--undecided]

Run N of the single ops (of the random programs) follows from seed + N alone. Ends with 1 and the module when a step is named, and counts
what does not compile for another reason."""

import argparse
import concurrent.futures
import os
import random
import re
import subprocess
import sys
import tempfile
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
sys.path.insert(0, os.path.join(ROOT, "tests", "fuzz"))
sys.dont_write_bytecode = True
import forms  # noqa: E402
import random_programs  # noqa: E402
import semantics_ops  # noqa: E402

ELEMENTS = 65536
FLOATS, INTS = ("f32", "f16", "bf16"), ("i32", "i16", "i8", "u8", "u16", "u32")
UNARY = ("neg", "abs", "sqrt", "rsqrt", "reciprocal", "exp", "log", "tanh", "sigmoid", "silu", "relu", "gelu")
BINARY = ("add", "sub", "mul", "div", "maximum", "minimum")


def shape_of(r):
    """Dims whose product is ELEMENTS, or near it and odd."""
    columns = r.choice((1, 8, 64, 100, 256, 333, 1024, 4096, 65536, r.randrange(1, 3000)))
    rows = max(1, ELEMENTS // columns)
    return r.choice(([rows, columns], [rows * columns], [max(1, rows // 4), min(4, rows), columns]))


def type_of(dims, dtype):
    return "tensor<" + " x ".join([*map(str, dims), dtype]) + ">"


def single_op(r):
    dims = shape_of(r)
    rank = len(dims)
    if r.random() < 0.6:
        return semantics_ops.single_op(r, dims)
    dtype = r.choice(FLOATS if r.random() < 0.75 else INTS)
    is_float = dtype in FLOATS
    x = type_of(dims, dtype)
    kind = r.choice(("unary", "unary", "binary", "binary", "reduce", "reduce", "cast", "shape", "matmul", "composite"))
    inputs, result, attrs, op = [x], x, "", ""
    if kind == "unary":
        op = r.choice(UNARY if is_float else ("neg", "abs", "relu"))
        attrs = r.choice((' {approx = "sigmoid"}', "")) if op == "gelu" else ""
    elif kind == "binary":
        op = r.choice(BINARY if is_float else tuple(b for b in BINARY if b != "div"))
        other = dims if r.random() < 0.5 else [d if r.random() < 0.5 else 1 for d in dims]
        inputs = [x, type_of(other, dtype)]
        if op in ("maximum", "minimum"):
            attrs = f' {{nan = "{r.choice(("propagate", "ignore", "any"))}"}}'
    elif kind == "reduce":
        op = r.choice(("reduce_sum", "reduce_sum", "reduce_max", "reduce_min", *(("reduce_mean",) if is_float else ())))
        axes = sorted(r.sample(range(rank), r.randrange(1, rank + 1)))
        result = type_of([1 if i in axes else d for i, d in enumerate(dims)], dtype)
        attrs = f" {{axis = {axes}}}"
    elif kind == "cast":
        op, to = "cast", r.choice([t for t in FLOATS + INTS if t != dtype])
        result = type_of(dims, to)
        attrs = f' {{mode = "{r.choice(("rint", "floor", "ceil", "trunc"))}", saturate = {r.choice(("true", "false"))}}}'
    elif kind == "shape":
        op = r.choice(("transpose", "reshape", "broadcast"))
        perm = r.sample(range(rank), rank)
        result = {"transpose": type_of([dims[p] for p in perm], dtype), "reshape": type_of([forms.np.prod(dims)], dtype),
                  "broadcast": type_of([3, *dims], dtype)}[op]
        attrs = f" {{perm = {perm}}}" if op == "transpose" else ""
    elif kind == "matmul":
        dtype = r.choice(FLOATS)
        m, n = r.choice(((256, 256), (64, 100), (37, 512), (1, 300), (300, 1)))
        k = r.choice((64, 256, 300, 1000))
        op, inputs, result = "matmul", [type_of([m, k], dtype), type_of([k, n], dtype)], type_of([m, n], "f32")
        attrs = " {out = f32}"
    else:
        dtype = r.choice(FLOATS)
        x = type_of(dims, dtype)
        op = r.choice(("softmax", "rms_norm"))
        inputs, result = ([x], x) if op == "softmax" else ([x, type_of(dims[-1:], dtype)], x)
        attrs = f" {{axis = {r.randrange(rank)}}}" if op == "softmax" else ""
    names = ["%a", "%b"][: len(inputs)]
    parameters = ", ".join(f"{n}: {t}" for n, t in zip(names, inputs))
    return f"func @f({parameters}) -> {result} {{\n  %y = tensor.{op} {', '.join(names)}{attrs} : {result}\n  return %y\n}}\n"


def random_program(r, seed):
    form = random_programs.RandomForm(seed).form(seed)
    return form.module(form.sizes[0], r.random() < 0.15)


class Driver:
    def __init__(self, a, folder):
        self.a, self.folder = a, folder
        self.pto_opt = os.path.join(a.bin, "pto-opt") if a.bin else "pto-opt"
        self.end = time.monotonic() + a.seconds if a.seconds else None

    def run(self, job):
        """(what, seed, "ok" | "blamed" | "other" | "left", text)"""
        what, seed = job
        if self.end and time.monotonic() > self.end:
            return what, seed, "left", ""
        r = random.Random(f"{what} {seed}")
        text = single_op(r) if what == "ops" else random_program(r, seed)
        path = os.path.join(self.folder, f"{what}-{seed}.ptir")
        with open(path, "w") as f:
            f.write(text)
        command = [self.pto_opt, path, forms.pipeline("default"), "--check=semantics", f"--random-inputs={seed + 1}", "-o", os.devnull]
        p = subprocess.run(command, capture_output=True, text=True)
        if p.returncode == 0:
            os.remove(path)
            open_count = re.search(r"undecided: (\d+)", p.stderr)
            return what, seed, "ok", open_count[1] if open_count else "0"
        named = re.search(r"\[E190[12]\]", p.stderr)
        return what, seed, "blamed" if named else "other", f"{what} {seed}: status {p.returncode}\n{p.stderr[:1500]}\n{text}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", default="", help="folder of the programs")
    parser.add_argument("--ops", type=int, default=2000)
    parser.add_argument("--programs", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=0, help="start no run after that")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--undecided", action="store_true", help="also name runs in which any number is allowed somewhere")
    parser.add_argument("--keep", default="", help="folder for modules that are not right")
    a = parser.parse_args()
    if a.keep:
        os.makedirs(a.keep, exist_ok=True)
    driver = Driver(a, a.keep or tempfile.mkdtemp())
    jobs = ((w, a.seed + i) for i in range(max(a.ops, a.programs)) for w, n in (("ops", a.ops), ("programs", a.programs)) if i < n)
    counts, undecided, failed = {}, 0, 0
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        for what, seed, verdict, text in pool.map(driver.run, jobs):
            counts[what, verdict] = counts.get((what, verdict), 0) + 1
            if verdict == "ok":
                undecided += int(text)
                if a.undecided and text != "0":
                    print(f"undecided: {text} elements, {what} {seed}", flush=True)
            elif verdict != "left":
                failed += verdict == "blamed"
                print(f"{verdict.upper()} {text}", flush=True)
    for what in ("ops", "programs"):
        print(f"{what}: " + ", ".join(f"{counts.get((what, v), 0)} {v}" for v in ("ok", "blamed", "other", "left")))
    print(f"undecided: {undecided} elements")
    return failed != 0 or not any(v == "ok" for _, v in counts)


if __name__ == "__main__":
    sys.exit(main())
