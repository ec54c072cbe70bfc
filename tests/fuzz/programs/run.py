"""Random programs of all ops of the table, against numpy.

    run.py [--bin DIR] [--seed N] [--count N] [--seconds N] [--lowered N] [--native N] [--compiler C] [--keep DIR] [--report]

Program number n is of seed n, and has two rows of the table of op and element type that follow from n, so that each row has its turn.
Each runs on the reference; every one of --lowered (0: none, 1: all, 5: every fifth) through the default pipeline, too: most of them for a machine
that is drawn (random_machines.py), with options that are drawn (random_options.py) and, of some, with pins of their search space
(random_schedules.py). Every one of --native runs through the native pipeline as it is. What numpy makes of each op is written by hand in draw_*.py, with a bound on the error that follows the numbers
through the program. Ends with 1 and the program when something is wrong: a result, a crash, a refusal by `reference`, or one that does
not say where. Refusals by the default pipeline are counted by code: apart those of the machine and the options that were drawn, where
the default pipeline as it is takes the program. The numbers of all follow, with the rows that came least often; --report prints each."""
import argparse
import collections
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np

sys.dont_write_bytecode = True  # the tree may be read-only, and stays as it is
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import program as programs  # noqa: E402
import draw_composites  # noqa: E402, F401
import draw_elementwise  # noqa: E402, F401
import draw_moves  # noqa: E402, F401
import draw_reductions  # noqa: E402, F401
import parallel_loops  # noqa: E402, F401
import random_machines  # noqa: E402
import random_options  # noqa: E402
import random_schedules  # noqa: E402
from quantity import Reject, loaded, stored  # noqa: E402

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
DEFAULT = f"--pipeline={ROOT}/pipelines/default.yaml"
NATIVE = f"--pipeline={ROOT}/pipelines/native.yaml"
NOT_WRITTEN = ("tensor.group",)  # pto.fuse makes it; a program cannot hold it with what it would have to yield
REFUSALS = {"E1331"}  # codes of the host that refuse a program; others blame a pass
BACKENDS = ("pto.reference/", "pto.cpu-sim/", "pto.native/")
SECONDS_MAX = 300  # a guard against what hangs, on a busy machine too
NO_INPUT = ("index",)  # of shape ops alone: an index tensor is no file


class Wrong(Exception):
    pass


def table_rows(inspect):
    """[(op, dtype)] of the table; an op that has no drawer is an error."""
    ops = json.loads(subprocess.run([inspect, "ops", "--format=json"], capture_output=True, text=True, check=True).stdout)
    names = [o["name"] for o in ops if o["name"].startswith("tensor.") and o["name"] not in NOT_WRITTEN]
    missing = sorted(set(names) - set(programs.DRAWERS))
    unknown = sorted(set(programs.DRAWERS) - set(names))
    if missing or unknown:
        raise SystemExit(f"no drawer for {', '.join(missing) or '-'}; drawers of no op: {', '.join(unknown) or '-'}")
    return [(o["name"], t) for o in ops if o["name"] in programs.DRAWERS for t in o["element types"].split(", ") if t not in NO_INPUT]


def first_error(text):
    """The first error: (code, where, the line), or None."""
    m = re.search(r"(?m)^(.*?): error: \[([\w./-]+)\].*", text)
    return m and (m[2], m[1], m[0])


def is_refusal(error):
    """Whether a pass refuses the program, or the simulator says that it cannot be a machine that was drawn, such as one of other boxes.
    What a backend finds otherwise, such as a race, is the fault of a pass."""
    is_found_late = bool(error) and error[0].startswith(BACKENDS) and error[0] != "pto.cpu-sim/unsupported"
    return bool(error) and error[1].startswith("program.ptir:") and not is_found_late


class Setting:
    """How the default pipeline runs: as it is, or with what is drawn."""

    def __init__(self, r=None, options=None):
        self.arguments, self.words, self.machine, self.shuffle = [], [], None, []
        if r is None:
            return
        if r.random() < 0.7:
            self.machine, self.words = random_machines.draw(r)
            self.arguments.append("--machine=./machine.yaml")
        if r.random() < 0.6:
            self.arguments += options.draw(r)
        self.shuffle = [f"--shuffle={r.randrange(1, 1000)}"] if r.random() < 0.3 else []

    def __str__(self):
        return "\n".join([" ".join(self.arguments + self.shuffle), *(f"  {w}" for w in self.words)])


class Runner:
    def __init__(self, folder, programs_folder, compiler):
        self.folder, self.bin = folder, programs_folder
        self.natively = [NATIVE, *([f"--set=backend.with.compiler={compiler}"] if compiler else [])]
        self.found = collections.Counter()  # what came how often; a refusal as (kind, code)
        self.first = {}  # of each refusal the first
        self.rows = {tag: collections.Counter() for tag in ("reference", "default", "native")}  # whose numbers were right, by pipeline

    def path(self, name):
        return os.path.join(self.folder, name)

    def put(self, name, text):
        with open(self.path(name), "w", encoding="ascii") as out:
            out.write(text)

    def tool(self, name):
        return os.path.join(self.bin, name) if self.bin else name

    def run(self, tool, *arguments):
        command = [self.tool(tool), "program.ptir", *arguments]
        try:
            return subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=SECONDS_MAX, cwd=self.folder)
        except subprocess.TimeoutExpired:
            raise Wrong(f"{' '.join(command)}: it takes longer than {SECONDS_MAX} s") from None

    def write(self, p):
        """The program and its inputs; which arguments name them."""
        f = p.functions[0]
        self.put("program.ptir", p.text())
        if f.params:
            np.savez(self.path("in.npz"), **{name: np.asarray(stored(dtype, f.env[name].v)) for name, _, dtype in f.params})
        return [f"--sym={n}={k}" for n, k in p.symbols().items()] + [f"--in={name}=in.npz:{name}" for name, _, _ in f.params]

    def compare(self, f, tag):
        with np.load(self.path(tag + ".npz")) as made:
            for name in f.outputs:
                self.compare_one(f, tag, name, loaded(f.types[name][1], made[f.named(name)]))

    @staticmethod
    def compare_one(f, tag, name, got):
        q = f.env[name]
        if got.shape != q.v.shape:
            raise Wrong(f"{tag}: %{name} has shape {got.shape}, not {q.v.shape}")
        with np.errstate(all="ignore"):
            right = got == q.v if q.e is None else np.abs(got.astype(np.float64) - q.v) <= q.e
        if np.all(right):
            return
        at = tuple(map(int, np.argwhere(~right)[0]))
        bound = "" if q.e is None else f" +- {np.broadcast_to(q.e, q.v.shape)[at]}"
        raise Wrong(f"{tag}: %{name}{list(at)} is {got[at]}, not {q.v[at]}{bound}; {np.sum(~right)} of {right.size} are wrong")

    @staticmethod
    def outputs(f, tag):
        return [f"--out={f.named(n)}={tag}.npz:{f.named(n)}" for n in f.outputs]

    def reference(self, p, given):
        done = self.run("pto-run", f"--pipeline={ROOT}/pipelines/reference.yaml", *given, *self.outputs(p.functions[0], "reference"))
        if done.returncode != 0:
            raise Wrong(f"reference: status {done.returncode}\n{done.stderr[:3000]}")
        self.compare(p.functions[0], "reference")
        self.rows["reference"].update(p.rows)

    def refused(self, kind, error):
        self.found[kind, error[0]] += 1
        self.first.setdefault((kind, error[0]), error[2])

    def is_apart(self, f, done):
        """An output that cannot be made in the memory of an input is refused; the program goes on without that."""
        if not f.aliases or "error: [pto.bufferize/alias]" not in done.stderr:
            return False
        f.aliases = {}
        self.found["apart"] += 1
        self.put("program.ptir", f.p.text())
        return True

    def pinned(self, r, setting):
        """Arguments for a schedule of random pins, and the lines where these begin."""
        done = self.run("pto-opt", DEFAULT, *setting.arguments, "--print-search-space")
        pins = random_schedules.draw(r, random_schedules.entries(done.stdout)) if done.returncode == 0 else []
        if not pins:
            return [], []
        text, begins = random_schedules.schedule(pins)
        self.put("pins.yaml", text)
        return ["--schedule=pins.yaml"], begins

    def once(self, f, setting, given, pins=(), begins=()):
        """None, or the error of a refusal: (code, where, the line, whether it blames the program)."""
        done = self.run("pto-run", DEFAULT, *setting.arguments, *setting.shuffle, *pins, *given, *self.outputs(f, "default"))
        if done.returncode == 0:
            self.found["in place"] += len(f.aliases)
            self.compare(f, "default")
            return None
        if self.is_apart(f, done):
            return self.once(f, setting, given, pins, begins)
        error = first_error(done.stderr)
        at_pin = done.returncode == 2 and random_schedules.is_at_a_pin(done.stderr, "pins.yaml", begins)
        at_op = done.returncode == 5 and is_refusal(error) and set(re.findall(r"error: \[(E\d+)\]", done.stderr)) <= REFUSALS
        if not (at_pin or at_op):
            raise Wrong(f"status {done.returncode}\n{done.stderr[:3000]}")
        return (*error, at_op)

    def native(self, p, given):
        f = p.functions[0]
        done = self.run("pto-run", *self.natively, *given, *self.outputs(f, "native"))
        if self.is_apart(f, done):
            return self.native(p, given)
        self.found["native"] += 1
        if done.returncode == 0:
            self.found["in place"] += len(f.aliases)
            self.compare(f, "native")
            return self.rows["native"].update(p.rows)
        error = first_error(done.stderr)
        if done.returncode != 5 or not is_refusal(error):
            raise Wrong(f"native: status {done.returncode}\n{done.stderr[:3000]}")
        self.refused("refused by the native pipeline", error)
        self.found["native refused"] += 1
        return None

    def pinned_once(self, f, setting, given, pins, begins):
        """Pins that cannot hold are refused where they are; then it goes without them."""
        error = self.once(f, setting, given, pins, begins)
        self.found["pin sets"] += 1
        if not error:
            return None
        without = self.once(f, setting, given)
        if error[3] and not without:
            raise Wrong(f"pins are refused as if the program were wrong: {error[2]}")
        if not error[3]:
            self.refused("pin sets refused", error)
        return without

    def lowered(self, p, given, r, setting):
        f = p.functions[0]
        if setting.machine is not None:
            self.put("machine.yaml", setting.machine)
            self.found["machines drawn"] += 1
        pins, begins = self.pinned(r, setting) if r.random() < 0.4 else ([], [])
        error = self.pinned_once(f, setting, given, pins, begins) if pins else self.once(f, setting, given)
        self.found["lowered"] += 1
        if error and setting.arguments:
            self.refused("refused for what was drawn", error)
            error = self.once(f, Setting(), given)
        if error:
            self.refused("refused by the default pipeline", error)
            self.found["refused"] += 1
        else:
            self.rows["default"].update(p.rows)


def check(runner, options, p, seed, a):
    """Runs a program; what is wrong with it, or None."""
    r = random.Random(seed)
    setting = None
    try:
        given = runner.write(p)
        runner.reference(p, given)
        if a.lowered and seed % a.lowered == 0:
            setting = Setting(r, options) if r.random() < 0.7 else Setting()
            runner.lowered(p, given, r, setting)
        if a.native and seed % a.native == 0:
            runner.native(p, given)
    except Wrong as e:
        return f"{e}\nwith {setting}" if setting is not None else str(e)
    return None


def report(runner, rows, every):
    found = runner.found
    for (kind, code), n in sorted(((k, n) for k, n in found.items() if isinstance(k, tuple)), key=lambda one: (one[0][0], -one[1])):
        print(f"{kind} {n}: {runner.first[kind, code]}")
    for tag, hits in runner.rows.items():
        if not hits:
            continue
        if every:
            for op, dtype in rows:
                print(f"{tag} {hits[(op, dtype)]:6} {op} {dtype}")
        least = sorted(rows, key=lambda row: hits[row])
        print(f"{tag}, rows that came least often: " + ", ".join(f"{op} {dtype} {hits[(op, dtype)]}" for op, dtype in least[:8]))
        print(f"{tag}, {sum(hits[row] == 0 for row in rows)} of {len(rows)} rows without a turn, {sum(hits[row] < 20 for row in rows)} with fewer than 20")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", default="", help="folder of the tools")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=0)
    parser.add_argument("--lowered", type=int, default=1)
    parser.add_argument("--native", type=int, default=0)
    parser.add_argument("--compiler", default="", help="the C compiler of programs that run natively")
    parser.add_argument("--report", action="store_true", help="how often each row came")
    parser.add_argument("--keep", default="", help="folder for the files of programs that are wrong, each in one named by its seed")
    a = parser.parse_args()
    bin_folder = a.bin and os.path.abspath(a.bin)
    wrong, count = 0, 0
    end = time.monotonic() + a.seconds if a.seconds else None
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(folder, bin_folder, a.compiler)
        rows = table_rows(runner.tool("pto-inspect"))
        options = random_options.Options(runner.tool("pto-opt"), runner.tool("pto-inspect"), f"{ROOT}/pipelines/default.yaml") if a.lowered else None
        for seed in range(a.seed, a.seed + a.count):
            if end and time.monotonic() > end:
                break
            try:
                p = programs.generate(seed, rows)
            except Reject:
                continue
            count += 1
            what = check(runner, options, p, seed, a)
            if what:
                wrong += 1
                print(f"WRONG seed {seed}: {what}\n{p.text()}", flush=True)
                if a.keep:
                    shutil.copytree(folder, os.path.join(a.keep, str(seed)), dirs_exist_ok=True)
    report(runner, rows, a.report)
    n = runner.found
    print(f"{n['in place']} outputs in the memory of inputs, {n['apart']} programs for which there was no such way")
    print(f"seeds {a.seed} to {seed}: {count} programs, {n['lowered']} lowered, {n['refused']} refused, {n['machines drawn']} machines, {n['pin sets']} pin sets, {n['native']} native, {n['native refused']} refused there, {wrong} wrong")
    return wrong != 0 or count == 0


if __name__ == "__main__":
    sys.exit(main())
