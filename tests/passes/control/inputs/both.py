"""Runs a function on `reference`, through `default.yaml` and through `native.yaml`, and compares all with numpy.

both.py MODULE WANTED.py [SYMBOL=N ..] [+OPTION ..] [++OPTION ..] [-- SYMBOL=N .. [-- ..]]

WANTED.py defines `wanted(**arguments)`: the outputs by name, in terms of the parameters of the only public function of
the module and of its symbols; `inputs(name, shape, dtype, random)` if some parameter needs certain numbers. Each list
of symbols is one run. An option is given to the tool, without its `+`; one with `++` where the module is lowered."""

import os
import re
import subprocess
import sys

import numpy

DTYPES = {"f32": numpy.float32, "f16": numpy.float16, "i32": numpy.int32, "i8": numpy.int8, "bool": numpy.bool_}


def parameters(text):
    head = re.search(r"^ *func @\w+\((.*?)\)(?: ->|.*\{)", text, re.M).group(1)
    for name, type_text in re.findall(r"%(\w+): (tensor<[^>]*>|\w+)", head):
        yield name, type_text


def number(text, symbols):
    return eval(re.sub(r"\$(\w+)", lambda m: str(symbols[m.group(1)]), text))


def make(type_text, symbols, random):
    if not type_text.startswith("tensor"):
        return None
    *dims, dtype = type_text[7:-1].split(" x ")
    shape, dtype = [number(d, symbols) for d in dims], DTYPES[dtype]
    if dtype == numpy.bool_:
        return random.integers(0, 2, shape).astype(dtype)
    if numpy.issubdtype(dtype, numpy.integer):
        return random.integers(-9, 10, shape).astype(dtype)
    return random.uniform(-1, 1, shape).astype(dtype)


def run(module, wanted, given, options, lowered):
    symbols = {k: int(v) for k, v in (g.split("=") for g in given)}
    random = numpy.random.default_rng(7)
    text = open(module).read()
    # --check=semantics draws long extents for symbols, which sanitizers make slow.
    if IS_SANITIZED and "--check=semantics" in [*options, *lowered]:
        text = re.sub(r"\$([A-Z]\w*)", lambda m: str(symbols.get(m[1], m[0])), text)
        module = "numbers.ptir"
        with open(module, "w") as f:
            f.write(text)
    arguments, command = dict(symbols), ["pto-run", module, "--quiet", *options]
    for name, type_text in parameters(text):
        value = wanted["inputs"](name, symbols, random) if "inputs" in wanted else None
        if value is None:
            value = make(type_text, symbols, random)
        if value is None:
            value = symbols[name]
            command.append(f"--in={name}={value}")
        else:
            numpy.save(f"{name}.npy", value)
            command.append(f"--in={name}={name}.npy")
        arguments[name] = value
    command += [f"--sym={k}={v}" for k, v in symbols.items() if f"${k}" in text.split("{")[0]]
    with numpy.errstate(all="ignore"):
        outputs = wanted["wanted"](**arguments)
    for pipeline in PIPELINES:
        files = {name: f"{pipeline}-{name}.npy" for name in outputs}
        made = [f"--out={name}={file}" for name, file in files.items()]
        more = lowered if pipeline != "reference" else []
        done = subprocess.run([*command, *more, f"--pipeline={pipeline}.yaml", *made], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{pipeline} {given}: exit {done.returncode}\n{done.stdout}{done.stderr}")
        for name, expected in outputs.items():
            got = numpy.load(files[name])
            same = got.shape == expected.shape and numpy.allclose(got, expected, 1e-5, 1e-5, equal_nan=True)
            if not same:
                sys.exit(f"{pipeline} {given}: {name} is\n{got}\nnot\n{expected}")


def main():
    module, reference, *rest = sys.argv[1:]
    wanted = {"np": numpy}
    exec(open(reference).read(), wanted)
    options = [r[1:] for r in rest if r.startswith("+") and not r.startswith("++")]
    lowered = [r[2:] for r in rest if r.startswith("++")]
    runs = [[]]
    for item in rest:
        if item == "--":
            runs.append([])
        elif not item.startswith("+"):
            runs[-1].append(item)
    for given in runs:
        run(module, wanted, given, options, lowered)


os.environ["LC_ALL"] = "C"
IS_SANITIZED = os.environ.get("TEST_SHARE", "1") != "1"
PIPELINES = ["reference", "default"] + ["native"] * (not IS_SANITIZED)
main()
