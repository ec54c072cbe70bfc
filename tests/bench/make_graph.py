"""Writes one graph twice: as tensor ops for pto-opt and as arith and func ops for mlir-opt.

    python3 make_graph.py OPS OUT.ptir OUT.mlir

Both files hold the same functions of 1000 ops (two constants, 997 binary ops, a return) on one type, with the same
operands in the same order under the same names. Of the binary ops 30 % are duplicates of an earlier op of the function,
10 % are foldable, that is they read the two constants (and half of them are therefore duplicates too); the others are
pairwise different. The same OPS makes the same bytes.
"""

import random
import sys

OPS_PER_FUNCTION = 1000
DUPLICATE_SHARE = 0.30
FOLDABLE_SHARE = 0.10
WINDOW = 40  # operands are among so many values before the op

TYPES = {"ptir": "tensor<64 x 64 x f32>", "mlir": "tensor<64x64xf32>"}
KINDS = {"ptir": ("tensor.add", "tensor.sub", "tensor.mul"), "mlir": ("arith.addf", "arith.subf", "arith.mulf")}


def graph_of_function(rng, op_count):
    """A list of (kind, left, right); values -2 and -1 are the parameters, 0 and 1 the constants."""
    ops = []
    seen = set()
    while len(ops) < op_count:
        end = len(ops) + 2
        draw = rng.random()
        if draw < DUPLICATE_SHARE and len(ops) > 8:
            op = rng.choice(ops[-WINDOW:])
        elif draw < DUPLICATE_SHARE + FOLDABLE_SHARE:
            op = (rng.randrange(3), rng.randrange(2), rng.randrange(2))
        else:
            candidates = range(max(-2, end - WINDOW), end)
            op = (rng.randrange(3), rng.choice(candidates), rng.choice(candidates))
            if op in seen or {op[1], op[2]} <= {0, 1}:
                continue
        seen.add(op)
        ops.append(op)
    return ops


def name_of(value):
    return {-2: "%a", -1: "%b"}.get(value, f"%{value}")


def write_function(out, form, number, ops):
    t = TYPES[form]
    if form == "ptir":
        out.write(f"func @f{number}(%a: {t}, %b: {t}) -> {t} {{\n")
        out.write(f"  %0 = tensor.constant {{value = 1.5}} : {t}\n  %1 = tensor.constant {{value = 2.5}} : {t}\n")
    else:
        out.write(f"func.func @f{number}(%a: {t}, %b: {t}) -> {t} {{\n")
        out.write(f"  %0 = arith.constant dense<1.5> : {t}\n  %1 = arith.constant dense<2.5> : {t}\n")
    for i, (kind, left, right) in enumerate(ops):
        out.write(f"  %{i + 2} = {KINDS[form][kind]} {name_of(left)}, {name_of(right)} : {t}\n")
    tail = f" : {t}" if form == "mlir" else ""
    out.write(f"  return %{len(ops) + 1}{tail}\n}}\n")


def write_graph(op_count, ptir_path, mlir_path):
    rng = random.Random(op_count)
    with open(ptir_path, "w", encoding="ascii") as ptir, open(mlir_path, "w", encoding="ascii") as mlir:
        for number, start in enumerate(range(0, op_count, OPS_PER_FUNCTION)):
            ops = graph_of_function(rng, min(OPS_PER_FUNCTION, op_count - start) - 3)
            write_function(ptir, "ptir", number, ops)
            write_function(mlir, "mlir", number, ops)


if __name__ == "__main__":
    write_graph(int(sys.argv[1]), sys.argv[2], sys.argv[3])
