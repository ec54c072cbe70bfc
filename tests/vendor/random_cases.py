"""Random programs of tests/fuzz/programs, as pto.emit-ascend writes them, beside cpu-sim: used by vendor.py.

Programs are drawn as the fuzzer draws them. Those that the pipeline takes are put together, some in a module, so that the
headers are compiled once for all of them; one of them is alone where they do not compile together."""

import os
import re
import sys

import numpy as np

root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path += [os.path.join(root, "tests/fuzz/programs"), os.path.join(root, "tests/fuzz")]
sys.dont_write_bytecode = True
import run as fuzzer  # noqa: E402, I001
import program as programs  # noqa: E402
from quantity import Reject, stored  # noqa: E402

TOGETHER = 8
FLAGS = ["-O0", "-DNDEBUG"]  # a division of floats by 0 is an assertion there


class Drawn:
    """A program, its text with names of its own, and its inputs as files."""

    def __init__(self, seed, p, folder):
        self.seed, self.folder = seed, folder
        f = p.functions[0]
        os.makedirs(folder, exist_ok=True)
        self.text = re.sub(r"@(\w+)", rf"@p{seed}_\1", p.text())
        self.function = re.search(r"^func @(\w+)", self.text, re.M)[1]
        self.module = folder + "/program.ptir"
        with open(self.module, "w", encoding="ascii") as out:
            out.write(self.text)
        for name, _, dtype in f.params:
            np.save(f"{folder}/{name}.npy", np.asarray(stored(dtype, f.env[name].v)))
        self.inputs, self.outputs, self.symbols = [n for n, _, _ in f.params], list(f.outputs), p.symbols()

    def simulate(self, bench, call):
        words = [f"--sym={n}={k}" for n, k in self.symbols.items()]
        words += [f"--in={n}={self.folder}/{n}.npy" for n in self.inputs]
        words += [f"--out={n}={self.folder}/{n}.sim.npy" for n in self.outputs]
        bench.must(bench.run(os.path.join(bench.tools, "pto-run"), self.module, "--pipeline=ascend.yaml", "--quiet",
                             "--entry=" + self.function, "--set=backend.with.timing=false", *words), "pto-run")

    def words(self, tree, bench):
        """What the program of the tree is called with, without symbols and inputs that it has not."""
        with open(tree + "/host.cpp", encoding="utf-8") as f:
            text = f.read()
        words = self.known(text, self.function) + [f"{n}={self.folder}/{n}.sim.npy" for n in self.outputs]
        made = self.arguments(text, self.function + "_2einit")
        if not made:
            return words
        outputs = [name for name, is_written in made if is_written]
        command = [tree + "/build/run", self.function + ".init", *self.known(text, self.function + "_2einit")]
        for name in outputs:
            command += ["-o", f"{name}={self.folder}/{name}.made.npy"]
        bench.must(bench.run(*command), "run of .init")
        return words + [f"{name}={self.folder}/{name}.made.npy" for name in outputs]

    def known(self, text, function):
        table = re.search(rf"{function}_symbols\[\] = {{(.*?)NULL", text, re.S)[1]
        symbols, arguments = re.findall(r'{"(\w+)",', table), [name for name, _ in self.arguments(text, function)]
        words = [f"{n}={k}" for n, k in self.symbols.items() if n in symbols]
        return words + [f"{n}={self.folder}/{n}.npy" for n in self.inputs if n in arguments]

    @staticmethod
    def arguments(text, function):
        """Names, and whether they are written; of no function none."""
        table = re.search(rf" {function}_arguments\[\] = {{(.*?)NULL", text, re.S)
        rows = re.findall(r'{"(\w+)", \'\w\', \d+, \d+, (\d), \d}', table[1]) if table else []
        return [(name, is_written == "1") for name, is_written in rows]


def draw(seed, count, bench, folder, refused):
    rows = fuzzer.table_rows(os.path.join(bench.tools, "pto-inspect"))
    for n in range(seed, seed + count):
        try:
            drawn = Drawn(n, programs.generate(n, rows, rows[n % len(rows)]), f"{folder}/{n}")
        except Reject:
            continue
        result = bench.run(os.path.join(bench.tools, "pto-opt"), drawn.module, "--pipeline=ascend.yaml", "-o",
                           drawn.folder + "/alone/")
        if result.returncode == 0:
            yield drawn
            continue
        error = re.search(r"error: (\[.*)", result.stderr)
        why = re.sub(r" \[@.*", "", re.sub(r"`%[^`]*`", "", error[1])) if error else "no diagnostic"
        refused[why] = refused.get(why, 0) + 1


def together(group, bench, folder):
    """Rows of programs in one tree: name, elements, how many differ, what went wrong."""
    module, tree = f"{folder}/{group[0].seed}.ptir", f"{folder}/{group[0].seed}-tree"
    with open(module, "w", encoding="ascii") as out:
        out.write("\n".join(drawn.text for drawn in group))
    try:
        bench.build(module, tree, *FLAGS)
    except bench.failed as wrong:
        if len(group) == 1:
            return [(f"random {group[0].seed}", 0, 0, str(wrong))]
        return [row for drawn in group for row in together([drawn], bench, folder)]
    rows = []
    for drawn in group:
        try:
            drawn.simulate(bench, drawn.function)
            rows.append((f"random {drawn.seed}", *bench.compare(tree, drawn.function, len(drawn.outputs), *drawn.words(tree, bench)), ""))
        except bench.failed as wrong:
            rows.append((f"random {drawn.seed}", 0, 0, str(wrong)))
    return rows


def cases(seed, count, bench, folder, refused):
    """A list of rows for each group."""
    group = []
    for drawn in draw(seed, count, bench, folder, refused):
        group.append(drawn)
        if len(group) == TOGETHER:
            yield together(group, bench, folder)
            group = []
    if group:
        yield together(group, bench, folder)
