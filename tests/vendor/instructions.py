"""Each instruction that pto.emit-ascend writes, over element types and edge values, beside the CPU mode of the vendor's
headers as it is: used by vendor.py.

A kernel of one instruction (instruction_kernels.py) runs on cpu-sim and, emitted, in the CPU mode. Differences must be
those of instruction_differences.txt, which says who is right."""

import os
import re
import textwrap
from fnmatch import fnmatch

import numpy as np

import instruction_kernels as kernels
from compared import Program, in_groups, refusal
from instruction_kernels import el
from trees import Trees

here = os.path.dirname(os.path.abspath(__file__))
root = os.path.dirname(os.path.dirname(here))
TOGETHER = 24
FLAGS = ["-O0", "-DNDEBUG"]  # a division of floats by 0 is an assertion there
PIPELINE = "--pipeline=" + here + "/inputs/instructions.yaml"


class Result:
    """What was seen of an instruction in an element type."""

    def __init__(self):
        self.elements, self.outputs, self.refused, self.failed, self.differ = 0, 0, set(), [], {}


def calls():
    """What an instruction is called in the vendor's library."""
    with open(root + "/plugins/generators/emit_ascend/ascend.def", encoding="utf-8") as f:
        return dict(re.findall(r'^INSN\("(\w+)", "(?:\$0\.)?(\w+)', f.read(), re.M))


def explained():
    """Rows of (instruction, types, difference, why)."""
    with open(here + "/instruction_differences.txt", encoding="utf-8") as f:
        return [tuple(part.strip() for part in row.split("|")) for row in f if row.strip() and not row.startswith("#")]


def is_in(patterns, name):
    return any(fnmatch(name, one.strip()) for one in patterns.split(","))


def why_of(rows, instruction, types, difference):
    """Why such a difference is there; None: nothing says so."""
    for names, which, what, why in rows:
        if what == difference and is_in(names, instruction) and is_in(which, types):
            return why
    return None


def differences(t, ours, theirs):
    """Of each kind how many elements differ so."""
    width = np.dtype(el.bits_type(t))
    a, b = (x.ravel().view(width) for x in (ours, theirs))
    a, b = a[a != b], b[a != b]
    if not a.size:
        return {}
    if not el.is_float(t):
        return {"numbers": a.size}
    x, y = el.decode(t, a), el.decode(t, b)
    nan = np.isnan(x) & np.isnan(y)
    one = np.isnan(x) ^ np.isnan(y)
    zero = (x == 0) & (y == 0)
    counts = {"bits of a NaN": nan.sum(), "a NaN": one.sum(), "sign of a zero": zero.sum(), "numbers": (~(nan | one | zero)).sum()}
    return {kind: int(n) for kind, n in counts.items() if n}


def programs(chosen, bench, folder, results):
    """Those that the machine takes; why it does not take the others goes into the results."""
    known = calls()
    todo = [k for k in kernels.kernels(bench.arch()) if k.instruction in known and is_in(chosen, k.instruction)]
    n = 0
    while todo:
        k = todo.pop(0)
        n += 1
        arrays = {name: array for name, array in k.arrays.items()}
        p = Program(f"{k.instruction} {k.types}", k.text(n), f"{folder}/{n}", arrays, list(k.outputs), {})
        p.kernel, p.call = k, known[k.instruction]
        why = refusal(p, bench, PIPELINE, *bench.on_machine)
        if why is None and not is_called(p):
            why = "made of other instructions"
        if why is None:
            yield p
        elif len(k.parts) > 1:
            todo = k.each_alone() + todo
        else:
            results.setdefault(k.instruction, {}).setdefault(k.types, Result()).refused.add(why)


def is_called(p):
    with open(f"{p.folder}/alone/kernel_{p.function.replace('f', 'k', 1)}.cpp", encoding="utf-8") as f:
        return re.search(rf"\b{p.call}\b[<(]", f.read()) is not None


def note(p, elements, wrong, results):
    r = results.setdefault(p.kernel.instruction, {}).setdefault(p.kernel.types, Result())
    if wrong.startswith("compile: "):
        r.differ.setdefault("compile", []).append((wrong, 1))
        return
    if wrong:
        r.failed.append(wrong)
        return
    r.elements += elements
    for name, (t, what) in p.kernel.outputs.items():
        r.outputs += 1
        ours, theirs = (np.load(f"{p.folder}/{name}.{whose}.npy") for whose in ("sim", "theirs"))
        for kind, count in differences(t, ours, theirs).items():
            r.differ.setdefault(kind, []).append((what, count))


def trees_of(bench, folder):
    return Trees(bench, folder, bench.o.checkout + "/include/pto/pto-inst.hpp", FLAGS)


def chosen_of(patterns):
    return sorted(name for name in calls() if is_in(patterns, name))


def run(chosen, trees):
    """Results by instruction and element type."""
    results, bench, folder = {}, trees.bench, trees.folder
    for p, elements, _, wrong in in_groups(programs(chosen, bench, folder, results), TOGETHER, trees, PIPELINE, *bench.on_machine):
        note(p, elements, wrong, results)
    return results


# ---- what is said of it ----


def counted(results, rows):
    """How many (instruction, type) are equal, differ as is explained, and are wrong; and the wrong ones in words."""
    equal, differ, wrong = 0, 0, []
    for instruction, by_type in sorted(results.items()):
        for types, r in sorted(by_type.items()):
            name = f"{instruction} {types}"
            wrong += [f"{name}: {text}" for text in r.failed]
            wrong += [f"{name}: {kind} differ, {seen(places)}" for kind, places in r.differ.items() if why_of(rows, instruction, types, kind) is None]
            equal += bool(r.outputs and not r.differ and not r.failed)
            differ += bool(r.differ and not r.failed and all(why_of(rows, instruction, types, kind) for kind in r.differ))
    return equal, differ, wrong


def seen(places):
    return "; ".join(f"{what}: {count}" for what, count in places[:4]) + (f" and {len(places) - 4} more" if len(places) > 4 else "")


def prose(text, indent=0):
    """Lines of a page."""
    return textwrap.fill(text, 120, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False) + "\n"


def write(f, results, machine, chosen="*"):
    """The section of the page."""
    rows = explained()
    equal, differ, wrong = counted(results, rows)
    elements = sum(r.elements for by_type in results.values() for r in by_type.values())
    never = sorted({name for name in calls() if is_in(chosen, name)} - {name for name, by_type in results.items() if any(r.outputs for r in by_type.values())})
    f.write(f"\n## Instructions, one by one: {machine}\n\n")
    f.write(prose(f"`./dev vendor CHECKOUT instructions{'' if chosen == '*' else ':' + chosen}`: a kernel of each instruction and element type, on edge values, beside the CPU "
                  f"mode as it is. Of {equal + differ + len(wrong)} pairs of instruction and type {equal} are equal bit by bit, {differ} "
                  f"differ as is said below, {len(wrong)} are not explained; {elements} elements. Never written: "
                  f"{', '.join(f'`{n}`' for n in never) or 'none'}."))
    f.write("\n| Instruction | Equal | Differ | Not compared |\n|---|---|---|---|\n")
    reasons = []
    for instruction, by_type in sorted(results.items()):
        same = [t for t, r in by_type.items() if r.outputs and not r.differ and not r.failed]
        other = [f"{t}: " + ", ".join(f"{kind}{mark(reasons, why_of(rows, instruction, t, kind))}" for kind in r.differ) for t, r in by_type.items() if r.differ]
        other += [f"{t}: **{r.failed[0]}**" for t, r in by_type.items() if r.failed]
        not_there = [t for t, r in by_type.items() if not r.outputs and not r.differ and not r.failed]
        f.write(f"| `{instruction}` | {', '.join(same)} | {'; '.join(other)} | {', '.join(not_there)} |\n")
    f.write("\n")
    f.writelines(prose(f"{n}. {why}", indent=len(f"{n}. ")) for n, why in enumerate(reasons, 1))


def mark(reasons, why):
    if why is None:
        return " (**not explained**)"
    if why not in reasons:
        reasons.append(why)
    return f" ({reasons.index(why) + 1})"
