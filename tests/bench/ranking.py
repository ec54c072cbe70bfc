"""How good the first offer of the tiling strategy is. Each shape of each kernel is compiled with every offer of every nest pinned in turn, and
simulated without data; the table has the cycles of the first offers, of the best ones, and their ratio, also without what a launch costs, which no
tile changes. Limits: 1.05 in the median, 1.2 at most. With --seed the shapes are drawn, so that nothing can be fitted to those that are listed.

    ranking.py BUILD [--cost=MODEL] [--only=KERNEL] [--seed=N]
"""

import argparse
import concurrent.futures
import math
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile

MEDIAN_LIMIT, WORST_LIMIT = 1.05, 1.2
LARGEST_PRODUCT = 2**21  # of the extents of a shape that is drawn

def softmax(r, c):
    return f"func @k(%x: tensor<{r} x {c} x f32>) -> tensor<{r} x {c} x f32> {{\n  %y = tensor.softmax %x : tensor<{r} x {c} x f32>\n  return %y\n}}\n"


def rms_norm(r, c):
    t = f"tensor<{r} x {c} x f32>"
    return f"func @k(%x: {t}, %g: tensor<{c} x f32>) -> {t} {{\n  %y = tensor.rms_norm %x, %g : {t}\n  return %y\n}}\n"


def gemm(m, n, k):
    return (f"func @k(%a: tensor<{m} x {k} x f32>, %b: tensor<{k} x {n} x f32>) -> tensor<{m} x {n} x f32> {{\n"
            f"  %c = tensor.matmul %a, %b : tensor<{m} x {n} x f32>\n  return %c\n}}\n")


def ffn(t, d, h):
    return (f"func @k(%x: tensor<{t} x {d} x bf16>, %w: tensor<{d} x {h} x bf16>, %b: tensor<{h} x f32>, %v: tensor<{h} x {d} x bf16>) -> tensor<{t} x {d} x bf16> {{\n"
            f"  %h = tensor.matmul %x, %w {{out = f32}} : tensor<{t} x {h} x f32>\n  %u = tensor.add %h, %b : tensor<{t} x {h} x f32>\n"
            f"  %g = tensor.gelu %u {{approx = \"sigmoid\"}} : tensor<{t} x {h} x f32>\n  %a = tensor.cast %g : tensor<{t} x {h} x bf16>\n"
            f"  %y = tensor.matmul %a, %v {{out = bf16}} : tensor<{t} x {d} x bf16>\n  return %y\n}}\n")


def reduce_rows(r, c):
    return f"func @k(%x: tensor<{r} x {c} x f32>) -> tensor<1 x {c} x f32> {{\n  %y = tensor.reduce_sum %x {{axis = 0}} : tensor<1 x {c} x f32>\n  return %y\n}}\n"


def chain(r, c):
    t = f"tensor<{r} x {c} x f32>"
    return (f"func @k(%x: {t}, %z: {t}) -> {t} {{\n  %a = tensor.add %x, %z : {t}\n  %b = tensor.exp %a : {t}\n  %c = tensor.mul %b, %x : {t}\n"
            f"  %d = tensor.abs %c : {t}\n  %y = tensor.sqrt %d : {t}\n  return %y\n}}\n")


def transpose(r, c):
    return f"func @k(%x: tensor<{r} x {c} x f32>) -> tensor<{c} x {r} x f32> {{\n  %y = tensor.transpose %x {{perm = [1, 0]}} : tensor<{c} x {r} x f32>\n  return %y\n}}\n"


def layer_norm(r, c):
    t, one, n = f"tensor<{r} x {c} x f32>", f"tensor<{r} x 1 x f32>", f"tensor<{c} x f32>"
    return (f"func @k(%x: {t}, %g: {n}, %b: {n}) -> {t} {{\n  %m = tensor.reduce_mean %x {{axis = 1}} : {one}\n  %d = tensor.sub %x, %m : {t}\n"
            f"  %q = tensor.mul %d, %d : {t}\n  %v = tensor.reduce_mean %q {{axis = 1}} : {one}\n  %e = constant {{value = 1.0e-5}} : f32\n"
            f"  %s = tensor.add %v, %e : {one}\n  %i = tensor.rsqrt %s : {one}\n  %h = tensor.mul %d, %i : {t}\n  %k = tensor.mul %h, %g : {t}\n"
            f"  %y = tensor.add %k, %b : {t}\n  return %y\n}}\n")


# The last shape of each has its first extent as a symbol, and says what to expect of it.
SHAPES = (
    (softmax, ((64, 256), (512, 512), (1000, 100), (16, 4096), (2048, 64))),
    (rms_norm, ((128, 128), (333, 1000), (4096, 32), (8, 8192), (1024, 256))),
    (gemm, ((128, 128, 128), (256, 512, 64), (512, 512, 512), (100, 300, 200), (64, 1024, 256))),
    (ffn, ((16, 128, 512), (64, 128, 256), (256, 64, 256), (100, 128, 512), (128, 128, 512))),
    (reduce_rows, ((256, 256), (1024, 64), (64, 4096), (2000, 100), (512, 1024))),
    (chain, ((64, 64), (1024, 256), (100, 3000), (7, 10000), (3000, 48))),
    (transpose, ((256, 256), (1000, 64), (64, 1000), (512, 512), (128, 2048))),
    (layer_norm, ((64, 256), (777, 333), (16, 4096), (2048, 64), (512, 512))),
)


def drawn(seed):
    """As many shapes of the same kernels, of extents between 1 and 8192."""
    r = random.Random(seed)

    def shape(rank):
        while True:
            extents = tuple(round(2 ** r.uniform(0, 13)) for _ in range(rank))
            if math.prod(extents) <= LARGEST_PRODUCT:
                return extents

    return [(make, [shape(len(one)) for one in shapes]) for make, shapes in SHAPES]


class Case:
    def __init__(self, bin_folder, folder, make, shape, is_symbolic, options):
        self.bin, self.folder, self.options = bin_folder, folder, options
        self.name = make.__name__ + " " + " x ".join(("$N = " if is_symbolic and i == 0 else "") + str(e) for i, e in enumerate(shape))
        self.path = os.path.join(folder, re.sub(r"\W+", "-", self.name) + ".ptir")
        with open(self.path, "w") as f:
            f.write(make(*(("$N",) + shape[1:] if is_symbolic else shape)))
        self.expect = [f"--expect=N={shape[0]}"] if is_symbolic else []
        self.sym = [f"--sym=N={shape[0]}"] if is_symbolic else []

    def run(self, tool, *arguments):
        return subprocess.run([os.path.join(self.bin, tool), self.path, "--pipeline=default.yaml", *self.options, *self.expect, *arguments],
                              capture_output=True, text=True)

    def offers(self):
        """Of each nest: its path and the values offered, first the chosen one."""
        text = self.run("pto-opt", "--print-search-space").stdout
        nests = []
        for part in text.split("  - at: ")[1:]:
            if "decide: tile\n" in part:
                nests.append((part.split("\n")[0], re.findall(r"- value: (\{.*\})", part)))
        if not nests:
            sys.exit(f"{self.name}: no offers: {text}")
        return nests

    def cycles(self, pins, number):
        """Cycles and launches with these tiles pinned; None when they do not compile."""
        schedule = []
        if pins:
            path = f"{self.path}.{number}.yaml"
            with open(path, "w") as f:
                f.write("pto-schedule: 1\ndecisions:\n" + "".join(f"  - {{ at: {at}, decide: tile, value: {value}, pinned: true }}\n" for at, value in pins.items()))
            schedule = [f"--schedule={path}"]
        out = self.run("pto-run", "--set=backend.with.data=none", "--random-inputs=1", *self.sym, *schedule)
        found = re.search(r"^cycles: (\d+)", out.stdout, re.M)
        if found is None and not pins:
            sys.exit(f"{self.name}: {out.stdout}{out.stderr}")
        return int(found[1]) if found else None

    def measure(self):
        nests, first, number, counted = self.offers(), self.cycles({}, 0), 0, 0
        best, pins = first, {}
        for at, values in nests:
            least, least_value = None, None
            for value in values:
                number += 1
                cycles = self.cycles({at: value}, number)
                counted += cycles is not None
                if cycles is not None and (least is None or cycles < least):
                    least, least_value = cycles, value
            if least is not None:
                pins[at], best = least_value, min(best, least)
        if len(nests) > 1:
            together = self.cycles(pins, number + 1)
            best = min(best, together if together is not None else best)
        return self.name, counted, first, best, " ".join(pins.values())


def launch_cycles(build):
    """What a launch costs before its first instruction, from the machine file."""
    with open(os.path.join(build, "share", "pto", "pipelines", "machines", "ascend-910b.yaml")) as f:
        text = f.read()
    return sum(int(re.search(rf"{key}: (\d+)", text)[1]) for key in ("launch-cycles", "block-cycles"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--cost", default="pto.cost-pipes", help="the cost model, such as pto.cost-roofline")
    parser.add_argument("--only", default="", help="kernels whose name has this word")
    parser.add_argument("--seed", type=int, help="of shapes that are drawn instead of those that are listed")
    given = parser.parse_args()
    options = [f"--set=tile.with.strategy.with.cost={given.cost}"]
    launch, ratios = launch_cycles(given.build), []
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        cases = [Case(os.path.join(given.build, "bin"), folder, make, shape, i + 1 == len(shapes), options)
                 for make, shapes in (SHAPES if given.seed is None else drawn(given.seed)) if given.only in make.__name__ for i, shape in enumerate(shapes)]
        print(f"{'shape':32} {'offers':>6} {'first':>8} {'best':>8} {'ratio':>6} {'after launch':>12}  best tiles")
        for name, offers, first, best, tiles in pool.map(Case.measure, cases):
            ratios.append(first / best)
            print(f"{name:32} {offers:6} {first:8} {best:8} {first / best:6.3f} {(first - launch) / max(best - launch, 1):12.3f}  {tiles}", flush=True)
    median, worst = statistics.median(ratios), max(ratios)
    print(f"first / best: median {median:.3f} (limit {MEDIAN_LIMIT}), worst {worst:.3f} (limit {WORST_LIMIT}), {len(ratios)} shapes")
    return 0 if median <= MEDIAN_LIMIT and worst <= WORST_LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
