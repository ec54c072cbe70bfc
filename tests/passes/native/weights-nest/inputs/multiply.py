"""Products with weights of 4 bits against numpy in float64: multiply.py COUNT OPTION.. runs pto-run with these options
on the first COUNT shapes.

Weights lie along rows or along k, with a scale for a block along k or for a whole column; sizes are fixed or symbols.
"""
import subprocess
import sys

import numpy as np

SHAPES = [(1, 64, 96, 32), (2, 70, 64, 8), (3, 32, 40, 0), (4, 130, 32, 32), (5, 16, 96, 16), (17, 66, 128, 32),
          (70, 34, 64, 0), (0, 8, 32, 32), (1, 2, 2, 2)]


def program(m, n, k, block, turned, symbolic):
    if symbolic:
        # Extents that are known to be multiples: of 2 where bytes lie along them, of a block along k.
        whole_k = f"{block} * $G" if block else "2 * $K" if turned else "$K"
        half_k = f"{block // 2} * $G" if block else "$K"
        rows, half_n, whole_n, groups = "$M", "$N", "$N" if turned else "2 * $N", "$G" if block else 1
    else:
        rows, half_n, half_k, whole_n, whole_k, groups = m, n // 2, k // 2, n, k, k // block if block else 1
    b = (whole_n, half_k) if turned else (whole_k, half_n)
    w = (whole_n, whole_k) if turned else (whole_k, whole_n)
    s = (whole_n, groups) if turned else (groups, whole_n)
    attributes = f" {{axis = {int(turned)}, block = {block}}}" if block else ""
    turn = " {transpose_b = true}" if turned else ""
    c = f"tensor<{rows} x {whole_n} x f32>"

    def dims(of):
        return " x ".join(map(str, of))
    return (f"func @f(%a: tensor<{rows} x {whole_k} x f32>, const %b: tensor<{dims(b)} x u8>, "
            f"const %s: tensor<{dims(s)} x f32>) -> {c} {{\n"
            f"  %q = tensor.unpack %b : tensor<{dims(w)} x i8>\n"
            f"  %w = tensor.dequantize %q, %s{attributes} : tensor<{dims(w)} x f32>\n"
            f"  %c = tensor.matmul %a, %w{turn} : {c}\n  return %c\n}}\n")


def check(random, m, n, k, block, turned, symbolic, options):
    groups = k // block if block else 1
    a = random.standard_normal((m, k)).astype(np.float32)
    numbers = random.integers(-8, 8, (n, k) if turned else (k, n))
    scales = random.standard_normal((n, groups) if turned else (groups, n)).astype(np.float32)
    halves = (numbers & 15).astype(np.uint8)
    for name, array in (("a", a), ("b", halves[:, 0::2] | halves[:, 1::2] << 4), ("s", scales)):
        np.save(f"{name}.npy", array)
    with open("w.ptir", "w", encoding="utf-8") as file:
        file.write(program(m, n, k, block, turned, symbolic))
    subprocess.run(["pto-run", "w.ptir", "--in=a=a.npy", "--in=b=b.npy", "--in=s=s.npy", "--out=c=c.npy", "--quiet",
                    *options], check=True)
    axis = int(turned)
    weights = numbers * np.repeat(scales.astype(np.float64), numbers.shape[axis] // max(scales.shape[axis], 1), axis)
    weights = weights.T if turned else weights
    # Of each product: the weight is rounded, and so is each of k sums.
    bound = (k + 2) * 2.0**-24 * (np.abs(a.astype(np.float64)) @ np.abs(weights))
    difference = np.abs(np.load("c.npy") - a.astype(np.float64) @ weights)
    if not (difference <= bound).all():
        sys.exit(f"{m} x {n} x {k}, blocks of {block}, turned {turned}: off by {difference.max()}, {bound.max()} allowed")


def main():
    random = np.random.default_rng(7)
    count = 0
    for m, n, k, block in SHAPES[:int(sys.argv[1])]:
        for turned in (False, True):
            for symbolic in (False, True):
                check(random, m, n, k, block, turned, symbolic, sys.argv[2:])
                count += 1
    print(count, "runs")


main()
