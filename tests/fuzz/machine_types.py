"""Machines that lack one element type somewhere, against small kernels.

    machine_types.py [--bin DIR] [--machine FILE] [--count N] [--seed N] [--seconds N] [--keep DIR]

From each vector instruction of a machine file, from its conversions and from its vector unit one element type after the other is
taken away, and bf16 is added. A kernel then runs and computes what the reference pipeline computes, or it is refused at its own line with
status 5: no pass is blamed. --count takes that many pairs of machine and kernel at random, which follow from the seed alone; 0: all.
--seconds ends earlier.
Ends with 1 and what went wrong."""

import argparse
import os
import random
import re
import subprocess
import sys
import tempfile
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def function(operands, result, line):
    return f"func @f({', '.join(f'%{n}: {t}' for n, t in operands)}) -> {result} {{\n  %y = tensor.{line} : {result}\n  return %y\n}}\n"


def kernels():
    def wide(d, shape="$B x 40"):
        return f"tensor<{shape} x {d}>"

    out = {}
    for d in "f32", "f16", "bf16":
        t = wide(d)
        for op in "sigmoid silu gelu tanh relu exp abs sqrt rsqrt reciprocal softmax".split():
            out[f"{op}-{d}"] = function([("x", t)], t, f"{op} %x")
        for op in "maximum div sub".split():
            out[f"{op}-{d}"] = function([("x", t), ("z", t)], t, f"{op} %x, %z")
            out[f"{op}-by-row-{d}"] = function([("x", t), ("z", wide(d, "$B x 1"))], t, f"{op} %x, %z")
            out[f"{op}-by-column-{d}"] = function([("x", t), ("z", wide(d, "40"))], t, f"{op} %x, %z")
        out[f"rms-norm-{d}"] = function([("x", t), ("g", wide(d, "40"))], t, "rms_norm %x, %g")
        for op in "reduce_max reduce_sum reduce_mean".split():
            out[f"{op}-rows-{d}"] = function([("x", t)], wide(d, "1 x 40"), f"{op} %x {{axis = 0}}")
            out[f"{op}-columns-{d}"] = function([("x", t)], wide(d, "$B x 1"), f"{op} %x {{axis = 1}}")
        out[f"transpose-{d}"] = function([("x", t)], wide(d, "40 x $B"), "transpose %x {perm = [1, 0]}")
        out[f"broadcast-{d}"] = function([("x", wide(d, "$B x 1"))], t, "broadcast %x")
        out[f"constant-{d}"] = function([], wide(d, "33 x 40"), "constant {value = 2.5}")
        for op in "sin erf log1p floor sign".split():
            out[f"{op}-{d}"] = function([("x", t)], t, f"{op} %x")
        for op in "mod floordiv pow atan2".split():
            out[f"{op}-{d}"] = function([("x", t), ("z", wide(d, "40"))], t, f"{op} %x, %z")
        out[f"lt-{d}"] = function([("x", t), ("z", wide(d, "$B x 1"))], wide("bool"), "lt %x, %z")
        out[f"where-{d}"] = function([("c", wide("bool", "40")), ("x", t), ("z", t)], t, "where %c, %x, %z")
        out[f"clip-{d}"] = function([("x", t), ("l", wide(d, "40")), ("h", wide(d, "40"))], t, "clip %x, %l, %h")
    for d in "f32 f16 bf16 i64 i32 i16 i8 u8 bool".split():
        out[f"view-{d}"] = function([("x", wide(d))], wide(d, "$B x 7"), "view %x[0, 3] {strides = [1, 5]}")
        out[f"pad-{d}"] = function([("x", wide(d))], wide(d, "$B + 3 x 42"), f"pad %x low(1, 2) high(2, 0) {{value = {2.5 if d in ('f32', 'f16', 'bf16') else 1}}}")
        out[f"assemble-{d}"] = function([("x", wide(d)), ("z", wide(d, "$B x 3"))], wide(d), "assemble %z, %x[0, 5]")
    out["any"] = function([("x", wide("bool"))], wide("bool", "$B x 1"), "any %x {axis = 1}")
    out["logical_and"] = function([("x", wide("bool")), ("z", wide("bool", "$B x 1"))], wide("bool"), "logical_and %x, %z")
    for d in "i32", "i16", "i8", "u8":
        t = wide(d)
        out[f"lt-{d}"] = function([("x", t), ("z", t)], wide("bool"), "lt %x, %z")
        for op in "bitwise_xor shl mod".split():
            out[f"{op}-{d}"] = function([("x", t), ("z", t)], t, f"{op} %x, %z")
        for op in "add maximum mul".split():
            out[f"{op}-{d}"] = function([("x", t), ("z", t)], t, f"{op} %x, %z")
        out[f"add-by-row-{d}"] = function([("x", t), ("z", wide(d, "$B x 1"))], t, "add %x, %z")
        out[f"broadcast-{d}"] = function([("x", wide(d, "$B x 1"))], t, "broadcast %x")
        for op in "relu", "abs":
            out[f"{op}-{d}"] = function([("x", t)], t, f"{op} %x")
        out[f"reduce_max-rows-{d}"] = function([("x", t)], wide(d, "1 x 40"), "reduce_max %x {axis = 0}")
        out[f"cast-{d}"] = function([("x", wide("f32"))], t, "cast %x {saturate = true}")
    return out


def without(items):
    return [(d, [x for x in items if x != d]) for d in items if len(items) > 1]


def machines(text):
    """Name to text; what is taken away is in the name."""
    lines = text.split("\n")
    unit = next(i for i, line in enumerate(lines) if re.match(r"  dtypes: \[", line))
    of_unit = re.search(r"\[(.*?)\]", lines[unit])[1].split(", ")
    out = {"as-it-is": text}

    def put(name, i, line):
        out[name] = "\n".join(lines[:i] + [line] + lines[i + 1:])

    put("vector+bf16", unit, f"  dtypes: [{', '.join(of_unit + ['bf16'])}]")
    for d, rest in without(of_unit):
        put(f"vector-{d}", unit, f"  dtypes: [{', '.join(rest)}]")
    begin = lines.index("instructions:")
    for i, line in enumerate(lines):
        row = re.match(r"  ([a-z]+): \{(.*?)\}", line)
        if i > begin and row and row[1] != "default" and "head" in row[2]:
            own = re.search(r", dtypes: \[(.*?)\]", row[2])
            rest_of_row = row[2].replace(own[0], "") if own else row[2]
            for d, rest in without(own[1].split(", ") if own else of_unit):
                put(f"{row[1]}-{d}", i, f"  {row[1]}: {{{rest_of_row.rstrip()}, dtypes: [{', '.join(rest)}] }}")
        row = re.match(r"    ([a-z0-9]+): \[(.*?)\]", line)
        if row:
            for d, rest in without(row[2].split(", ")):
                put(f"{row[1]}-to-{d}", i, f"    {row[1]}: [{', '.join(rest)}]")
    return out


def problem(bin_dir, machine, name, text):
    """What went wrong, None: nothing; and whether the kernel was refused."""
    symbols = ["--sym", "B=35"] if "$B" in text else []
    r = subprocess.run([os.path.join(bin_dir, "pto-run"), f"{name}.ptir", f"--machine=./{machine}.yaml", "--random-inputs=3",
                        "--compare=reference.yaml", *symbols], capture_output=True, text=True)
    differs = [line for line in r.stdout.split("\n") if "DIFFERS" in line]
    if r.returncode == 0 and not differs:
        return None, False
    if r.returncode == 5 and r.stderr.startswith(f"{name}.ptir:2:"):
        return None, True
    return f"{machine}, {name}: status {r.returncode}\n{text}{chr(10).join(differs)}\n{r.stderr}", False


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--bin", default="")
    p.add_argument("--machine", default=os.path.join(ROOT, "pipelines", "machines", "ascend-910b.yaml"))
    p.add_argument("--count", type=int, default=0)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--seconds", type=float, default=0)
    p.add_argument("--keep", default="")
    a = p.parse_args()
    bin_dir = os.path.abspath(a.bin) if a.bin else ""
    with open(a.machine) as f:
        some_machines, some_kernels = machines(f.read()), kernels()
    pairs = [(m, k) for m in some_machines for k in some_kernels]
    if a.count:
        pairs = random.Random(a.seed).sample(pairs, min(a.count, len(pairs)))
    folder = a.keep or tempfile.mkdtemp()
    os.makedirs(folder, exist_ok=True)
    os.chdir(folder)
    for names, ending in (some_machines, "yaml"), (some_kernels, "ptir"):
        for name, text in names.items():
            with open(f"{name}.{ending}", "w") as f:
                f.write(text)
    tried = wrong = refused = 0
    end = time.monotonic() + a.seconds if a.seconds else float("inf")
    for m, k in pairs:
        if time.monotonic() > end:
            break
        tried += 1
        what, is_refused = problem(bin_dir, m, k, some_kernels[k])
        refused += is_refused
        wrong += what is not None
        if what:
            print(what)
    print(f"{tried} pairs, {refused} refused, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
