"""Speed of cpu-sim, timing without data: processor time of further runs of one process, so that start-up, compilation and inputs
do not count. Flags and barriers are PTO instructions too. Fails below the target of 2 million a second."""

import os
import re
import resource
import statistics
import subprocess
import sys

PROGRAMS = {
    "gemm 2048^3": ("examples/gemm/gemm.ptir", "M=2048 N=2048 K=2048"),
    "softmax 8192 x 4096": ("examples/softmax/rows.ptir", "R=8192 C=4096"),
    "rms_norm 8192 x 4096": ("examples/rms_norm/rms_norm.ptir", "M=8192 N=4096"),
}
TARGET = 2e6
RUNS, REPEAT = 7, 9


def run(tool, module, symbols, repeat):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [tool, module, "--pipeline=default.yaml", "--set=backend.with.data=none", "--random-inputs=1", f"--repeat={repeat}"]
    out = subprocess.run([*command, *(f"--sym={s}" for s in symbols.split())], check=True, capture_output=True, text=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, out


def main(build):
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    tool, slow = os.path.join(build, "bin/pto-run"), []
    for name, (module, symbols) in PROGRAMS.items():
        path, seconds = os.path.join(root, module), []
        for _ in range(RUNS):
            once, out = run(tool, path, symbols, 1)
            often, _ = run(tool, path, symbols, 1 + REPEAT)
            seconds.append((often - once) / REPEAT)
        ops, instructions = (int(re.search(rf"^{what}: (\d+)", out, re.M)[1]) for what in ("ops", "instructions"))
        middle = statistics.median(seconds)
        print(f"{name}: {ops} PTO instructions ({instructions} without flags) in {middle * 1e3:.1f} ms "
              f"({min(seconds) * 1e3:.1f} .. {max(seconds) * 1e3:.1f}): {ops / middle / 1e6:.2f} M/s")
        if ops / middle < TARGET:
            slow.append(name)
    return f"below {TARGET / 1e6:g} M/s: {', '.join(slow)}" if slow else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
