"""Integer ops on all values of 8 bits, and on edges and random values of wider types, against Python's integers; of 8 and
16 bits against numpy's of 64, which hold all results.

    integer_edges.py [--bin DIR] [--share N] [--keep DIR]

Each op runs on both pipelines: as `a op b` of equal shapes, and with a `b` that is repeated along columns. Ops that take the same operands are
one function, since a process costs more than an op. By 0 the machine's quotients and rests are all bits, and the reference refuses. Ends with 1
and what is wrong."""
import argparse
import functools
import itertools
import operator
import os
import random
import subprocess
import sys
import tempfile

import numpy as np

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
TYPES = [f"{sign}{bits}" for bits in (8, 16, 32, 64) for sign in "iu"]
COLUMNS = 4  # of a row whose elements have one b


def quotient(a, b):
    return abs(a) // abs(b) * np.where((a < 0) == (b < 0), 1, -1)


DIVIDES = {"div": quotient, "fmod": lambda a, b: a - b * quotient(a, b), "mod": operator.mod, "floordiv": operator.floordiv}
SHIFTS = {"shl": operator.lshift, "shr": operator.rshift}
BINARY = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "maximum": np.maximum, "minimum": np.minimum, "eq": operator.eq, "lt": operator.lt,
    "bitwise_and": operator.and_, "bitwise_xor": operator.xor, **SHIFTS, **DIVIDES,
}
TRUTH = ("eq", "lt")
GROUPS = [[op for op in BINARY if op not in SHIFTS and op not in DIVIDES], list(SHIFTS), list(DIVIDES)]


class Type:
    def __init__(self, name):
        self.name, self.bits, self.is_signed = name, int(name[1:]), name[0] == "i"
        self.numpy = np.dtype(("int" if self.is_signed else "uint") + name[1:])
        self.low = -(1 << self.bits - 1) if self.is_signed else 0
        self.computed = np.int64 if self.bits <= 16 else object  # by these; of Python's integers there is no largest

    def wrapped(self, x):
        return (x - self.low) % (1 << self.bits) + self.low

    @functools.cache
    def pairs(self, shifts):
        """Of operands; shifts go by 0 and more."""
        if self.bits == 8:
            some = range(self.low, self.low + 256)
            pairs = list(itertools.product(some, some))
        else:
            r = random.Random(self.name)
            half = 1 << self.bits // 2
            edges = {self.low, self.low + 1, self.low + half, -half, -7, -2, -1, 0, 1, 2, 3, 7, 100, half - 1, half, half + 1, 1 << 23, (1 << 24) + 1}
            edges |= {self.wrapped(self.low - 1 - k) for k in (0, 1, half)} | {self.wrapped(1 << self.bits - 1), (1 << self.bits - 2) + 1}
            edges = sorted(e for e in edges if self.wrapped(e) == e)
            pairs = list(itertools.product(edges, edges))
            pairs += [tuple(self.wrapped(r.getrandbits(self.bits)) >> r.randrange(self.bits) for _ in "ab") for _ in range(1000)]
        if shifts:
            pairs = [(a, b % (self.bits + 3)) for a, b in pairs]
        return np.array(pairs, dtype=self.computed)

    @functools.cache
    def wants(self, op, operands):
        a, b = operands.a, operands.b
        by_zero = op in DIVIDES and b == 0
        x = BINARY[op](a, np.where(by_zero, 1, b))
        if op in TRUTH:
            return x.astype(bool).reshape(-1, COLUMNS)
        return np.where(by_zero, self.wrapped(-1), self.wrapped(x)).astype(self.numpy).reshape(-1, COLUMNS)


class Operands:
    """Pairs, which are known by this object."""

    def __init__(self, a, b):
        self.a, self.b = a, b


@functools.cache
def operands(t, shifts, by_zero):
    """The pairs of a type, and as many whose b is repeated along columns."""
    pairs = t.pairs(shifts)
    if not by_zero:
        pairs = pairs[pairs[:, 1] != 0]
    a, b = pairs[:len(pairs) // COLUMNS * COLUMNS].T
    return Operands(a, b), Operands(a, np.repeat(b[::COLUMNS], COLUMNS))


class Runner:
    def __init__(self, folder, tool):
        self.folder, self.tool = folder, tool
        self.runs = self.forms = self.wrong = 0

    def check(self, t, ops, pipeline):
        equal, repeated = operands(t, ops[0] in SHIFTS, pipeline != "reference" or ops[0] not in DIVIDES)
        arrays = {"a": equal.a, "b": equal.b, "c": repeated.b[::COLUMNS]}
        parameters, files = [], []
        for name, values in arrays.items():
            columns = 1 if name == "c" else COLUMNS
            np.save(self.path(name), values.astype(t.numpy).reshape(-1, columns))
            parameters.append(f"%{name}: tensor<$N x {columns} x {t.name}>")
            files.append(f"--in={name}={self.path(name)}")
        results = [(op, form, f"{op}_{form}") for op in ops for form in "bc"]
        type_of = {op: f"tensor<$N x {COLUMNS} x {'bool' if op in TRUTH else t.name}>" for op in ops}
        lines = [f"func @f({', '.join(parameters)}) -> ({', '.join(type_of[op] for op, _, _ in results)}) {{"]
        lines += [f"  %{name} = tensor.{op} %a, %{form} : {type_of[op]}" for op, form, name in results]
        lines += [f"  return {', '.join('%' + name for _, _, name in results)}", "}"]
        with open(self.path("f.ptir"), "w", encoding="ascii") as f:
            f.write("\n".join(lines) + "\n")
        files += [f"--out={name}={self.path(name)}" for _, _, name in results]
        done = subprocess.run([self.tool, os.path.join(self.folder, "f.ptir"), f"--pipeline={ROOT}/pipelines/{pipeline}.yaml",
                               f"--sym=N={len(equal.a) // COLUMNS}", *files], capture_output=True, text=True)
        self.runs += 1
        if done.returncode != 0:
            self.complain(f"{ops} {t.name} {pipeline}: {done.stderr[:400]}")
            return
        for op, form, name in results:
            self.compare(t, op, form, np.load(self.path(name)), equal if form == "b" else repeated, pipeline)

    def compare(self, t, op, form, got, given, pipeline):
        self.forms += 1
        right = t.wants(op, given)
        bad = np.argwhere(got != right) if got.shape == right.shape else [(0, 0)]
        if len(bad) > 0:
            row, column = bad[0]
            a, b = given.a[row * COLUMNS + column], given.b[row * COLUMNS + column]
            self.complain(f"{op} {t.name} {'repeated ' if form == 'c' else ''}{pipeline}: {len(bad)} of {right.size}, first {op} {a} {b}: "
                          f"{got.flat[row * COLUMNS + column]}, not {right[row, column]}")

    def path(self, name):
        return os.path.join(self.folder, name + ("" if "." in name else ".npy"))

    def complain(self, what):
        self.wrong += 1
        print(f"WRONG {what}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", default="")
    parser.add_argument("--keep", default="")
    parser.add_argument("--share", type=int, default=1, help="every N-th run alone")
    arguments = parser.parse_args()
    r = Runner(arguments.keep or tempfile.mkdtemp(), os.path.join(arguments.bin, "pto-run"))
    runs = itertools.product([Type(name) for name in TYPES], GROUPS, ("reference", "default"))
    for t, ops, pipeline in itertools.islice(runs, 0, None, arguments.share):
        r.check(t, ops, pipeline)
    print(f"{r.forms} forms in {r.runs} runs, {r.wrong} wrong")
    return r.wrong != 0


if __name__ == "__main__":
    sys.exit(main())
