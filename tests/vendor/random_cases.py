"""Random programs of tests/fuzz/programs, as pto.emit-ascend writes them, beside cpu-sim: used by vendor.py.

Programs are drawn as the fuzzer draws them; those that the pipeline takes are compared."""

import os
import re
import sys

import numpy as np

root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path += [os.path.join(root, "tests/fuzz/programs"), os.path.join(root, "tests/fuzz")]
sys.dont_write_bytecode = True
import run as fuzzer  # noqa: E402, I001
import program as programs  # noqa: E402
from compared import Program, in_groups, refusal  # noqa: E402
from quantity import Reject, stored  # noqa: E402
from trees import Trees  # noqa: E402

TOGETHER = 16
FLAGS = ["-O0", "-DNDEBUG"]  # a division of floats by 0 is an assertion there


def draw(seed, count, bench, folder, refused):
    rows = fuzzer.table_rows(os.path.join(bench.tools, "pto-inspect"))
    for n in range(seed, seed + count):
        try:
            p = programs.generate(n, rows)
        except Reject:
            continue
        f = p.functions[0]
        arrays = {name: np.asarray(stored(dtype, f.env[name].v)) for name, _, dtype in f.params}
        drawn = Program(f"random {n}", re.sub(r"@(\w+)", rf"@p{n}_\1", p.text()), f"{folder}/{n}", arrays, [f.named(n) for n in f.outputs], p.symbols())
        why = refusal(drawn, bench, *bench.pipeline)
        if why is None:
            yield drawn
        else:
            refused[why] = refused.get(why, 0) + 1


def trees_of(bench, folder):
    return Trees(bench, folder, os.path.join(bench.here, "as_the_chip.hpp"), FLAGS)


def cases(seed, count, trees, refused):
    """A row for each program: (name, elements, how many differ, what went wrong)."""
    bench, folder = trees.bench, trees.folder
    for program, *what in in_groups(draw(seed, count, bench, folder, refused), TOGETHER, trees, *bench.pipeline):
        yield (program.name, *what)
