"""Writes reference/op-types.md: which tensor ops run in which element types, on pto.reference and lowered for each machine, as runs have
shown and not as the rows claim.

usage: op_types.py TOOLS PASSED [EACH-NTH]

TOOLS is the folder of the programs. PASSED is what the test kernels/tensor_ops has written: a line `op type` for each pair whose results
were numpy's. The other columns are runs of the op's example in that type: compiled by default.yaml for the machine and run on its backend,
the results are those of pto.reference within what rounding may do (pto-run --compare). Ends with 1, and the pairs, when a row of
ir/ops/tensor.def has a type that no test shows on pto.reference, or when a run fails otherwise than by a refusal of the compiler. With
EACH-NTH, only every so many pairs are run, and compared with the page that is there."""
import json
import os
import re
import subprocess
import sys
import tempfile

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "ir", "ops", "types.def"), encoding="utf-8") as rows_of_types:
    KINDS = dict(re.findall(r'^DTYPE\(\w+, "(\w+)", \d+, (\w+),', rows_of_types.read(), re.M))
TYPES = [t for t, kind in KINDS.items() if kind != "OPAQUE"]
FLOATS = [t for t, kind in KINDS.items() if kind == "FLOAT"]
MACHINES = {"ascend-910b": "A", "cpu-generic": "C"}
PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "reference", "op-types.md")
# Ops whose other operands or results have types of their own.
FIRST_ALONE = ("scaled_matmul", "quantize", "dequantize", "quantize_block", "pack", "unpack", "cast", "one_hot")
# Their rows bound the error by what is added up, or by a radius; --compare bounds it by the result.
BY_TERMS = ("random_normal", "layer_norm", "group_norm", "rope", "attention", "cross_entropy", "swiglu", "conv2d")
TOLERANCES = {"f32": 2e-5, "f16": 2e-3, "bf16": 2e-2}
MADE_BY_PASSES = ("group",)


def program(tools, *arguments):
    return subprocess.run([os.path.join(tools, arguments[0]), *arguments[1:]], capture_output=True, text=True, timeout=300)


def in_type(op, example, t):
    """The example in another type of its first operand (of `where` the second; without operands of its result)."""
    given, lines = example.split("; ", 1)
    written = re.findall(r": (?:tensor<[^>]* x )?(\w+)>?(?=,|$)", given) if given.strip(";") else re.findall(r"(\w+)>$", lines)
    old = written[1 if op == "where" else 0]
    if op in FIRST_ALONE:
        example = re.sub(rf"\b{old}\b", t, given, count=1) + "; " + lines
    else:
        example = re.sub(rf"\b{old}\b", t, example)
    if op == "matmul" and t.startswith("f8"):
        example = re.sub(rf"%a, %b : (.*) x {t}>", r"%a, %b {out = f32} : \1 x f32>", example)
    if op == "cast" and t not in FLOATS:
        example = re.sub(r" \{mode = .*\} : (.*) x i32>", r" : \1 x f32>", example)
    if op == "bitcast":
        wide = {"f8": 8, "bo": 8, "bf": 16, "in": 64}.get(t[:2]) or int(t[1:])
        example = re.sub(r"(: .* x )\w+>$", rf"\1u{wide}>" if t[0] != "u" else rf"\1i{wide}>", example)
    if op == "scatter" and t == "bool":
        example = example.replace('"add"', '"none"')
    if t not in FLOATS:
        example = re.sub(r"(\d+)\.0\b", r"\1", example.replace("0.5", "1" if t == "bool" else "2"))
    if t == "bool":
        example = example.replace("dense [1, 2, 3]", "dense [1, 0, 1]")
    return example


def module(op, example):
    given, *lines = example.split("; ")
    [line] = [l for l in lines if f" = tensor.{op} " in l]
    types = line.rsplit(" : ", 1)[1]
    body = "\n".join("  " + l for l in (*lines, f"return {line.split(' = ')[0]}"))
    return f"func @f({given.strip(';')}) -> ({types}) {{\n{body}\n}}\n"


def run(tools, op, t, text, machine):
    """"" when it runs and is right, else the code that refuses it."""
    with open("f.ptir", "w", encoding="utf-8") as f:
        f.write(text)
    common = ["--random-inputs=1", *(["--sym=N=5"] if "$N" in text else [])]
    lowered = ["pto-run", "f.ptir", "--pipeline=default.yaml", f"--machine={machine}", *common]
    if op in BY_TERMS:
        made = program(tools, "pto-run", "f.ptir", "--pipeline=reference.yaml", *common, "--out=y=y.npy")
        assert made.returncode == 0, made.stderr
        done = program(tools, *lowered, "--expect=y=y.npy", *(f"--{rule}={TOLERANCES[t]}" for rule in ("rtol", "atol") if t in TOLERANCES))
    else:
        done = program(tools, *lowered, "--compare=reference.yaml")
    if done.returncode == 0:
        return ""
    code = re.search(r"error: \[(pto\.[\w-]+/[\w-]+)\]", done.stderr)
    if done.returncode == 5 and code:
        return code[1]
    raise SystemExit(f"{text}on {machine}: status {done.returncode}\n{done.stderr}{done.stdout if done.returncode == 1 else ''}")


def cell(claimed, codes):
    if not claimed:
        return ""
    runs = "".join(sign for machine, sign in MACHINES.items() if codes[machine] == "")
    return {"": "r", "".join(MACHINES.values()): "all"}.get(runs, "r " + runs)


def main():
    tools, nth = os.path.abspath(sys.argv[1]), int(sys.argv[3]) if len(sys.argv) > 3 else 1
    with open(sys.argv[2], encoding="utf-8") as f:
        shown = {tuple(line.split()) for line in f}
    with open(PAGE, encoding="utf-8") as f:
        before = dict(re.findall(r"^\| `(\w+)` \|(.*)\|$", f.read(), re.M))
    rows = [o for o in json.loads(program(tools, "pto-inspect", "ops", "--format=json").stdout) if o["name"].startswith("tensor.")]
    lacks = [f"{row['name'][7:]} {t}" for row in rows for t in row.get("element types", "").split(", ") if t and (row["name"], t) not in shown]
    if lacks:
        raise SystemExit(f"no test shows on pto.reference: {', '.join(lacks)}")
    bare = [row["name"] for row in rows if "example" not in row]
    if bare:
        raise SystemExit(f"no example in ir/ops/tensor.def: {', '.join(bare)}")
    os.chdir(tempfile.mkdtemp())
    table, refused, differs, count = [], {}, [], 0
    for row in rows:
        op, claimed = row["name"][7:], row.get("element types", "").split(", ")
        if op in MADE_BY_PASSES:
            continue
        cells = []
        for k, t in enumerate(TYPES):
            codes = {}
            count += t in claimed
            if t in claimed and count % nth == 0:
                text = module(op, in_type(op, row["example"], t))
                for machine in MACHINES:
                    codes[machine] = run(tools, op, t, text, machine)
                    if codes[machine]:
                        refused.setdefault(codes[machine], set()).add((op, t))
            was = before.get(op, "|" * len(TYPES)).split("|")[k].strip()
            if nth > 1 and (was != cell(True, codes) if codes else (was != "") != (t in claimed)):
                differs.append(f"{op} {t}")
            cells.append(cell(t in claimed, codes) if codes or nth == 1 else "")
        table.append((op, cells))
    if differs:
        raise SystemExit(f"is not as the page says: {', '.join(differs)}")
    if nth > 1:
        return
    print("# Ops and element types\n")
    print("Written by docs/op_types.py from runs, not from the tables; a test compares. `r`: on pto.reference the results are numpy's"
          " (tests/kernels). `all`: so they are, and lowered by default.yaml for each machine the example of the op computes the same as"
          " pto.reference within rounding. " + ", ".join(f"`r {sign}`: on {machine} only" for machine, sign in MACHINES.items()) +
          ". Empty: the op does not take the type. The type is that of the first operand (of `where` the second; without operands of"
          " the result); others are those of the example in [ops.md](ops.md).\n")
    print("| op | " + " | ".join(TYPES) + " |\n|---|" + "---|" * len(TYPES))
    for op, cells in table:
        print(f"| `{op}` | " + " | ".join(cells) + " |")
    print("\nWhat says no, where the compiler refuses a pair for a machine:\n\n| Code | Pairs | Ops |\n|---|---|---|")
    for code in sorted(refused):
        print(f"| `{code}` | {len(refused[code])} | {', '.join(sorted({op for op, _ in refused[code]}))} |")


if __name__ == "__main__":
    main()
