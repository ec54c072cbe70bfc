"""Compares our flags and barriers with those that the vendor's assembler puts in on our addresses.

    assembler_sync.py BUILD PTOAS [MODULE..] [--list]

BUILD is a build of pto, PTOAS the program `ptoas` that the user has; nothing is downloaded, and without it the run says
so and ends with 77. The kernels of all examples, or of those whose path has one of the words MODULE in it, are written
for A3 at level 3 and assembled twice: as they are, and without our flags and barriers and with `--enable-insert-sync`.
Of both texts of C++ the instructions are the same, so that what stands between two of them can be compared. A barrier
inside of the vector pipe that the assembler has and we do not is `needed` where the instruction shares bytes, one of
both writing, with one since the last barrier of ours, and `not needed` where it does not; `less` are those of ours that
it has not. An instruction of the vector pipe that another pipe waited for, for which the vector pipe waits, needs none.
Flags are compared by the pairs of pipes that a kernel orders. Of a pair that one side alone orders it is said
why: because instructions of both pipes share bytes, at an address of which two descriptions are computed, or at a known
one; because a fill of a tile in `mat` is taken for an instruction of the vector pipe, or because the scalar unit begins an
instruction (SCALAR_UNIT of ascend.def); or that nothing is seen. Prints a
table and what is needed; ends with 1 where something is.
"""

import collections
import glob
import os
import re
import subprocess
import sys
import tempfile

words = [a for a in sys.argv[1:] if not a.startswith("--")]
if len(words) < 2 or not os.access(words[1], os.X_OK) or os.path.isdir(words[1]):
    print("assembler_sync.py: skipped: no assembler; assembler_sync.py BUILD PTOAS, where PTOAS is the program `ptoas`")
    sys.exit(77)
build, ptoas, *only = words
root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
GENERATOR = "--set=backend.with.generator={ use: pto.emit-ascend, with: { form: assembler } }"
SYNC = re.compile(r"^ *pto\.(set_flag|wait_flag|barrier)")
BYTES = {"float": 4, "half": 2, "bfloat16_t": 2, "int32_t": 4, "uint32_t": 4, "int16_t": 2, "uint16_t": 2, "int8_t": 1, "uint8_t": 1, "int64_t": 8, "uint64_t": 8}


with open(os.path.join(root, "plugins/generators/emit_ascend/ascend.def"), encoding="utf-8") as rows:
    SCALAR_UNIT = re.findall(r'^INSN\("\w+", "(T\w+).*SCALAR_UNIT\)', rows.read(), re.M)


def run(*command):
    return subprocess.run(command, capture_output=True, text=True)


class Step:
    """An instruction, what stands before it, and the bytes of its tiles."""

    def __init__(self, text, name, tiles, before):
        self.text, self.name, self.tiles, self.before = text, name, tiles, before


def computed(name, made, depth=0):
    """What a variable is made of, down to those that are not computed."""
    if name not in made or depth > 40:
        return name
    return "(" + re.sub(r"\bv\d+\b", lambda m: computed(m[0], made, depth + 1), made[name]) + ")"


def address_of(name, tiles, numbers, made):
    """A number, or what it is computed of; of a tile that describes another one again that of the other one."""
    of = re.fullmatch(r"reinterpret_cast<uint64_t>\((v\d+)\)", made.get(name, ""))
    shown = re.fullmatch(r"(v\d+)\.data\(\)", made.get(of[1], "")) if of else None
    if shown and shown[1] in tiles:
        return tiles[shown[1]][1]
    return numbers.get(name, computed(name, made))


def steps_of(text):
    """The instructions of a kernel in C++; what is after the last one comes with an empty one."""
    numbers, tiles, out, before, made = {}, {}, [], [], {}
    for line in text.splitlines():
        line = line.strip()
        if m := re.match(r"(?:[\w*]+ )+(v\d+) = ([^;]*);", line):
            made[m[1]] = m[2]
        if m := re.match(r"\w+ v\d+ = (v\d+)\.GetValue\(", line):
            out.append(Step(line, "GetValue", [tiles[v] for v in m.groups() if v in tiles], before))
            before = []
        elif m := re.match(r"(?:const )?(?:int64_t|int32_t|size_t|unsigned) (v\d+) = (-?\d+);", line):
            numbers[m[1]] = int(m[2])
        elif m := re.match(r"Tile<TileType::(\w+), (\w+), (\d+), (\d+),.* (v\d+)(?: = .*)?;", line):
            tiles[m[5]] = [m[1], None, BYTES.get(m[2], 1) * int(m[3]) * int(m[4])]
        elif m := re.match(r"TASSIGN\((v\d+), (v\d+)\);", line):
            if m[1] in tiles:
                tiles[m[1]][1] = address_of(m[2], tiles, numbers, made)
        elif m := re.match(r"(set_flag|wait_flag|pipe_barrier)\((.*)\);", line):
            before.append((m[1], re.sub(r", (\(event_t\) ?)?\w+$", "", m[2]), (re.search(r"EVENT_ID\d+", m[2]) or [None])[0]))
        elif m := re.match(r"(T[A-Z0-9_]+)(?:<.*>)?\((.*)\);", line):
            out.append(Step(line, m[1], [tiles[v] for v in re.findall(r"v\d+", m[2]) if v in tiles], before))
            before = []
        elif re.match(r"for |if |\} else|while |\}$", line):
            before.append(("control", line[:3], None))
    return [*out, Step("", "", [], before)]


def share(a, b):
    """Whether two tiles may share bytes; of an address that is computed, only with one that is computed alike."""
    if a[0] != b[0]:
        return False
    if isinstance(a[1], int) != isinstance(b[1], int):
        return False
    return a[1] == b[1] if not isinstance(a[1], int) else a[1] < b[1] + b[2] and b[1] < a[1] + a[2]


def depend(a, b):
    return any(share(x, y) for i, x in enumerate(a.tiles) for j, y in enumerate(b.tiles) if i == 0 or j == 0)


def is_vector(step):
    return step.name not in ("", "TLOAD", "TSTORE") and all(t[0] == "Vec" for t in step.tiles) and step.tiles


def has_barrier(passed):
    return any(kind == "pipe_barrier" and pipe in ("PIPE_V", "PIPE_ALL") for kind, pipe, _ in passed)


def loops_of(steps):
    """Of each loop: its first step and where it begins in what stands before that, the one after its last likewise."""
    open_, loops = [], []
    for i, s in enumerate(steps):
        for at, (kind, word, _) in enumerate(s.before):
            if kind == "control" and word in ("for", "if ", "whi"):
                open_.append((word == "for", i, at + 1))
            elif kind == "control" and word == "}" and open_:
                is_loop, *first = open_.pop()
                if is_loop:
                    loops.append((*first, i, at))
    return loops


def ways_back(steps, i):
    """From what stands before instruction i: pairs of what is passed and the instruction before that; in the text, and in the round
    before of each loop around it."""
    yield [(steps[k].before, steps[k - 1] if k else None) for k in range(i, -1, -1)]
    for first, begin, end, close in loops_of(steps):
        if first <= i < end:
            way = [(steps[k].before, steps[k - 1]) for k in range(i, first, -1)]
            way.append((steps[first].before[begin:] + steps[end].before[:close], steps[end - 1]))
            yield way + [(steps[k].before, steps[k - 1]) for k in range(end - 1, i, -1)]


class Detours:
    """Of a way backwards: whether another pipe has waited for the vector pipe, and the vector pipe for that since."""

    PART = ("wait_flag", "{0}, PIPE_V"), ("set_flag", "{0}, PIPE_V"), ("wait_flag", "PIPE_V, {0}"), ("set_flag", "PIPE_V, {0}")

    def __init__(self):
        self.seen = {}  # of a pipe and the event of its last flag: how many of PART

    def orders(self, passed):
        for kind, pipes, event in reversed(passed):
            if kind == "wait_flag" and pipes.endswith(", PIPE_V"):
                self.seen.setdefault((pipes.split(", ")[0], event), 1)
                continue
            for (pipe, of), count in self.seen.items():
                is_event = count > 1 or None in (of, event) or of == event
                if count < len(self.PART) and (kind, pipes) == (self.PART[count][0], self.PART[count][1].format(pipe)) and is_event:
                    self.seen[pipe, of] = count + 1
        return any(count == len(self.PART) for count in self.seen.values())


def depends_on_an_earlier(steps, i):
    """On a vector instruction that no barrier of `steps` is after, nor a detour by another pipe."""
    for way in ways_back(steps, i):
        detours = Detours()
        for passed, step in way:
            if detours.orders(passed) or has_barrier(passed):
                break
            if step and is_vector(step) and depend(step, steps[i]):
                return True
    return False


def pipe_of(step):
    """Which pipe of the library runs it."""
    to, last = (step.tiles[i][0] if step.tiles else "" for i in (0, -1))
    if step.name in ("TLOAD", "GetValue"):
        return {"TLOAD": "PIPE_MTE2", "GetValue": "PIPE_S"}[step.name]
    if step.name.startswith("TSTORE"):
        return "PIPE_FIX" if to == "Acc" else "PIPE_MTE3"
    if step.name.startswith(("TMATMUL", "TGEMV")):
        return "PIPE_M"
    if to in ("Left", "Right", "Bias"):
        return "PIPE_MTE1"
    if to == "Mat" or last == "Acc":
        return "PIPE_MTE2" if step.name == "TEXPANDS" else "PIPE_FIX"
    return "PIPE_V"


def writes(step):
    """Its tiles, and of each whether it is written: the first one, but of stores and reads."""
    is_read = step.name.startswith("TSTORE") or step.name == "GetValue"
    return [(tile, i == 0 and not is_read) for i, tile in enumerate(step.tiles)]


def reason(pipes, steps):
    """Why a pair of pipes is ordered, or may be."""
    one, other = pipes.split(", ")
    on = [[s for s in steps if s.name and pipe_of(s) == pipe] for pipe in (one, other)]
    shared = [(x, y) for a in on[0] for b in on[1] for x, w in writes(a) for y, v in writes(b) if (w or v) and share(x, y)]
    if any(isinstance(x[1], int) for x, _ in shared):
        return "bytes are shared"
    if shared:
        return "bytes are shared, at an address that is computed"
    if {one, other} == {"PIPE_S", "PIPE_V"} and any(s.name in SCALAR_UNIT for s in steps):
        return "the scalar unit begins an instruction of the library"
    fills = any(s.name == "TEXPANDS" and s.tiles[0][0] == "Mat" for s in steps if s.name)
    return "a fill of `mat` is taken for the vector pipe" if fills and "PIPE_V" in pipes else "nothing is seen"


def pairs(steps):
    return {pipes for s in steps for kind, pipes, _ in s.before if kind == "set_flag"}


def compare(name, ours, theirs, counts, found):
    if [s.name for s in ours] != [s.name for s in theirs]:
        counts["other instructions"] += 1
        return
    counts["kernels"] += 1
    for i, (a, b) in enumerate(zip(ours, theirs)):
        if not is_vector(a):
            continue
        counts["both"] += has_barrier(a.before) and has_barrier(b.before)
        if has_barrier(a.before) and not has_barrier(b.before):
            shares = depends_on_an_earlier(theirs, i)
            counts["less, where bytes are shared" if shares else "less, where none are"] += 1
            if "--list" in sys.argv:
                found.append(f"{name}: ours alone, {'shared' if shares else 'not shared'}, before {a.text}")
        if has_barrier(b.before) and not has_barrier(a.before):
            needed = depends_on_an_earlier(ours, i)
            counts["needed" if needed else "not needed"] += 1
            if needed or "--list" in sys.argv:
                found.append(f"{name}: {'needed' if needed else 'not needed'} before {a.text}")
    for pair in sorted(pairs(theirs) | pairs(ours)):
        where = "both" if pair in pairs(theirs) & pairs(ours) else "theirs" if pair in pairs(theirs) else "ours"
        why = "" if where == "both" else ": " + reason(pair, ours)
        counts[f"pipes ordered by {where}{why}"] += 1
        if where == "theirs" and "bytes" in why:
            counts["needed"] += 1
            found.append(f"{name}: {pair} by theirs alone{why}")
        if where != "both" and "--list" in sys.argv:
            found.append(f"{name}: {pair} by {where} alone{why}")


def assembled(kernel, text, *more):
    with open(kernel, "w", encoding="utf-8") as f:
        f.write(text)
    result = run(os.path.abspath(ptoas), kernel, "-o", kernel + ".cpp", "--pto-arch=a3", "--pto-level=level3", *more)
    if result.returncode != 0:
        return None
    with open(kernel + ".cpp", encoding="utf-8") as f:
        return steps_of(f.read())


counts, found = collections.Counter(), []
for module in sorted(glob.glob(os.path.join(root, "examples/*/*.ptir"))):
    name = os.path.relpath(module, os.path.join(root, "examples"))
    if only and not any(word in name for word in only):
        continue
    with tempfile.TemporaryDirectory() as folder:
        tree = os.path.join(folder, "tree")
        if run(os.path.join(build, "bin/pto-opt"), module, "--pipeline=ascend.yaml", GENERATOR, "-o", tree + "/").returncode != 0:
            counts["modules not written"] += 1
            continue
        for kernel in sorted(glob.glob(tree + "/kernel_*.pto")):
            with open(kernel, encoding="utf-8") as f:
                text = f.read()
            bare = "\n".join(line for line in text.splitlines() if not SYNC.match(line)) + "\n"
            ours, theirs = assembled(kernel, text), assembled(kernel + ".bare.pto", bare, "--enable-insert-sync")
            if ours is None or theirs is None:
                counts["kernels not assembled"] += 1
                continue
            compare(f"{name}, {os.path.basename(kernel)}", ours, theirs, counts, found)
print("\n".join(found))
print("\n| What | Count |\n|---|---|")
for what, n in sorted(counts.items()):
    print(f"| {what} | {n} |")
sys.exit(1 if counts["needed"] else 0)
