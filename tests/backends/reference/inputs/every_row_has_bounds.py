"""The example of each row, with operands as they are given, and with floats that come out of an op that may err."""

import os
import re
import subprocess
import sys

import numpy as np

# Of an index that may be another one and of bits that may be others nothing is known.
NOT_FOLLOWED = set(
    "argmax argmin argsort topk bitcast pack quantize_block atan2 floordiv pow tan".split()
)
NEEDS_MORE = {"group", "index_cast"}  # a block; a symbol


def output(*command):
    p = subprocess.run(command, capture_output=True, text=True)
    if p.returncode != 0:
        sys.exit(f"{' '.join(command)}: {p.stderr}")
    return p.stdout


def examples():
    for name in re.findall(r"^tensor\.(\w+)", output("pto-inspect", "ops"), re.M):
        example = re.search(r"^ +example +(.*)$", output("pto-inspect", "ops", f"tensor.{name}"), re.M)
        if example is None:
            sys.exit(f"{name} has no example")
        if name not in NEEDS_MORE:
            yield name, example[1]


def parts_of(name, example, is_open):
    """Parameters, lines, results and their types; every name begins with that of the op."""
    head, *lines = [s.strip() for s in re.sub(r"%(\w+)", rf"%{name}_\1", example).split(";")]
    parameters = [p.strip() for p in re.split(r",\s*(?=%)", head) if p.strip()]
    before = []
    for i, p in enumerate(parameters):
        value, kind = (s.strip() for s in p.split(":", 1))
        if is_open and kind.endswith("x f32>"):
            parameters[i] = f"{value}_0: {kind}"
            before.append(f"{value} = tensor.exp {value}_0 : {kind}")
    line = next(l for l in lines if f"= tensor.{name}" in l)
    results = [r.strip() for r in line.split(" = ")[0].split(",")]
    types = re.findall(r"tensor<[^>]*>", line[line.rindex(" : ") :])
    return parameters, before + lines, results, types, bool(before)


def unlimited(is_open):
    """Names of rows of which a result may be anything."""
    parameters, lines, results, types, who = [], [], [], [], []
    for name, example in examples():
        p, l, r, t, has_open = parts_of(name, example, is_open)
        if is_open and not has_open:
            continue
        parameters, lines, results, types, who = parameters + p, lines + l, results + r, types + t, who + [name] * len(r)
    text = f"func @f({', '.join(parameters)}) -> ({', '.join(types)}) {{\n" + "\n".join(lines) + f"\nreturn {', '.join(results)}\n}}\n"
    with open("f.ptir", "w") as f:
        f.write(text)
    ends = []
    for mode in ("least", "most"):
        with open("p.yaml", "w") as f:
            f.write(f"pto-pipeline: 1\npasses: []\nbackend: {{ use: pto.reference, with: {{ bound: {mode} }} }}\n")
        outs = [f"--out={r[1:]}={mode}{i}.npy" for i, r in enumerate(results)]
        output("pto-run", "f.ptir", "--pipeline=p.yaml", "--random-inputs=1", *outs)
        ends.append([np.load(f"{mode}{i}.npy") for i in range(len(results))])
    wide = set()
    for name, least, most, kind in zip(who, *ends, types):
        whole = np.iinfo(least.dtype) if least.dtype.kind in "iu" else None
        lowest, highest = (whole.min, whole.max) if whole else (False, True) if least.dtype == bool else (-np.inf, np.inf)
        if np.any((least == lowest) & (most == highest)):
            wide.add(name)
    return wide, set(who)


def main():
    exact, all_rows = unlimited(False)
    if len(all_rows) < 100:
        sys.exit(f"only {len(all_rows)} rows have examples")
    if exact:
        sys.exit(f"on operands without error these may be anything: {' '.join(sorted(exact))}")
    open_rows, tried = unlimited(True)
    wrong = (open_rows ^ NOT_FOLLOWED) & tried
    if wrong:
        sys.exit(f"on operands that may err these differ from the list: {' '.join(sorted(wrong))}")
    with open(os.path.join(os.environ["TEST_ROOT"], "docs", "checking.md")) as f:
        line = next(l for l in f if "else not followed" in l)
    unsaid = {n for n in open_rows if n not in line}
    if unsaid:
        sys.exit(f"docs/checking.md does not say of these that they are not followed: {' '.join(sorted(unsaid))}")


main()
