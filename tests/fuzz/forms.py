"""Forms of tensor programs against numpy, on the reference and on the simulator.

    forms.py [--bin DIR] [--groups LIST] [--only PATTERN] [--sizes N] [--empty] [--stages] [--set K=V] [--keep DIR]
    forms.py [--bin DIR] --random N [--seed N] [--seconds N] [--opset FILE] [--stages] [--set K=V] [--keep DIR]

A form is a short program with what numpy makes of it in float64 (Python-exact for integers), at several sizes. Each runs with its
extents as numbers and as symbols:

  - pipelines/reference.yaml and pipelines/default.yaml compute what numpy computes, within the bound of the form (0: the same);
  - the reference computes the bits of the simulator on the final IR;
  - with --stages, at each step N of the default pipeline that changes the module: what --until=N prints is the dump of the whole run and
    parses back to the same text, --from=N+1 ends in the final IR of the whole run, and the reference runs the module as it is then.

--random N adds programs of random broadcasts, reductions, transposes, windows, constants, loops and branches; with --opset, the plugin that
`pto-plugin new opset acme.opset` makes, of its op, too. They follow from the seed alone. Ends with 1 and the program when something does not hold."""

import argparse
import itertools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "tests", "kernels"))
sys.dont_write_bytecode = True  # the tree may be read-only, and stays as it is
import composites as composed  # noqa: E402
import conversions  # noqa: E402
import elements  # noqa: E402
import index_ops as by_index  # noqa: E402
import moves as movements  # noqa: E402
import order_ops as by_order  # noqa: E402
import products  # noqa: E402
import random_programs  # noqa: E402
import single_ops as single  # noqa: E402
import transposes  # noqa: E402
import vector_work  # noqa: E402
import wide_integers  # noqa: E402
from form import Form, fill, wide  # noqa: E402

AFTER_LAST = "// after step"  # comes before the module that --print-after prints
REFUSALS = r"pto-run .*default.yaml.*: status 5\n.*\[pto.(legalize-types/no-(exact-way|conversion|product)|expand-math/no-type|select/no-instruction)\]"


class Wrong(Exception):
    pass


class Tools:
    def __init__(self, programs, folder, settings, opset="", name="default"):
        self.bin, self.folder, self.steps = programs, folder, None
        self.default = [pipeline(name), *[f"--set={s}" for s in settings]]
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
        has_printed = AFTER_LAST in r.stderr
        if r.returncode:
            raise Wrong(f"{tool} {' '.join(arguments)}: status {r.returncode}\n{r.stderr[-2000:] if has_printed else r.stderr[:2000]}")
        return r.stderr if has_printed else r.stdout

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
    if tools.steps is None:
        tools.steps = re.findall(r"(?m)^  - pass: .*\n    id: (\S+)", tools.run("pto-opt", *tools.default, "--print-pipeline"))
    return tools.steps


def check_stages(form, size, tools, ins, syms):
    names = steps(tools)
    final = tools.read("final.ptir")
    dumps = tools.path("dumps")
    shutil.rmtree(dumps, ignore_errors=True)
    tools.run("pto-opt", tools.path("program.ptir"), *tools.default, f"--dump-dir={dumps}", "-o", tools.path("rest.ptir"))
    if tools.read("rest.ptir") != final:
        raise Wrong("with --dump-dir the final module is another one")
    # A step that leaves the module as it is has no dump: where it would go on from is where the step before it went on.
    for file in sorted(os.listdir(dumps)):
        named = re.fullmatch(r"\d+-(.+)\.ptir", file)
        if not named or named[1] == "input":
            continue
        step = named[1]
        at = names.index(step) + 1
        dump = tools.path("stage.ptir")
        tools.run("pto-opt", tools.path("program.ptir"), *tools.default, f"--until={step}", "-o", dump)
        text = tools.read("stage.ptir")
        if text != tools.read(os.path.join(dumps, file)):
            raise Wrong(f"--until={step} prints another module than --dump-dir")
        if at < len(names):
            tools.run("pto-opt", dump, *tools.default, f"--from={names[at]}", "-o", tools.path("rest.ptir"))
            if tools.read("rest.ptir") != final:
                raise Wrong(f"--until={step} and --from={names[at]} end in another module")
        elif text != final:
            raise Wrong(f"the module after {step} is not the final one")
        if tools.run("pto-opt", dump) != text:
            raise Wrong(f"the module after {step} does not print as it was")
        tools.run_module(dump, "stage", list(form.outputs), *ins, *syms)
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
            last = steps(tools)[-1]
            try:
                for tag, options in (("reference", [pipeline("reference")]), ("default", [*tools.default, f"--print-after={last}"])):
                    said = tools.run("pto-run", program, *options, *ins, *syms, *[f"--out={n}={tools.path(f'{tag}.{n}.npy')}" for n in form.outputs])
                    compare(form, size, tag, form.arrays, tools, tag)
                tools.write("final.ptir", said.partition(f"{AFTER_LAST} {last}\n")[2])
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


def single_ops():
    yield from single.single_ops(Form)


def moves():
    yield from movements.moves(Form)


def index_ops():
    yield from by_index.index_ops(Form)


def order_ops():
    yield from by_order.order_ops(Form)


def composites():
    yield from composed.composites(Form)


FORMS = (vector_work.broadcasts, vector_work.reductions, transposes.transposes, transposes.constants, products.products, products.quantisation,
         conversions.casts, conversions.casts_by_bits, conversions.byte_arithmetic, wide_integers.wide_sums, wide_integers.wide_products, wide_integers.wide_products_at,
         wide_integers.wide_scalars, single_ops, moves, index_ops, order_ops, composites)


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
    groups = (random_programs.randoms(a.seed, a.random, a.opset),) if a.random else (g() for g in FORMS if not a.groups or g.__name__ in a.groups.split(","))
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
