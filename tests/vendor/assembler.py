"""Runs the vendor's assembler over the text that pto.emit-ascend writes for it.

    assembler.py BUILD PTOAS [MODULE..] [--machine=FILE] [--arguments=WORDS]

BUILD is a build of pto, PTOAS the program `ptoas` that the user has; nothing is downloaded, and without it the run says
so and ends with 77. The kernels of all examples, or of those whose path has one of the words MODULE in it, are written
at level 3 and at level 2, and each is assembled to C++. Prints a table by what the assembler says, the kernels that it
refuses, and `N passed, N failed`; ends with 1 where it refused one. Examples that have no such text are listed with the
reason. --arguments is instead of what the README of a tree has after the name of the file.
"""

import collections
import glob
import os
import re
import subprocess
import sys
import tempfile

words = [a for a in sys.argv[1:] if not a.startswith("--")]
options = dict(a[2:].split("=", 1) for a in sys.argv[1:] if a.startswith("--"))
if len(words) < 2 or not os.access(words[1], os.X_OK) or os.path.isdir(words[1]):
    print("assembler.py: skipped: no assembler; assembler.py BUILD PTOAS, where PTOAS is the program `ptoas`")
    sys.exit(77)
build, ptoas, *only = words
root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FORMS = {3: "assembler", 2: "assembler-level2"}


def first_error(text):
    line = next((line for line in text.splitlines() if "rror: " in line), text.strip().splitlines()[-1] if text.strip() else "nothing said")
    return line.split("rror: ", 1)[-1]


def write(module, level, folder):
    """None, or why there is no such text."""
    generator = f"--set=backend.with.generator={{ use: pto.emit-ascend, with: {{ form: {FORMS[level]} }} }}"
    machine = ["--machine=" + options["machine"]] if "machine" in options else []
    result = subprocess.run([os.path.join(build, "bin/pto-opt"), module, "--pipeline=ascend.yaml", *machine, generator, "-o", folder + "/"],
                            capture_output=True, text=True)
    return None if result.returncode == 0 else first_error(result.stderr)


def assemble(kernel, command):
    """None, or what the assembler says; `command` is the line of the README."""
    how = options["arguments"].split() if "arguments" in options else command.split()[4:]
    result = subprocess.run([os.path.abspath(ptoas), kernel, "-o", kernel + ".cpp", *how], capture_output=True, text=True)
    return None if result.returncode == 0 else first_error(result.stderr + result.stdout)


counts, causes, refused, unwritten = collections.Counter(), collections.Counter(), [], []
for module in sorted(glob.glob(os.path.join(root, "examples/*/*.ptir"))):
    name = os.path.relpath(module, os.path.join(root, "examples"))
    if only and not any(word in name for word in only):
        continue
    for level in FORMS:
        with tempfile.TemporaryDirectory() as folder:
            tree = os.path.join(folder, "tree")
            why = write(module, level, tree)
            if why:
                unwritten.append(f"{name}, level {level}: {why}")
                continue
            with open(os.path.join(tree, "README.md"), encoding="utf-8") as f:
                commands = {line.split()[1]: line for line in f if line.startswith("ptoas ")}
            for kernel, command in commands.items():
                said = assemble(os.path.join(tree, kernel), command)
                counts[level, said is None] += 1
                if said:
                    causes[level, re.sub(r"%\w+", "%_", said)] += 1
                    refused.append(f"{name}, level {level}, {kernel}: {said}")
if not counts and not unwritten:
    sys.exit("assembler.py: no example has such a name")
for line in unwritten:
    print(f"not written: {line}")
for line in refused:
    print(f"refused: {line}")
print("\n| Level | Kernels | What the assembler says |\n|---|---|---|")
for level in FORMS:
    print(f"| {level} | {counts[level, True]} | accepted |")
for (level, said), n in causes.most_common():
    print(f"| {level} | {n} | {said} |")
failed = sum(n for (_, fits), n in counts.items() if not fits)
print(f"\n{sum(counts.values()) - failed} passed, {failed} failed")
sys.exit(1 if failed else 0)
