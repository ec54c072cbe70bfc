"""Random schedules of random programs.

    random_pins.py [--bin DIR] [--pipeline NAME] [--seed N] [--count N] [--seconds N] [--pins N] [--runs N] [--set K=V] [--keep DIR]

For each seed a program: one of tests/fuzz/programs, which have all ops, loops and calls, one of tests/fuzz/forms.py, drawn or listed, an
attention, one with a `tune`, or an example. Of each program

  - what --emit-schedule writes, all of it pinned, makes the same module, byte for byte;
  - --pins times: of what --print-search-space lists, some is pinned at random legal values. Each such schedule is kept, so that what is
    then emitted has its values and makes the same module again; or refused with status 2 at the line of a pin;
  - with those that were kept: what --until=STEP prints, of a random step, ends with --from=NEXT in the same module;
  - of one program in --runs: pto-run with a schedule that was kept finds the numbers of pipelines/reference.yaml, in random order.

Everything follows from the seed. Ends with 1 when something does not hold, with the seed, and with its files in --keep."""

import argparse
import collections
import glob
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
sys.path[:0] = [os.path.join(ROOT, "tests", "fuzz"), os.path.join(ROOT, "tests", "fuzz", "programs")]
sys.dont_write_bytecode = True  # the tree may be read-only, and stays as it is
import forms  # noqa: E402
import products  # noqa: E402
import random_programs  # noqa: E402
import random_schedules  # noqa: E402
import run as all_ops  # noqa: E402
import transposes  # noqa: E402
import vector_work  # noqa: E402
from random_schedules import entries, schedule  # noqa: E402

EXAMPLES = sorted(glob.glob(os.path.join(ROOT, "examples", "*", "*.ptir")))
LISTED = [form for group in (vector_work.broadcasts, vector_work.reductions, transposes.transposes, transposes.constants, products.products) for form in group()]


# ---- programs ----

def attention(r):
    """Queries in groups that share keys and values; softmax by hand, so that it has more to decide."""
    g, h, s, t, d = r.choice((1, 2, 8)), r.choice((1, 2, 4)), r.choice((1, 16, 40, 128)), r.choice((1, 33, 64, 256)), r.choice((16, 64))
    s = r.choice(("$S", s))
    kept = f"{g} x {h} x {s}"
    return f"""func @gqa(%q: tensor<{kept} x {d} x f16>, %k: tensor<{g} x 1 x {t} x {d} x f16>, %v: tensor<{g} x 1 x {t} x {d} x f16>) -> tensor<{kept} x {d} x f32> {{
  %p = tensor.matmul %q, %k {{out = f32, transpose_b = true}} : tensor<{kept} x {t} x f32>
  %c = tensor.constant {{value = 0.125}} : tensor<{kept} x {t} x f32>
  %s = tensor.mul %p, %c : tensor<{kept} x {t} x f32>
  %m = tensor.reduce_max %s {{axis = -1}} : tensor<{kept} x 1 x f32>
  %n = tensor.sub %s, %m : tensor<{kept} x {t} x f32>
  %e = tensor.exp %n : tensor<{kept} x {t} x f32>
  %l = tensor.reduce_sum %e {{axis = -1}} : tensor<{kept} x 1 x f32>
  %w = tensor.div %e, %l : tensor<{kept} x {t} x f32>
  %h = tensor.cast %w {{mode = "rint"}} : tensor<{kept} x {t} x f16>
  %o = tensor.matmul %h, %v {{out = f32}} : tensor<{kept} x {d} x f32>
  return %o
}}
"""


def tuned(r):
    """A number that the program leaves open, and another function beside it."""
    step = r.choice((1, 3, 64))
    return f"""func @tuned(%x: tensor<$B x 40 x f32>) -> tensor<$B x 1 x f32> {{
  tune $K in [{step}, {r.choice((step, 5 * step, 7 * step + 1))}] step {step}
  %k = tensor.index_cast from($K) : tensor<f32>
  %p = tensor.mul %x, %k : tensor<$B x 40 x f32>
  %y = tensor.reduce_max %p {{axis = 1}} : tensor<$B x 1 x f32>
  return %y
}}
func @beside(%x: tensor<$B x 40 x f32>) -> tensor<$B x 40 x f32> {{
  %y = tensor.softmax %x : tensor<$B x 40 x f32>
  %z = tensor.add %y, %y : tensor<$B x 40 x f32>
  return %z
}}
"""


def of_all_ops(seed, rows):
    p = all_ops.programs.generate(seed, rows)
    p.functions[0].aliases = {}  # some of them cannot be made
    return p.text()


def program(seed, r, rows):
    """Its text, and the values of its symbols as arguments; None: it is not run, since its numbers follow the schedule or its inputs have
    a domain."""
    if seed % 2 == 1:
        return of_all_ops(seed, rows), None
    kind, size = r.random(), {}
    if kind < 0.05:
        with open(r.choice(EXAMPLES)) as f:
            return f.read(), None
    elif kind < 0.1:
        text = attention(r)
    elif kind < 0.13:
        return tuned(r), None
    else:
        form = r.choice(LISTED) if kind < 0.33 else random_programs.RandomForm(seed).form(seed)
        size = r.choice(form.sizes)
        text = form.module(size, r.random() < 0.4)
    symbols = sorted(set(re.findall(r"\$(\w+)", text)))
    return text, [f"--sym={s}={size[s] if s in size else r.choice((1, 3, 17))}" for s in symbols]


def decided(entry, key):
    return entry["at"], entry["decide"], entry[key]


# ---- what must hold ----

class Tools(forms.Tools):
    def try_run(self, tool, *arguments):
        """Status and stderr."""
        r = subprocess.run([os.path.join(self.bin, tool), *arguments], capture_output=True, text=True, timeout=300, cwd=self.folder)
        return r.returncode, r.stderr

    def compile(self, *arguments):
        return self.try_run("pto-opt", *self.default, *arguments)

    def must_compile(self, *arguments):
        status, err = self.compile(*arguments)
        if status:
            raise forms.Wrong(f"pto-opt {' '.join(arguments)}: status {status}\n{err[:2000]}")
        return err


def check_replay(tools, name, module, what):
    """The emitted schedule `name`, all of it pinned, makes the bytes of `module` again."""
    pinned = [decided(e, "value") for e in entries(tools.read(name))]
    tools.write("all.yaml", schedule(pinned)[0])
    err = tools.must_compile("program.ptir", "--schedule=all.yaml", "-o", "replay.ptir")
    if pinned and err:
        raise forms.Wrong(f"{what}, all pinned, is not silent:\n{err}")
    if tools.read("replay.ptir") != tools.read(module):
        raise forms.Wrong(f"{what}, all pinned, makes another module")


def check_refused(err, begins):
    if not random_schedules.is_at_a_pin(err, "pins.yaml", begins):
        raise forms.Wrong(f"refused, but not at the line of a pin:\n{err}")


def check_kept(tools, pins):
    made = {(e["at"], e["decide"]): e for e in entries(tools.read("kept.yaml"))}
    for at, decide, value in pins:
        e = made.get((at, decide))
        if e is None or e["value"] != value or e.get("pinned") != "true":
            raise forms.Wrong(f"`{decide}` of {at} was pinned at {value}, and became {e and e['value']}")


def check_halves(tools, r):
    """Stop after a step and go on from what it printed. Pins of the steps that do not run are warned about."""
    names = forms.steps(tools)
    step = r.randrange(len(names) - 1)
    tools.must_compile("program.ptir", "--schedule=pins.yaml", f"--until={names[step]}", "-o", "half.ptir")
    tools.must_compile("half.ptir", "--schedule=pins.yaml", f"--from={names[step + 1]}", "-o", "rest.ptir")
    if tools.read("rest.ptir") != tools.read("kept.ptir"):
        raise forms.Wrong(f"--until={names[step]} and --from={names[step + 1]} end in another module")


def check_numbers(tools, r, symbols, found):
    seed = str(r.randrange(1, 1000))
    status, err = tools.try_run("pto-run", "program.ptir", *tools.default, "--schedule=pins.yaml", *symbols, f"--random-inputs={seed}",
                                f"--shuffle={seed}", "--compare=" + os.path.join(ROOT, "pipelines", "reference.yaml"))
    if status:
        raise forms.Wrong(f"--random-inputs={seed} --shuffle={seed}: status {status}\n{err[:2000]}")
    found["runs with the numbers of the reference"] += 1


def check_pins(tools, r, space, symbols, found):
    """`symbols`: with which a kept schedule is run; None: it is not run."""
    pins = random_schedules.draw(r, space)
    if not pins:
        return
    text, begins = schedule(pins)
    tools.write("pins.yaml", text)
    status, err = tools.compile("program.ptir", "--schedule=pins.yaml", "--emit-schedule=kept.yaml", "-o", "kept.ptir")
    if status == 2:
        check_refused(err, begins)
        found["pin sets refused"] += 1
        found["refused: " + re.search(r"error: \[(.*?)\]", err)[1]] += 1
        return
    if status:
        raise forms.Wrong(f"pins: status {status}\n{err[:2000]}")
    found["pin sets kept"] += 1
    check_kept(tools, pins)
    check_replay(tools, "kept.yaml", "kept.ptir", "what was emitted with pins")
    check_halves(tools, r)
    if symbols is not None:
        check_numbers(tools, r, symbols, found)


def check(tools, seed, a, found):
    r = random.Random(seed)
    text, symbols = program(seed, r, a.rows)
    tools.write("program.ptir", text)
    tools.must_compile("program.ptir", "--emit-schedule=s.yaml", "-o", "plain.ptir")
    check_replay(tools, "s.yaml", "plain.ptir", "what was emitted")
    found["programs"] += 1
    space = entries(tools.run("pto-opt", *tools.default, "program.ptir", "--print-search-space"))
    for _ in range(a.pins):
        check_pins(tools, r, space, symbols if a.runs and seed % a.runs == 0 else None, found)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", default="", help="folder of the programs")
    parser.add_argument("--pipeline", default="default", help="one of pipelines/, without the suffix")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1000000)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--pins", type=int, default=1, help="schedules with random pins for each program")
    parser.add_argument("--runs", type=int, default=0, help="run one program in so many; 0: none")
    parser.add_argument("--set", action="append", default=[], help="setting for the pipeline")
    parser.add_argument("--keep", default="", help="folder for the files of seeds that fail")
    a = parser.parse_args()
    found, wrong, end = collections.Counter(), 0, time.monotonic() + a.seconds
    with tempfile.TemporaryDirectory() as folder:
        tools = Tools(a.bin and os.path.abspath(a.bin), folder, a.set, name=a.pipeline)
        a.rows = all_ops.table_rows(os.path.join(tools.bin, "pto-inspect"))
        for seed in range(a.seed, a.seed + a.count):
            if time.monotonic() > end:
                break
            try:
                check(tools, seed, a, found)
            except (forms.Wrong, subprocess.TimeoutExpired) as e:
                wrong += 1
                print(f"WRONG seed {seed}: {e}", flush=True)
                if a.keep:
                    shutil.copytree(folder, os.path.join(a.keep, str(seed)), dirs_exist_ok=True)
    print(", ".join(f"{n} {what}" for what, n in sorted(found.items())) + f", {wrong} wrong")
    return 1 if wrong or not found["programs"] else 0


if __name__ == "__main__":
    sys.exit(main())
