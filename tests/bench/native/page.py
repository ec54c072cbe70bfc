"""What ./dev bench native says of a run: a line for each row, and the page: docs/performance.md, docs/performance-avx2.md."""
import datetime
import os
import platform
import subprocess
import textwrap

FLAGS = ("avx2 fma f16c avx512f avx512bw avx512vl avx512dq avx512_vnni avx512_bf16 avx512_fp16 avx512_vbmi avx_vnni amx_tile "
         "amx_bf16 amx_int8 asimd sve i8mm bf16").split()
PEERS = {"numpy": "numpy", "onnxruntime": "onnxruntime", "onednn": "oneDNN", "jax": "jax", "torch": "torch"}

HEAD = """# Speed on this CPU

`./dev bench native --page=FILE` wrote this page: the programs of `tests/bench/native/workloads.txt` as C for this CPU
(`native.yaml`), beside the peers that were installed (`./dev bench-peers`). Ratios travel to other hosts of the kind,
milliseconds do not: [one page](performance.md) is of a host with AVX-512, [one](performance-avx2.md) of a host whose
widest vectors are those of AVX2.

## How to read it

For each row and number of threads ours, each peer and the limit take turns, each in a warm process of its own, on the
same random arrays and the same CPUs; the others are stopped meanwhile, since threads that wait for work take time from
it. Times are the median of the quiet half of all calls, in brackets the least. A call of ours is one of the backend
`pto.native`, as `pto-run` makes it, without compiling. Weights are the same in all calls: what can pack them does it
before. Peers have huge pages, memory that is kept between calls, and outputs that are bound where their interface has
that.

- **limit**: reading each input and writing each output once, as fast as a copy of the same bytes was, or the operations
  of the row at the highest rate that their type reached in registers in this run, whichever takes longer. Exponentials
  are not counted.
- **of peer**: how many times as fast as the fastest peer; **floor** is the least that a release may have.
- **of limit**: the share of the limit that is reached; **goal** is what we are here for (`6x`: of the best peer).
- **error**: the largest difference from numpy in float64, relative to the largest value; of large outputs some rows.
- **how**: `below` says that a floor is not reached, and why where `workloads.txt` says it or the floor asks for more
  than the limit, which is the least of its times, than the median of them, or than ours or a peer's reached in any row
  of that type in this run; `wrong` that the error is more than the row allows. A peer whose result is wrong is not the best one.

{kind} The ten drawn rows have sizes drawn by a seed, so that nothing is
tuned to one. Symbolic rows have their static twin as peer.
"""
IDLE_CALL = "a call with little to do"  # a row that is all overhead
COMPILING = """Milliseconds, medians, of examples: the passes, and until a function of the result is callable, with the C compiler
and with what that made before. The first writes the C, which compilers on all CPUs share where it is long; the second
finds the file by a digest of the module. Both load it and start threads."""
KINDS = {"amx": "Floors and goals are those for hosts with AMX.",
         "avx2": "Floors and goals are those for hosts without AMX, set beside peers with AVX2: with AVX-512 these are nearer "
                 "to the limit."}


def named(peer):
    return PEERS.get(peer, peer)


def peers_folder():
    return os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "pto-bench-peers")


def memory_folder():
    """Where arrays are not written to a disk, when there is space for the largest row."""
    try:
        s = os.statvfs("/dev/shm")
        return "/dev/shm" if s.f_bavail * s.f_frsize > 3 << 30 else None
    except OSError:
        return None


def cpu_facts():
    facts = {}
    with open("/proc/cpuinfo") as file:
        for line in file:
            name, _, value = line.partition(":")
            facts.setdefault(name.strip(), value.strip())
    return facts


def host_kind():
    return "amx" if "amx_bf16" in cpu_facts().get("flags", "").split() else "avx2"


# ---- what a result amounts to ----


class Verdict:
    def __init__(self, r):
        row, kind = r["row"], host_kind()
        self.best = min(r["peers"].items(), key=lambda p: p[1]["ms"], default=None)
        self.limit = max(r["limits"].items(), key=lambda p: p[1], default=None)
        self.floor, self.goal = row.floor[kind], row.goal[kind]
        self.ratio = self.best[1]["ms"] / r["ours"]["ms"] if r["ours"] and self.best else None
        self.share = self.limit[1] / r["ours"]["ms"] if r["ours"] and self.limit else None
        self.is_wrong = r["ours"] is not None and not r["ours"]["error"] <= row.error
        self.is_below = self.ratio is not None and self.floor != "-" and self.ratio < float(self.floor)

    def why_impossible(self, r):
        """A floor that asks for more than the limit, or, of what is a median, for more than that of the limit; "" of others, and of rows beside their static twin, which is ours too."""
        if not self.limit or r["row"].symbols:
            return ""
        asked = self.best[1]["ms"] / float(self.floor)
        what = f"{self.floor} times {named(self.best[0])} would be"
        median = r["medians"].get(self.limit[0], 0)
        if self.limit[1] > asked:
            return f"{what} {100 * self.limit[1] / asked:.0f} % of the limit"
        if median > asked:
            return f"{what} {number(asked)} ms, the median of the limit was {number(median)}"
        most = r.get("most")
        if most is None or self.limit[1] / asked <= most:
            return ""
        return f"{what} {100 * self.limit[1] / asked:.0f} % of the limit, of which no row of {self.limit[0]} reached more than {100 * most:.0f} %"

    def reaches_goal(self):
        if self.goal == "-":
            return False
        if self.goal.endswith("x"):
            return self.ratio is not None and self.ratio >= float(self.goal[:-1])
        return self.share is not None and self.share >= float(self.goal) / 100

    def how(self, r):
        if r["refused"]:
            return "not run: " + r["refused"]
        if self.is_wrong:
            return f"wrong: the error is more than {r['row'].error:g}"
        if self.is_below:
            why = r["row"].why or self.why_impossible(r)
            return "below" + (": " + why if why else "")
        return "goal" if self.reaches_goal() else ""


ROWS_OF_A_TYPE = 8  # so many are enough to say what a type can reach


def find_most(results):
    """Of rows that are limited by arithmetic, `most`: the largest share of the limit of their type that ours or a peer reached in the run."""
    shares = {}
    for r in results:
        v = Verdict(r)
        if v.limit and v.limit[0] != "stream" and r["ours"]:
            least = min([r["ours"]["ms"]] + [p["ms"] for p in r["peers"].values()])
            shares.setdefault((v.limit[0], r["threads"]), []).append(v.limit[1] / least)
    for r in results:
        v = Verdict(r)
        of_type = shares.get((v.limit[0], r["threads"]), []) if v.limit else []
        r["most"] = max(of_type) if len(of_type) >= ROWS_OF_A_TYPE else None


def number(x):
    return "-" if x is None else f"{x:.3g}" if x < 100 else f"{x:.0f}"


def rate(r, ms):
    limit = Verdict(r).limit
    if limit is None or limit[0] == "stream":
        return f"{r['bytes'] / ms / 1e6:.3g} GB/s"
    return f"{r['flops'] / ms / 1e6:.3g} G{'OP' if limit[0] == 'i8' else 'FLOP'}/s"


def line_of(r):
    v, ours = Verdict(r), r["ours"]
    text = f"{r['row'].name:50} {r['threads']} thread{'s' if r['threads'] > 1 else ' '}"
    if ours is not None:
        text += f" {number(ours['ms']):>7} ms {rate(r, ours['ms']):>13}"
        text += f", limit {number(v.limit[1])} ({100 * v.share:.0f} %)" if v.limit else ""
        text += f", {named(v.best[0])} {number(v.best[1]['ms'])}: {v.ratio:.2f}x" if v.best else ""
        text += f" (floor {v.floor})" if v.floor != "-" else ""
        text += f", error {ours['error']:.1e}"
    wrong = "".join(f"; {named(name)} is wrong by {p['error']:.1e}" for name, p in r["wrong"].items())
    return text + (f", {v.how(r)}" if v.how(r) else "") + wrong


def compile_line(c):
    return f"{c['name']:28} {c['lines']:5} lines of C, passes {number(c['passes'])} ms, with the C compiler {number(c['compiler'])} ms, " \
        f"from the cache {number(c['cache'])} ms"


def middle(values):
    return sorted(values)[len(values) // 2]


def compile_table(compiled):
    yield "| | lines of C | passes, ms | with the C compiler, ms | from the cache, ms |"
    yield "|---|---|---|---|---|"
    for c in compiled:
        yield f"| {c['name']} | {c['lines']} | " + " | ".join(number(c[k]) for k in ("passes", "compiler", "cache")) + " |"
    yield f"| median | {middle([c['lines'] for c in compiled])} | " + \
        " | ".join(number(middle([c[k] for c in compiled])) for k in ("passes", "compiler", "cache")) + " |"


def status_of(results):
    return 1 if any(Verdict(r).is_wrong for r in results) else 0


# ---- the page ----


def first_line(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\n")[0]
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


class Facts:
    """Of the host and the run; no names of machines and no paths."""

    def __init__(self, settings, given, load, seconds, late, results):
        self.settings, self.given, self.load, self.seconds, self.late, self.results = settings, given, load, seconds, late, results

    def lines(self):
        cpu, s = cpu_facts(), self.settings
        flags = set((cpu.get("flags") or cpu.get("Features") or "").split())
        yield "Host", f"{cpu.get('model name', platform.machine())}, {len(os.sched_getaffinity(0))} CPUs; " + \
            " ".join(f for f in FLAGS if f in flags)
        yield "System", f"Linux {platform.release().split('-')[0]}; {first_line('cc', '--version')}"
        yield "Source", first_line("git", "describe", "--always", "--dirty")
        for name in s.wanted:
            yield named(name), s.versions.get(name) or s.missing.get(name, "not asked")
        yield "Date", datetime.datetime.now(datetime.timezone.utc).strftime("%d %b %Y, %H:%M UTC")
        g = self.given
        yield "Command", " ".join(["./dev bench native", f"--threads={g.threads}", f"--seconds={g.seconds:g}", f"--minutes={g.minutes:g}",
                                   f"--seed={g.seed}", *(f"'{w}'" for w in g.pattern)])
        yield "Run", f"{self.seconds / 60:.1f} minutes; load average {self.load[0]:.1f} before it, " \
            f"{os.getloadavg()[0]:.1f} at its end, of which 1 to 2 are its own"
        if s.starts is not None:
            yield "Start", f"{s.starts[0]:.0f} ms until a small softmax has run once, process and C compiler included; " \
                f"{s.starts[1]:.0f} ms with what the compiler made before"
        for r in self.results:
            if r["row"].name.startswith(IDLE_CALL) and r["ours"]:
                yield "Call", f"{1e6 * r['ours']['ms']:.0f} ns (least {1e6 * r['ours']['least']:.0f}) for {r['row'].name}; threads: {r['threads']}"
        if self.late:
            yield "Not measured", f"{self.given.minutes:g} minutes were over: " + "; ".join(row.name for row in self.late)

    def text(self):
        return "".join(f"{name}: {what}\n" for name, what in self.lines())


def cell(text):
    return str(text).replace("|", "/")


def table_of(results, threads):
    yield "| | ours, ms | | limit, ms | of limit | goal | best peer, ms | of peer | floor | error | how |"
    yield "|---|---|---|---|---|---|---|---|---|---|---|"
    for r in (r for r in results if r["threads"] == threads):
        v, ours = Verdict(r), r["ours"]
        goal = v.goal + (" %" if v.goal[-1:].isdigit() else "")
        cells = [r["row"].name]
        cells += [f"{number(ours['ms'])} ({number(ours['least'])})", rate(r, ours["ms"])] if ours else ["-", "-"]
        cells += [f"{number(v.limit[1])} {v.limit[0]}" if v.limit else "-", f"{100 * v.share:.0f} %" if v.share else "-", goal]
        cells += [f"{number(v.best[1]['ms'])} {named(v.best[0])}" if v.best else "-", f"{v.ratio:.2f}" if v.ratio else "-", v.floor]
        cells += [f"{ours['error']:.1e}" if ours else "-", v.how(r)]
        yield "| " + " | ".join(cell(c) for c in cells) + " |"


def peers_table(results, names):
    yield "| | threads | ours | " + " | ".join(named(n) for n in names) + " |"
    yield "|---|---|---|" + "---|" * len(names)
    for r in results:
        cells = [r["row"].name, r["threads"], entry_text(r["ours"])]
        for name in names:
            made = r["peers"].get(name)
            wrong = r["wrong"].get(name)
            cells.append(entry_text(made) if made else f"wrong by {wrong['error']:.1e}" if wrong else "-")
        yield "| " + " | ".join(cell(c) for c in cells) + " |"


def entry_text(entry):
    return f"{number(entry['ms'])} ({number(entry['least'])}, {100 * entry['spread']:.0f} %)" if entry else "-"


def reasons(results):
    """What peers said when they could not run a row, each sentence once."""
    said = {}
    for r in results:
        for name, why in r["cannot"].items():
            if why != "it has no such program here":
                said.setdefault((named(name), why), []).append(f"{r['row'].name} ({r['threads']})")
    for (name, why), rows in said.items():
        yield f"- {name}, {', '.join(rows)}: {why}"


def wrapped(text):
    """Lines of prose have at most 120 columns; those of tables are as long as they are."""
    return "".join(line + "\n" if line.startswith("|") or len(line) <= 120 else
                   textwrap.fill(line, 120, subsequent_indent="  " if line.startswith("- ") else "") + "\n"
                   for line in text.split("\n")[:-1])


def page_of(facts, results):
    names = [n for n in facts.settings.wanted if n in facts.settings.versions]
    find_most(results)
    lines = [HEAD.format(kind=KINDS[host_kind()])]
    lines += ["## The run", "", "| | |", "|---|---|"] + [f"| {name} | {cell(what)} |" for name, what in facts.lines()]
    if facts.load[0] > 1:
        lines += ["", "Other programs ran at the same time: figures of a quiet host are better, and ratios differ from them."]
    for threads in sorted({r["threads"] for r in results}):
        below = sum(Verdict(r).is_below for r in results if r["threads"] == threads)
        lines += ["", f"## {threads} thread{'s' if threads > 1 else ''}", "", f"Rows below their floor: {below}.", ""]
        lines += table_of(results, threads)
    if facts.settings.compiled:
        lines += ["", "## Compiling", "", COMPILING, ""] + list(compile_table(facts.settings.compiled))
    lines += ["", "## Each peer", "", "Milliseconds; in brackets the least, and how far the median of all is above it.", ""]
    lines += peers_table(results, names)
    why = list(reasons(results))
    lines += ["", "What peers could not run:", "", *why] if why else []
    return wrapped("\n".join(lines) + "\n")
