# With half the bandwidth of global memory in the machine file, that of paths and that of all cores together, the same
# program keeps its load pipes busy for 1.8 to 2.2 times as long, in every example. Where loads are what a program waits
# for, the same holds for the time in which its transfers run, with what they wait for the first byte and for one
# another.
set -u
cat >all.py <<'END'
import os, re, subprocess, sys

# Module, symbols, and whether the program waits for its loads. Static shapes: the symbols are put into the text.
examples = [("softmax/softmax", "B=256", False), ("softmax/rows", "R=4096 C=4096", False), ("rms_norm/rms_norm", "M=4096 N=4096", True),
            ("rms_norm/bf16", "M=65536", False), ("gemm/gemm", "M=1024 N=1024 K=1024", False), ("gemm/bf16", "M=1024 N=1024 K=1024", True),
            ("gemm/transposed", "M=1024 N=1024 K=1024", False), ("ffn/ffn", "T=4096", False)]
full = open(f"{os.environ['TEST_ROOT']}/pipelines/machines/ascend-910b.yaml").read()
half, halved = re.subn(r"(\n  gm-bytes-per-cycle: |(?:from|to): gm,.*bytes-per-cycle: )([0-9.]+)", lambda m: f"{m[1]}{float(m[2]) / 2:g}", full)
if halved != 6:
    sys.exit(f"{halved} bandwidths of gm")
for name, text in ("full", full), ("half", half):
    open(f"{name}.yaml", "w").write(text)
    open(f"{name}-alone.yaml", "w").write(f"pto-pipeline: 1\nname: {name}\nmachine: {name}.yaml\npasses: []\nbackend: pto.cpu-sim-unchecked\n")
wrong = []


def counters(symbols, machine):
    command = ["pto-run", "program.ptir", f"--pipeline={machine}-alone.yaml", "--set=backend.with.data=none", "--random-inputs=1", "--counters",
               *(f"--sym={s}" for s in symbols)]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return {name: float(value) for name, value in re.findall(r"^([^:]+): ([0-9.]+)", out, re.M)}


def check(name, symbols, waits_for_loads, is_static):
    text = open(f"{os.environ['TEST_ROOT']}/examples/{name}.ptir").read()
    if is_static:
        for symbol, value in (s.split("=") for s in symbols):
            text = text.replace(f"${symbol}", value)
        symbols = []
    open("module.ptir", "w").write(text)
    # Compiled once: a tiling may depend on bandwidths.
    with open("program.ptir", "w") as f:
        subprocess.run(["pto-opt", "module.ptir", "--pipeline=default.yaml", "--machine=full.yaml"], stdout=f, check=True)
    a, b = counters(symbols, "full"), counters(symbols, "half")
    pipes = [p for p in ("cube / mte2", "vector / mte2") if a.get(f"{p} / busy")]
    for pipe in pipes:
        busy, runs = (sum(b.get(f"{pipe} / {c}", 0) for c in causes) / sum(a.get(f"{pipe} / {c}", 0) for c in causes)
                      for causes in (["busy"], ["busy", "stall / latency", "stall / shared bandwidth"]))
        what = f"{name}{' static' if is_static else ''}: {pipe}: busy {busy:.3f} times as long, transfers {runs:.3f}, in all {b['cycles'] / a['cycles']:.3f}"
        print(what)
        if not 1.8 < busy < 2.2 or (waits_for_loads and not 1.8 < runs < 2.2) or a["gm bytes read"] != b["gm bytes read"] or b["cycles"] < a["cycles"]:
            wrong.append(what)
    if not pipes:
        wrong.append(f"{name} loads nothing")


runs = [(name, symbols.split(), waits_for_loads, is_static) for name, symbols, waits_for_loads in examples for is_static in (False, True)]
for run in runs[:: int(os.environ["TEST_SHARE"])]:
    check(*run)
sys.exit("\n".join(wrong) if wrong else 0)
END
/usr/bin/python3 all.py
