"""The compiler itself beside mlir-opt-19: time, memory, start-up.

    python3 compiler.py BUILD [--runs N] [--sizes 100000,1000000]

Runs of the two tools alternate, so that both see the same state of the machine. Figures are medians; the spread is
(largest - smallest) / median. Where a row says so, the start-up of the tool (an empty function) is subtracted. What the
tools print goes to /dev/null. Writes BUILD/bench/compiler.csv.
"""

import argparse
import csv
import os
import platform
import shutil
import statistics
import subprocess
import sys

import make_graph

MLIR = "mlir-opt-19"
TARGETS = {"start-up": 2, "default.yaml opened": 10, "softmax compiled": 20}  # milliseconds


class Sample:
    def __init__(self, wall, cpu, kib):
        self.wall, self.cpu, self.kib = wall, cpu, kib


class Bench:
    def __init__(self, build, runs):
        self.build, self.runs = build, runs
        self.folder = os.path.join(build, "bench")
        self.measure = os.path.join(self.folder, "measure-command")
        self.ours = os.path.join(build, "bin", "pto-opt")
        self.rows = []

    def path(self, name):
        return os.path.join(self.folder, name)

    def once(self, command):
        done = subprocess.run([self.measure, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, text=True)
        words = done.stdout.split()
        if len(words) != 4 or words[0] != "0":
            lines = done.stderr.strip().splitlines() or ["it ended with status " + " ".join(words[:1])]
            raise RuntimeError(lines[0])
        return Sample(float(words[1]), float(words[2]), int(words[3]))

    def interleaved(self, commands, runs):
        samples = [[] for _ in commands]
        for command in commands:
            self.once(command)
        for _ in range(runs):
            for list_of, command in zip(samples, commands):
                list_of.append(self.once(command))
        return samples

    def row(self, **cells):
        self.rows.append(cells)


def median(samples, what):
    return statistics.median(getattr(s, what) for s in samples)


def spread(samples, what):
    values = [getattr(s, what) for s in samples]
    return (max(values) - min(values)) / max(statistics.median(values), 1e-9)


def write_empty(bench):
    with open(bench.path("empty.ptir"), "w", encoding="ascii") as f:
        f.write("func @f() {\n  return\n}\n")
    with open(bench.path("empty.mlir"), "w", encoding="ascii") as f:
        f.write("func.func @f() {\n  return\n}\n")


def mlir_command(source, *options):
    return [MLIR, "--mlir-disable-threading", *options, source]


def measure_startup(bench):
    commands = [[bench.ours, bench.path("empty.ptir")], mlir_command(bench.path("empty.mlir"))]
    ours, peer = bench.interleaved(commands, max(bench.runs, 41))
    print(f"{'start-up, an empty function':30} pto-opt {latency(ours)}, target {TARGETS['start-up']} ms; {MLIR} {latency(peer)}")
    bench.row(what="start-up", ops=0, tool="pto-opt", wall=median(ours, "wall"), cpu=median(ours, "cpu"), spread=spread(ours, "wall"), kib=median(ours, "kib"))
    bench.row(what="start-up", ops=0, tool=MLIR, wall=median(peer, "wall"), cpu=median(peer, "cpu"), spread=spread(peer, "wall"), kib=median(peer, "kib"))
    return ours, peer


def measure_latency(bench, what, command):
    try:
        (samples,) = bench.interleaved([command], max(bench.runs, 21))
    except RuntimeError as problem:
        print(f"{what:30} NOT MEASURED: {problem}")
        bench.row(what=what, ops=0, tool="pto-opt", problem=str(problem))
        return
    print(f"{what:30} pto-opt {latency(samples)}, target {TARGETS[what]} ms")
    bench.row(what=what, ops=0, tool="pto-opt", wall=median(samples, "wall"), cpu=median(samples, "cpu"), spread=spread(samples, "wall"), kib=median(samples, "kib"))


def shown(value, form, width):
    """A figure, or `-` when the noise is larger than it: a difference that is not positive says nothing."""
    return f"{value:{form}}".rjust(width) if value > 0 else "-".rjust(width)


def ratio(peer, ours):
    return (f"{peer / ours:.1f}x" if peer > 0 and ours > 0 else "-").rjust(7)


def latency(samples):
    return f"{median(samples, 'wall') * 1e3:6.2f} ms ({spread(samples, 'wall') * 100:.0f} %, CPU {median(samples, 'cpu') * 1e3:.2f})"


def net(samples, start, what):
    return median(samples, what) - median(start, what)


def measure_pair(bench, what, ops, start, ours_command, mlir_cmd):
    """One row of the table: both tools on the same graph, start-up subtracted from both."""
    try:
        ours, peer = bench.interleaved([ours_command, mlir_cmd], bench.runs)
    except RuntimeError as problem:
        print(f"{what:24} {ops:8}  NOT MEASURED: {problem}")
        bench.row(what=what, ops=ops, problem=str(problem))
        return None
    cells = []
    for tool, samples, first in (("pto-opt", ours, start[0]), (MLIR, peer, start[1])):
        bytes_per_op = net(samples, first, "kib") * 1024 / ops
        cells.append((net(samples, first, "cpu"), net(samples, first, "wall"), bytes_per_op, spread(samples, "cpu")))
        bench.row(what=what, ops=ops, tool=tool, wall=net(samples, first, "wall"), cpu=net(samples, first, "cpu"),
                  spread=spread(samples, "cpu"), kib=median(samples, "kib"), bytes_per_op=bytes_per_op)
    sides = "   ".join(f"{shown(cpu * 1e3, '.1f', 8)} {shown(wall * 1e3, '.1f', 8)} {noise * 100:4.0f} %"
                       f" {shown(ops / cpu / 1e6 if cpu > 0 else 0, '.2f', 6)} {shown(size, '.0f', 6)}" for cpu, wall, size, noise in cells)
    (cpu, wall, _, _), (peer_cpu, peer_wall, _, _) = cells
    print(f"{what:24} {ops:8}  {sides}   {ratio(peer_cpu, cpu)} {ratio(peer_wall, wall)}")
    return cpu


def measure_size(bench, ops, start):
    ptir, mlir, generic = (bench.path(f"graph-{ops}.{e}") for e in ("ptir", "mlir", "generic.mlir"))
    make_graph.write_graph(ops, ptir, mlir)
    with open(generic, "wb") as f:
        subprocess.run([bench.ours, "--print-generic", ptir], stdout=f, check=True)
    rows = [("parse, verify, print", ptir, mlir, [], []),
            ("the same, generic form", generic, generic, ["--print-generic"], ["--allow-unregistered-dialect"]),
            ("CSE", ptir, mlir, ["--passes=pto.canonicalize{fold=false,remove=false}"], ["--cse"]),
            ("canonicalize", ptir, mlir, ["--passes=pto.canonicalize"], ["--cse", "--canonicalize"])]
    first = None
    for what, source, peer_source, options, peer_options in rows if ops <= 100000 else rows[:1]:
        cpu = measure_pair(bench, what, ops, start, [bench.ours, source, *options],
                           mlir_command(peer_source, *peer_options))
        first = first or cpu
    for name in (ptir, mlir, generic):
        if os.path.exists(name):
            os.remove(name)
    return first


def version_of(command):
    lines = subprocess.run([command, "--version"], stdout=subprocess.PIPE, check=True, text=True).stdout.split("\n")
    return " ".join(next((l for l in lines if "version" in l), lines[0]).split())


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        for line in f:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor()


def write_csv(bench):
    names = ["what", "ops", "tool", "wall", "cpu", "spread", "kib", "bytes_per_op", "problem"]
    with open(bench.path("compiler.csv"), "w", encoding="utf-8", newline="") as f:
        writer = csv.DictWriter(f, names)
        writer.writeheader()
        writer.writerows(bench.rows)
    print(f"\nwrote {bench.path('compiler.csv')} (seconds, KiB)")


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    arguments.add_argument("build")
    arguments.add_argument("--runs", type=int, default=9, help="repetitions of each row, at least 7 for a claim")
    arguments.add_argument("--sizes", default="1000,10000,100000,1000000", help="ops of the graphs")
    given = arguments.parse_args()
    if given.runs < 1:
        arguments.error("--runs needs at least 1")
    if not shutil.which(MLIR):
        sys.exit(f"{MLIR} is missing: apt-get install mlir-19-tools")
    bench = Bench(os.path.abspath(given.build), given.runs)
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    print(f"{processor()}, {os.cpu_count()} processors, Linux {platform.release()}, load {os.getloadavg()[0]:.1f}")
    print(f"{version_of(bench.ours)}; {MLIR}: {version_of(MLIR)}; medians of {bench.runs}, spread in brackets\n")
    write_empty(bench)
    start = measure_startup(bench)
    measure_latency(bench, "default.yaml opened", [bench.ours, "--pipeline=default.yaml", "--explain"])
    measure_latency(bench, "softmax compiled", [bench.ours, "--pipeline=default.yaml", os.path.join(root, "examples/softmax/softmax.ptir")])
    print(f"\nstart-up subtracted from time and memory; {make_graph.OPS_PER_FUNCTION} ops per function,"
          f" {make_graph.DUPLICATE_SHARE:.0%} duplicates, {make_graph.FOLDABLE_SHARE:.0%} foldable")
    side = f"{'CPU ms':>8} {'wall ms':>8} {'spread':>6} {'Mop/s':>6} {'B/op':>6}"
    print(f"{'':24} {'':8}  {'pto-opt':^38}   {MLIR:^38}   {'ratio':^15}")
    print(f"{'':24} {'ops':>8}  {side}   {side}   {'CPU':>7} {'wall':>7}")
    per_op = {}
    for ops in (int(n) for n in given.sizes.split(",")):
        cpu = measure_size(bench, ops, start)
        if cpu is not None:
            per_op[ops] = cpu / ops
    if {100000, 1000000} <= set(per_op):
        print(f"\nCPU per op at 1M / at 100k: {per_op[1000000] / per_op[100000]:.2f}, target at most 1.2")
    write_csv(bench)


if __name__ == "__main__":
    main()
