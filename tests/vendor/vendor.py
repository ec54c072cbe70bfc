"""Compares what pto.emit-ascend writes with cpu-sim, bit by bit, in the CPU mode of the vendor's headers.

    vendor.py BUILD CHECKOUT [--page=FILE] [--cases=FILE] [--keep=FOLDER] [--results=FOLDER] [CASE..] [random:SEED:COUNT] [instructions] [planted] [cycles]
    vendor.py BUILD CHECKOUT --assembler=PTOAS .. assembled:CASE.. [assembled:random:SEED:COUNT]

BUILD is a build of pto, CHECKOUT a checkout of the vendor's tile library that the user has; nothing is downloaded. Each
case of cases.txt is emitted, compiled, and run on the data of its sizes; `random:SEED:COUNT` does the same with random
programs (random_cases.py), `instructions` with each instruction on edge values, `instructions:tadd*,tsub` with those of such
names (instructions.py), `planted` with faults of silicon that it does not see (planted_cases.py); `cycles` compares with the
vendor's cycle model (cycles.py). `assembled:` before a part of a name of cases.txt, or before `random:`, takes the kernels that the
program `ptoas` makes of our text. After an `@` a machine file is named, where it is not that of ascend.yaml: `softmax/case.yaml@
ascend-950.yaml` of cases.txt, `random:1:20@ascend-950.yaml`. The last line is `N passed, N failed`.
"""

import argparse
import contextlib
import glob
import hashlib
import os
import pickle
import re
import shutil
import subprocess
import sys
import tempfile

MACHINE = "ascend-910b.yaml"  # that of ascend.yaml
here = os.path.dirname(os.path.abspath(__file__))
root = os.path.dirname(os.path.dirname(here))


def run(*command, **more):
    return subprocess.run(command, capture_output=True, text=True, **more)


def read_case(path):
    """The module of a case file, its inputs, the names of outputs, and sizes: the values of symbols."""
    with open(path, encoding="utf-8") as f:
        text = f.read()
    inputs = dict(re.findall(r"(\w+): ([\w.]+)", re.search(r"^inputs: \{(.*)\}", text, re.M)[1]))
    outputs = re.findall(r"^  (\w+):", text[re.search(r"^outputs:$", text, re.M).end():], re.M)
    sizes = {name: re.findall(r"(\w+): (\d+)", values) for name, values in re.findall(r"^  (\w+): \{(.*)\}$", text, re.M)}
    return re.search(r"^module: (\S+)", text, re.M)[1], inputs, outputs, sizes


class Failed(Exception):
    pass


def must(result, what):
    if result.returncode != 0:
        lines = (result.stdout + result.stderr).strip().splitlines()
        errors = [line for line in lines if "error" in line] or lines[-3:]
        raise Failed(f"{what}: {errors[0] if errors else result.returncode}")
    return result


class NotKept(Exception):
    pass


def taken(handed, types):
    """Arguments of a launch as the assembler's kernels take them: its floats of 16 bits are no bits."""
    floats = ("half", "bfloat16_t")
    return ", ".join(f"of_bits<{t.split()[0]}>({a})" if t.split()[0] in floats else a for a, t in zip(handed, types, strict=True))


class Results:
    """What has been seen, kept in the folder `kept` until tools, plugins, scripts or the checkout change; None: not kept."""

    def __init__(self, kept, o):
        self.kept, self.only_kept = kept, o.only_kept
        if kept is None:
            return
        digest = hashlib.sha256(f"{version_of(o.checkout)} {o.assembler}".encode())
        scripts = (here + "/*", root + "/tests/kernels/*.py", root + "/tests/fuzz/**/*.py", root + "/pipelines/**/*.yaml")
        for pattern in (o.build + "/bin/pto-*", o.build + "/lib/**/*.so", *scripts):
            for path in filter(os.path.isfile, sorted(glob.glob(pattern, recursive=True))):
                with open(path, "rb") as f:
                    digest.update(f.read())
        self.head = digest.hexdigest()
        os.makedirs(kept, exist_ok=True)

    def of(self, what, compute):
        """The result of that name, computed where it is not kept. NotKept: where it is not to be."""
        if self.kept is None:
            return compute()
        path = os.path.join(self.kept, hashlib.sha256(f"{self.head} {what}".encode()).hexdigest()[:32])
        if os.path.exists(path):
            with open(path, "rb") as f:
                return pickle.load(f)
        if self.only_kept:
            raise NotKept
        result = compute()
        with open(path + ".new", "wb") as f:
            pickle.dump(result, f)
        os.replace(path + ".new", path)
        return result


class Bench:
    run, must, failed, here = staticmethod(run), staticmethod(must), Failed, here

    def __init__(self, options, results, folder, machine, assembler):
        self.o, self.results, self.machine, self.assembler = options, results, machine or MACHINE, assembler
        self.folder = os.path.join(folder, self.machine)
        self.tools = os.path.join(options.build, "bin")
        self.on_machine = [f"--machine={self.machine}"]
        self.pipeline = ["--pipeline=ascend.yaml", *self.on_machine]

    def arch(self):
        with open(os.path.join(root, "pipelines/machines", self.machine), encoding="utf-8") as f:
            return re.search(r"^arch: (\w+)", f.read(), re.M)[1]

    def emit(self, module, tree, *pipeline):
        must(run(os.path.join(self.tools, "pto-opt"), module, *pipeline, "-o", tree + "/"), "pto-opt")

    def assemble(self, module, tree):
        """Kernels of the tree as the assembler makes them of our text, in place of ours."""
        self.emit(module, tree + "-text", *self.pipeline, "--set=backend.with.generator={ use: pto.emit-ascend, with: { form: assembler } }")
        for ours in glob.glob(tree + "/kernel_*.cpp"):
            name = os.path.basename(ours).removesuffix(".cpp")
            theirs = f"{tree}-text/{name}.cpp"
            must(run(self.assembler, f"{tree}-text/{name}.pto", "-o", theirs, f"--pto-arch={self.arch()}", "--pto-level=level3"), "ptoas")
            with open(ours, encoding="utf-8") as f, open(theirs, encoding="utf-8") as g:
                launch, made = f.read().partition('extern "C" void launch_')[2], g.read().replace('#include "pto/pto-inst.hpp"', "")
            with open(ours, "w", encoding="utf-8") as f:
                types = re.search(r"__global__ AICORE void \w+\((.*?)\)", made)[1].split(", ")
                launch = re.sub(r"PTO_LAUNCH\((\w+, blocks, stream, )(.*)\);",
                                lambda found: f"PTO_LAUNCH({name}::{found[1]}{taken(found[2].split(', '), types)});", launch)
                f.write(f'#include "kernel.h"\n\nnamespace {name}\n{{\n{made}}}\n\nextern "C" void launch_{launch}')

    def configure(self, tree, folder, *settings):
        """A build of a tree for this CPU."""
        must(run("cmake", "-S", tree, "-B", folder, f"-DPTO_ISA={self.o.checkout}", "-DPTO_CPU=ON",
                 "-DCMAKE_CXX_COMPILER=" + self.o.compiler, *settings), "cmake")

    @staticmethod
    def functions(tree):
        with open(tree + "/host.h", encoding="utf-8") as f:
            return re.findall(r"^const char \*(\w+)\(", f.read(), re.M)

    def build(self, module, tree):
        """The tree of a module, built as its README says; the functions that it has. What was there before is not kept."""
        for left in (tree, tree + "-text"):
            shutil.rmtree(left, ignore_errors=True)
        self.emit(module, tree, *self.pipeline)
        if self.assembler:
            self.assemble(module, tree)
        self.configure(tree, tree + "/build", "-DCMAKE_UNITY_BUILD=ON", "-DCMAKE_UNITY_BUILD_BATCH_SIZE=0",
                       "-DPTO_CPU_FLAGS=SHELL:-include " + os.path.join(here, "as_the_chip.hpp"))
        must(run("cmake", "--build", tree + "/build", "-j", str(self.o.jobs)), "compile")
        return self.functions(tree)

    def compare(self, tree, function, count, *words):
        """Elements of `count` outputs compared, and how many differ."""
        result = run(tree + "/build/run", function, *words)
        counts = re.findall(r"(\d+) of (\d+) elements differ", result.stdout)
        if result.returncode not in (0, 1) or len(counts) != count:
            must(result, "run")
            raise Failed("run: it compared nothing")
        return sum(int(n) for _, n in counts), sum(int(n) for n, _ in counts)

    def size(self, case, module, tree, function, inputs, outputs, size, symbols):
        """Elements compared, and how many differ. A run of the case makes its data, and expects its sizes, so that tiles may be
        others than those of the tree: the module is run again by itself."""
        data = os.path.join(self.folder, "data")
        shutil.rmtree(data, ignore_errors=True)
        how = ["--quiet", *self.pipeline, "--set=backend.with.timing=false"]
        must(run(os.path.join(self.tools, "pto-run"), "--case", case, "--size", size, "--data-dir", data, *how), "pto-run")
        results = [f"--out={name}={data}/{name}.sim.npy" for name in outputs]
        given = [f"--in={name}={data}/{file}" for name, file in inputs.items()] + [f"--sym={name}={n}" for name, n in symbols]
        must(run(os.path.join(self.tools, "pto-run"), module, *how, *given, *results), "pto-run")
        words = [f"{name}={data}/{file}" for name, file in inputs.items()]
        words += [f"{name}={data}/{name}.sim.npy" for name in outputs]
        return self.compare(tree, function, len(outputs), *words)

    def case(self, name, sizes):
        """A row for each size: elements, how many differ, what went wrong."""
        case = os.path.join(root, "examples", name)
        tree = os.path.join(self.folder, name.replace("/", "-").removesuffix(".yaml"))
        try:
            module, inputs, outputs, values = read_case(case)
            module = os.path.join(os.path.dirname(case), module)
            function = self.build(module, tree)[0]
        except Failed as wrong:
            return [(size, 0, 0, str(wrong)) for size in sizes]
        rows = []
        for size in sizes:
            try:
                rows.append((size, *self.size(case, module, tree, function, inputs, outputs, size, values[size]), ""))
            except Failed as wrong:
                rows.append((size, 0, 0, str(wrong)))
        return rows


def state(elements, differ, wrong):
    return f"{elements} elements, " + (wrong or ("equal" if differ == 0 else f"{differ} differ"))


def refused_text(wrong, refused):
    """Whether a program has no text for the assembler, or that does not take it or writes what is not C++: counted by what is said."""
    said = re.match(r"(ptoas|pto-opt|compile): (?:.*?error: )?(.*)", wrong)
    if said:
        why = said[1].replace("compile", "its C++") + ": " + re.sub(r" \[@.*|%\w+", "", said[2])
        refused[why] = refused.get(why, 0) + 1
    return said is not None


def random_rows(word, bench):
    """Rows of random programs, and refusals by what is said."""
    import random_cases
    first, count = (int(n) for n in word.partition("@")[0].split(":")[-2:])
    trees = random_cases.trees_of(bench, f"{bench.folder}/random-{first}")

    def some(seed):
        refused = {}
        found = list(random_cases.cases(seed, min(random_cases.TOGETHER, first + count - seed), trees, refused))
        if bench.assembler:
            found = [row for row in found if not refused_text(row[3], refused)]
        for name, *what in found:
            print(f"{name}: {state(*what)}", flush=True)
        return found, refused

    rows, refused = [], {}
    for seed in range(first, first + count, random_cases.TOGETHER):
        try:
            found, others = bench.results.of(f"{word}, from {seed}", lambda seed=seed: some(seed))
        except NotKept:
            continue
        rows += found
        for why, n in others.items():
            refused[why] = refused.get(why, 0) + n
    for why, n in sorted(refused.items(), key=lambda one: -one[1]):
        print(f"refused {n}: {why}")
    return rows, refused


def instruction_results(word, bench):
    """What was seen of each instruction, and how many pairs of one and a type are right and wrong."""
    import instructions
    pattern = word.partition("@")[0].partition(":")[2] or "*"
    results, trees = {}, instructions.trees_of(bench, bench.folder + "/instructions")
    for name in instructions.chosen_of(pattern):
        with contextlib.suppress(NotKept):
            results |= bench.results.of(f"instruction {name} on {bench.machine}", lambda name=name: instructions.run(name, trees))
    equal, differ, wrong = instructions.counted(results, instructions.explained())
    for text in wrong:
        print(text)
    print(f"instructions: {equal} equal, {differ} differ as is said, {len(wrong)} wrong", flush=True)
    return results, equal + differ, len(wrong)


def planted_rows(bench):
    """How many faults the CPU mode does not see and does, and the section of the page."""
    import planted_cases
    rows = bench.results.of("planted", lambda: list(planted_cases.cases(bench, bench.folder + "/planted")))
    for what, code, *rest in rows:
        print(f"{what}: {state(*rest)}; {code}", flush=True)
    passed = sum(1 for row in rows if row[3] == 0 and not row[4])
    return passed, len(rows) - passed, lambda f: planted_cases.write(f, rows)


def cycle_rows(bench):
    """How many cycles are near those of the vendor's model, and the section of the page; none is wrong."""
    import cycles
    rows = bench.results.of(f"cycles on {bench.machine}", lambda: cycles.measured(bench, bench.folder + "/cycles"))
    near = cycles.near(rows)
    print(f"cycles: {near} of {len(rows)} within a quarter", flush=True)
    return near, 0, lambda f: cycles.write(f, rows, bench.machine)


def version_of(checkout):
    """The commit of a checkout; of a tree without one a word that says so."""
    result = run("git", "-C", checkout, "log", "-1", "--format=%h %cs")
    top = run("git", "-C", checkout, "rev-parse", "--show-toplevel").stdout.strip()
    if result.returncode != 0 or not os.path.samefile(top or "/", checkout):
        return "without history"
    return result.stdout.strip()


def write_random(f, word, rows, refused, machine):
    *_, seed, count = word.partition("@")[0].split(":")
    right = sum(1 for row in rows if row[2] == 0 and not row[3])
    how = ", as the assembler makes them" if word.startswith("assembled") else ""
    f.write(f"\n## Random programs{how}: {machine}\n\nSeeds {seed} to {int(seed) + int(count) - 1} of `tests/fuzz/programs`: {right} of {len(rows)} "
            f"programs equal bit by bit,\n{sum(refused.values())} refused.\n\n| Refused | What is said |\n|---|---|\n")
    f.writelines(f"| {n} | {why} |\n" for why, n in sorted(refused.items(), key=lambda one: -one[1]))
    others = [row for row in rows if row[2] or row[3]]
    if others:
        f.write("\n| Program | Elements | Differ |\n|---|---|---|\n")
    f.writelines(f"| {name} | {elements} | {wrong or differ} |\n" for name, elements, differ, wrong in others)


def assembled_rows(word, cases, bench_of):
    """Of cases as the assembler makes them: how many runs are equal and not, and the section of the page."""
    results = {}
    for name, *sizes in cases:
        if word.partition(":")[2] in name:
            bench = bench_of("assembled:" + name)
            with contextlib.suppress(NotKept):
                results[name] = run_case(name, sizes, bench)
    rows = [(name, *row) for name, found in results.items() for row in found]
    others = [row for row in rows if row[3] or row[4]]

    def write(f):
        f.write(f"\n## Kernels as the assembler makes them\n\nOf the text that `pto.emit-ascend` writes for it, with addresses and flags, by `ptoas`: "
                f"{len(rows) - len(others)} of {len(rows)} runs of\nthe cases above are equal bit by bit.\n")
        if others:
            f.write("\n| Case | Size | Elements | Differ |\n|---|---|---|---|\n")
        f.writelines(f"| {name} | {size} | {elements} | {wrong or differ} |\n" for name, size, elements, differ, wrong in others)

    return len(rows) - len(others), len(others), write


def write_page(path, version, compiler, cases, results, parts):
    """`cases`: all that were asked for. `parts`: functions that write a section each."""
    right = sum(1 for rows in results.values() for row in rows if row[2] == 0 and not row[3])
    total = sum(len(rows) for rows in results.values())
    left = sum(len(sizes) for name, *sizes in cases if name not in results)
    absent = f" {left} more\nof {len(cases) - len(results)} cases were not run." if left else ""
    with open(path, "w", encoding="utf-8") as f:
        f.write("# Agreement with the vendor's library\n\n"
                "Written by `./dev vendor CHECKOUT --page=docs/vendor.md yaml random:SEED:COUNT instructions planted cycles`:\n"
                "cases of `tests/vendor/cases.txt` as `pto.emit-ascend` writes them, compiled with the CPU mode of the vendor's headers\n"
                "and compared with `cpu-sim`.\n\n"
                f"Headers: PTO ISA {version}. Compiler: {compiler}. Equal bit by bit: {right} of {total} runs.{absent}\n\n"
                "| Case | Machine | Size | Elements | Differ |\n|---|---|---|---|---|\n")
        for case, rows in results.items():
            name, _, machine = case.partition("@")
            for size, elements, differ, wrong in rows:
                f.write(f"| {name} | {machine or MACHINE} | {size} | {elements} | {wrong or differ} |\n")
        f.write("\n## Where the CPU mode does something else\n\n"
                "| Instruction | The CPU mode | Right | Source | Compared |\n|---|---|---|---|---|\n")
        with open(os.path.join(here, "divergences.txt"), encoding="utf-8") as rows:
            f.writelines(f"| {row.strip()} |\n" for row in rows if not row.startswith("#"))
        for part in parts:
            part(f)


def run_case(case, sizes, bench):
    rows = bench.results.of(" ".join([case, *sizes, "assembled" if bench.assembler else ""]), lambda: bench.case(case.partition("@")[0], sizes))
    for size, *what in rows:
        print(f"{case} {size}: {state(*what)}", flush=True)
    return rows


def run_other(word, cases, bench_of):
    """Of random programs or instructions: how many are right and wrong, and what writes their section of the page."""
    if re.match(r"assembled:(?!random:)", word):
        return assembled_rows(word, cases, bench_of)
    bench = bench_of(word)
    if "random:" in word:
        rows, refused = random_rows(word, bench)
        right = sum(1 for row in rows if row[2] == 0 and not row[3])
        return right, len(rows) - right, lambda f: write_random(f, word, rows, refused, bench.machine)
    if word.startswith("planted"):
        return planted_rows(bench)
    if word.startswith("cycles"):
        return cycle_rows(bench)
    import instructions
    results, right, wrong = instruction_results(word, bench)
    return right, wrong, lambda f: instructions.write(f, results, bench.machine, word.partition("@")[0].partition(":")[2] or "*")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     usage=argparse.SUPPRESS)
    parser.add_argument("build")
    parser.add_argument("checkout")
    parser.add_argument("case", nargs="*", help="part of a name in cases.txt (`yaml` is in all), or what is said above; none: all of cases.txt")
    parser.add_argument("--cases", default=os.path.join(here, "cases.txt"), help="a table like cases.txt")
    parser.add_argument("--compiler", default="clang++-19")
    parser.add_argument("--jobs", default=os.cpu_count(), help="compilers at a time")
    parser.add_argument("--assembler", help="the program `ptoas`, for what begins with `assembled:`")
    parser.add_argument("--keep", help="a folder where the trees stay")
    parser.add_argument("--only-kept", action="store_true", help="with --results: runs nothing, and leaves out what is not kept")
    parser.add_argument("--results", help="a folder where results are kept: a run that was ended goes on from them")
    parser.add_argument("--page", help="the results as a page, docs/vendor.md")
    o = parser.parse_intermixed_args()
    o.checkout, o.build = os.path.abspath(o.checkout), os.path.abspath(o.build)
    if not os.path.exists(o.checkout + "/include/pto/pto-inst.hpp"):
        sys.exit(f"vendor.py: {o.checkout} is not a checkout of the vendor's tile library: it has no include/pto")
    with open(o.cases, encoding="utf-8") as f:
        cases = [line.split() for line in f if line.strip() and not line.startswith("#")]
    others = [word for word in o.case if re.fullmatch(r"((assembled:)?random:\d+:\d+|instructions(:[^@]+)?|planted|cycles)(@.+)?|assembled:[^:]+", word)]
    words = [word for word in o.case if word not in others]
    chosen = [c for c in cases if not o.case or any(word in c[0] for word in words)]
    if not chosen and not others:
        sys.exit(f"vendor.py: no line of {o.cases} has {' or '.join(words)} in its name; of other form are random:SEED:COUNT, "
                 "instructions[:PATTERN], planted, cycles and assembled:PATTERN")
    if any(word.startswith("assembled:") for word in others) and not os.access(o.assembler or "", os.X_OK):
        sys.exit("vendor.py: `assembled:` needs --assembler=PTOAS, the program `ptoas`")
    results, parts, passed, failed, kept = {}, [], 0, 0, Results(o.results, o)
    with tempfile.TemporaryDirectory(prefix="pto-vendor-") as folder:
        def bench_of(word):
            is_assembled = word.startswith("assembled:")
            bench = Bench(o, kept, os.path.join(os.path.abspath(o.keep or folder), "assembled" * is_assembled), word.partition("@")[2],
                          os.path.abspath(o.assembler) if is_assembled else None)
            os.makedirs(bench.folder, exist_ok=True)
            return bench

        for name, *sizes in chosen:
            try:
                results[name] = run_case(name, sizes, bench_of(name))
            except NotKept:
                continue
            right = sum(1 for row in results[name] if row[2] == 0 and not row[3])
            passed, failed = passed + right, failed + len(results[name]) - right
        for word in others:
            try:
                right, wrong, part = run_other(word, cases, bench_of)
            except NotKept:
                continue
            passed, failed, parts = passed + right, failed + wrong, [*parts, part]
    if o.page:
        compiler = run(o.compiler, "--version").stdout.splitlines()[0]
        write_page(o.page, version_of(o.checkout), re.sub(r" \(.*", "", compiler), chosen, results, parts)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


main()
