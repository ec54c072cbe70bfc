"""Trees of pto.emit-ascend, built one after the other: used by vendor.py.

The CMakeLists.txt of the first one says how all are compiled. The vendor's headers and what is the same in all trees are
compiled once; each tree is then one call of the compiler."""

import json
import os
import re
import shlex
import shutil


class Trees:
    """`header`: included before all else. `flags`: of the compiler, after those of the tree."""

    def __init__(self, bench, folder, header, flags):
        self.bench, self.folder, self.header, self.flags, self.words = bench, folder, header, flags, None

    def learn(self, tree):
        first = self.folder + "/first"
        shutil.rmtree(first, ignore_errors=True)
        self.bench.configure(tree, first, "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", "-DPTO_CPU_FLAGS=" + ";".join(self.flags))
        with open(first + "/compile_commands.json", encoding="utf-8") as f:
            command = next(row["command"] for row in json.load(f) if row["file"] == tree + "/run.cpp")
        words = shlex.split(command)
        words = [w for i, w in enumerate(words) if w not in ("-c", "-o", "-I" + tree, tree + "/run.cpp") and words[i - 1] != "-o"]
        headers, same = self.folder + "/headers.pch", [f"{self.folder}/{name}.o" for name in ("run", "cpu_bfloat16")]
        self.compile([*words, "-x", "c++-header", self.header, "-o", headers])
        words += ["-include-pch", headers]
        for made in same:
            self.compile([*words, "-I" + tree, "-c", f"{tree}/{os.path.basename(made)[:-2]}.cpp", "-o", made])
        self.words, self.same = words, same

    def compile(self, command):
        self.bench.must(self.bench.run(*command), "compile")

    def build(self, module, tree, *pipeline):
        """The program of a module's tree, built; the functions that it has. What an attempt before it left is not kept."""
        for left in (tree, tree + "-text"):
            shutil.rmtree(left, ignore_errors=True)
        self.bench.emit(module, tree, *pipeline)
        if self.bench.assembler:
            self.bench.assemble(module, tree)
        if self.words is None:
            self.learn(tree)
        kernels = sorted(name for name in os.listdir(tree) if re.fullmatch(r"kernel_.*\.cpp", name))
        with open(tree + "/kernels.cpp", "w", encoding="ascii") as f:
            f.writelines(f'#include "{name}"\n' for name in kernels)
        os.makedirs(tree + "/build", exist_ok=True)
        self.compile([*self.words, "-I" + tree, tree + "/kernels.cpp", tree + "/host.cpp", *self.same, "-lpthread", "-ldl", "-o", tree + "/build/run"])
        return self.bench.functions(tree)
