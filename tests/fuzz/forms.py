"""Forms of tensor programs against numpy, on the reference and on the simulator.

    forms.py [--bin DIR] [--groups LIST] [--only PATTERN] [--sizes N] [--empty] [--stages] [--set K=V] [--keep DIR]
    forms.py [--bin DIR] --random N [--seed N] [--seconds N] [--opset FILE] [--stages] [--set K=V] [--keep DIR]

A form is a short program with what numpy makes of it in float64 (Python-exact for integers), at several sizes. Each runs with its
extents as numbers and as symbols:

  - pipelines/reference.yaml and pipelines/default.yaml compute what numpy computes, within the bound of the form (0: the same);
  - the reference computes the bits of the simulator on the final IR;
  - with --stages, at each step N of the default pipeline: what --until=N prints parses back to the same text, --from=N+1 ends in the
    final IR of the whole run, and the reference runs the module as it is then.

--random N adds programs of random broadcasts, reductions, transposes, windows, constants, loops and branches; with --opset, the plugin that
`pto-plugin new opset acme.opset` makes, of its op, too. They follow from the seed alone. Ends with 1 and the program when something does not hold."""

import argparse
import itertools
import os
import random
import re
import subprocess
import sys
import tempfile
import time

import numpy as np

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "tests", "kernels"))
sys.dont_write_bytecode = True  # the tree may be read-only, and stays as it is
import elements  # noqa: E402
import index_ops as by_index  # noqa: E402
import moves as movements  # noqa: E402
import numpy_ops  # noqa: E402
import single_ops as single  # noqa: E402

STEPS = None  # of the default pipeline
REFUSALS = r"pto-run .*default.yaml.*: status 5\n.*\[pto.(legalize-types/no-(exact-way|conversion|product)|expand-math/no-type|select/no-instruction)\]"


class Wrong(Exception):
    pass


# ---- arrays ----

def stored(dtype, values):
    """Values as pto-run reads them: bf16 as 16-bit patterns."""
    if dtype == "bf16":
        bits = np.asarray(values, np.float32).view(np.uint32)
        nan = (bits & 0x7FFFFFFF) > 0x7F800000
        rounded = (bits.astype(np.uint64) + 0x7FFF + ((bits >> 16) & 1)) >> 16
        return np.where(nan, (bits >> 16) | 0x40, rounded).astype(np.uint16)
    if dtype == "bool":
        return np.asarray(values).astype(np.bool_)
    return np.asarray(values).astype({"f32": np.float32, "f16": np.float16}.get(dtype) or elements.int_type(dtype))


def wide(dtype, array):
    """The float64 or integer values of what pto-run reads and writes."""
    if dtype == "bf16":
        return (array.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return array.astype(np.float64) if dtype in ("f32", "f16") else array


def fill(rng, dtype, shape, kind):
    if dtype in ("f32", "f16", "bf16"):
        values = rng.standard_normal(shape) * (3.0 if kind != "positive" else 1.0)
        if kind == "positive":
            values = np.abs(values) + 0.25
        if kind == "special" and values.size:
            flat = values.reshape(-1)
            for value in (np.nan, np.inf, -np.inf, -0.0):
                flat[rng.integers(flat.size)] = value
        return stored(dtype, values)
    if dtype == "bool":
        return stored(dtype, rng.integers(0, 2, shape))
    lo, hi = elements.limits(dtype)
    if kind == "extreme":
        return rng.integers(lo, hi, shape, dtype=elements.int_type(dtype), endpoint=True)
    return rng.integers(max(lo, -100), min(hi, 100), shape, dtype=elements.int_type(dtype), endpoint=True)


# ---- programs ----

class Form:
    """`text` writes types as <A + 1 x 4 x f32>, with extents that `sizes` name, and $A elsewhere; `inputs` and `outputs` are such types by name.
    `fill` is what inputs hold. `bound`: |got - want| <= bound * (1 + |want|). `prepare` makes an input, of which `want` then gets the
    bits, and has bits: those of the results must be the same, except for NaN, or `near(got, want)`. With `may_be_refused`, the default
    pipeline may say that the machine has no exact way."""

    def __init__(self, name, inputs, outputs, text, want, sizes, bound=0.0, fill="normal", prepare=None):
        self.name, self.inputs, self.outputs, self.text, self.want = name, inputs, outputs, text, want
        self.sizes, self.bound, self.fill, self.prepare = sizes, bound, fill, prepare
        self.exact_bits = prepare is not None
        self.near, self.may_be_refused = None, False
        self.legal = {}  # inputs that hold indices, each with the dim that they are for

    def module(self, size, symbolic):
        def type_of(match):
            dims = [extent(d) for d in match[1].split(" x ")[:-1]]
            return "tensor<" + " x ".join(dims + match[1].split(" x ")[-1:]) + ">"

        def extent(dim):
            return re.sub("[A-Z]", lambda m: "$" + m[0] if symbolic else str(size[m[0]]), dim)

        def put(text):
            return re.sub(r"<([A-Z0-9][^<>]* x \w+|f32|f16|bf16|[iu]\d+|bool)>", type_of, text)

        text = self.text if symbolic else re.sub(r"\$([A-Z])", lambda m: str(size[m[1]]), self.text)
        body = "\n".join("  " + line.strip() for line in text.strip().splitlines())
        inputs = ", ".join(f"%{n}: {t}" for n, t in self.inputs.items())
        outputs = ", ".join(self.outputs.values())
        returned = ", ".join("%" + n for n in self.outputs)
        return put(f"func @f({inputs}) -> ({outputs}) {{\n{body}\n  return {returned}\n}}\n")

    @staticmethod
    def split(type_text, size):
        parts = type_text.strip("<>").split(" x ")
        return [eval(d, {}, size) for d in parts[:-1]], parts[-1]


class Tools:
    def __init__(self, programs, folder, settings, opset=""):
        self.bin, self.folder = programs, folder
        self.default = [pipeline("default"), *[f"--set={s}" for s in settings]]
        self.plugins, self.decompose = [], ""
        if opset:
            self.plugins, self.decompose = [f"--plugin={os.path.abspath(opset)}"], "decompose-squared-distance"
            self.default.append(f"--insert-before=canonicalize=acme.{self.decompose}")
        os.makedirs(folder, exist_ok=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self, tool, *arguments):
        program = os.path.join(self.bin, tool) if self.bin else tool
        r = subprocess.run([program, *arguments, *self.plugins], capture_output=True, text=True, timeout=300, cwd=self.folder)
        if r.returncode:
            raise Wrong(f"{tool} {' '.join(arguments)}: status {r.returncode}\n{r.stderr[:2000]}")
        return r.stdout

    def run_module(self, module, tag, outputs, *arguments):
        """Runs a module as it is; its outputs may have got other names on the way, in the same order."""
        files = [self.path(f"{tag}.{n}.npy") for n in outputs]
        try:
            self.run("pto-run", module, "--backend=pto.reference", *arguments, *[f"--out={n}={f}" for n, f in zip(outputs, files)])
        except Wrong as e:
            if "[E1605]" not in str(e):
                raise
            names = re.findall(r"note: output `(.*?)`", str(e))
            self.run("pto-run", module, "--backend=pto.reference", *arguments, *[f"--out={n}={f}" for n, f in zip(names, files)])

    def write(self, name, text):
        with open(self.path(name), "w") as f:
            f.write(text)
        return self.path(name)

    def read(self, name):
        with open(self.path(name)) as f:
            return f.read()


def pipeline(name):
    return "--pipeline=" + os.path.join(ROOT, "pipelines", name + ".yaml")


def compare(form, size, what, arrays, tools, tag):
    for name, type_text in form.outputs.items():
        shape, dtype = form.split(type_text, size)
        got = np.load(tools.path(f"{tag}.{name}.npy"))
        if list(got.shape) != shape:
            raise Wrong(f"{what}: shape {got.shape} of {name}, not {shape}")
        if form.near:
            got, want = got.view(elements.bits_type(dtype)), arrays[name]
        elif form.exact_bits:
            got, want = got.view(elements.bits_type(dtype)), np.asarray(arrays[name])
            got, want = elements.canonical(dtype, got), elements.canonical(dtype, want)
        else:
            got, want = wide(dtype, got), np.asarray(arrays[name])
        if form.near:
            with np.errstate(all="ignore"):
                near = form.near(got, want)
        elif form.exact_bits:
            near = got == want
        elif dtype in ("f32", "f16", "bf16"):
            same = (got == want) | (np.isnan(got) & np.isnan(want))
            with np.errstate(invalid="ignore"):
                near = same | (np.isfinite(want) & (np.abs(got - want) <= form.bound * (1 + np.abs(want))))
        else:
            near = got == want
        if np.all(near):
            continue
        at = tuple(np.argwhere(~near)[0])
        want = want[0] if isinstance(want, tuple) else want
        found = f"{got[at]:#x}, {elements.decode(dtype, got)[at]}" if form.exact_bits else got[at]
        raise Wrong(f"{what}: {name}{list(map(int, at))} is {found}, not {want[at]}; {np.sum(~near)} of {near.size} are wrong")


def steps(tools):
    global STEPS
    if STEPS is None:
        with open(os.path.join(ROOT, "pipelines", "default.yaml")) as f:
            text = f.read()
        STEPS = []
        for line in text.split("passes:", 1)[1].splitlines():
            named = re.search(r"\bid: ([\w-]+)", line) or re.match(r"\s+- (?:pass: |\{ pass: )?pto\.([\w-]+)", line)
            if named and line.lstrip().startswith("-"):
                STEPS.append(named[1])
        if tools.decompose:
            STEPS.insert(STEPS.index("canonicalize"), tools.decompose)
    return STEPS


def check_stages(form, size, tools, ins, syms):
    names = steps(tools)
    final = tools.read("final.ptir")
    outs = list(form.outputs)
    for k, step in enumerate(names):
        dump = tools.path("stage.ptir")
        tools.run("pto-opt", tools.path("program.ptir"), *tools.default, f"--until={step}", "-o", dump)
        text = tools.read("stage.ptir")
        if tools.run("pto-opt", dump) != text:
            raise Wrong(f"the module after {step} does not print as it was")
        if k + 1 < len(names):
            tools.run("pto-opt", dump, *tools.default, f"--from={names[k + 1]}", "-o", tools.path("rest.ptir"))
            if tools.read("rest.ptir") != final:
                raise Wrong(f"--until={step} and --from={names[k + 1]} end in another module")
        tools.run_module(dump, "stage", outs, *ins, *syms)
        compare(form, size, f"after {step}", form.arrays, tools, "stage")


def check(form, tools, with_stages):
    """How many runs were right; None: the machine lacks what the form needs, and it was refused for that."""
    count = 0
    for number, size in enumerate(form.sizes):
        rng = np.random.default_rng(number + 1)
        given, ins = {}, []
        for name, type_text in form.inputs.items():
            shape, dtype = form.split(type_text, size)
            array = form.prepare(name, dtype, shape, rng) if form.prepare else fill(rng, dtype, shape, form.fill)
            if name in form.legal:
                array = rng.integers(0, max(size[form.legal[name]], 1), shape).astype(elements.int_type(dtype))
            np.save(tools.path(f"{name}.npy"), array)
            ins.append(f"--in={name}={tools.path(name + '.npy')}")
            given[name] = array.view(elements.bits_type(dtype)) if form.exact_bits else wide(dtype, array)
        with np.errstate(all="ignore"):
            made = form.want(*given.values())
        form.arrays = dict(zip(form.outputs, made if isinstance(made, tuple) and not form.near else (made,)))
        for symbolic in ((False, True) if size else (False,)):
            where = f"{form.name} at {size}{', symbolic' if symbolic else ''}"
            program = tools.write("program.ptir", form.module(size, symbolic))
            syms = [f"--sym={k}={v}" for k, v in size.items() if symbolic and "$" + k in form.module(size, symbolic)]
            try:
                for tag in ("reference", "default"):
                    tools.run("pto-run", program, *(tools.default if tag == "default" else [pipeline(tag)]), *ins, *syms,
                              *[f"--out={n}={tools.path(f'{tag}.{n}.npy')}" for n in form.outputs])
                    compare(form, size, tag, form.arrays, tools, tag)
                tools.run("pto-opt", program, *tools.default, "-o", tools.path("final.ptir"))
                tools.run_module(tools.path("final.ptir"), "final", form.outputs, *ins, *syms)
                for n in form.outputs:
                    with open(tools.path(f"final.{n}.npy"), "rb") as a, open(tools.path(f"default.{n}.npy"), "rb") as b:
                        if a.read() != b.read():
                            raise Wrong(f"reference and simulator differ in bits of {n}")
                if with_stages:
                    check_stages(form, size, tools, ins, syms)
            except Wrong as e:
                if form.may_be_refused and re.search(REFUSALS, str(e)):
                    return None
                raise Wrong(f"{where}: {e}\n{form.module(size, symbolic)}") from None
            except subprocess.TimeoutExpired as e:
                raise Wrong(f"{where}: {e}\n{form.module(size, symbolic)}") from None
            count += 1
    return count


# ---- the forms ----

ABC = [dict(A=3, B=5, C=7), dict(A=1, B=1, C=1), dict(A=2, B=17, C=40), dict(A=0, B=3, C=4), dict(A=5, B=0, C=3), dict(A=2, B=3, C=0),
       dict(A=7, B=33, C=129)]
AB = [dict(A=5, B=7), dict(A=1, B=1), dict(A=0, B=4), dict(A=4, B=0), dict(A=67, B=129), dict(A=300, B=3), dict(A=2, B=1000)]


def broadcasts():
    for z in ("A x 1 x C", "B x C", "1 x B x 1", "A x 1 x 1", "B x 1", "A x 1", "1 x 1 x C", "1 x B x C"):
        if z == "A x 1":
            continue
        yield Form(f"add-[{z}]", {"x": "<A x B x C x f32>", "z": f"<{z} x f32>"}, {"y": "<A x B x C x f32>"},
                   "%y = tensor.add %x, %z : <A x B x C x f32>", lambda x, z: x + z, ABC, 1e-6)
    for op, fn in (("sub", np.subtract), ("mul", np.multiply), ("div", np.divide)):
        yield Form(f"{op}-middle-first", {"x": "<A x B x C x f32>", "z": "<A x 1 x C x f32>"}, {"y": "<A x B x C x f32>"},
                   f"%y = tensor.{op} %z, %x : <A x B x C x f32>", lambda x, z, fn=fn: fn(z, x), ABC[:3], 1e-6, fill="positive")
    yield Form("fused-middle", {"x": "<A x B x C x f32>", "z": "<A x 1 x C x f32>", "w": "<B x 1 x f32>"}, {"y": "<A x B x C x f32>"},
               """%a = tensor.add %x, %z : <A x B x C x f32>
                  %b = tensor.mul %a, %w : <A x B x C x f32>
                  %y = tensor.exp %b : <A x B x C x f32>""", lambda x, z, w: np.exp((x + z) * w), ABC, 2e-5, fill="positive")
    yield Form("special-values", {"x": "<A x B x C x f32>", "z": "<A x 1 x C x f32>"}, {"y": "<A x B x C x f32>"},
               "%y = tensor.add %x, %z : <A x B x C x f32>", lambda x, z: x + z, ABC[:3], 1e-6, fill="special")
    yield Form("maximum-middle", {"x": "<A x B x C x f32>", "z": "<1 x B x 1 x f32>"}, {"y": "<A x B x C x f32>"},
               "%y = tensor.maximum %x, %z : <A x B x C x f32>", lambda x, z: np.maximum(x, z), ABC[:3], 0, fill="special")
    yield Form("cast-of-middle", {"x": "<A x B x C x f32>", "z": "<A x 1 x C x bf16>"}, {"y": "<A x B x C x f32>"},
               """%w = tensor.cast %z : <A x 1 x C x f32>
                  %y = tensor.add %x, %w : <A x B x C x f32>""", lambda x, z: x + z, ABC, 1e-6)
    yield Form("middle-is-result-too", {"x": "<A x B x C x f32>", "z": "<A x 1 x C x f32>"},
               {"w": "<A x 1 x C x f32>", "y": "<A x B x C x f32>"},
               """%w = tensor.exp %z : <A x 1 x C x f32>
                  %y = tensor.add %x, %w : <A x B x C x f32>""", lambda x, z: (np.exp(z), x + np.exp(z)), ABC, 2e-5)
    yield Form("both-narrow", {"x": "<A x 1 x C x f32>", "z": "<1 x B x 1 x f32>"}, {"y": "<A x B x C x f32>"},
               "%y = tensor.sub %x, %z : <A x B x C x f32>", lambda x, z: x - z, ABC, 1e-6)
    yield Form("integers", {"x": "<A x B x C x i32>", "z": "<A x 1 x C x i32>"}, {"y": "<A x B x C x i32>"},
               "%y = tensor.mul %x, %z : <A x B x C x i32>", lambda x, z: x * z, ABC, fill="extreme")
    yield Form("f16-middle", {"x": "<A x B x C x f16>", "z": "<A x 1 x C x f16>"}, {"y": "<A x B x C x f16>"},
               "%y = tensor.add %x, %z : <A x B x C x f16>", lambda x, z: x + z, ABC, 1e-3)
    yield Form("broadcast-op", {"z": "<A x 1 x C x f32>", "w": "<B x f32>"}, {"y": "<A x B x C x f32>"},
               "%y = tensor.broadcast %z : <A x B x C x f32>", lambda z, w: np.broadcast_to(z, (z.shape[0], w.shape[0], z.shape[2])), ABC)
    sizes = [dict(A=2, B=3, C=5, D=4), dict(A=1, B=2, C=1, D=9), dict(A=3, B=1, C=17, D=33), dict(A=2, B=4, C=0, D=3)]
    for z in ("A x 1 x 1 x D", "1 x B x 1 x D", "A x 1 x C x 1", "1 x B x C x 1", "A x 1 x C x D", "1 x 1 x C x D", "B x 1 x 1"):
        yield Form(f"rank-4-[{z}]", {"x": "<A x B x C x D x f32>", "z": f"<{z} x f32>"}, {"y": "<A x B x C x D x f32>"},
                   "%y = tensor.mul %x, %z : <A x B x C x D x f32>", lambda x, z: x * z, sizes, 1e-6)
    yield Form("attention-mask", {"x": "<A x B x C x D x f32>", "z": "<A x 1 x 1 x D x f32>"}, {"y": "<A x B x C x D x f32>"},
               """%a = tensor.add %x, %z : <A x B x C x D x f32>
                  %y = tensor.softmax %a : <A x B x C x D x f32>""", lambda x, z: softmax(x + z, -1), sizes[:3] + [dict(A=2, B=3, C=5, D=3000)], 1e-5)


def softmax(x, axis):
    e = np.exp(x - np.max(x, axis, keepdims=True)) if x.size else x
    return e / np.sum(e, axis, keepdims=True)


def reductions():
    for axis in (0, 1):
        kept = "1 x B" if axis == 0 else "A x 1"
        dropped = "B" if axis == 0 else "A"
        for name, fn in (("sum", np.sum), ("max", np.max), ("min", np.min)):
            sizes = AB if name == "sum" else [s for s in AB if s["AB"[axis]]]
            yield Form(f"{name}-[A,B]-{axis}", {"x": "<A x B x f32>"}, {"y": f"<{kept} x f32>"},
                       f"%y = tensor.reduce_{name} %x {{axis = {axis}}} : <{kept} x f32>", lambda x, fn=fn, a=axis: fn(x, a, keepdims=True), sizes, 1e-4)
            yield Form(f"{name}-[A,B]-{axis}-dropped", {"x": "<A x B x f32>"}, {"y": f"<{dropped} x f32>"},
                       f"%y = tensor.reduce_{name} %x {{axis = {axis}, keepdim = false}} : <{dropped} x f32>", lambda x, fn=fn, a=axis: fn(x, a), sizes[:5], 1e-4)
    for axes, kept, dropped in (((1,), "A x 1 x C", "A x C"), ((0,), "1 x B x C", "B x C"), ((0, 2), "1 x B x 1", "B"), ((0, 1), "1 x 1 x C", "C"),
                                ((1, 2), "A x 1 x 1", "A"), ((0, 1, 2), "1 x 1 x 1", "")):
        for name, fn in (("sum", np.sum), ("max", np.max), ("mean", np.mean)):
            sizes = [s for s in ABC if name == "sum" or all(s["ABC"[a]] for a in axes)]
            listed = "[" + ", ".join(map(str, axes)) + "]"
            yield Form(f"{name}-[A,B,C]-{listed}", {"x": "<A x B x C x f32>"}, {"y": f"<{kept} x f32>"},
                       f"%y = tensor.reduce_{name} %x {{axis = {listed}}} : <{kept} x f32>", lambda x, fn=fn, a=axes: fn(x, a, keepdims=True), sizes, 1e-4)
            if not dropped:
                continue
            yield Form(f"{name}-[A,B,C]-{listed}-dropped", {"x": "<A x B x C x f32>"}, {"y": f"<{dropped} x f32>"},
                       f"%y = tensor.reduce_{name} %x {{axis = {listed}, keepdim = false}} : <{dropped} x f32>", lambda x, fn=fn, a=axes: fn(x, a), sizes[:4], 1e-4)
    full = [s for s in ABC if all(s.values())]
    yield Form("softmax-middle", {"x": "<A x B x C x f32>"}, {"y": "<A x B x C x f32>"}, "%y = tensor.softmax %x {axis = 1} : <A x B x C x f32>",
               lambda x: softmax(x, 1), full + [dict(A=2, B=3000, C=9), dict(A=3, B=40, C=2000)], 1e-5)
    yield Form("softmax-first", {"x": "<A x B x f32>"}, {"y": "<A x B x f32>"}, "%y = tensor.softmax %x {axis = 0} : <A x B x f32>",
               lambda x: softmax(x, 0), [s for s in AB if s["A"]] + [dict(A=5000, B=20)], 1e-5)
    yield Form("centred", {"x": "<A x B x C x f32>"}, {"m": "<A x 1 x C x f32>", "y": "<A x B x C x f32>"},
               """%m = tensor.reduce_mean %x {axis = 1} : <A x 1 x C x f32>
                  %y = tensor.sub %x, %m : <A x B x C x f32>""", lambda x: (np.mean(x, 1, keepdims=True), x - np.mean(x, 1, keepdims=True)), full, 1e-5)
    yield Form("batch-norm", {"x": "<A x B x C x f32>", "g": "<1 x B x 1 x f32>"}, {"y": "<A x B x C x f32>"},
               """%m = tensor.reduce_mean %x {axis = [0, 2]} : <1 x B x 1 x f32>
                  %d = tensor.sub %x, %m : <A x B x C x f32>
                  %s = tensor.mul %d, %d : <A x B x C x f32>
                  %v = tensor.reduce_mean %s {axis = [0, 2]} : <1 x B x 1 x f32>
                  %e = tensor.constant {value = 1e-5} : <f32>
                  %u = tensor.add %v, %e : <1 x B x 1 x f32>
                  %r = tensor.rsqrt %u : <1 x B x 1 x f32>
                  %n = tensor.mul %d, %r : <A x B x C x f32>
                  %y = tensor.mul %n, %g : <A x B x C x f32>""", batch_norm, full, 1e-4)
    yield Form("first-axis-with-middle-operand", {"x": "<A x B x C x f32>", "z": "<A x 1 x C x f32>"}, {"y": "<1 x B x C x f32>"},
               """%a = tensor.mul %x, %z : <A x B x C x f32>
                  %y = tensor.reduce_sum %a {axis = 0} : <1 x B x C x f32>""", lambda x, z: np.sum(x * z, 0, keepdims=True), ABC, 1e-4)
    yield Form("first-axis-back", {"x": "<A x B x C x f32>", "z": "<B x 1 x f32>"}, {"y": "<A x B x C x f32>"},
               """%a = tensor.add %x, %z : <A x B x C x f32>
                  %m = tensor.reduce_max %a {axis = 0} : <1 x B x C x f32>
                  %d = tensor.sub %a, %m : <A x B x C x f32>
                  %s = tensor.reduce_sum %d {axis = 0} : <1 x B x C x f32>
                  %y = tensor.mul %d, %s : <A x B x C x f32>""", first_back, full, 1e-3)
    yield Form("sum-of-repeated", {"x": "<A x 1 x C x f32>", "z": "<1 x B x 1 x f32>"}, {"y": "<A x 1 x C x f32>"},
               """%a = tensor.add %x, %z : <A x B x C x f32>
                  %y = tensor.reduce_sum %a {axis = 1} : <A x 1 x C x f32>""", lambda x, z: np.sum(x + z, 1, keepdims=True), ABC, 1e-4)
    for dtype in ("i32", "i16"):
        yield Form(f"{dtype}-first", {"x": f"<A x B x {dtype}>"}, {"y": f"<1 x B x {dtype}>", "m": f"<1 x B x {dtype}>"},
                   f"""%y = tensor.reduce_sum %x {{axis = 0}} : <1 x B x {dtype}>
                       %m = tensor.reduce_min %x {{axis = 0}} : <1 x B x {dtype}>""",
                   lambda x: (np.sum(x, 0, keepdims=True, dtype=x.dtype), np.min(x, 0, keepdims=True)), [s for s in AB if s["A"]], fill="extreme")
    for dtype in ("f16", "bf16"):
        yield Form(f"{dtype}-first", {"x": f"<A x B x {dtype}>"}, {"y": f"<1 x B x {dtype}>"},
                   f"%y = tensor.reduce_sum %x {{axis = 0}} : <1 x B x {dtype}>", lambda x: np.sum(x, 0, keepdims=True), AB[:5], 2e-2)
    for name, fn in (("max", np.max), ("min", np.min), ("sum", np.sum)):
        yield Form(f"special-{name}", {"x": "<A x B x C x f32>"}, {"y": "<A x 1 x C x f32>"},
                   f"%y = tensor.reduce_{name} %x {{axis = 1}} : <A x 1 x C x f32>", lambda x, fn=fn: fn(x, 1, keepdims=True), full, 1e-4, fill="special")


def batch_norm(x, g):
    m = np.mean(x, (0, 2), keepdims=True)
    v = np.mean((x - m) ** 2, (0, 2), keepdims=True)
    return (x - m) / np.sqrt(v + 1e-5) * g


def first_back(x, z):
    a = x + z
    d = a - np.max(a, 0, keepdims=True)
    return d * np.sum(d, 0, keepdims=True)


ABCD = [dict(A=2, B=3, C=5, D=7), dict(A=1, B=1, C=1, D=1), dict(A=3, B=1, C=17, D=33), dict(A=1, B=19, C=1, D=66), dict(A=2, B=0, C=3, D=4),
        dict(A=2, B=40, C=3, D=129)]


def transposes():
    for rank in (2, 3, 4):
        names = "ABCD"[:rank]
        for perm in itertools.permutations(range(rank)):
            if list(perm) == sorted(perm):
                continue
            to = " x ".join(names[p] for p in perm)
            yield Form(f"transpose-{list(perm)}", {"x": f"<{' x '.join(names)} x f32>"}, {"y": f"<{to} x f32>"},
                       f"%y = tensor.transpose %x {{perm = {list(perm)}}} : <{to} x f32>", lambda x, p=perm: np.transpose(x, p),
                       [{k: v for k, v in size.items() if k in names} for size in (ABCD if rank == 4 else ABCD + [dict(A=70, B=33, C=21)])])
    for dtype in ("f16", "bf16", "i32", "i16", "i8", "u8", "u16", "u32"):
        for perm in ((0, 2, 1, 3), (3, 0, 1, 2), (2, 1, 0, 3)):
            to = " x ".join("ABCD"[p] for p in perm)
            yield Form(f"transpose-{dtype}-{list(perm)}", {"x": f"<A x B x C x D x {dtype}>"}, {"y": f"<{to} x {dtype}>"},
                       f"%y = tensor.transpose %x {{perm = {list(perm)}}} : <{to} x {dtype}>", lambda x, p=perm: np.transpose(x, p), ABCD[:4])
    for dtype in ("i64", "u64", "bool"):
        yield Form(f"transpose-{dtype}", {"x": f"<A x B x C x D x {dtype}>"}, {"y": f"<A x C x B x D x {dtype}>"},
                   f"%y = tensor.transpose %x {{perm = [0, 2, 1, 3]}} : <A x C x B x D x {dtype}>", lambda x: np.transpose(x, (0, 2, 1, 3)), ABCD[:4])
    yield Form("heads", {"x": "<A x B x C x D x f32>"}, {"y": "<A x B x C x D x f32>"},
               """%h = tensor.transpose %x {perm = [0, 2, 1, 3]} : <A x C x B x D x f32>
                  %s = tensor.softmax %h : <A x C x B x D x f32>
                  %y = tensor.transpose %s {perm = [0, 2, 1, 3]} : <A x B x C x D x f32>""", lambda x: softmax(x, -1), ABCD[:4] + ABCD[5:], 1e-5)
    yield Form("rank-5", {"x": "<A x B x C x D x 3 x f32>"}, {"y": "<3 x C x A x D x B x f32>"},
               "%y = tensor.transpose %x {perm = [4, 2, 0, 3, 1]} : <3 x C x A x D x B x f32>", lambda x: np.transpose(x, (4, 2, 0, 3, 1)), ABCD)
    yield Form("only-ones-move", {"x": "<A x 1 x B x f32>"}, {"y": "<1 x A x B x 1 x f32>", "z": "<A x B x f32>"},
               """%t = tensor.transpose %x {perm = [1, 0, 2]} : <1 x A x B x f32>
                  %y = tensor.reshape %t : <1 x A x B x 1 x f32>
                  %u = tensor.reshape %x : <A x B x f32>
                  %z = tensor.neg %u : <A x B x f32>""", lambda x: (np.transpose(x, (1, 0, 2))[..., None], -x[:, 0]), [dict(A=3, B=5), dict(A=1, B=1)])


def constants():
    table = [0.5, 0.5, -1.25, float("inf"), -0.0, 3.0, float("-inf"), 1e-40]
    text = "[0.5, 0.5, -1.25, inf, -0.0, 3.0, -inf, 1e-40]"
    sizes = [dict(A=3), dict(A=1), dict(A=0), dict(A=100)]
    stored_table = wide("f32", np.array(table, np.float32))
    yield Form("bias", {"x": "<A x 8 x f32>"}, {"y": "<A x 8 x f32>"},
               f"""%b = tensor.constant {{value = dense {text} : <8 x f32>}} : <8 x f32>
                   %y = tensor.add %x, %b : <A x 8 x f32>""", lambda x: x + stored_table, sizes, 1e-6)
    yield Form("bias-of-a-middle-dim", {"x": "<A x 2 x 40 x f32>"}, {"y": "<A x 2 x 40 x f32>", "b": "<2 x 1 x f32>"},
               """%b = tensor.constant {value = dense [1.5, -2.0] : <2 x 1 x f32>} : <2 x 1 x f32>
                  %y = tensor.mul %x, %b : <A x 2 x 40 x f32>""", lambda x: (x * np.array([[1.5], [-2.0]]), np.array([[1.5], [-2.0]])), sizes, 1e-6)
    for dtype, words, values in (("f16", "[1.5, 2.0, -0.0, 65504.0]", [1.5, 2.0, -0.0, 65504.0]), ("bf16", "[1.5, 2.0, -0.0, inf]", [1.5, 2.0, -0.0, np.inf]),
                                 ("i32", "[1, -2147483648, 2147483647, 0]", [1, -2**31, 2**31 - 1, 0]), ("i16", "[1, -32768, 32767, 0]", [1, -2**15, 2**15 - 1, 0]),
                                 ("i8", "[1, -128, 127, 0]", [1, -128, 127, 0]), ("u8", "[1, 255, 127, 0]", [1, 255, 127, 0]),
                                 ("u16", "[1, 65535, 7, 7]", [1, 65535, 7, 7]), ("u32", "[1, 4294967295, 7, 0]", [1, 2**32 - 1, 7, 0]),
                                 ("bool", "[1, 0, 0, 1]", [1, 0, 0, 1])):
        yield Form(f"table-{dtype}", {}, {"y": f"<2 x 2 x {dtype}>"},
                   f"%y = tensor.constant {{value = dense {words} : <2 x 2 x {dtype}>}} : <2 x 2 x {dtype}>",
                   lambda d=dtype, v=values: wide(d, stored(d, v)).reshape(2, 2), [{}])
        one = values[1]
        yield Form(f"splat-{dtype}", {}, {"y": f"<9 x 5 x {dtype}>"}, f"%y = tensor.constant {{value = {words[1:-1].split(', ')[1]}}} : <9 x 5 x {dtype}>",
                   lambda d=dtype, v=one: np.broadcast_to(wide(d, stored(d, [v])), (9, 5)), [{}])
    yield Form("empty-table", {}, {"y": "<0 x f32>"}, "%y = tensor.constant {value = dense [] : <0 x f32>} : <0 x f32>", lambda: np.zeros(0), [{}])


def products():
    sizes = [dict(A=2, B=3, M=5, N=7, K=9), dict(A=1, B=1, M=1, N=1, K=1), dict(A=3, B=2, M=33, N=17, K=65), dict(A=0, B=2, M=3, N=4, K=5),
             dict(A=2, B=2, M=3, N=4, K=0), dict(A=2, B=1, M=130, N=70, K=40)]
    for a, b, out in (("A x M x K", "A x K x N", "A x M x N"), ("A x M x K", "K x N", "A x M x N"), ("1 x M x K", "A x K x N", "A x M x N"),
                      ("A x B x M x K", "A x B x K x N", "A x B x M x N"), ("A x B x M x K", "A x 1 x K x N", "A x B x M x N"),
                      ("A x 1 x M x K", "B x K x N", "A x B x M x N"), ("M x K", "A x K x N", "A x M x N")):
        yield Form(f"product-[{a}]-[{b}]", {"a": f"<{a} x f32>", "b": f"<{b} x f32>"}, {"y": f"<{out} x f32>"},
                   f"%y = tensor.matmul %a, %b : <{out} x f32>", np.matmul, sizes, 1e-4)
    yield Form("product-transposed", {"a": "<A x K x M x f16>", "b": "<A x N x K x f16>"}, {"y": "<A x M x N x f32>"},
               "%y = tensor.matmul %a, %b {transpose_a = true, transpose_b = true, out = f32} : <A x M x N x f32>",
               lambda a, b: np.matmul(np.swapaxes(a, 1, 2), np.swapaxes(b, 1, 2)), sizes, 1e-4)
    yield Form("product-i8", {"a": "<A x M x K x i8>", "b": "<1 x K x N x i8>"}, {"y": "<A x M x N x i32>"},
               "%y = tensor.matmul %a, %b {out = i32} : <A x M x N x i32>",
               lambda a, b: np.matmul(a.astype(np.int32), b.astype(np.int32)), sizes, fill="extreme")
    yield from other_products()


def relu(x):
    return np.where(x < 0, 0 * x, x)


def other_products():
    """Vectors, what follows the sum, and integers that no matrix unit multiplies."""
    sizes = [dict(A=2, M=5, N=7, K=9), dict(A=1, M=1, N=1, K=1), dict(A=2, M=3, N=4, K=0), dict(A=0, M=3, N=4, K=5), dict(A=2, M=33, N=17, K=65)]
    for a, b, out in (("K", "K", ""), ("K", "K x N", "N x "), ("M x K", "K", "M x "), ("K", "A x K x N", "A x N x "), ("A x M x K", "K", "A x M x ")):
        for dtype in ("f32", "i16"):
            yield Form(f"product-{dtype}-[{a}]-[{b}]", {"a": f"<{a} x {dtype}>", "b": f"<{b} x {dtype}>"}, {"y": f"<{out}{dtype}>"},
                       f"%y = tensor.matmul %a, %b : <{out}{dtype}>",
                       (lambda a, b: np.matmul(a, b)) if dtype == "f32" else lambda a, b: elements.decode("i16", elements.int_bits("i16", np.matmul(a.astype(np.int64), b.astype(np.int64)))),
                       sizes, 1e-4 if dtype == "f32" else 0, fill="normal" if dtype == "f32" else "extreme")
    operands = {"a": "<A x M x K x f16>", "b": "<K x N x f16>", "bias": "<N x f32>", "scale": "<A x 1 x 1 x f32>"}
    t = "<A x M x N x f32>"
    for ins, attributes, want in (("a b bias", "", lambda a, b, c: np.matmul(a, b) + c), ("a b bias", ', activation = "relu"', lambda a, b, c: relu(np.matmul(a, b) + c)),
                                  ("a b", ', activation = "relu"', lambda a, b: relu(np.matmul(a, b))), ("a b scale", ', third = "scale"', lambda a, b, s: np.matmul(a, b) * s),
                                  ("a b bias scale", ', activation = "relu"', lambda a, b, c, s: relu((np.matmul(a, b) + c) * s))):
        names = ins.split()
        yield Form(f"product-{'-'.join(names)}{attributes[-5:-1]}", {n: operands[n] for n in names}, {"y": t},
                   f"%y = tensor.matmul {', '.join('%' + n for n in names)} {{out = f32{attributes}}} : {t}", want, sizes, 1e-3)
    yield Form("product-i8-bias", {"a": "<M x K x i8>", "b": "<K x N x i8>", "bias": "<N x i32>"}, {"y": "<M x N x i32>"},
               "%y = tensor.matmul %a, %b, %bias {out = i32, activation = \"relu\"} : <M x N x i32>",
               lambda a, b, c: relu(np.matmul(a.astype(np.int64), b.astype(np.int64)) + c.astype(np.int64)), sizes)
    for ta, tb in itertools.product((False, True), repeat=2):
        for dtype, out in (("i32", "i32"), ("u8", "i32"), ("i32", "i8")):
            a, b = "A x K x M" if ta else "A x M x K", "N x K" if tb else "K x N"
            swapped = lambda x, yes: np.swapaxes(x, -1, -2) if yes else x
            yield Form(f"product-{dtype}-{out}{'-ta' * ta}{'-tb' * tb}", {"a": f"<{a} x {dtype}>", "b": f"<{b} x {dtype}>"}, {"y": f"<A x M x N x {out}>"},
                       f"%y = tensor.matmul %a, %b {{transpose_a = {str(ta).lower()}, transpose_b = {str(tb).lower()}, out = {out}}} : <A x M x N x {out}>",
                       lambda a, b, ta=ta, tb=tb, out=out: elements.decode(out, elements.int_bits(out, np.matmul(swapped(a, ta).astype(np.int64), swapped(b, tb).astype(np.int64)))),
                       sizes, fill="extreme")


def quantised(x, scale, zero, dtype):
    with np.errstate(all="ignore"):
        q = np.rint((np.asarray(x, np.float32) / np.asarray(scale, np.float32)).astype(np.float64))
    lo, hi = elements.limits(dtype)
    return np.where(np.isnan(q), 0, np.clip(np.nan_to_num(q, nan=0.0, posinf=1e300, neginf=-1e300) + zero, lo, hi))


def dequantised(q, scale, zero=0.0):
    return ((np.asarray(q, np.float32) - np.float32(zero)) * np.asarray(scale, np.float32)).astype(np.float64)


def blocked(x, scale, axis, block):
    """scale, repeated to the elements of its blocks."""
    return np.repeat(scale, block, axis)


def block_scales(x, block):
    with np.errstate(all="ignore"):
        parts = np.asarray(x, np.float32).reshape(x.shape[:-1] + (x.shape[-1] // block, block))
        s = np.abs(parts).max(axis=-1, initial=0) / np.float32(127)
    return np.where(s == 0, np.float32(1), s)


def quantisation():
    """tensor.quantize and its kin, computed in float32 as the rows say: exact."""
    sizes = [dict(A=3, B=5, C=8), dict(A=1, B=1, C=2), dict(A=0, B=3, C=4), dict(A=17, B=2, C=64)]
    for dtype in ("i8", "u8", "i16"):
        for shape in ("", "C x ", "B x 1 x ", "A x B x C x "):
            scale = f"<{shape}f32>" if shape else "<f32>"
            yield Form(f"quantize-{dtype}-[{shape.rstrip(' x')}]", {"x": "<A x B x C x f32>", "s": scale}, {"y": f"<A x B x C x {dtype}>"},
                       f"%y = tensor.quantize %x, %s : <A x B x C x {dtype}>", lambda x, s, d=dtype: quantised(x, s, 0.0, d), sizes)
            yield Form(f"quantize-{dtype}-[{shape.rstrip(' x')}]-zero", {"x": "<A x B x C x f16>", "s": scale, "z": scale.replace("f32", dtype)}, {"y": f"<A x B x C x {dtype}>"},
                       f"%y = tensor.quantize %x, %s, %z : <A x B x C x {dtype}>", lambda x, s, z, d=dtype: quantised(x, s, z, d), sizes)
            yield Form(f"dequantize-{dtype}-[{shape.rstrip(' x')}]", {"x": f"<A x B x C x {dtype}>", "s": scale, "z": scale.replace("f32", dtype)}, {"y": "<A x B x C x f32>"},
                       "%y = tensor.dequantize %x, %s, %z : <A x B x C x f32>", lambda x, s, z: dequantised(x, s, z), sizes)
    for axis, wide, narrow in ((1, "A x 8 x C", "A x 2 x C"), (-1, "A x B x 8", "A x B x 2"), (-1, "A x B x 8", "A x 1 x 2"), (0, "12 x B x C", "3 x B x C")):
        yield Form(f"quantize-blocks-[{narrow}]", {"x": f"<{wide} x f32>", "s": f"<{narrow} x f32>"}, {"y": f"<{wide} x i8>"},
                   f"%y = tensor.quantize %x, %s {{axis = {axis}, block = 4}} : <{wide} x i8>", lambda x, s, a=axis: quantised(x, np.repeat(s, 4, a), 0.0, "i8"), sizes)
        yield Form(f"dequantize-blocks-[{narrow}]", {"x": f"<{wide} x i8>", "s": f"<{narrow} x f32>"}, {"y": f"<{wide} x f32>"},
                   f"%y = tensor.dequantize %x, %s {{axis = {axis}, block = 4}} : <{wide} x f32>", lambda x, s, a=axis: dequantised(x, np.repeat(s, 4, a)), sizes)
    for block in (1, 2, 16):
        yield Form(f"quantize_block-{block}", {"x": "<A x B x 32 x f32>"}, {"y": "<A x B x 32 x i8>", "s": f"<A x B x {32 // block} x f32>"},
                   f"%y, %s = tensor.quantize_block %x {{block = {block}}} : <A x B x 32 x i8>, <A x B x {32 // block} x f32>",
                   lambda x, b=block: (quantised(x, np.repeat(block_scales(x, b), b, -1), 0.0, "i8"), block_scales(x, b)), sizes)
    yield Form("scaled_matmul", {"a": "<A x B x 8 x i8>", "b": "<8 x C x i8>", "p": "<A x B x 2 x f32>", "q": "<1 x C x f32>"}, {"y": "<A x B x C x f32>"},
               "%q2 = tensor.broadcast %q : <2 x C x f32>\n%y = tensor.scaled_matmul %a, %b, %p, %q2 {block = 4} : <A x B x C x f32>",
               lambda a, b, p, q: np.matmul(dequantised(a, np.repeat(p, 4, -1)), dequantised(b, q)), sizes, 1e-4)
    for dtype in ("i8", "u8"):
        yield Form(f"pack-{dtype}", {"x": f"<A x B x 8 x {dtype}>"}, {"y": "<A x B x 4 x u8>"}, "%y = tensor.pack %x : <A x B x 4 x u8>",
                   lambda x: (x.astype(np.int64)[..., 0::2] & 15) | (x.astype(np.int64)[..., 1::2] & 15) << 4, sizes, fill="extreme")
        yield Form(f"unpack-{dtype}", {"x": "<A x B x 4 x u8>"}, {"y": f"<A x B x 8 x {dtype}>"}, f"%y = tensor.unpack %x : <A x B x 8 x {dtype}>",
                   lambda x, d=dtype: unpacked(x, d), sizes, fill="extreme")


def unpacked(x, dtype):
    halves = np.stack([x.astype(np.int64) & 15, x.astype(np.int64) >> 4 & 15], -1).reshape(x.shape[:-1] + (2 * x.shape[-1],))
    return np.where(halves >= 8, halves - 16, halves) if dtype == "i8" else halves


MODES = ("rint", "round", "floor", "ceil", "trunc", "odd")


def cast_values(dtype, shape, rng):
    """All values of types with 16 bits at most; of others small and large ones, powers of two, and what is next to them."""
    if elements.size(dtype) <= 2:
        return np.arange(shape[0], dtype=np.int64).astype(elements.bits_type(dtype))
    count, bits = shape[0], 8 * elements.size(dtype)
    if dtype == "f32":
        small = (rng.integers(-2**12, 2**12, count) / 2.0 ** rng.integers(0, 6, count)).astype(np.float32).view(np.uint32)
        any_bits = rng.integers(0, 2**32, count, dtype=np.uint32)
        powers = np.ldexp(rng.choice((-1.0, 1.0), count) * rng.choice((1, 1.5, 255, 257, 0.5), count), rng.integers(-4, 60, count)).astype(np.float32)
        near = powers.view(np.uint32) + rng.integers(-2, 3, count).astype(np.uint32)
        return np.choose(rng.integers(0, 3, count), (small, any_bits, near)).astype(np.uint32)
    wide_bits = rng.integers(0, bits, count)
    powers = [int(1) << int(b) for b in wide_bits]
    values = [(int(rng.integers(-3, 4)) + p * int(rng.choice((1, 1, 3, 5, 129, 257, 511)))) * int(rng.choice((-1, 1))) for p in powers]
    others = rng.integers(-2**15, 2**15, count) * 2 ** rng.integers(0, bits - 16, count)
    return elements.int_bits(dtype, [v if k else int(o) for v, o, k in zip(values, others, rng.integers(0, 2, count))])


def converted(to, src, bits, mode, saturate):
    """What elements.convert returns, for many values at once."""
    values = elements.decode(src, bits)
    if elements.is_float(src) and elements.is_float(to):
        return elements.encode(to, values, mode, saturate)
    lo, hi = elements.limits(to) if not elements.is_float(to) else (0, 0)
    if elements.is_float(src) and hi < 2**53:
        finite = np.isfinite(values)
        whole = elements.round_integral(np.where(finite, values, 0.0), mode)
        whole = np.clip(whole, lo, hi) if saturate else np.mod(whole, 2.0 ** (8 * elements.size(to)))
        special = np.where(np.isnan(values), 0, np.where(values > 0, hi, lo)) if saturate else np.full(values.shape, lo if lo else hi)
        return np.where(finite, whole, special).astype(np.int64).astype(elements.bits_type(to))
    if not elements.is_float(src) and elements.is_float(to):
        a, shift = np.abs(values.astype(np.int64)).astype(np.uint64), np.zeros(values.shape, np.int64)
        while np.any(a >= 2**40):
            large = a >= 2**40
            a, shift = np.where(large, (a >> np.uint64(1)) | (a & np.uint64(1)), a), shift + large
        return elements.encode(to, np.copysign(np.ldexp(a.astype(np.float64), shift), np.where(values < 0, -1.0, 1.0)), mode, saturate)
    if not elements.is_float(src) and saturate:
        return np.clip(values, lo, hi).astype(elements.bits_type(to)) if hi < 2**63 else values.astype(elements.bits_type(to))
    if not elements.is_float(src):
        return values.astype(elements.bits_type(to))
    return elements.convert(to, src, bits, mode, saturate, True)


def check_converted():
    """The same for a few values of every pair, one by one."""
    rng = np.random.default_rng(3)
    for src in ("f32", "f16", "bf16", "i8", "i16", "i32", "i64", "u8"):
        bits = rng.integers(0, 2 ** min(63, 8 * elements.size(src)), 200, dtype=np.int64).astype(elements.bits_type(src))
        for to in ("f32", "f16", "bf16", "i8", "i16", "i32", "i64", "u8"):
            for mode in MODES:
                for saturate in (False, True):
                    a, b = converted(to, src, bits, mode, saturate), elements.convert(to, src, bits, mode, saturate, True)
                    assert np.array_equal(elements.canonical(to, a), elements.canonical(to, b)) or (src == to), (src, to, mode, saturate)


def casts():
    check_converted()
    pairs = [(a, b) for a in ("f32", "bf16", "i16", "i32", "i64") for b in ("i8", "u8")]
    pairs += [("i32", "bf16"), ("i32", "f16"), ("i32", "f32"), ("i64", "f16"), ("i64", "bf16"), ("i64", "f32"), ("i64", "i16"), ("f16", "bf16"),
              ("bf16", "f16"), ("f32", "bf16"), ("f32", "i16"), ("f32", "i64"), ("f16", "i8"), ("f16", "i16"), ("f16", "i64"), ("bf16", "i16"), ("bf16", "i64")]
    pairs += [(a, b) for a in ("i8", "u8") for b in ("f32", "f16", "bf16", "i16", "i32", "i64")] + [("i8", "u8"), ("u8", "i8"), ("i16", "bf16"), ("i16", "i64")]
    for a, b in pairs:
        for mode in MODES if elements.is_float(a) or elements.is_float(b) else ("rint",):
            for saturate in (False, True):
                count = 2 ** (8 * elements.size(a)) if elements.size(a) <= 2 else 30000
                yield Form(f"cast-{a}-{b}-{mode}{'-saturate' if saturate else ''}", {"x": f"<{count} x {a}>"}, {"y": f"<{count} x {b}>"},
                           f"%y = tensor.cast %x {{mode = \"{mode}\", saturate = {str(saturate).lower()}}} : <{count} x {b}>",
                           lambda bits, a=a, b=b, m=mode, s=saturate: converted(b, a, bits, m, s), [{}],
                           prepare=lambda name, dtype, shape, rng: as_given(dtype, cast_values(dtype, shape, rng)))


def byte_arithmetic():
    """Arithmetic on all pairs of bytes, and products of bytes."""
    every = lambda name, dtype, shape, rng: as_given(dtype, np.arange(256).astype(np.uint8)).reshape(shape)
    for dtype in ("i8", "u8"):
        value = lambda bits, t=dtype: bits.view(elements.int_type(t)).astype(np.int64)
        back = lambda v: v.astype(np.uint8)
        for op, fn in (("add", np.add), ("sub", np.subtract), ("mul", np.multiply), ("maximum", np.maximum), ("minimum", np.minimum)):
            yield Form(f"{op}-{dtype}", {"x": f"<256 x 1 x {dtype}>", "z": f"<1 x 256 x {dtype}>"}, {"y": f"<256 x 256 x {dtype}>"},
                       f"%y = tensor.{op} %x, %z : <256 x 256 x {dtype}>", lambda x, z, fn=fn, value=value: back(fn(value(x), value(z))), [{}], prepare=every)
        yield Form(f"neg-{dtype}", {"x": f"<16 x 16 x {dtype}>"}, {"y": f"<16 x 16 x {dtype}>", "s": f"<1 x 16 x {dtype}>", "r": f"<16 x 1 x {dtype}>"},
                   f"""%y = tensor.neg %x : <16 x 16 x {dtype}>
                       %s = tensor.reduce_sum %x {{axis = 0}} : <1 x 16 x {dtype}>
                       %r = tensor.reduce_sum %y {{axis = 1}} : <16 x 1 x {dtype}>""",
                   lambda x, value=value: (back(-value(x)), back(np.sum(value(x), 0, keepdims=True)), back(np.sum(-value(x), 1, keepdims=True))), [{}], prepare=every)
    for out in ("i8", "u8", "i16"):
        yield Form(f"product-i8-{out}", {"a": "<A x K x i8>", "b": "<K x B x i8>"}, {"y": f"<A x B x {out}>"},
                   f"%y = tensor.matmul %a, %b {{out = {out}}} : <A x B x {out}>",
                   lambda a, b, t=out: converted(t, "i32", elements.int_bits("i32", np.matmul(a.view(np.int8).astype(np.int64), b.view(np.int8).astype(np.int64))), "rint", False),
                   [dict(A=5, K=70, B=33), dict(A=1, K=1, B=1), dict(A=2, K=0, B=3)], prepare=lambda name, dtype, shape, rng: fill(rng, dtype, shape, "extreme"))


def as_given(dtype, bits):
    """Bits as an array that pto-run takes for the type."""
    kind = {"f32": np.float32, "f16": np.float16, "bf16": np.uint16}.get(dtype) or elements.int_type(dtype)
    return bits.view(kind)


class RandomForm:
    """Text and values of a random program; numbers are integers that every type on the way holds exactly."""

    def __init__(self, seed, has_distance=False):
        self.has_distance = has_distance
        self.r, self.lines, self.values, self.count, self.serial = random.Random(seed), [], [], 0, 0
        r = self.r
        self.dtype = r.choice(("f32", "f32", "i32"))
        rank = r.choice((1, 2, 2, 3, 3, 3, 4, 4, 5))
        self.names = "ABCDE"[:rank]
        while True:
            size = {n: r.choice((1, 2, 3, 5, 8, 17, 33, 64, 100, 300)) for n in self.names}
            if np.prod(list(size.values())) <= 20000:
                break
        if r.random() < 0.05:
            size[r.choice(self.names)] = 0
        self.size, self.inputs = size, {}
        for k in range(r.randrange(1, 4)):
            self.add_input("xyz"[k], tuple(self.names) if k == 0 else self.part(tuple(self.names)))
        self.scalars = [("s", (), np.int64(r.randrange(-3, 4)))] if r.random() < 0.3 else []
        while self.count < r.randrange(3, 12):
            self.step()
        made = [v for v in self.values if v[0] not in self.inputs] or self.values
        self.outputs = made[-r.choice((1, 1, 2, 3)):]

    def part(self, dims):
        """Some dims 1, leading ones gone."""
        r = self.r
        kept = tuple(d if r.random() < 0.6 else "1" for d in dims)
        return kept[r.randrange(len(kept)):] if r.random() < 0.3 else kept

    def shape(self, dims):
        return [eval(d, {}, self.size) for d in dims]

    def type(self, dims):
        return "<" + " x ".join((*dims, self.dtype)) + ">"

    def add_input(self, name, dims):
        rng = np.random.default_rng(self.r.randrange(2**32))
        self.inputs[name] = (dims, rng.integers(-3, 4, self.shape(dims)))
        self.values.append((name, dims, self.inputs[name][1].astype(np.int64)))

    def keep(self, text, dims, value):
        if value.size and np.max(np.abs(value)) >= 2**23:
            return
        self.count += 1
        name = f"v{self.count}"
        self.lines.append(f"%{name} = {text} : {self.type(dims)}")
        self.values.append((name, dims, value))

    def step(self):
        r = self.r
        if r.random() < 0.12:
            self.keep_control()
            return
        kind = r.random()
        name, dims, value = r.choice(self.values[-4:])
        if self.has_distance and self.dtype == "f32" and r.random() < 0.2:
            self.distance(name, dims, value)
        elif kind < 0.45:
            other = r.choice(self.values + self.scalars)
            op, fn = r.choice((("add", np.add), ("sub", np.subtract), ("mul", np.multiply), ("maximum", np.maximum), ("minimum", np.minimum)))
            joined = self.joined(dims, other[1])
            if joined is not None and other in self.scalars and r.random() < 0.5:
                self.keep(f"tensor.{op} %{other[0]}, %{name}", joined, fn(other[2], value))
            elif joined is not None:
                self.keep(f"tensor.{op} %{name}, %{other[0]}", joined, fn(value, other[2]))
        elif kind < 0.51:
            op, fn = r.choice((("neg", np.negative), ("abs", np.abs), ("sign", np.sign)))
            self.keep(f"tensor.{op} %{name}", dims, fn(value))
        elif kind < 0.6:
            self.choose(name, dims, value)
        elif kind < 0.75 and dims:
            axes = sorted(r.sample(range(len(dims)), r.randrange(1, len(dims) + 1)))
            op, fn = r.choice((("sum", np.sum), ("sum", np.sum), ("max", np.max), ("min", np.min), ("prod", np.prod)))
            if op not in ("sum", "prod") and any(value.shape[a] == 0 for a in axes):
                return
            kept = r.random() < 0.75
            to = tuple("1" if i in axes else d for i, d in enumerate(dims) if kept or i not in axes)
            self.keep(f"tensor.reduce_{op} %{name} {{axis = {axes}, keepdim = {str(kept).lower()}}}", to, fn(value, tuple(axes), keepdims=kept))
        elif kind < 0.82 and dims:
            self.move(name, dims, value)
        elif kind < 0.89 and len(dims) > 1:
            perm = r.sample(range(len(dims)), len(dims))
            self.keep(f"tensor.transpose %{name} {{perm = {perm}}}", tuple(dims[p] for p in perm), np.transpose(value, perm))
        elif kind < 0.91 and len(dims) > 1:
            op, fn = r.choice((("tril", np.tril), ("triu", np.triu)))
            diagonal = r.randrange(-3, 4)
            self.keep(f"tensor.{op} %{name} {{diagonal = {diagonal}}}", dims, fn(value, diagonal))
        elif kind < 0.92 and dims:
            axis = r.randrange(len(dims))
            along = np.arange(value.shape[axis]).reshape([-1 if i == axis else 1 for i in range(len(dims))])
            self.keep(f"tensor.iota {{axis = {axis}}}", dims, np.broadcast_to(along, value.shape))
        elif kind < 0.94:
            full = tuple(self.names)
            if self.joined(dims, full) == full:
                self.keep(f"tensor.broadcast %{name}", full, np.broadcast_to(value, self.shape(full)))
        elif kind < 0.97 and dims:
            self.go_by_index(name, dims, value, r.randrange(len(dims)))
        else:
            if self.scalars and r.random() < 0.5:
                self.keep("tensor.full %s", dims, np.full(self.shape(dims), self.scalars[0][2]))
                return
            number = r.randrange(-3, 4)
            text = f"{number}.0" if self.dtype == "f32" else str(number)
            self.keep(f"tensor.constant {{value = {text}}}", dims, np.full(self.shape(dims), number))

    def move(self, name, dims, value):
        """A window, parts, a frame, an update or the reverse along one dim."""
        r = self.r
        axis, kind = r.randrange(len(dims)), r.randrange(5)
        n = value.shape[axis]
        zeros = lambda k: "[" + ", ".join(str(k) if i == axis else "0" for i in range(len(dims))) + "]"
        token = lambda text: dims[:axis] + (text,) + dims[axis + 1:]
        cut = lambda k, count: tuple(slice(k, k + count) if i == axis else slice(None) for i in range(len(dims)))
        if kind == 0 and n >= 3:
            k = r.randrange(3)
            self.keep(f"tensor.view %{name}{zeros(k)}", token(f"{dims[axis]} - 2"), value[cut(k, n - 2)])
        elif kind == 1:
            self.keep(f"tensor.flip %{name} {{axis = {axis}}}", dims, np.flip(value, axis))
        elif kind == 2 and value.size < 20000:
            same = [(p, v) for p, d, v in self.values if d == dims]
            parts = [r.choice(same) for _ in range(r.randrange(1, 4))]
            made = np.concatenate([v for _, v in parts], axis)
            self.keep(f"tensor.concat {', '.join('%' + p for p, _ in parts)} {{axis = {axis}}}", token(f"{len(parts)} * ({dims[axis]})"), made)
        elif kind == 3:
            low, high, number = r.randrange(3), r.randrange(3), r.randrange(-3, 4)
            around = [(low, high) if i == axis else (0, 0) for i in range(len(dims))]
            sides = [", ".join(str(pair[k]) for pair in around) for k in (0, 1)]
            text = f"{number}.0" if self.dtype == "f32" else str(number)
            self.keep(f"tensor.pad %{name} low({sides[0]}) high({sides[1]}) {{value = {text}}}", token(f"{dims[axis]} + {low + high}"),
                      np.pad(value, around, constant_values=number))
        elif kind == 4 and n >= 3:
            other, its = r.choice([(p, v) for p, d, v in self.values if d == dims])
            k = r.randrange(3)
            before = self.count
            self.keep(f"tensor.view %{other}{zeros(0)}", token(f"{dims[axis]} - 2"), its[cut(0, n - 2)])
            if self.count > before:
                made = value.copy()
                made[cut(k, n - 2)] = its[cut(0, n - 2)]
                self.keep(f"tensor.assemble %{self.values[-1][0]}, %{name}{zeros(k)}", dims, made)

    def distance(self, name, dims, value):
        """The op of the plugin, of two values of one shape."""
        r = self.r
        other, _, other_value = r.choice([v for v in self.values if v[1] == dims])
        if dims:
            axis = r.randrange(len(dims))
            to = tuple("1" if i == axis else d for i, d in enumerate(dims))
            written = r.choice((f" {{axis = {axis}}}", f" {{axis = {axis - len(dims)}}}"))
            want = ((value - other_value) ** 2).sum(axis, keepdims=True)
            self.keep(f"acme.squared_distance %{name}, %{other}{written}", to, want)

    def go_by_index(self, name, dims, value, axis):
        """A scan, or a list of legal indices that are taken or put to."""
        r = self.r
        if r.random() < 0.4:
            exclusive, reverse = r.random() < 0.5, r.random() < 0.5
            words = f"{{axis = {axis}, exclusive = {str(exclusive).lower()}, reverse = {str(reverse).lower()}}}"
            return self.keep(f"tensor.cumsum %{name} {words}", dims, by_index.scanned(np.add, axis, exclusive, reverse)(value))
        if value.shape[axis] == 0:
            return None
        at = [r.randrange(value.shape[axis]) for _ in range(r.randrange(1, 9))]
        listed, k = (*dims[:axis], str(len(at)), *dims[axis + 1:]), f"k{self.count}"
        self.lines.append(f"%{k} = tensor.constant {{value = dense {at} : <{len(at)} x i32>}} : <{len(at)} x i32>")
        if r.random() < 0.5:
            self.lines.append(f"%{k}t = tensor.take %{name}, %{k} {{axis = {axis}}} : {self.type(listed)}")
            return self.keep(f"tensor.reduce_sum %{k}t {{axis = {axis}}}", (*dims[:axis], "1", *dims[axis + 1:]), np.sum(np.take(value, at, axis), axis, keepdims=True))
        number, add = r.randrange(-3, 4), r.randrange(0, 2)
        parts = np.full([len(at) if i == axis else n for i, n in enumerate(value.shape)], number)
        self.lines.append(f"%{k}v = tensor.constant {{value = {number}{'.0' if self.dtype == 'f32' else ''}}} : {self.type(listed)}")
        return self.keep(f"tensor.{'index_add' if add else 'scatter_update'} %{name}, %{k}, %{k}v {{axis = {axis}}}", dims, by_index.put_slices(axis, add)(value, at, parts))

    def choose(self, name, dims, value):
        """A comparison, perhaps turned or joined with another one, and what it chooses from."""
        r = self.r
        (p, p_dims, p_value), (q, q_dims, q_value) = r.choice(self.values), r.choice(self.values)
        compared = self.joined(p_dims, q_dims)
        joined = compared is not None and self.joined(compared, dims)
        if not joined:
            return
        word = r.choice(list(numpy_ops.RELATIONS))
        truth, bools = numpy_ops.RELATIONS[word](p_value, q_value), "<" + " x ".join((*compared, "bool")) + ">"
        condition = f"c{self.count}"
        self.lines.append(f"%{condition} = tensor.{word} %{p}, %{q} : {bools}")
        if r.random() < 0.3:
            self.lines.append(f"%{condition}n = tensor.logical_not %{condition} : {bools}")
            condition, truth = condition + "n", ~truth
        if r.random() < 0.3:
            self.lines.append(f"%{condition}d = tensor.ge %{q}, %{p} : {bools}")
            self.lines.append(f"%{condition}j = tensor.logical_or %{condition}, %{condition}d : {bools}")
            condition, truth = condition + "j", truth | (q_value >= p_value)
        other = r.choice((name, p if self.joined(p_dims, joined) == joined else name))
        other_value = p_value if other == p else value
        self.keep(f"tensor.where %{condition}, %{name}, %{other}", joined, np.where(truth, value, other_value))

    # ---- loops and branches: lines, and functions that change the values by name ----

    def keep_control(self):
        """A loop or branch over what is there, and what it leaves; nothing when numbers become too large."""
        lines, run, results = self.control([(n, d) for n, d, _ in self.values[-5:]], [], 0)
        env = {n: v for n, _, v in self.values}
        run(env)
        if any(v.size and np.max(np.abs(v)) >= 2**23 for v in env.values()):
            return
        self.lines += lines
        self.count += 1
        self.values += [(n, d, env[n]) for n, d in results]

    def fresh(self, stem):
        self.serial += 1
        return f"{stem}{self.serial}"

    def block(self, scope, indices, depth):
        r = self.r
        lines, runs, scope = [], [], list(scope)
        for _ in range(r.randrange(0, 4)):
            if depth < 2 and r.random() < 0.3:
                more, run, results = self.control(scope, indices, depth + 1)
                lines += more
                runs.append(run)
                scope += results
                continue
            (a, a_dims), (b, b_dims) = r.choice(scope[-4:]), r.choice(scope)
            dims = self.joined(a_dims, b_dims)
            if dims is None:
                continue
            op, fn = r.choice((("add", np.add), ("sub", np.subtract), ("maximum", np.maximum), ("minimum", np.minimum)))
            name = self.fresh("b")
            lines.append(f"%{name} = tensor.{op} %{a}, %{b} : {self.type(dims)}")
            runs.append(lambda env, n=name, a=a, b=b, f=fn: env.update({n: f(env[a], env[b])}))
            scope.append((name, dims))

        def run(env):
            for one in runs:
                one(env)

        return lines, run, scope

    def choice_of(self, scope, dims):
        """A value of those dims, the last ones more often."""
        fits = [n for n, d in scope if d == dims]
        return self.r.choice(fits[-2:] if self.r.random() < 0.8 else fits)

    def control(self, scope, indices, depth):
        return self.loop(scope, indices, depth) if self.r.random() < 0.6 else self.branch(scope, indices, depth)

    def loop(self, scope, indices, depth):
        r = self.r
        carried = r.sample(scope, min(len(scope), r.choice((1, 1, 2))))
        index, args, results = self.fresh("i"), [self.fresh("a") for _ in carried], [self.fresh("r") for _ in carried]
        start, end, step = r.choice((0, 0, 1)), r.choice((0, 1, 2, 3, 4)), r.choice((1, 1, 2))
        bound = r.choice(indices) if indices and r.random() < 0.3 else None
        inside = scope + [(a, d) for a, (_, d) in zip(args, carried)]
        lines, run, made = self.block(inside, indices + [index], depth)
        yields = [self.choice_of(made, d) for _, d in carried]
        head = ", ".join(f"%{n}" for n in results) + f" = for %{index} = {start} to " + (f"%{bound} + 1" if bound else str(end)) + f" step {step}"
        head += " carry(" + ", ".join(f"%{a} = %{v}" for a, (v, _) in zip(args, carried)) + ") {"
        types = ", ".join(self.type(d) for _, d in carried)

        def follow(env):
            values = [env[v] for v, _ in carried]
            for i in range(start, env[bound] + 1 if bound else end, step):
                inner = {**env, **dict(zip(args, values)), index: i}
                run(inner)
                values = [inner[y] for y in yields]
            env.update(zip(results, values))

        return [head, *lines, "yield " + ", ".join(f"%{y}" for y in yields), f"}} : {types}"], follow, [(n, d) for n, (_, d) in zip(results, carried)]

    def branch(self, scope, indices, depth):
        """On an index or on an element."""
        r = self.r
        name, dims = r.choice(scope)
        element, result, lines = self.fresh("e"), self.fresh("r"), []
        read, read_dims = r.choice(scope)
        reads = self.dtype == "i32" and (not indices or r.random() < 0.5) and 0 not in self.shape(read_dims)
        relation, holds = r.choice((("==", np.equal), ("<=", np.less_equal), (">", np.greater)))
        index, number = indices and r.choice(indices), r.randrange(-1, 3)
        if reads:
            lines.append(f"%{element} = scalar_of %{read}[{', '.join('0' for _ in read_dims)}] : i32")
        left = f"%{element}" if reads else f"%{index} mod 2" if indices else str(r.randrange(0, 2))
        value = lambda env: int(env[read].reshape(-1)[0]) if reads else env[index] % 2 if indices else int(left)
        sides = []
        for _ in range(2):
            block, run, made = self.block(scope, indices, depth)
            sides.append((block, run, self.choice_of(made, dims)))
        lines.append(f"%{result} = if {left} {relation} {number} {{")
        lines += [*sides[0][0], f"yield %{sides[0][2]}", "} else {", *sides[1][0], f"yield %{sides[1][2]}", f"}} : {self.type(dims)}"]

        def follow(env):
            _, run, y = sides[0 if holds(value(env), number) else 1]
            inner = dict(env)
            run(inner)
            env[result] = inner[y]

        return lines, follow, [(result, dims)]

    def joined(self, a, b):
        n = max(len(a), len(b))
        a, b = ("1",) * (n - len(a)) + a, ("1",) * (n - len(b)) + b
        if any(p != q and "1" not in (p, q) for p, q in zip(a, b)):
            return None
        return tuple(q if p == "1" else p for p, q in zip(a, b))

    def form(self, seed):
        bound = {n for dims, _ in self.inputs.values() for n in dims}
        outputs = {n: self.type(dims) for n, dims, _ in self.outputs}
        values = [v for _, _, v in self.outputs]
        assert bound >= {n for _, dims, _ in self.outputs for d in dims for n in re.findall("[A-Z]", d)}
        arrays = {n: a for n, (_, a) in self.inputs.items()}
        given = lambda name, dtype, shape, rng: stored(dtype, arrays[name])
        want = lambda *_: tuple(values)
        arrays |= {n: a for n, _, a in self.scalars}
        types = {n: self.type(d) for n, (d, _) in self.inputs.items()} | {n: self.dtype for n, _, _ in self.scalars}
        form = Form(f"random-{seed}", types, outputs, "\n".join(self.lines), want, [self.size])
        form.prepare = given
        form.exact_bits = False
        return form


def randoms(first, count, has_distance):
    for seed in range(first, first + count):
        yield RandomForm(seed, has_distance).form(seed)


def single_ops():
    yield from single.single_ops(Form)


def moves():
    yield from movements.moves(Form)


def index_ops():
    yield from by_index.index_ops(Form)


FORMS = (broadcasts, reductions, transposes, constants, products, quantisation, casts, byte_arithmetic, single_ops, moves, index_ops)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", default="", help="folder of the programs")
    parser.add_argument("--groups", default="", help=", ".join(g.__name__ for g in FORMS))
    parser.add_argument("--only", default="", help="forms whose name this pattern finds")
    parser.add_argument("--sizes", type=int, default=0, help="at most so many sizes of each form")
    parser.add_argument("--empty", action="store_true", help="sizes with an extent of 0 alone")
    parser.add_argument("--share", type=int, default=1, help="every N-th form alone")
    parser.add_argument("--stages", action="store_true")
    parser.add_argument("--set", action="append", default=[], help="setting for the default pipeline")
    parser.add_argument("--random", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=0)
    parser.add_argument("--opset", default="", help="plugin file of acme.squared_distance, which random programs then have")
    parser.add_argument("--keep", default="", help="folder for what goes between the programs")
    a = parser.parse_args()
    tools = Tools(a.bin and os.path.abspath(a.bin), os.path.abspath(a.keep or tempfile.mkdtemp()), a.set, a.opset)
    groups = (randoms(a.seed, a.random, a.opset),) if a.random else (g() for g in FORMS if not a.groups or g.__name__ in a.groups.split(","))
    runs = forms = wrong = refused = listed = 0
    end = time.monotonic() + a.seconds if a.seconds else None
    for form in itertools.chain(*groups):
        if not re.search(a.only, form.name) or not form.sizes or (end and time.monotonic() > end):
            continue
        listed += 1
        if (listed - 1) % a.share:
            continue
        form.sizes = [s for s in form.sizes if not a.empty or 0 in s.values()][: a.sizes or None]
        forms += 1
        try:
            right = check(form, tools, a.stages)
            refused += right is None
            runs += right or 0
        except Wrong as e:
            wrong += 1
            print(f"WRONG {e}", flush=True)
    print(f"{forms} forms, {runs} runs right, {wrong} wrong" + (f", {refused} forms refused" if refused else ""))
    return wrong != 0 or forms == 0


if __name__ == "__main__":
    sys.exit(main())
