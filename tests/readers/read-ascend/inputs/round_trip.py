"""Reads back what pto.emit-ascend writes for the assembler.

    round_trip.py BUILD PIPELINE MODULE CASE [SIZE..] [--level2=PIPELINE2] [--bits]

MODULE is compiled, its kernels are written as text of the assembler, read by pto.read-ascend, and put in the place of
those that were written; of each the line of its head stays, since the text does not say how many instances there are.
Then both modules must have the same text of the assembler, byte by byte, and, run by PIPELINE on the data of CASE, the
same bits and the same counters. Prints how many kernels there were.

With --level2 the text is the one without addresses and flags: what is read is run by PIPELINE2, which finds them, and
has the same bits. With --bits the text may be another one, as where the library's waits for the scalar unit are read
as flags, or runs of records as tiles; bits are the same.
"""

import json
import os
import re
import subprocess
import sys

build, pipeline, module, case, *sizes = [a for a in sys.argv[1:] if not a.startswith("--")]
level2 = next((a.split("=", 1)[1] for a in sys.argv if a.startswith("--level2=")), None)
tools = os.path.join(build, "bin")
only_bits = level2 is not None or "--bits" in sys.argv
form = "assembler-level2" if level2 else "assembler"
generator = f"--set=backend.with.generator={{ use: pto.emit-ascend, with: {{ form: {form} }} }}"


def run(tool, *arguments, status=0):
    result = subprocess.run([os.path.join(tools, tool), *arguments], capture_output=True, text=True)
    if result.returncode != status:
        sys.exit(f"{tool} {' '.join(arguments)}: {result.returncode}\n{result.stdout[-2000:]}{result.stderr[-4000:]}")
    return result.stdout


def kernels_of(tree):
    names = sorted(name for name in os.listdir(tree) if name.endswith(".pto"))
    texts = {}
    for name in names:
        with open(os.path.join(tree, name), encoding="utf-8") as f:
            texts[name] = f.read()
    return texts


HEAD = re.compile(r"^ *block\.kernel @(\w+) .*\{$")
PARTS = re.compile(r"core\(\w+\)|(?:reads|writes)\([^()]*\)|(?<= )\(%.*?\)(?= where | \{)|(?<= )\(inout %.*?\)(?= where | \{)")


def split(text):
    """Pieces of a module: name, head and body of a kernel, or None and other lines."""
    pieces, lines = [], text.splitlines(keepends=True)
    at = 0
    while at < len(lines):
        head = HEAD.match(lines[at])
        end = at + 1
        if head:
            indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
            while lines[end] != indent + "}\n":
                end += 1
            end += 1
        pieces.append((head and head[1], lines[at], "".join(lines[at + 1 : end])))
        at = end
    return pieces


run("pto-opt", module, "--pipeline=ascend.yaml", "-o", "before.ptir")
run("pto-opt", module, "--pipeline=ascend.yaml", generator, "-o", "before/")
before = kernels_of("before")
read = {}
for name in before:
    run("pto-opt", f"before/{name}", "-o", "kernel.ptir")
    with open("kernel.ptir", encoding="utf-8") as f:
        for kernel, head, body in split(f.read()):
            if kernel:
                read[kernel] = (head, body)

with open("before.ptir", encoding="utf-8") as f:
    pieces = split(f.read())
spliced = ""
count = 0
for kernel, head, body in pieces:
    if kernel:
        new_head, new_body = read[kernel]
        if PARTS.findall(head.replace("out %", "inout %")) != PARTS.findall(new_head):
            sys.exit(f"@{kernel} has the head\n{new_head}and had\n{head}")
        body, count = new_body, count + 1
    spliced += head + body
with open("after.ptir", "w", encoding="utf-8") as f:
    f.write(spliced)

after = dict(before)
if not only_bits:
    run("pto-opt", "after.ptir", f"--pipeline={pipeline}", generator, "-o", "after/")
    after = kernels_of("after")
for name, text in before.items():
    if level2 and re.search(r"addr =|_flag|pto.barrier", text):
        sys.exit(f"{name} has addresses, flags or barriers")
    if after.get(name) != text:
        lines = zip(text.splitlines(), after.get(name, "").splitlines())
        differs = next((pair for pair in lines if pair[0] != pair[1]), ("its length", "another one"))
        sys.exit(f"{name} differs:\n{differs[0]}\n{differs[1]}")

for size in sizes:
    results = []
    for which in ("before", "after"):
        how = level2 if level2 and which == "after" else pipeline
        out = run("pto-run", f"{which}.ptir", "--case", case, "--size", size, f"--pipeline={how}", "--set=backend.with.timing=true", "--json", "--data-dir", f"data-{which}",
                  f"--python={os.environ['TEST_ROOT']}/tests/kept-python")
        results.append(json.loads(out)["runs"][0])
    for key in ("outputs",) if only_bits else ("outputs", "cycles", "counters"):
        if results[0][key] != results[1][key]:
            sys.exit(f"size {size}: {key} differ: {results[0][key]} and {results[1][key]}"[:2000])
    for output in results[0]["outputs"]:
        if not (output["expectation"] or {}).get("holds", True):
            sys.exit(f"size {size}: {output['name']} is wrong in both")
print(f"{count} kernels")
