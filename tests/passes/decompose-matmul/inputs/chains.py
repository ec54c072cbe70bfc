"""Chains of ops after a product, run on both pipelines and against numpy; the lists of chains are in the tests.

python3 chains.py SEED FORMS.py [PIPELINE]   FORMS.py is a list of
    (type of the operands, of the product, of the bias, m, n, k, batch, ops, is_faster)

An op is `add` of the bias, `wide add` of the bias cast first, `mul NUMBER`, `mul columns TYPE` and `mul one TYPE` by a
parameter that is cast to f32 where it is not, `relu`, `cast TYPE` or `cast TYPE saturate`. The bits must be those of the
ops apart, which a schedule has, all results near numpy's, and the cycles fewer where the form says so."""

import subprocess
import sys

import numpy as np

NUMPY = {"f16": np.float16, "f32": np.float32, "i8": np.int8, "u8": np.uint8, "i32": np.int32}
SCHEDULE = 'pto-schedule: 1\ndecisions:\n  - { at: "@f/p", decide: epilogue, value: apart, pinned: true }\n'


def draw(rng, shape, t):
    if t == "i8":
        return rng.integers(-128, 128, shape).astype(np.int8)
    return (2 * rng.standard_normal(shape)).astype(NUMPY[t])


class Chain:
    """The text of a function, and numpy's result in f64 step by step."""

    def __init__(self, rng, form, has_symbol):
        self.t, self.sums, bias, self.m, self.n, self.k, self.batch, self.ops, self.is_faster = form
        self.rng, self.has_symbol = rng, has_symbol
        shapes = {"a": self.batch + [self.m, self.k], "b": self.batch + [self.k, self.n], "c": [self.n]}
        self.types = {"a": self.t, "b": self.t, "c": bias}
        self.inputs = {name: draw(rng, shape, self.types[name]) for name, shape in shapes.items()}
        if self.n > 8:
            self.inputs["c"][:4] = [np.inf, -np.inf, np.nan, -0.0]
        self.constants, self.lines, self.now = [], [], self.sums
        self.want = self.inputs["a"].astype(np.float64) @ self.inputs["b"].astype(np.float64)
        result = self.batch + [self.m, self.n]
        self.lines.append(f"  %p = tensor.matmul %a, %b {{out = {self.sums}}} : {self.tensor(result, self.sums)}")
        name = "%p"
        for i, op in enumerate(self.ops):
            with np.errstate(all="ignore"):
                args, attributes = self.step(op.split(), name)
            name = "%y" if i + 1 == len(self.ops) else f"%r{i}"
            self.lines.append(f"  {name} = tensor.{args}{attributes} : {self.tensor(result, self.now)}")
        parameters = ", ".join(f"%{x}: {self.tensor(list(v.shape), self.types[x])}" for x, v in self.inputs.items())
        body = "\n".join(self.constants + self.lines)
        self.text = f"func @f({parameters}) -> {self.tensor(result, self.now)} {{\n{body}\n  return %y\n}}\n"

    def tensor(self, shape, dtype):
        dims = [f"{'$M' if self.has_symbol and e == self.m and e > 16 else e} x " for e in shape]
        return "tensor<" + "".join(dims) + dtype + ">"

    def widened(self, name, shape, dtype):
        if dtype == "f32":
            return f"%{name}"
        self.lines.append(f"  %w{name} = tensor.cast %{name} : {self.tensor(shape, 'f32')}")
        return f"%w{name}"

    def step(self, words, name):
        word, *rest = words
        if word == "wide":
            self.want = self.want + self.inputs["c"].astype(np.float64)
            return f"add {self.widened('c', [self.n], self.types['c'])}, {name}", ""
        if word == "add":
            self.want = self.want + self.inputs["c"].astype(np.float64)
            return f"add {name}, %c", ""
        if word == "mul" and len(rest) == 2:
            shape = [self.n] if rest[0] == "columns" else []
            factors = (0.02 * self.rng.standard_normal(shape)).astype(NUMPY[rest[1]])
            self.inputs["s"], self.types["s"] = np.asarray(factors), rest[1]
            self.want = self.want * factors.astype(np.float64)
            return f"mul {name}, {self.widened('s', shape, rest[1])}", ""
        if word == "mul":
            self.constants.append(f"  %s = tensor.constant {{value = {rest[0]}}} : tensor<f32>")
            self.want = self.want * np.float64(np.float32(rest[0]))
            return f"mul %s, {name}", ""
        if word == "relu":
            self.want = np.where(self.want < 0, 0, self.want)
            return f"relu {name}", ""
        self.now = rest[0]
        if len(rest) == 1:
            return f"cast {name}", ""
        info = np.iinfo(NUMPY[self.now])
        self.want = np.where(np.isnan(self.want), 0, np.clip(np.rint(self.want), info.min, info.max))
        return f"cast {name}", " {saturate = true}"

    def run(self, *options):
        command = ["pto-run", "f.ptir", "--out", "y=y.npy", *options]
        for name in self.inputs:
            command += ["--in", f"{name}={name}.npy"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{self.text}{options} {done.stdout} {done.stderr}")
        return np.load("y.npy"), done.stdout

    def is_near(self, y):
        is_half = self.now == "f16"
        want = np.where(np.abs(self.want) > 65504, np.copysign(np.inf, self.want), self.want) if is_half else self.want
        is_whole = self.now in ("i8", "u8")
        bound = {"rtol": 0, "atol": 1} if is_whole else {"rtol": 2e-3, "atol": 2e-3}
        return np.allclose(y.astype(np.float64), want, equal_nan=True, **bound)

    def check(self, pipeline):
        with open("f.ptir", "w", encoding="utf-8") as file:
            file.write(self.text)
        for name, array in self.inputs.items():
            np.save(f"{name}.npy", array)
        own, apart = ["--pipeline=" + pipeline], "--schedule=apart.yaml"
        results = [self.run(*own), self.run(*own, apart), self.run("--pipeline=reference.yaml")]
        cycles = [int(said.split("cycles: ")[1].split()[0]) for _, said in results[:2]]
        is_same = results[0][0].tobytes() == results[1][0].tobytes()
        is_near = all(self.is_near(y) for y, _ in results)
        if is_same and is_near and (not self.is_faster or cycles[0] < cycles[1]):
            return True
        print(self.text, "same bits:", is_same, "near:", is_near, "cycles:", cycles)
        return False


def main():
    seed, path, *pipeline = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        forms = eval(file.read())  # pylint: disable=eval-used
    with open("apart.yaml", "w", encoding="utf-8") as file:
        file.write(SCHEDULE)
    rng = np.random.default_rng(int(seed))
    passed = [Chain(rng, form, symbol).check(*pipeline or ["default.yaml"]) for form in forms for symbol in (False, True)]
    sys.exit(0 if passed and all(passed) else 1)


main()
