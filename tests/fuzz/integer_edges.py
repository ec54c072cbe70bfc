"""Integer ops on all values of 8 bits, and on edges and random values of wider types, against Python's integers.

    integer_edges.py [--bin DIR] [--keep DIR]

Each op runs on both pipelines: as `a op b` of equal shapes, and with a `b` that is repeated along columns. By 0 the machine's quotients and
rests are all bits, and the reference refuses. Ends with 1 and what is wrong."""
import argparse
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
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


DIVIDES = {"div": quotient, "fmod": lambda a, b: a - b * quotient(a, b), "mod": operator.mod, "floordiv": operator.floordiv}
SHIFTS = {"shl": operator.lshift, "shr": operator.rshift}
BINARY = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "maximum": max, "minimum": min, "eq": operator.eq, "lt": operator.lt,
    "bitwise_and": operator.and_, "bitwise_xor": operator.xor, **SHIFTS, **DIVIDES,
}
TRUTH = ("eq", "lt")


class Type:
    def __init__(self, name):
        self.name, self.bits, self.is_signed = name, int(name[1:]), name[0] == "i"
        self.numpy = np.dtype(("int" if self.is_signed else "uint") + name[1:])
        self.low = -(1 << self.bits - 1) if self.is_signed else 0

    def wrapped(self, x):
        return (x - self.low) % (1 << self.bits) + self.low

    def pairs(self, op):
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
        if op in SHIFTS:
            pairs = [(a, b % (self.bits + 3)) for a, b in pairs]
        return pairs


def want(t, op, a, b):
    if op in DIVIDES and b == 0:
        return t.wrapped(-1)
    x = BINARY[op](a, b)
    return x if op in TRUTH else t.wrapped(x)


class Runner:
    def __init__(self, folder, tool):
        self.folder, self.tool = folder, tool
        self.runs = self.wrong = 0

    def check(self, t, op, repeats, pipeline):
        pairs = t.pairs(op)
        if pipeline == "reference":
            pairs = [p for p in pairs if p[1] != 0 or op not in DIVIDES]
        if repeats:
            pairs = pairs[:len(pairs) // COLUMNS * COLUMNS]
            pairs = [(a, pairs[k // COLUMNS * COLUMNS][1]) for k, (a, _) in enumerate(pairs)]
        rows = (-1, COLUMNS) if repeats else (-1,)
        a = np.array([a for a, _ in pairs], dtype=t.numpy).reshape(rows)
        b = np.array([b for _, b in pairs], dtype=t.numpy).reshape(rows)
        right = np.array([want(t, op, *p) for p in pairs], dtype=bool if op in TRUTH else t.numpy).reshape(rows)
        shape = f"$N x {COLUMNS}" if repeats else "$N"
        result = f"tensor<{shape} x {'bool' if op in TRUTH else t.name}>"
        operand = f"tensor<$N x 1 x {t.name}>" if repeats else f"tensor<$N x {t.name}>"
        path = lambda name: os.path.join(self.folder, name)  # noqa: E731
        with open(path("f.ptir"), "w", encoding="ascii") as f:
            f.write(f"func @f(%a: tensor<{shape} x {t.name}>, %b: {operand}) -> {result} {{\n  %y = tensor.{op} %a, %b : {result}\n  return %y\n}}\n")
        np.save(path("a.npy"), a)
        np.save(path("b.npy"), b[:, :1] if repeats else b)
        done = subprocess.run([self.tool, path("f.ptir"), f"--pipeline={ROOT}/pipelines/{pipeline}.yaml", f"--sym=N={len(a)}",
                               f"--in=a={path('a.npy')}", f"--in=b={path('b.npy')}", f"--out=y={path('y.npy')}"], capture_output=True, text=True)
        self.runs += 1
        what = done.stderr[:400]
        if done.returncode == 0:
            y = np.load(path("y.npy"))
            bad = np.argwhere(y != right)
            if y.shape == right.shape and len(bad) == 0:
                return
            at = tuple(bad[0])
            what = f"{len(bad)} of {right.size}, first {op} {a[at]} {b[at]}: {y[at]}, not {right[at]}"
        self.wrong += 1
        print(f"WRONG {op} {t.name} {'repeated ' if repeats else ''}{pipeline}: {what}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", default="")
    parser.add_argument("--keep", default="")
    arguments = parser.parse_args()
    r = Runner(arguments.keep or tempfile.mkdtemp(), os.path.join(arguments.bin, "pto-run"))
    for name, op, repeats, pipeline in itertools.product(TYPES, BINARY, (False, True), ("reference", "default")):
        r.check(Type(name), op, repeats, pipeline)
    print(f"{r.runs} runs, {r.wrong} wrong")
    return r.wrong != 0


if __name__ == "__main__":
    sys.exit(main())
