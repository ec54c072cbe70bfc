"""Cycles of single instructions in cpu-sim beside those of the vendor's cycle model, which is in the headers for A2 and A3: used by
vendor.py.

That mode of the headers does not compile as it comes: a copy of them is put right, here and nowhere else. Both count from the
start of an instruction of an idle pipe to the next one that may start; the wait for its results (`tail`) comes after."""

import json
import os
import re
import shutil

REPAIRS = (  # file, what is there, what is needed
    ("costmodel/common/runtime_util.hpp", r"inline int get_coreid\(\).*\n", ""),
    ("costmodel/common/runtime_util.hpp", r"inline uint32_t get_block_num\(\).*\n", ""),
    ("costmodel/arch_config.hpp", r"(?=inline constexpr long double kBytesPerGb)", "inline constexpr long double kMicrosPerSecond = 1e6L;\n"),
    ("costmodel/trace.hpp", r"(?<=struct TraceState \{)", "\n    bool vector_count_mode = false;"),
    ("costmodel/a2a3/cce_costmodel/cce_costmodel_core.hpp", r"(?=inline uint64_t EstimateBandwidthCycles)", "namespace ev = ::pto::mocker::evaluator;\n"),
    ("common/pto_instr.hpp", r"struct MrgSortExecutedNumList \{", "struct MrgSortExecutedNumListAgain {"),
)
HEAD = """#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
namespace pto { struct MrgSortExecutedNumList { uint16_t mrgSortList0, mrgSortList1, mrgSortList2, mrgSortList3; }; }
#include <pto/pto-inst.hpp>
#include <pto/common/constants.hpp>
using namespace pto;
template <typename T, int R, int C> using Rows = Tile<TileType::Vec, T, R, C, BLayout::RowMajor, -1, -1>;
template <typename T, int R> using Column = Tile<TileType::Vec, T, R, 1, BLayout::ColMajor, -1, -1>;
alignas(512) static unsigned char memory[1 << 18];
"""
TYPES = {"f32": "float", "f16": "half", "i32": "int32_t", "i16": "int16_t"}
BYTES = {"f32": 4, "i32": 4, "f16": 2, "i16": 2}
# Rows and columns of capacity, then those that are valid.
SHAPES = ((16, 16, 16, 16), (1, 64, 1, 64), (64, 64, 64, 64), (16, 256, 16, 256), (8, 512, 8, 512), (16, 64, 16, 41), (16, 128, 16, 100),
          (3, 320, 3, 300), (64, 32, 64, 32))
WHOLE, COLUMN, ROW = "whole", "column", "row"


WHY = """The rest, and why it is not followed:

- Rows longer than a repeat in fewer rows than that has repeats, 3 x 300 of 3 x 320: the headers count elements there
  (`set_mask_count`), for which the model has 16 cycles more and no slope, and this edition of it never says that it is
  so: it charges the start of the instruction alone.
- `trowsum`, `trowmax`, `trowmin`, `tcolsum`, `tcolmax`, `tcolmin`, `trowexpand`: ours fit the measured lines in
  `formula_params.csv` of the same headers, which are 0.4 to 42 times what this model makes of an instruction that goes
  over all rows.
- `trowexpand*`, `tdivs`: their steps are summed up in one row of our table."""


class Kind:
    """Operands by their shapes, the target first; `call` and `text` with their names d, a, b, and s for a scalar."""

    def __init__(self, names, operands, call, text, types=("f32", "f16")):
        self.names, self.operands, self.call, self.text, self.types = names.split(), operands, call, text, types


ALL = ("f32", "f16", "i32", "i16")
KINDS = (
    Kind("TADD TSUB TMUL TMAX TMIN", (WHOLE, WHOLE, WHOLE), "{N}(d, a, b)", "%d, %a, %b", ALL),
    Kind("TDIV", (WHOLE, WHOLE, WHOLE), "{N}(d, a, b)", "%d, %a, %b"),
    Kind("TADDS TMULS TMAXS TMINS", (WHOLE, WHOLE), "{N}(d, a, ({T})2)", "%d, %a, %s", ALL),
    Kind("TDIVS", (WHOLE, WHOLE), "{N}(d, a, ({T})2)", "%d, %a, %s"),
    Kind("TEXP TSQRT TABS TNEG", (WHOLE, WHOLE), "{N}(d, a)", "%d, %a"),
    Kind("TROWSUM TROWMAX TROWMIN", (COLUMN, WHOLE, WHOLE), "{N}(d, a, b)", "%d, %a, %b"),
    Kind("TCOLMAX TCOLMIN", (ROW, WHOLE), "{N}(d, a)", "%d, %a"),
    Kind("TCOLSUM", (ROW, WHOLE), "{N}(d, a)", "%d, %a"),
    Kind("TROWEXPAND", (WHOLE, COLUMN), "{N}(d, a)", "%d, %a"),
    Kind("TROWEXPANDADD TROWEXPANDSUB TROWEXPANDMUL TROWEXPANDDIV", (WHOLE, WHOLE, COLUMN), "{N}(d, a, b)", "%d, %a, %b, %t"),
)


def cases():
    for kind in KINDS:
        for name in kind.names:
            for t in kind.types:
                for shape in SHAPES:
                    if shape[1] * BYTES[t] % 32 == 0:
                        yield kind, name, t, shape


def extents(operand, shape):
    r, c, vr, vc = shape
    return {WHOLE: (r, c, vr, vc), COLUMN: (-(-r // 16) * 16, 1, vr, 1), ROW: (1, c, 1, vc)}[operand]


def repaired(checkout, folder):
    """The headers with the mode put right, as a folder to include from."""
    into = folder + "/include"
    shutil.rmtree(into, ignore_errors=True)
    shutil.copytree(checkout + "/include", into)
    for name, there, needed in REPAIRS:
        path = f"{into}/pto/{name}"
        with open(path, encoding="utf-8") as f:
            text, count = re.subn(there, lambda _, needed=needed: needed, f.read(), count=1)
        if count:
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
    return into


def theirs(bench, folder, wanted):
    """Cycles by the number of the case."""
    include, made = repaired(bench.o.checkout, folder), []
    for arch in ("a2a3", "a5"):
        script = f"{include}/pto/costmodel/{arch}/formula_costmodel/gen_formula_params_header.py"
        bench.must(bench.run("/usr/bin/python3", "-B", script), script)
    for n, (kind, name, t, shape) in enumerate(wanted):
        lines, at = [], 0
        for tile, operand in zip("dab", kind.operands):
            r, c, vr, vc = extents(operand, shape)
            lines.append(f"    {'Column' if operand == COLUMN else 'Rows'}<{TYPES[t]}, {r}{'' if operand == COLUMN else f', {c}'}> {tile}({vr}, {vc});\n"
                         f"    TASSIGN({tile}, (uint64_t)(memory + {at}));\n")
            at += 0x10000
        call = kind.call.format(N=name, T=TYPES[t])
        made.append(f"static void case{n}()\n{{\n{''.join(lines)}    pto::mocker::ResetTrace();\n    {call};\n"
                    f'    std::printf("{n} %llu\\n", (unsigned long long)pto::mocker::GetLastPtoInstrCycles());\n}}\n')
    with open(folder + "/theirs.cpp", "w", encoding="ascii") as f:
        f.write(HEAD + "".join(made) + "int main()\n{\n" + "".join(f"    case{n}();\n" for n in range(len(wanted))) + "}\n")
    bench.must(bench.run(bench.o.compiler, "-std=c++23", "-O0", "-w", "-D__COSTMODEL", "-D__NPU_ARCH__=2201", "-DPTO_COMM_NOT_SUPPORTED",
                         "-I" + include, f"-I{include}/pto/costmodel/stubs", folder + "/theirs.cpp", "-o", folder + "/theirs"), "compile")
    seen = bench.must(bench.run(folder + "/theirs"), "run")
    return {int(n): int(cycles) for n, cycles in (line.split() for line in seen.stdout.splitlines())}


def kernel(n, kind, name, t, shape):
    """The instruction, after loads that leave the vector pipe idle."""
    buffers, loads, at = [], [], 0
    tiles = [*zip("dab", kind.operands), *([("t", WHOLE)] if "%t" in kind.text else [])]
    for tile, operand in tiles:
        r, c, vr, vc = extents(operand, shape)
        size = -(-max(r * c * BYTES[t], 8192 if tile == "t" else 32) // 32) * 32
        layout = "dn" if operand == COLUMN else "nd"
        buffers.append(f"    %{tile}_b = block.buffer {{space = vec, bytes_per_stage = {size}, addr = {at}}} : buffer\n"
                       f"    %{tile} = block.tile %{tile}_b[0] valid({vr}, {vc}) : tile<{r} x {c} x {t}, vec, {layout}>\n")
        at += size
        if tile in "ab":
            loads.append(f"    pto.tload %{tile}, %{tile}_x[0, 0]\n")
    memory = ", ".join(f"%{tile}_x: gm<{vr} x {vc} x {t}>" for tile, operand in tiles if tile in "ab" for _, _, vr, vc in [extents(operand, shape)])
    scalar = f"    %s = constant {{value = {2.0 if t[0] == 'f' else 2}}} : {t}\n" if "%s" in kind.text else ""
    return (f"  block.kernel @k{n} core(vector) grid(%i: 1) ({memory}) {{\n{''.join(buffers)}{scalar}{''.join(loads)}"
            f"    pto.set_flag mte2 -> v event(0)\n    pto.wait_flag mte2 -> v event(0)\n    pto.{name.lower()} {kind.text}\n  }}\n"), memory


def ours(bench, folder, wanted):
    texts, launches, memories = [], [], []
    for n, one in enumerate(wanted):
        text, memory = kernel(n, *one)
        texts.append(text)
        memories.append(re.sub(r"%(\w+):", rf"%k{n}_\1:", memory))
        names = ", ".join(re.findall(r"%\w+", memories[-1]))
        launches.append(f"    exec.launch @k{n} args({names})\n")
    with open(folder + "/ours.ptir", "w", encoding="ascii") as f:
        f.write(f"module {{machine = \"{bench.machine.removesuffix('.yaml')}\"}} {{\n{''.join(texts)}  func @f({', '.join(memories)}) {{\n"
                f"{''.join(launches)}    return\n  }}\n}}\n")
    os.makedirs(folder + "/report", exist_ok=True)
    bench.must(bench.run(os.path.join(bench.tools, "pto-run"), folder + "/ours.ptir", "--passes=", *bench.on_machine, "--backend=pto.cpu-sim-unchecked",
                         "--set=backend.with.data=none", "--random-inputs=1", "--quiet", f"--report={folder}/report"), "pto-run")
    with open(folder + "/report/swimlane.json", encoding="utf-8") as f:
        events = json.load(f)["traceEvents"]
    return {int(e["cat"][1:]): e["args"]["cycles"] for e in events
            if e["ph"] == "X" and e["name"].startswith("pto.t") and e["name"] != "pto.tload" and e.get("cat", "").startswith("k")}


def measured(bench, folder):
    """(mnemonic, type, shape, our cycles, theirs) of each case."""
    os.makedirs(folder, exist_ok=True)
    wanted = list(cases())
    a, b = ours(bench, folder, wanted), theirs(bench, folder, wanted)
    return [(name.lower(), t, shape, a[n], b[n]) for n, (_, name, t, shape) in enumerate(wanted)]


def shape_words(shape):
    r, c, vr, vc = shape
    return f"{vr} x {vc}" + ("" if (r, c) == (vr, vc) else f" of {r} x {c}")


def near(rows):
    return sum(1 for *_, a, b in rows if 0.8 <= a / b <= 1.25)


def write(f, rows, machine):
    """The section of the page: ratios of ours to theirs."""
    f.write(f"\n## Cycles: {machine}\n\n`./dev vendor CHECKOUT cycles`: the cycles of an instruction in `cpu-sim`, as a multiple of those of the vendor's cycle\n"
            "model, which has them for A2 and A3. Both are models: neither has been compared with a chip here. "
            f"Of {len(rows)} cases\n{near(rows)} are within a quarter. {WHY}\n\n"
            "| Instruction | " + " | ".join(shape_words(s) for s in SHAPES) + " |\n|---|" + "---|" * len(SHAPES) + "\n")
    table = {}
    for name, t, shape, a, b in rows:
        table.setdefault((name, t), {})[shape] = f"{a / b:.2f}"
    f.writelines(f"| `{name}` {t} | " + " | ".join(line.get(s, "") for s in SHAPES) + " |\n" for (name, t), line in table.items())
