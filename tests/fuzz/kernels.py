"""Random kernels against pto.synchronize, its checker and the simulator.

    kernels.py [--bin DIR] [--seed N] [--count N] [--seconds N] [--changes N] [--needed N] [--keep DIR] [--decide]

Each kernel is made of loops, branches, loads, stores, moves and arithmetic on buffers that overlap and rotate, and of windows of one
array; with --decide of `while` and of branches on elements of tiles, too. It is compiled for a machine with eight, two or one events for each pair of pipes. For each, at several sizes:

  - pto.synchronize succeeds, and what it leaves passes its checker;
  - the simulator, which follows every byte with vector clocks, finds no race, no deadlock and no token left;
  - the result is that of the reference, bit for bit;
  - without any one of its flags there is a race, at one of the sizes (counted: a flag may be needed by a path that none of them takes);
  - of programs whose flags were changed at random, the checker accepts none in which the simulator finds a race or a deadlock.

Kernels follow from the seed alone. Ends with 1 and the seed when one of these does not hold."""

import argparse
import collections
import os
import random
import re
import subprocess
import sys
import tempfile
import time

ROWS, COLS, TILE_BYTES = 8, 16, 512
SIZES = ("A=3 B=4", "A=0 B=2", "A=5 B=1", "A=2 B=0", "A=1 B=7", "A=7 B=13")


class Kernel:
    """The text of one kernel."""

    def __init__(self, seed, decides):
        self.random = random.Random(seed)
        self.decides = random.Random(seed) if decides else None
        self.lines, self.loops, self.depth, self.names = [], [], 1, 0
        self.budget = 0
        self.is_cube = self.random.random() < 0.3
        (self.cube if self.is_cube else self.vector)()

    # ---- text ----

    def add(self, line):
        self.lines.append("  " * self.depth + line)

    def name(self, stem):
        self.names += 1
        return f"%{stem}{self.names}"

    def text(self):
        core = "cube" if self.is_cube else "vector"
        types = f"%x: gm<64 x {COLS} x f32>, inout %w: gm<64 x {COLS} x f32>, inout %y: gm<64 x {COLS} x f32>, %n: gm<$A x 1 x f32>, %o: gm<$B x 1 x f32>"
        body = "\n".join(self.lines)
        return (f"func @f({types}) {{\n  block.launch @k args(%x, %w, %y, %n, %o)\n  return\n}}\n"
                f"block.kernel @k core({core}) grid(%core: 1) reads(%x, %w, %y) writes(%w, %y) ({types}) {{\n{body}\n}}\n")

    # ---- numbers ----

    def stage(self, stages):
        """An expression in [0, stages)."""
        r = self.random
        if stages == 1 or not self.loops or r.random() < 0.1:
            return str(r.randrange(stages))
        index, start, step = r.choice(self.loops)
        trip = index if (start, step) == ("0", 1) else f"({index} - {start})" if step == 1 else f"(({index} - {start}) floordiv {step})"
        kind = r.random()
        if kind < 0.6:
            return f"{trip} mod {stages}"
        if kind < 0.75:
            return f"({trip} + {r.randrange(1, 4)}) mod {stages}"
        if kind < 0.85:
            return f"({trip} floordiv 2) mod {stages}"
        if kind < 0.9:
            return f"({trip} + $A) mod {stages}"
        return f"({trip} + {r.choice(self.loops)[0]}) mod {stages}"

    def row(self):
        """A row of an array with 64, eight before the last at most."""
        r = self.random
        if not self.loops or r.random() < 0.3:
            return str(8 * r.randrange(8))
        index = r.choice(self.loops)[0]
        return r.choice((f"8 * ({index} mod 8)", f"8 * ({index} mod 8)", f"4 * ({index} mod 8)", f"8 * (({index} + 1) mod 8)", f"8 * ({index} mod 3)"))

    # ---- control ----

    def block(self, depth):
        r = self.random
        for _ in range(r.randrange(1, 5)):
            if self.budget <= 0:
                return
            kind = r.random()
            if self.decides and self.decides.random() < 0.35 and depth < 3:
                self.decision(depth)
            elif kind < 0.3 and depth < 3:
                self.loop(depth)
            elif kind < 0.4 and depth < 4 and self.loops:
                self.branch(depth)
            elif kind < 0.45 and depth < 3:
                self.budget -= 1
                self.rotation()
            else:
                self.budget -= 1
                self.instruction()

    def open_loop(self):
        r = self.random
        index = self.name("i")
        start, step = r.choice((("0", 1), ("0", 1), ("0", 1), ("1", 1), ("0", 2), ("1", 3)))
        end = r.choice(("$A", "$B", "$A + 1", "ceildiv($B, 2)", str(r.randrange(1, 6)), str(r.randrange(1, 6))))
        if self.loops and r.random() < 0.15:
            end = f"{r.choice(self.loops)[0]} + 1"
        head = f"for {index} " + (f"= {start} " if start != "0" else "") + f"to {end}" + (f" step {step}" if step != 1 else "")
        self.add(head + " {")
        self.loops.append((index, start, step))
        self.depth += 1

    def close(self):
        self.depth -= 1
        self.add("}")

    def loop(self, depth):
        self.open_loop()
        self.block(depth + 1)
        self.close()
        self.loops.pop()

    def branch(self, depth):
        index = self.random.choice(self.loops)[0]
        self.add(self.random.choice((f"if {index} == 0", f"if {index} <= 1", "if $A <= 2", f"if {index} mod 2 == 0")) + " {")
        self.depth += 1
        self.block(depth + 1)
        self.depth -= 1
        if self.random.random() < 0.6:
            self.add("} else {")
            self.depth += 1
            self.block(depth + 1)
            self.depth -= 1
        self.add("}")

    def decision(self, depth):
        """Control by what is only known when the kernel runs. In cube kernels no scalar can be read."""
        r = self.decides
        kind = r.random()
        if kind < 0.4 or self.is_cube:
            self.repeat(depth)
        elif kind < 0.6:
            self.add(f"{self.name('s')} = pto.tgetval {self.tile()}[{r.randrange(ROWS)}, {r.randrange(COLS)}] : f32")
        else:
            scalar, number, decision = self.name("s"), self.name("c"), self.name("d")
            self.add(f"{scalar} = pto.tgetval {self.tile()}[{r.randrange(ROWS)}, {r.randrange(COLS)}] : f32")
            self.add(f"{number} = constant {{value = {r.choice((0.0, 0.25, 0.5))}}} : f32")
            self.add(f"{decision} = compare {scalar} {r.choice(('lt', 'ge'))} {number} : bool")
            self.add(f"if {decision} == 1 {{")
            self.depth += 1
            self.block(depth + 1)
            self.depth -= 1
            if r.random() < 0.5:
                self.add("} else {")
                self.depth += 1
                self.block(depth + 1)
                self.depth -= 1
            self.add("}")

    def repeat(self, depth):
        """A `while` that counts: how often it runs is not known to the passes."""
        r = self.decides
        names = {stem: self.name(stem) for stem in ("zero", "end", "w", "a", "g", "b", "n")}
        self.add(f"{names['zero']} = index_cast from(0) : index")
        self.add(f"{names['end']} = index_cast from({r.choice(('$A', '$B', '$A - 1', '2', '3'))}) : index")
        self.add(f"{names['w']} = while carry({names['a']} = {names['zero']}) {{")
        self.add(f"  {names['g']} = compare {names['a']} lt {names['end']} : bool")
        self.add(f"  yield {names['g']}")
        self.add(f"}} do ({names['b']}) {{")
        self.depth += 1
        if not self.is_cube and r.random() < 0.3:
            self.add(f"pto.tstore %y[8 * ({names['b']} mod 8), 0], {self.tile()}")
        self.block(depth + 1)
        self.add(f"{names['n']} = index_cast from({names['b']} + 1) : index")
        self.add(f"yield {names['n']}")
        self.depth -= 1
        self.add("} : index")

    # ---- vector kernels ----

    def phases(self, phase):
        """Parts that use the same bytes one after the other, in a loop now and then."""
        r = self.random
        is_repeated = r.random() < 0.4
        if is_repeated:
            self.open_loop()
        for _ in range(r.choice((1, 1, 2, 3))):
            self.budget = r.choice((3, 6, 10, 16))
            phase()
        if is_repeated:
            self.close()
            self.loops.pop()

    def vector(self):
        self.phases(self.vector_phase)

    def vector_phase(self):
        r = self.random
        self.buffers, address = [], 0
        for _ in range(r.randrange(1, 4)):
            stages, size = r.choice((1, 1, 2, 2, 3)), r.choice((512, 512, 768, 1024))
            name = self.name("b")
            self.add(f"{name} = block.buffer {{space = vec, bytes_per_stage = {size}, stages = {stages}, addr = {address}}} : buffer")
            address += size * stages
            self.buffers.append((name, stages, size))
        one = self.name("c")
        self.add(f"{one} = constant {{value = 1.0}} : f32")
        for name, stages, size in self.buffers:
            pipe = r.random()
            for stage in range(stages):
                tile, rows = self.name("t"), size // 64
                self.add(f"{tile} = block.tile {name}[{stage}] valid({rows}, {COLS}) : tile<{rows} x {COLS} x f32, vec, nd>")
                self.add(f"pto.texpands {tile}, {one}" if pipe < 0.5 else f"pto.tload {tile}, %x[{8 * r.randrange(6)}, 0]")
        self.block(0)

    def tile(self):
        name, stages, size = self.random.choice(self.buffers)
        tile = self.name("t")
        offset = 256 * self.random.randrange((size - TILE_BYTES) // 256 + 1)
        self.add(f"{tile} = block.tile {name}[{self.stage(stages)}] {{offset = {offset}}} valid({ROWS}, {COLS}) : tile<{ROWS} x {COLS} x f32, vec, nd>")
        return tile

    def instruction(self):
        r = self.random
        if self.is_cube:
            return self.cube_instruction()
        kind = r.random()
        if kind < 0.35:
            self.add(f"pto.tload {self.tile()}, {r.choice(('%x', '%x', '%w'))}[{self.row()}, 0]")
        elif kind < 0.65:
            self.add(f"pto.tstore {r.choice(('%y', '%w'))}[{self.row()}, 0], {self.tile()}")
        elif kind < 0.85:
            to, source = self.tile(), self.tile()
            self.add(f"pto.{r.choice(('tabs', 'tneg'))} {to}, {source}")
        else:
            to, left, right = self.tile(), self.tile(), self.tile()
            self.add(f"pto.tmax {to}, {left}, {right}")
        return None

    def rotation(self):
        """A loop as passes make them: load, compute, store through two rotating buffers."""
        if self.is_cube:
            return self.cube_instruction()
        self.open_loop()
        tiles = []
        for name, stages, _ in (self.random.choice(self.buffers), self.random.choice(self.buffers)):
            index, start, step = self.loops[-1]
            tile = self.name("t")
            self.add(f"{tile} = block.tile {name}[({index} - {start}) floordiv {step} mod {stages}] valid({ROWS}, {COLS}) : tile<{ROWS} x {COLS} x f32, vec, nd>")
            tiles.append(tile)
        self.add(f"pto.tload {tiles[0]}, %x[{self.row()}, 0]")
        self.add(f"pto.tabs {tiles[1]}, {tiles[0]}")
        self.add(f"pto.tstore %y[{self.row()}, 0], {tiles[1]}")
        self.close()
        self.loops.pop()
        return None

    # ---- cube kernels ----

    SPACES = (("mat", "nz"), ("left", "zz"), ("right", "zn"), ("acc", "nz"))

    def cube(self):
        self.phases(self.cube_phase)

    def cube_phase(self):
        r = self.random
        self.buffers = {}
        for space, layout in self.SPACES:
            stages, size = r.choice((1, 2, 2, 3)), r.choice((1024, 2048))
            name = self.name("b")
            self.add(f"{name} = block.buffer {{space = {space}, bytes_per_stage = {size}, stages = {stages}, align = 512, addr = 0}} : buffer")
            self.buffers[space] = (name, stages, size)
            for stage in range(stages):
                for offset in range(0, size, 1024):
                    tile = self.name("t")
                    self.add(f"{tile} = block.tile {name}[{stage}] {{offset = {offset}}} valid(16, 16) : tile<16 x 16 x f32, {space}, {layout}>")
                    if space == "mat":
                        first_mat = tile
                        self.add(f"pto.tload {tile}, %x[{8 * r.randrange(6)}, 0]")
                    elif space == "acc":
                        self.add(f"pto.tmatmul {tile}, {left}, {right}")
                    else:
                        self.add(f"pto.tmov {tile}, {first_mat}")
                    left = tile if space == "left" else left if space != "mat" else None
                    right = tile if space == "right" else right if space == "acc" else None
        self.block(0)

    def cube_tile(self, space):
        name, stages, size = self.buffers[space]
        tile = self.name("t")
        offset = 512 * self.random.randrange((size - 1024) // 512 + 1)
        self.add(f"{tile} = block.tile {name}[{self.stage(stages)}] {{offset = {offset}}} valid(16, 16) : tile<16 x 16 x f32, {space}, {dict(self.SPACES)[space]}>")
        return tile

    def cube_instruction(self):
        r = self.random
        kind = r.random()
        if kind < 0.3:
            self.add(f"pto.tload {self.cube_tile('mat')}, {r.choice(('%x', '%w'))}[{self.low_row()}, 0]")
        elif kind < 0.6:
            self.add(f"pto.tmov {self.cube_tile(r.choice(('left', 'right')))}, {self.cube_tile('mat')}")
        elif kind < 0.8:
            acc, left, right = self.cube_tile("acc"), self.cube_tile("left"), self.cube_tile("right")
            self.add(f"pto.tmatmul {acc}, {left}, {right}" if r.random() < 0.5 else f"pto.tmatmul_acc {acc}, {acc}, {left}, {right}")
        else:
            self.add(f"pto.tstore {r.choice(('%y', '%w'))}[{self.low_row()}, 0], {self.cube_tile('acc')}")

    def low_row(self):
        """A row of an array with 64, sixteen before the last at most."""
        r = self.random
        index = r.choice(self.loops)[0] if self.loops and r.random() < 0.7 else None
        return f"8 * ({index} mod 7)" if index else str(8 * r.randrange(7))


# ---- tools ----

class Tools:
    """The programs, in a folder for what goes between them."""

    def __init__(self, programs, folder):
        root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
        self.bin, self.folder = programs, folder
        self.pipeline = os.path.join(root, "pipelines", "default.yaml")
        self.exec = os.path.join(root, "tests", "backends", "cpu-sim", "inputs", "exec.yaml")
        with open(os.path.join(root, "pipelines", "machines", "ascend-910b.yaml")) as f:
            self.machine_text = f.read()
        self.machine = None

    def use_machine(self, events):
        text, count = re.subn(r"(?m)^  event-ids: 8\b", f"  event-ids: {events}", self.machine_text)
        if count != 1:
            raise SystemExit("kernels.py: the machine file does not say how many events there are")
        self.machine = self.write("machine.yaml", text)

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w") as f:
            f.write(text)
        return path

    def run(self, tool, *arguments):
        r = subprocess.run([os.path.join(self.bin, tool) if self.bin else tool, *arguments], capture_output=True, text=True, timeout=120)
        return r.returncode, r.stdout, r.stderr

    def compile(self, path, *options):
        return self.run("pto-opt", path, f"--pipeline={self.pipeline}", f"--machine={self.machine}", *options)

    def simulate(self, path, size, *options):
        symbols = [f"--sym={s}" for s in size.split()]
        return self.run("pto-run", path, f"--pipeline={self.exec}", f"--machine={self.machine}", "--random-inputs=1", *symbols, *options)


class Wrong(Exception):
    pass


def first_line(text):
    return text.partition("\n")[0]


def synchronise(tools, seed, decides):
    """The kernel with its flags; None when two of its buffers share bytes in a way that pto.allocate would not let them."""
    tools.use_machine((8, 8, 2, 1)[seed % 4])
    text = Kernel(seed, decides).text()
    path = tools.write("kernel.ptir", text)
    status, out, err = tools.compile(path, "--from=synchronize", "--until=synchronize", "--verify=each")
    if "[pto.allocate/overlap]" in err:
        return None
    if status:
        raise Wrong(f"does not compile: {first_line(err)}")
    return out


def run_path(tools, name, text):
    return tools.write(name, text.replace("block.launch", "exec.launch"))


def check_runs(tools, text):
    path = run_path(tools, "run.ptir", text)
    for size in SIZES:
        outs = {}
        for backend in ("pto.cpu-sim-unchecked", "pto.reference"):
            files = [os.path.join(tools.folder, f"{backend}.{name}.npy") for name in "yw"]
            status, _, err = tools.simulate(path, size, f"--backend={backend}", f"--out=y={files[0]}", f"--out=w={files[1]}")
            if status:
                raise Wrong(f"{backend} at {size}: {first_line(err)}")
            outs[backend] = [open(f, "rb").read() for f in files]
        if len(set(map(tuple, outs.values()))) != 1:
            raise Wrong(f"simulator and reference differ at {size}")


# ---- flags left out, and flags changed ----

FLAG = re.compile(r"^( *)pto\.(set|wait)_flag (\w+) -> (\w+) event\((.*)\)$")


def fails_somewhere(tools, path, *options):
    for size in SIZES:
        status, _, err = tools.simulate(path, size, *options)
        if status and "leftover-tokens" not in first_line(err):
            return first_line(err)
    return None


def gives_back(lines, at):
    """Whether a wait takes what is left after a loop: there is a set for the first trip before it, and one in it."""
    wait = FLAG.match(lines[at])
    is_within = False
    for line in reversed(lines[:at]):
        if len(line) - len(line.lstrip()) < len(wait[1]):
            return False
        other = FLAG.match(line)
        if other and other[2] == "set" and other.group(3, 4) == wait.group(3, 4):
            if len(other[1]) > len(wait[1]):
                is_within = True
            elif other[5] == wait[5]:
                return is_within
    return False


def check_needed(tools, text, found):
    """Leaves out each wait but those after loops that only give tokens back."""
    path = run_path(tools, "run.ptir", text)
    lines = text.splitlines()
    waits = [i for i, line in enumerate(lines) if FLAG.match(line) and FLAG.match(line)[2] == "wait"]
    for number, at in enumerate(waits):
        if gives_back(lines, at):
            continue
        error = fails_somewhere(tools, path, f"--set=backend.with.drop-wait={number}")
        found["flags needed" if error else "flags not shown to be needed"] += 1


def change(text, r):
    """Removes all flags of an event, lets two events be one, or moves one set or wait along its block."""
    lines = text.splitlines()
    flags = [i for i, line in enumerate(lines) if FLAG.match(line)]
    if not flags:
        return None
    at = r.choice(flags)
    flag = FLAG.match(lines[at])
    kind = r.random()
    pair = (flag[3], flag[4])
    if kind < 0.25:
        return "\n".join(line for i, line in enumerate(lines) if i not in flags or FLAG.match(line).group(3, 4, 5) != flag.group(3, 4, 5)) + "\n"
    if kind < 0.4:
        events = [FLAG.match(lines[i])[5] for i in flags if FLAG.match(lines[i]).group(3, 4) == pair]
        other = r.choice(events)
        for i in flags:
            m = FLAG.match(lines[i])
            if m.group(3, 4, 5) == flag.group(3, 4, 5):
                lines[i] = f"{m[1]}pto.{m[2]}_flag {m[3]} -> {m[4]} event({other})"
        return "\n".join(lines) + "\n"
    step = -1 if flag[2] == "set" else 1
    to = at
    for _ in range(r.randrange(1, 6)):
        line = lines[to + step]
        if not line.startswith(flag[1]) or line[len(flag[1])] in " }" or line.endswith("{"):
            break
        to += step
    if to == at:
        return None
    lines.insert(to, lines.pop(at))
    return "\n".join(lines) + "\n"


def check_changes(tools, text, seed, count, found):
    r = random.Random(seed)
    for _ in range(count):
        changed = change(text, r)
        if changed is None:
            continue
        path = tools.write("changed.ptir", changed)
        status, _, err = tools.compile(path, "--from=task-graph")
        if status and "[pto.synchronize/" not in err:
            found["changes that are not programs"] += 1
            continue
        error = fails_somewhere(tools, run_path(tools, "run.ptir", changed))
        found[f"changes {'refused' if status else 'accepted'}, {'wrong' if error else 'no error at the sizes tried'}"] += 1
        if error and not status:
            raise Wrong(f"the checker accepts a program with an error: {error}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", help="folder of pto-opt and pto-run; else those on the path")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1000000)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--changes", type=int, default=4, help="changed programs for each kernel")
    parser.add_argument("--needed", type=int, default=1, help="leave flags out of every N-th kernel")
    parser.add_argument("--keep", help="folder for kernels that are wrong")
    parser.add_argument("--decide", action="store_true", help="with control by what is only known when the kernel runs")
    options = parser.parse_args()
    found = collections.Counter()
    wrong, end = 0, time.monotonic() + options.seconds
    with tempfile.TemporaryDirectory() as folder:
        tools = Tools(options.bin, folder)
        for seed in range(options.seed, options.seed + options.count):
            if time.monotonic() > end:
                break
            found["kernels"] += 1
            try:
                text = synchronise(tools, seed, options.decide)
                if text is None:
                    found["kernels with two uses of one address"] += 1
                    continue
                found["barriers"] += text.count("pto.barrier")
                found["flags"] += text.count("_flag ")
                check_runs(tools, text)
                if seed % options.needed == 0:
                    check_needed(tools, text, found)
                check_changes(tools, text, seed, options.changes, found)
            except (Wrong, subprocess.TimeoutExpired) as e:
                wrong += 1
                print(f"seed {seed}: {e}", flush=True)
                if options.keep:
                    os.makedirs(options.keep, exist_ok=True)
                    for name in os.listdir(folder):
                        if name.endswith(".ptir"):
                            os.replace(os.path.join(folder, name), os.path.join(options.keep, f"{seed}.{name}"))
    print(", ".join(f"{n} {what}" for what, n in sorted(found.items())))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
