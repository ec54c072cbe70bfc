"""Random programs of all ops of the table, against numpy.

    run.py [--bin DIR] [--seed N] [--count N] [--seconds N] [--lowered N] [--keep DIR] [--report]

Program number n is of seed n, and begins with row n of the table of op and element type, so that each row has its turn. Each runs on
the reference; every one of --lowered (0: none, 1: all, 5: every fifth) through the default pipeline, too, for a machine and settings
that are drawn. What numpy makes of each op is written by hand in draw_*.py, with a bound on the error that follows the numbers through
the program. Ends with 1 and the program when something is wrong: a result, a crash, or a refusal of `reference`. What the default
pipeline refuses is counted by code."""
import argparse
import collections
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time

import numpy as np

sys.dont_write_bytecode = True  # the tree may be read-only, and stays as it is
import program as programs  # noqa: E402
import draw_composites  # noqa: E402, F401
import draw_elementwise  # noqa: E402, F401
import draw_moves  # noqa: E402, F401
import draw_reductions  # noqa: E402, F401
from quantity import Reject, loaded, stored  # noqa: E402

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
NOT_WRITTEN = ("tensor.group",)  # pto.fuse makes it; a program cannot hold it with what it would have to yield
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


class Runner:
    def __init__(self, folder, programs_folder):
        self.folder, self.bin = folder, programs_folder
        os.makedirs(folder, exist_ok=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def tool(self, name):
        return os.path.join(self.bin, name) if self.bin else name

    def run(self, arguments):
        try:
            return subprocess.run([self.tool("pto-run"), self.path("program.ptir"), *arguments], capture_output=True, text=True, timeout=120)
        except subprocess.TimeoutExpired:
            raise Wrong("it takes longer than 120 s") from None

    def write(self, p):
        f = p.functions[0]
        with open(self.path("program.ptir"), "w", encoding="ascii") as out:
            out.write(p.text())
        arguments = [f"--sym={n}={k}" for n, k in p.symbols().items()]
        for name, dims, dtype in f.params:
            np.save(self.path(name + ".npy"), np.asarray(stored(dtype, self.given(f, name))))
            arguments.append(f"--in={name}={self.path(name + '.npy')}")
        return arguments

    @staticmethod
    def given(f, name):
        return f.env[name].v

    def compare(self, f, tag):
        for name in f.outputs:
            dims, dtype = f.types[name]
            q, got = f.env[name], loaded(dtype, np.load(self.path(f"{tag}.{name}.npy")))
            if got.shape != q.v.shape:
                raise Wrong(f"{tag}: %{name} has shape {got.shape}, not {q.v.shape}")
            with np.errstate(all="ignore"):
                right = got == q.v if q.e is None else np.abs(got.astype(np.float64) - q.v) <= q.e
            if np.all(right):
                continue
            at = tuple(map(int, np.argwhere(~right)[0]))
            bound = "" if q.e is None else f" +- {np.broadcast_to(q.e, q.v.shape)[at]}"
            raise Wrong(f"{tag}: %{name}{list(at)} is {got[at]}, not {q.v[at]}{bound}; {np.sum(~right)} of {right.size} are wrong")

    def outputs(self, f, tag):
        return [f"--out={n}={self.path(f'{tag}.{n}.npy')}" for n in f.outputs]

    def check(self, p, settings):
        """The code of a refusal by the default pipeline, or None."""
        f, given = p.functions[0], self.write(p)
        done = self.run([f"--pipeline={ROOT}/pipelines/reference.yaml", *given, *self.outputs(f, "reference")])
        if done.returncode != 0:
            raise Wrong(f"reference: status {done.returncode}\n{done.stderr[:3000]}")
        self.compare(f, "reference")
        if settings is None:
            return None
        done = self.run([f"--pipeline={ROOT}/pipelines/default.yaml", *settings, *given, *self.outputs(f, "default")])
        if done.returncode == 0:
            self.compare(f, "default")
            return None
        code = re.search(r"error: \[([\w./-]+)\](.*)", done.stderr)
        if done.returncode != 5 or not code:
            raise Wrong(f"default: status {done.returncode} with {' '.join(settings)}\n{done.stderr[:3000]}")
        return code[0][7:]


def settings_of(r):
    """A machine and parameters."""
    settings = [] 
    if r.random() < 0.2:
        settings.append("--set=params.in-place=false")
    return settings


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", default="", help="folder of the tools")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=0)
    parser.add_argument("--lowered", type=int, default=1)
    parser.add_argument("--report", action="store_true", help="how often each row came, and what was refused")
    parser.add_argument("--keep", default="", help="folder for files; programs that are wrong stay there")
    a = parser.parse_args()
    runner = Runner(os.path.abspath(a.keep or tempfile.mkdtemp()), a.bin and os.path.abspath(a.bin))
    rows = table_rows(runner.tool("pto-inspect"))
    hits, refused = collections.Counter(), collections.Counter()
    wrong = count = lowered = 0
    end = time.monotonic() + a.seconds if a.seconds else None
    for seed in range(a.seed, a.seed + a.count):
        if end and time.monotonic() > end:
            break
        try:
            p = programs.generate(seed, rows, rows[seed % len(rows)])
        except Reject:
            continue
        count += 1
        r = random.Random(seed)
        settings = settings_of(r) if a.lowered and seed % a.lowered == 0 else None
        try:
            code = runner.check(p, settings)
            hits.update(p.rows)
            lowered += settings is not None
            if code:
                refused[code] += 1
        except Wrong as e:
            wrong += 1
            kept = runner.path(f"wrong-{seed}.ptir")
            with open(kept, "w", encoding="ascii") as out:
                out.write(p.text())
            print(f"WRONG seed {seed}: {e}\n{p.text()}", flush=True)
    if a.report:
        for op, dtype in rows:
            print(f"{hits[(op, dtype)]:6} {op} {dtype}")
    for code, n in refused.most_common():
        print(f"refused {n}: {code}")
    print(f"{count} programs, {lowered} lowered, {sum(refused.values())} refused, {wrong} wrong, rows without a turn: {sum(hits[r] == 0 for r in rows)} of {len(rows)}")
    return wrong != 0 or count == 0


if __name__ == "__main__":
    sys.exit(main())
