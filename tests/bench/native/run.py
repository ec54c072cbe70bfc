"""./dev bench native: the programs of workloads.txt by `native` and by the peers that are installed, in one run.

For each row and number of threads, ours, every peer and a program that moves the same bytes or does the same number of
operations take turns, each in a process of its own that is warm, on the same arrays and CPUs. Of the times of all turns
the quiet half counts: its median and its least. docs/performance.md, which `--page` writes, says how to read it.
"""
import argparse
import fnmatch
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import numpy as np

import page
from process import Lost, Process
from programs import PROGRAMS, as_f64

DRAWN = 10
SECONDS_OF_TURN, SECONDS_OF_ROW, TURNS_MAX = 0.04, 1.2, 7
COMPILING = "compiling"  # in place of a row: how long examples take to compile
SECONDS_OF_CALL_MAX = 12 # a row whose call takes longer is not measured


class Row:
    """A line of the table; sizes with `$` are symbolic."""

    def __init__(self, line):
        fields = [f.strip() for f in line.split("|")]
        self.name, self.program, sizes, limits = fields[:4]
        self.limits = limits.split()
        self.floor, self.goal = dict(zip(("amx", "avx2"), fields[4:6])), dict(zip(("amx", "avx2"), fields[6:8]))
        self.error = float(fields[8])
        self.why = fields[9] if len(fields) > 9 else ""  # it is below its floor
        pairs = [p.split("=") for p in sizes.split()]
        self.symbols = {n: int(v[1:]) for n, v in pairs if v[0] == "$"}
        self.sizes = {n: int(v.lstrip("$")) for n, v in pairs}
        self.is_drawn = False

    def what(self):
        return PROGRAMS[self.program]

    def text(self, is_symbolic):
        names = {n: "$" + n for n in self.symbols} if is_symbolic else {}
        return self.what().text({**self.sizes, **names})


def read_rows(path):
    with open(path) as file:
        return [Row(line) for line in file if line.strip() and not line.startswith("#")]


def draw_rows(seed):
    """Sizes that nobody chose; no floor is set for them."""
    r, rows = random.Random(seed), []
    for i in range(DRAWN):
        program = r.choice(["softmax", "rms_norm", "layer_norm", "matmul_f32", "matmul_bf16", "weights_f32", "swiglu", "transpose"])
        if program[:6] in ("matmul", "weight"):
            m = r.randint(1, 32) if program == "weights_f32" else r.randint(64, 1500)
            sizes = f"M={m} N={r.randint(64, 3000)} K={r.randint(64, 3000)}"
            limit, error = "stream " + program.split("_")[1], "8e-3" if program.endswith("bf16") else "8e-6"
        else:
            sizes, limit, error = f"R={r.randint(100, 6000)} C={r.randint(50, 6000)}", "stream", "4e-6"
        rows.append(Row(f"drawn {i + 1}: {program} {sizes} | {program} | {sizes} | {limit} | - | - | - | - | {error}"))
        rows[-1].is_drawn = True
    return rows


# ---- times ----


def quiet(times):
    """The faster half of all: its median and its least, in ms, and how far the median of all is above the least."""
    t = sorted(times)
    half = t[:(len(t) + 1) // 2]
    return {"ms": half[len(half) // 2] / 1e6, "least": t[0] / 1e6, "spread": t[len(t) // 2] / t[0] - 1, "calls": len(t)}


def take_turns(parts, seconds_of_row):
    """Each of the parts calls for a short while, all of them again and again; once, when that takes seconds. A part that
    fails is left out."""
    times = {p: [] for p in parts}
    longest, begin, turn = {p: 0 for p in parts}, time.monotonic(), 0
    while turn < TURNS_MAX and (turn == 0 or (turn < 2 and sum(longest.values()) < 4) or time.monotonic() - begin < seconds_of_row):
        for p in [p for p in parts if p.is_open]:
            warm = " warm" if longest[p] > 0.1 else ""
            try:
                ns = [int(x) for x in p.ask(f"time {SECONDS_OF_TURN}{warm}", 6 * SECONDS_OF_CALL_MAX).split()]
            except Lost as e:
                p.is_open, p.why = False, str(e)
                continue
            longest[p] = max(longest[p], min(ns) / 1e9)
            times[p] += ns
        turn += 1
    return {p: quiet(t) for p, t in times.items() if t and p.is_open}


# ---- one row ----


def difference(part, number_shapes, reference, folder):
    """The largest difference from the reference, relative to its largest value; NaN counts as infinite. Peers may leave
    out dims of extent 1: the first that is asked says what shape outputs have."""
    worst = 0.0
    for number, at, values in reference:
        path = os.path.join(folder, f"out{number}.npy")
        part.ask(f"save {number} {path}", 60, "saved")
        got = np.load(path, mmap_mode="r")
        got = as_f64(got.reshape(number_shapes.setdefault(number, got.shape))[at])
        apart = np.abs(got - values).max() / max(np.abs(values).max(), 1e-300)
        worst = max(worst, float("inf") if np.isnan(apart) else float(apart))
    return worst


class Job:
    """The arrays of a row in a folder, and what its results are."""

    def __init__(self, row, folder, text):
        self.row, self.folder = row, folder
        what = row.what()
        arrays = what.inputs(row.sizes, np.random.default_rng(zlib.crc32(row.name.encode())))
        for name, array in arrays.items():
            np.save(os.path.join(folder, name + ".npy"), array)
        with open(os.path.join(folder, "program.json"), "w") as file:
            json.dump({"program": row.program, "sizes": row.sizes, "tensors": list(arrays)}, file)
        for name, is_symbolic in (("given.ptir", True), ("static.ptir", False)):
            with open(os.path.join(folder, name), "w") as file:
                file.write(text if text is not None else row.text(is_symbolic))
        self.names, self.read = list(arrays), sum(a.nbytes for a in arrays.values())
        self.written, self.flops = what.written(row.sizes), what.flops(row.sizes)
        self.reference = what.reference(row.sizes, **arrays)

    def ours(self, settings, threads, text="given.ptir", more=()):
        inputs = [f"--in={n}={self.folder}/{n}.npy" for n in self.names]
        if text == "given.ptir":
            inputs += [f"--sym={n}={v}" for n, v in self.row.symbols.items()]
        command = [settings.built("native_worker"), "--no-supervise", f"--pipeline={settings.pipeline}",
                   f"--machine={settings.machine}", f"--set=backend.with.threads={threads}", f"{self.folder}/{text}", *inputs, *more]
        return Process("ours" if text == "given.ptir" else "ours, static", command, threads, "ready", SECONDS_OF_CALL_MAX)


def open_parts(job, settings, threads, result):
    """Ours first; none when it cannot run the row, which `result` says then."""
    ours = job.ours(settings, threads)
    if not ours.is_open:
        is_slow = ours.why.startswith("there was no answer")
        result["refused"] = f"compiling and the first call took more than {SECONDS_OF_CALL_MAX} s" if is_slow else ours.why
        return []
    parts = [ours]
    if job.row.symbols:
        parts.append(job.ours(settings, threads, "static.ptir"))
    for peer in [] if job.row.symbols else settings.peers(threads):
        try:
            peer.is_open = True
            peer.ask(f"open {job.folder}", 60, "ready")
            parts.append(peer)
        except Lost as e:
            result["cannot"][peer.name] = str(e)
    return parts


def open_limits(job, settings, threads):
    parts = {}
    for limit in job.row.limits:
        part = settings.limit(limit, threads)
        try:
            part.ask(f"stream {job.read} {job.written}" if limit == "stream" else f"flops {limit} {job.flops}", 60, "ready")
            parts[limit] = part
        except Lost:
            pass  # this host has no such instruction that the program knows
    return parts


def note_limit(rates, result, name, least):
    """Operations in registers are as fast in every row: the highest rate of the run so far counts."""
    result["limits"][name] = least
    if name != "stream":
        key = name, result["threads"]
        rates[key] = max(rates.get(key, 0), result["flops"] / least)
        result["limits"][name] = result["flops"] / rates[key]


def measure(job, settings, threads, refused):
    """`refused`: what was wrong with fewer threads, which is not tried again; or None."""
    result = {"row": job.row, "threads": threads, "cannot": {}, "ours": None, "peers": {}, "wrong": {}, "limits": {}, "medians": {},
              "bytes": job.read + job.written, "flops": job.flops}
    result["refused"] = refused
    parts = open_parts(job, settings, threads, result) if refused is None else []
    limits = open_limits(job, settings, threads) if parts else {}
    timed = take_turns(parts + list(limits.values()), settings.seconds_of_row) if parts else {}
    for name, p in limits.items():
        if p in timed:
            note_limit(settings.rates, result, name, timed[p]["least"])
            result["medians"][name] = timed[p]["ms"]
    shapes = {}
    for part in parts:
        try:
            if part not in timed:
                raise Lost(part.why)
            entry = {**timed[part], "error": difference(part, shapes, job.reference, job.folder)}
        except Lost as e:
            if part is parts[0]:
                result["refused"] = str(e)
                break
            result["cannot"][part.name] = str(e)
            continue
        if part is parts[0]:
            result["ours"] = entry
        else:
            # A peer may round more often than ours, which is not called wrong.
            result["peers" if entry["error"] <= 4 * job.row.error else "wrong"][part.name] = entry
    for part in parts:
        if part.name.startswith("ours"):
            part.close()
    return result


# ---- the run ----


class Settings:
    """What all rows share: programs, peers, limits."""

    def __init__(self, given, folder):
        self.build, self.pipeline, self.machine = given.build, given.pipeline, given.machine
        self.seconds_of_row, self.folder, self.text = given.seconds, folder, None
        if given.program_text:
            with open(given.program_text) as file:
                self.text = file.read()
        if self.machine is None:
            self.machine = os.path.join(folder, "cpu-host.yaml")
            subprocess.run([os.path.join(self.build, "bin/pto-inspect"), "machine", "--probe", "-o", self.machine], check=True)
        self.python = os.path.join(given.peers_dir, "bin/python")
        self.wanted = given.peers.split(",")
        self.running, self.versions, self.missing, self.rates = {}, {}, {}, {}
        self.compiled = []  # as compile_times returns it

    def built(self, name):
        return os.path.join(self.build, "bench", name)

    def start(self, name, threads):
        """A peer, or None, with the reason in `missing`."""
        worker = os.path.join(HERE, "peers/peer_worker.py")
        python = self.python if os.access(self.python, os.X_OK) else sys.executable
        command = [python, "-B", worker, name, str(threads)]
        if not os.path.exists(os.path.join(HERE, f"peers/{name}_peer.py")):
            self.missing[name] = "there is no such peer"
            return None
        process = Process(name, command, threads, is_peer=True)
        if process.is_open:
            self.versions[name] = process.greeting
            return process
        self.missing[name] = "not installed" if "No module named" in process.why else process.why
        return None

    def peers(self, threads):
        """Those that are installed; one that has ended is started again."""
        for name in self.wanted:
            process = self.running.get((name, threads))
            if name not in self.missing and (process is None or not process.is_alive()):
                self.running[name, threads] = self.start(name, threads)
        return [self.running[name, threads] for name in self.wanted if self.running.get((name, threads)) is not None]

    def limit(self, kind, threads):
        key = ("limit " + kind, threads)
        if key not in self.running:
            self.running[key] = Process(key[0], [self.built("native_limits"), str(threads)], threads, "ready")
        return self.running[key]

    def close(self):
        for process in self.running.values():
            if process is not None:
                process.close()


def main():
    parser = argparse.ArgumentParser(prog="./dev bench native", description=__doc__.split("\n\n")[0])
    parser.add_argument("pattern", nargs="*", help="rows whose names hold one of these words, or match a pattern with *; `compiling`: "
                        "how long examples take to compile")
    parser.add_argument("--page", metavar="FILE", help="write this page too")
    parser.add_argument("--threads", default="1,2", help="numbers of threads, default 1,2")
    parser.add_argument("--peers", default="numpy,onnxruntime,onednn,jax,torch", help="which peers, default all")
    parser.add_argument("--peers-dir", default=page.peers_folder(), help="where ./dev bench-peers installed them")
    parser.add_argument("--minutes", type=float, default=12, help="rows that would begin later are left out; default 12")
    parser.add_argument("--seconds", type=float, default=SECONDS_OF_ROW, help="for the turns of one row, default %(default)s")
    parser.add_argument("--seed", type=int, default=17, help="of the ten rows whose sizes are drawn, default %(default)s")
    parser.add_argument("--workloads", default=os.path.join(HERE, "workloads.txt"), help="the table of rows")
    parser.add_argument("--program-text", metavar="FILE.ptir", help="ours runs this in place of the program of the row")
    parser.add_argument("--examples", default=os.path.join(HERE, "../../../examples"), help="whose compile times are measured")
    parser.add_argument("--build", default="build", help="the build folder")
    parser.add_argument("--pipeline", default="native.yaml", help="default %(default)s")
    parser.add_argument("--machine", help="default: what pto-inspect measures of this host")
    return run(parser.parse_args())


def start_times(settings):
    """Milliseconds until a process of ours has made its first call on a small softmax: with the C compiler, and with what
    it made before."""
    folder = tempfile.mkdtemp(dir=settings.folder)
    job = Job(Row("start | softmax | R=64 C=256 | stream | - | - | - | - | 1"), folder, None)
    times = {"false": [], "true": []}
    for _ in range(5):
        for cache, list_of in times.items():
            begin = time.monotonic()
            part = job.ours(settings, 1, more=[f"--set=backend.with.cache={cache}"])
            list_of.append(1e3 * (time.monotonic() - begin))
            part.close()
    return sorted(times["false"])[2], sorted(times["true"])[2]


def compile_times(settings, examples):
    """Of each example {"name", "lines" of C, "passes", "compiler", "cache"}, in ms: until its first function is callable, with
    the C compiler and with what that made before."""
    folder, found = tempfile.mkdtemp(dir=settings.folder), []
    for name in sorted(os.listdir(examples)):
        module = os.path.join(examples, name, name + ".ptir")
        if not os.path.exists(module):
            continue
        text = os.path.join(folder, name + ".c")
        subprocess.run([os.path.join(settings.build, "bin/pto-opt"), module, f"--pipeline={settings.pipeline}",
                        f"--machine={settings.machine}", "-o", text], check=True)
        said = subprocess.run([settings.built("native_times"), folder, settings.pipeline, settings.machine, module],
                              check=True, capture_output=True, text=True).stdout
        with open(text) as file:
            lines = sum(1 for _ in file)
        passes, compiler, cache = (float(ms) for ms in said.split("\t")[1:])
        found.append({"name": name, "lines": lines, "passes": passes, "compiler": compiler, "cache": cache})
        print(page.compile_line(found[-1]), flush=True)
    return found


def is_whole_table(given):
    return os.path.samefile(os.path.dirname(given.workloads) or ".", HERE)


def rows_for(given):
    rows = read_rows(given.workloads)
    rows += draw_rows(given.seed) if is_whole_table(given) else []
    if given.pattern:
        rows = [r for r in rows if any(w in r.name or fnmatch.fnmatch(r.name, w) for w in given.pattern)]
    if not rows and COMPILING not in given.pattern:
        sys.exit(f"no row of {os.path.basename(given.workloads)} matches {' '.join(given.pattern)}")
    return rows


def run(given):
    rows, threads = rows_for(given), [int(t) for t in given.threads.split(",")]
    available = len(os.sched_getaffinity(0))
    begin, load, results, late = time.monotonic(), os.getloadavg(), [], []
    with tempfile.TemporaryDirectory(prefix="pto-bench-", dir=page.memory_folder()) as folder:
        settings = Settings(given, folder)
        settings.starts = start_times(settings) if not given.pattern else None
        for row in rows:
            if time.monotonic() - begin > 60 * given.minutes:
                late.append(row)
                continue
            job_folder = tempfile.mkdtemp(dir=folder)
            job = Job(row, job_folder, settings.text)
            for count in threads:
                if count <= available:
                    refused = results[-1]["refused"] if results and results[-1]["row"] is row else None
                    results.append(measure(job, settings, count, refused))
                    print(page.line_of(results[-1]), flush=True)
            shutil.rmtree(job_folder)
        settings.close()
        if COMPILING in given.pattern or (not given.pattern and is_whole_table(given)):
            settings.compiled = compile_times(settings, given.examples)
    for r in results:
        for name, least in r["limits"].items():
            note_limit(settings.rates, r, name, least)
    facts = page.Facts(settings, given, load, time.monotonic() - begin, late, results)
    print(facts.text())
    if given.page:
        text = page.page_of(facts, results)  # says whether the tree is as it was committed, the page before it too
        with open(given.page, "w") as file:
            file.write(text)
    return page.status_of(results)


if __name__ == "__main__":
    sys.exit(main())
