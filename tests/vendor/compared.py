"""Programs that are emitted together and compared each by itself: used by vendor.py.

Some are put into one module, so that the compiler starts once for all of them; one of them is alone where they do not
compile together."""

import os
import re

import numpy as np


class Program:
    """A text of one function, whose names no other program has, and its inputs as files. `arrays`: name to array."""

    def __init__(self, name, text, folder, arrays, outputs, symbols):
        os.makedirs(folder, exist_ok=True)
        self.name, self.text, self.folder = name, text, folder
        self.function = re.search(r"^func @(\w+)", text, re.M)[1]
        self.module = folder + "/program.ptir"
        with open(self.module, "w", encoding="ascii") as out:
            out.write(text)
        for key, array in arrays.items():
            np.save(f"{folder}/{key}.npy", array)
        self.inputs, self.outputs, self.symbols = list(arrays), outputs, symbols

    def simulate(self, bench, *pipeline):
        words = [f"--sym={n}={k}" for n, k in self.symbols.items()]
        words += [f"--in={n}={self.folder}/{n}.npy" for n in self.inputs]
        words += [f"--out={n}={self.folder}/{n}.sim.npy" for n in self.outputs]
        bench.must(bench.run(os.path.join(bench.tools, "pto-run"), self.module, *pipeline, "--quiet",
                             "--entry=" + self.function, "--set=backend.with.timing=false", *words), "pto-run")

    def words(self, tree, bench):
        """What the program of the tree is called with, without symbols and inputs that it has not."""
        with open(tree + "/host.cpp", encoding="utf-8") as f:
            text = f.read()
        words = self.known(text, self.function) + [f"{n}={self.folder}/{n}.sim.npy" for n in self.outputs]
        for n in self.outputs:
            words += ["-o", f"{n}={self.folder}/{n}.theirs.npy"]
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
        rows = re.findall(r'{"(\w+)", \'\w\', \d+, \d+, \d, (\d), \d}', table[1]) if table else []
        return [(name, is_written == "1") for name, is_written in rows]


def refusal(program, bench, *pipeline):
    """Why the pipeline does not take a program, without names; None: it does."""
    result = bench.run(os.path.join(bench.tools, "pto-opt"), program.module, *pipeline, "-o", program.folder + "/alone/")
    if result.returncode == 0:
        return None
    error = re.search(r"error: (\[.*)", result.stderr)
    return re.sub(r" \[@.*", "", re.sub(r"`%[^`]*`", "", error[1])) if error else "no diagnostic"


def together(group, trees, *pipeline):
    """Of programs in one tree: (program, elements, how many differ, what went wrong)."""
    bench, module, tree = trees.bench, group[0].folder + "/together.ptir", group[0].folder + "/tree"
    with open(module, "w", encoding="ascii") as out:
        out.write("\n".join(program.text for program in group))
    try:
        trees.build(module, tree, *pipeline)
    except bench.failed as wrong:
        if len(group) == 1:
            return [(group[0], 0, 0, str(wrong))]
        return [row for program in group for row in together([program], trees, *pipeline)]
    rows = []
    for program in group:
        try:
            program.simulate(bench, *pipeline)
            rows.append((program, *bench.compare(tree, program.function, len(program.outputs), *program.words(tree, bench)), ""))
        except bench.failed as wrong:
            rows.append((program, 0, 0, str(wrong)))
    return rows


def in_groups(programs, count, trees, *pipeline):
    """Rows of all, of `count` programs at a time."""
    group = []
    for program in programs:
        group.append(program)
        if len(group) == count:
            yield from together(group, trees, *pipeline)
            group = []
    if group:
        yield from together(group, trees, *pipeline)
