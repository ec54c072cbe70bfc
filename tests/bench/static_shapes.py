"""Compile time of small and large static shapes through default.yaml: medians of 50 runs that alternate, start-up included. The ratio
is that of processor time, which other work on the machine disturbs least."""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

PAIRS = {
    "softmax 4 / 100000 rows": (
        "func @f(%x: tensor<{0} x 256 x f32>) -> tensor<{0} x 256 x f32> {{\n"
        "  %y = tensor.softmax %x : tensor<{0} x 256 x f32>\n  return %y\n}}\n",
        (4, 100000),
    ),
    "gemm 256^3 / 8192^3": (
        "func @f(%a: tensor<{0} x {0} x f32>, %b: tensor<{0} x {0} x f32>) -> tensor<{0} x {0} x f32> {{\n"
        "  %c = tensor.matmul %a, %b : tensor<{0} x {0} x f32>\n  return %c\n}}\n",
        (256, 8192),
    ),
}
RUNS = 50
LIMIT = 1.1


def compile_ms(tool, path):
    """Processor time and time, in milliseconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    subprocess.run([tool, path, "--pipeline=default.yaml"], check=True, stdout=subprocess.DEVNULL)
    passed = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1e3, passed * 1e3


def main():
    tool = os.path.join(sys.argv[1], "bin", "pto-opt")
    worst = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for name, (text, extents) in PAIRS.items():
            paths = []
            for extent in extents:
                paths.append(os.path.join(folder, f"{extent}.ptir"))
                with open(paths[-1], "w") as f:
                    f.write(text.format(extent))
            times = [[], []]
            for run in range(RUNS):
                for i in (0, 1) if run % 2 == 0 else (1, 0):
                    times[i].append(compile_ms(tool, paths[i]))
            (small, small_passed), (large, large_passed) = ((statistics.median(column) for column in zip(*t)) for t in times)
            worst = max(worst, large / small)
            print(f"{name}: {small:.2f} / {large:.2f} ms of processor time, ratio {large / small:.3f} (limit {LIMIT}); "
                  f"{small_passed:.2f} / {large_passed:.2f} ms passed")
    return 0 if worst <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
