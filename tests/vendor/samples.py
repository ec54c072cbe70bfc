"""Counts which samples of the vendor's assembler pto.read-ascend reads, and which of them run.

    samples.py BUILD CHECKOUT [--list] [PATTERN..]

BUILD is a build of pto, CHECKOUT a checkout of the assembler that the user has; nothing is downloaded. Every `.pto`
below its folder test/samples is read and verified; each of its kernels is run with one instance on `reference` and on
`cpu-sim`, on numbers from 0.5 to 1.5, and what both compute is compared bit by bit. Integers are 1, or 0 where that
leaves the memory. A sample with a reference of its own, NAME_golden.py beside it or npu_validation/golden.py of its
folder, is run on the data that this makes, too, and compared with what it computes: 1e-4 of f32, 1e-2 of shorter
floats, integers to the bit. A reference that is a placeholder, -1 everywhere, is counted and not compared. Files for
A5 run on ascend-950.yaml. Files without addresses are run by pto-level2.yaml, those with addresses and without flags
by pto-addresses.yaml, others by pto-level3.yaml. Prints a table by cause; with --list the outcome of each file. Which
do not run, and why, is in samples_refused.txt: the last line counts where that is otherwise. PATTERN: files whose
path has such a part, instead of all.
"""

import collections
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

arguments = [a for a in sys.argv[1:] if not a.startswith("--")]
build, checkout, *patterns = arguments
tools = os.path.join(build, "bin")
DTYPES = {"f32": "<f4", "f16": "<f2", "bf16": "<u2", "i8": "|i1", "i16": "<i2", "i32": "<i4", "i64": "<i8", "u8": "|u1",
          "u16": "<u2", "u32": "<u4", "u64": "<u8"}
SYMBOL = 64


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
        shape, dtype = shape_of(kind)
        if mode:
            outputs.append(name)
        x = (0.5 + rng.random(shape)).astype(np.float32)
        x = (x.view("<u4") >> 16).astype("<u2") if dtype == "bf16" else x.astype(DTYPES[dtype])
        np.save(f"{folder}/{name}.npy", x)
        words.append(f"--in={name}={folder}/{name}.npy")
    return words, scalars, outputs, [f"--sym={s}={SYMBOL}" for s in symbols]


C_TYPES = {"f32": "float", "f16": "half", "bf16": "bfloat16_t"}


def shape_of(kind):
    *dims, dtype = kind[3:-1].split(" x ")
    return [int(eval(re.sub(r"\$\w+", str(SYMBOL), d.replace("floordiv", "//")))) for d in dims], dtype


def numbered(whole, function):
    """Parameters of the function of the text that `function` launches: name to v1, v2 and so on, as samples call them."""
    head = re.search(rf"func\.func @{function.removeprefix('launch_')}\((.*?)\)", whole, re.S)
    return {name: f"v{i + 1}" for i, name in enumerate(re.findall(r"%(\w+):", head[1]))} if head else {}


def script_of(path):
    """The program that makes the data of a sample and what is right; None: it has none."""
    for script in (path.removesuffix(".pto") + "_golden.py", os.path.join(os.path.dirname(path), "npu_validation/golden.py")):
        of_all = os.path.basename(script) == "golden.py"
        if os.path.exists(script) and (not of_all or path.endswith("-pto-new.pto")):
            return script
    return None


def own_reference(folder, script, head, names):
    """Inputs, scalars and expected outputs of the sample's own program, by name of ours."""
    memory = [(mode, name, *shape_of(kind)) for mode, name, kind in parameters(head) if kind.startswith("gm<")]
    scalars = [name for _, name, kind in parameters(head) if not kind.startswith("gm<")]
    lines = ["int32_t s = 0;" for _ in scalars]
    for _, name, shape, dtype in memory:
        v, kind = names[name], C_TYPES.get(dtype, re.sub("u?i(\\d+)", "int\\1_t", dtype))
        lines += [f"size_t elemCount_{v} = {int(np.prod(shape))};", f"size_t fileSize_{v} = elemCount_{v} * sizeof({kind});",
                  f'ReadFile("./{v}.bin"']
    for old in [name for name in os.listdir(folder) if name.endswith(".bin")]:
        os.remove(os.path.join(folder, old))
    with open(folder + "/main.cpp", "w", encoding="utf-8") as f:
        f.write("\n".join(lines))
    with open(folder + "/outputs.txt", "w", encoding="utf-8") as f:
        f.writelines(names[name] + "\n" for mode, name, *_ in memory if mode)
    result = subprocess.run([sys.executable, script], cwd=folder, capture_output=True, text=True,
                            env={**os.environ, "PYTHONPATH": os.path.join(checkout, "test/samples"), "PYTHONDONTWRITEBYTECODE": "1"})
    if result.returncode != 0:
        raise RuntimeError(f"its own reference fails: {result.stderr.strip().splitlines()[-1]}")
    with open(script, encoding="utf-8") as f:
        numbers = dict(re.findall(r"^    (v\d+) = (\d+)$", f.read(), re.M))
    ins, expected = {}, {}
    for mode, name, shape, dtype in memory:
        data, golden = f"{folder}/{names[name]}.bin", f"{folder}/golden_{names[name]}.bin"
        kind = DTYPES[dtype]
        count = int(np.prod(shape))
        ins[name] = (np.fromfile(data, kind)[:count] if os.path.exists(data) else np.zeros(count, kind)).reshape(shape)
        if mode and os.path.exists(golden):
            expected[name] = np.fromfile(golden, kind)[:count].reshape(shape), dtype
    return ins, {name: numbers.get(names[name], "0") for name in scalars}, expected


def differs(got, wanted, dtype):
    if dtype == "bf16":
        got, wanted = ((x.astype("<u4") << 16).view("<f4") for x in (got, wanted))
    near = {"f32": 1e-4, "f16": 1e-2, "bf16": 1e-2}.get(dtype, 0)
    return not np.allclose(got, wanted, rtol=near, atol=near, equal_nan=True)


def compare_with_reference(folder, path, whole, function, head, words):
    """None, or why it is not what the sample's own reference computes; `words` without inputs. Counts those compared."""
    script, names = script_of(path), numbered(whole, function)
    if script is None or any(name not in names for _, name, _ in parameters(head)):
        return None
    try:
        ins, scalars, expected = own_reference(folder, script, head, names)
    except RuntimeError as wrong:
        return str(wrong)
    if all((want == -1).all() for want, _ in expected.values()):
        placeholders.append(path)
        return None
    for name, x in ins.items():
        np.save(f"{folder}/{name}.npy", x)
    files = [f"--in={name}={folder}/{name}.npy" for name in ins] + [f"--in={name}={n}" for name, n in scalars.items()]
    outs = [f"--out={name}={folder}/{name}.own.npy" for name in expected]
    result = run("pto-run", path, f"--entry={function}", "--quiet", *words, *files, *outs)
    if result.returncode != 0:
        return cause(result)
    compared.append(path)
    wrong = [name for name, (want, dtype) in expected.items() if differs(np.load(f"{folder}/{name}.own.npy"), want, dtype)]
    return "not what its own reference computes" if wrong else None


compared, placeholders = [], []


def run_kernel(folder, path, whole, level, function, head, machine):
    """None, or why it does not run."""
    words, scalars, outputs, symbols = write_inputs(folder, head, np.random.default_rng(1))
    for value in ("1", "0"):
        got = []
        for name in ("sim", "reference"):
            pipeline = f"--pipeline=pto-{level}.yaml" if name == "sim" else "--backend=pto.reference"
            outs = [f"--out={o}={folder}/{o}.{name}.npy" for o in outputs]
            numbers = [f"--in={n}={value}" for n, _ in scalars]
            if name == "sim":
                numbers = numbers + machine
            result = run("pto-run", path, pipeline, f"--entry={function}", "--quiet", *words, *numbers, *symbols, *outs)
            if result.returncode != 0:
                break
            got.append([np.load(f"{folder}/{o}.{name}.npy") for o in outputs])
        if len(got) == 2:
            same = all(a.tobytes() == b.tobytes() for a, b in zip(*got))
            if not same:
                return "reference and cpu-sim differ"
            return compare_with_reference(folder, path, whole, function, head, [f"--pipeline=pto-{level}.yaml", *machine, *symbols])
        if not scalars:
            break
    return cause(result)


def refusals():
    """What samples_refused.txt says of each path."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "samples_refused.txt"), encoding="utf-8") as f:
        rows = [line.split(" | ") for line in f if not line.startswith("#")]
    return {path: re.sub(r"[@%]\w+", "_", re.sub(r"\d+", "N", said)) for path, said, _ in rows}


def outcome(folder, path):
    with open(path, encoding="utf-8") as f:
        whole = f.read()
    text = re.sub(r"//.*", "", whole)
    machine = ["--machine=ascend-950.yaml"] if re.search(r'target_arch = "a5"|--pto-arch a5', whole) else []
    level = "level2" if not re.search(r"alloc_tile +addr *=", text) else "level3" if "_flag" in text else "addresses"
    read = run("pto-opt", path)
    if read.returncode != 0:
        return "not read", cause(read)
    heads = re.findall(r"^ *func @(\w+)\((.*)\) \{$", read.stdout, re.M)
    if not heads:
        return "read", "no kernel has a function that launches it"
    for function, head in heads:
        why = run_kernel(folder, path, whole, level, function, head, machine)
        if why:
            return "read", why
    return "run", ""


refused, others = refusals(), []
counts, causes = collections.Counter(), collections.Counter()
top = os.path.join(checkout, "test/samples")
with tempfile.TemporaryDirectory() as folder:
    for where, _, names in sorted(os.walk(top)):
        for name in sorted(n for n in names if n.endswith(".pto")):
            path = os.path.join(where, name)
            if patterns and not any(p in os.path.relpath(path, top) for p in patterns):
                continue
            name = os.path.relpath(path, top)
            what, why = outcome(folder, path)
            if refused.get(name, "") not in why or (name in refused) != bool(why):
                others.append(name)
            counts[what] += 1
            if why:
                causes[what, why] += 1
            if "--list" in sys.argv:
                print(f"{what}: {name}{': ' if why else ''}{why}")
total = sum(counts.values())
print(f"\n{total} files: {total - counts['not read']} read and verified, {counts['run']} run with the bits of reference,")
print(f"{len(compared)} of them compared with a reference of their own; that of {len(placeholders)} is a placeholder.\n")
print("| Files | Not | Because |\n|---|---|---|")
for (what, why), n in causes.most_common():
    print(f"| {n} | {'read' if what == 'not read' else 'run'} | {why} |")
print(f"\n{len(others)} are not as samples_refused.txt says{': ' if others else ''}{', '.join(others)}")
sys.exit(1 if others else 0)
