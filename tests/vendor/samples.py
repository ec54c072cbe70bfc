"""Counts which samples of the vendor's assembler pto.read-ascend reads, and which of them run.

    samples.py BUILD CHECKOUT [--list]

BUILD is a build of pto, CHECKOUT a checkout of the assembler that the user has; nothing is downloaded. Every `.pto`
below its folder test/samples is read and verified; each of its kernels is run with one instance on `reference` and on
`cpu-sim`, on numbers from 0.5 to 1.5, and what both compute is compared bit by bit. Integers are 1, or 0 where that
leaves the memory. Files without addresses are run by pto-level2.yaml, those
with addresses and without flags by pto-addresses.yaml, others by pto-level3.yaml. Prints a table by cause;
with --list the outcome of each file.
"""

import collections
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

arguments = [a for a in sys.argv[1:] if not a.startswith("--")]
build, checkout = arguments
tools = os.path.join(build, "bin")
DTYPES = {"f32": "<f4", "f16": "<f2", "bf16": "<u2", "i8": "|i1", "i16": "<i2", "i32": "<i4", "i64": "<i8", "u8": "|u1",
          "u16": "<u2", "u32": "<u4", "u64": "<u8"}
SYMBOL = 32


def run(tool, *more):
    return subprocess.run([os.path.join(tools, tool), *more], capture_output=True, text=True)


def cause(result):
    """The first error without its place and names."""
    lines = [line for line in (result.stdout + result.stderr).splitlines() if "error: " in line]
    text = lines[0].split("error: ", 1)[1] if lines else f"status {result.returncode}"
    return re.sub(r" \[@.*\]$", "", re.sub(r"[@%]\w+", "_", re.sub(r"\d+", "N", text)))


def parameters(head):
    """Mode, name and type of each parameter of a function."""
    return re.findall(r"(?:(out|inout) )?%(\w+): (gm<[^>]*>|\w+)", head)


def write_inputs(folder, head, rng):
    """--in words for memory, names of scalars and outputs, and --sym words."""
    words, scalars, outputs, symbols = [], [], [], sorted(set(re.findall(r"\$(\w+)", head)))
    for mode, name, kind in parameters(head):
        if not kind.startswith("gm<"):
            scalars.append((name, kind))
            continue
        *dims, dtype = kind[3:-1].split(" x ")
        shape = [int(eval(re.sub(r"\$\w+", str(SYMBOL), d.replace("floordiv", "//")))) for d in dims]
        if mode:
            outputs.append(name)
        x = (0.5 + rng.random(shape)).astype(np.float32)
        x = (x.view("<u4") >> 16).astype("<u2") if dtype == "bf16" else x.astype(DTYPES[dtype])
        np.save(f"{folder}/{name}.npy", x)
        words.append(f"--in={name}={folder}/{name}.npy")
    return words, scalars, outputs, [f"--sym={s}={SYMBOL}" for s in symbols]


def run_kernel(folder, path, level, function, head):
    """None, or why it does not run."""
    words, scalars, outputs, symbols = write_inputs(folder, head, np.random.default_rng(1))
    for value in ("1", "0"):
        got = []
        for name in ("sim", "reference"):
            pipeline = f"--pipeline=pto-{level}.yaml" if name == "sim" else "--backend=pto.reference"
            outs = [f"--out={o}={folder}/{o}.{name}.npy" for o in outputs]
            numbers = [f"--in={n}={value}" for n, _ in scalars]
            result = run("pto-run", path, pipeline, f"--entry={function}", "--quiet", *words, *numbers, *symbols, *outs)
            if result.returncode != 0:
                break
            got.append([np.load(f"{folder}/{o}.{name}.npy") for o in outputs])
        if len(got) == 2:
            same = all(a.tobytes() == b.tobytes() for a, b in zip(*got))
            return None if same else "reference and cpu-sim differ"
        if not scalars:
            break
    return cause(result)


def outcome(folder, path):
    with open(path, encoding="utf-8") as f:
        text = re.sub(r"//.*", "", f.read())
    level = "level2" if not re.search(r"alloc_tile +addr *=", text) else "level3" if "_flag" in text else "addresses"
    read = run("pto-opt", path)
    if read.returncode != 0:
        return "not read", cause(read)
    heads = re.findall(r"^ *func @(\w+)\((.*)\) \{$", read.stdout, re.M)
    if not heads:
        return "read", "no kernel has a function that launches it"
    for function, head in heads:
        why = run_kernel(folder, path, level, function, head)
        if why:
            return "read", why
    return "run", ""


counts, causes = collections.Counter(), collections.Counter()
top = os.path.join(checkout, "test/samples")
with tempfile.TemporaryDirectory() as folder:
    for where, _, names in sorted(os.walk(top)):
        for name in sorted(n for n in names if n.endswith(".pto")):
            path = os.path.join(where, name)
            what, why = outcome(folder, path)
            counts[what] += 1
            if why:
                causes[what, why] += 1
            if "--list" in sys.argv:
                print(f"{what}: {os.path.relpath(path, top)}{': ' if why else ''}{why}")
total = sum(counts.values())
print(f"\n{total} files: {total - counts['not read']} read and verified, {counts['run']} run with the bits of reference.\n")
print("| Files | Not | Because |\n|---|---|---|")
for (what, why), n in causes.most_common():
    print(f"| {n} | {'read' if what == 'not read' else 'run'} | {why} |")
