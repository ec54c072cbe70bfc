"""Faults that only silicon shows, planted in kernels that are right otherwise, in the CPU mode of the vendor's headers:
used by vendor.py.

The faults are those of tests/backends/cpu-sim/chip/inputs/planted.py, whose test sees cpu-sim name each at its line. Here
they are emitted, compiled and run: the CPU mode, which knows nothing of what silicon does, computes what they mean."""

import os
import re
import sys
import textwrap

import numpy as np

root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.append(os.path.join(root, "tests/backends/cpu-sim/chip/inputs"))
import planted  # noqa: E402
from compared import Program, in_groups, refusal  # noqa: E402
from trees import Trees  # noqa: E402

TOGETHER = 16
FLAGS = ["-O0", "-DNDEBUG"]
PIPELINE = ["--pipeline=" + os.path.join(root, "tests/generators/emit-ascend/inputs/emit.yaml")]


class Faulty(Program):
    """What is right is what `reference` computes."""

    def simulate(self, bench, *pipeline):
        words = [f"--in={n}={self.folder}/{n}.npy" for n in self.inputs]
        words += [f"--out={n}={self.folder}/{n}.sim.npy" for n in self.outputs]
        bench.must(bench.run(os.path.join(bench.tools, "pto-run"), self.module, "--passes=", "--backend=pto.reference", "--quiet",
                             "--entry=" + self.function, *words), "pto-run")


def program(n, what, text, folder):
    """Numbers from 0.5 to 1.5, so that nothing is divided by 0."""
    text = textwrap.dedent(text)
    head = re.search(r"^func @\w+\((.*)\)", text, re.M)[1]
    r = np.random.default_rng(n)
    arrays, outputs = {}, []
    for mode, name, dims in re.findall(r"(out )?%(\w+): gm<([\dx ]+) x f32>", head):
        if mode:
            outputs.append(name)
        else:
            arrays[name] = (0.5 + r.random([int(d) for d in dims.split(" x ")])).astype(np.float32)
    text = re.sub(r"@(\w+)", rf"@p{n}_\1", text)
    return Faulty(what, text, f"{folder}/{n}", arrays, outputs, {})


def drawn(bench, folder, codes, refused):
    os.makedirs(folder, exist_ok=True)
    for n, (what, text, code, _) in enumerate([*planted.written(), *planted.compiled(bench.tools, folder)]):
        p = program(n, what, text, folder)
        codes[what] = code
        why = refusal(p, bench, *PIPELINE)
        if why is None:
            yield p
        else:
            refused.append((what, code, 0, 0, why))


def cases(bench, folder):
    """(what, code, elements, how many differ, what went wrong) of each fault."""
    codes, refused = {}, []
    trees = Trees(bench, folder, bench.o.checkout + "/include/pto/pto-inst.hpp", FLAGS)
    for p, elements, differ, wrong in in_groups(drawn(bench, folder, codes, refused), TOGETHER, trees, *PIPELINE):
        yield p.name, codes[p.name], elements, differ, wrong
    yield from refused


def write(f, rows):
    """The section of the page."""
    passed = sum(1 for row in rows if row[3] == 0 and not row[4])
    f.write(f"\n## Planted faults of silicon\n\nOf {len(rows)} faults that `tests/backends/cpu-sim/chip/planted-faults.sh` plants, and which `cpu-sim` names at\n"
            f"instruction and line, the CPU mode computes {passed} as if nothing were wrong.\n\n"
            "| Fault | `cpu-sim` says | Elements | The CPU mode |\n|---|---|---|---|\n")
    for what, code, elements, differ, wrong in rows:
        f.write(f"| {what} | {code} | {elements} | {wrong or ('equal to `reference`' if differ == 0 else f'{differ} differ')} |\n")
