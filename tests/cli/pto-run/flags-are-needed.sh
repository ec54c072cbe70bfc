# Every wait_flag of every example, left out alone, is a race that names two places, or shown redundant by
# happens-before: the run comes to its end, all that conflicts is ordered, and a token is left that nothing takes. Only
# waits after all loops are redundant. Every set_flag left out is a deadlock that names the pipe. Of a flag in the
# branch for products over nothing that is so in a run where K is 0.
# One cube and two vector cores, so that each works on several tiles.
set -u
sed 's/^  cube: { count: 24,/  cube: { count: 1,/; s/^  vector: { count: 48,/  vector: { count: 2,/' "$TEST_ROOT/pipelines/machines/ascend-910b.yaml" >few-cores.yaml
cat >all.py <<'END'
import collections, os, re, subprocess, sys

examples = [("softmax/softmax", "B=5"), ("softmax/rows", "R=37 C=2000"), ("rms_norm/rms_norm", "M=37 N=2000"), ("rms_norm/bf16", "M=200"),
            ("gemm/gemm", "M=300 N=200 K=300"), ("gemm/bf16", "M=300 N=200 K=300"), ("gemm/transposed", "M=300 N=200 K=300"), ("ffn/ffn", "T=300")]
# Tiles of which each core has several.
common = ["--pipeline=default.yaml", "--machine=few-cores.yaml", "--set=tile.with.strategy.with.cost=pto.cost-roofline"]
# A flag is left out by the simulator: up to the last step all runs of an example are the same.
compiled = "until-synchronize.ptir"
path = r"\[@\w+/[\w.]+(#\d+)?\]"
wrong = []


def first(err):
    return err.partition("\n")[0]


def run(module, symbols, *options):
    begun = ["--from=task-graph"] if module == compiled else []
    command = ["pto-run", module, *common, *begun, "--random-inputs=1", *(f"--sym={s}" for s in symbols.split()), *options]
    r = subprocess.run(command, capture_output=True, text=True, timeout=600)
    return r.returncode, r.stdout, r.stderr


def without(symbols, option):
    """A run without a flag; where it does not notice, one over nothing."""
    said = run(compiled, symbols, option)
    empty = re.sub(r"K=\d+", "K=0", symbols)
    return run(compiled, empty, option) if said[0] == 0 and empty != symbols else said


def check(name, symbols):
    module = f"{os.environ['TEST_ROOT']}/examples/{name}.ptir"
    status, out, err = run(module, symbols)
    if status:
        return wrong.append(f"{name}: {first(err)}")
    launches = int(re.search(r"launches: (\d+)", out)[1])
    instances = int(re.search(r"instances: (\d+)", out)[1])
    if instances > 2 * launches:
        wrong.append(f"{name}: {instances} instances of {launches} launches")
    subprocess.run(["pto-opt", module, *common, "--until=synchronize", "-o", compiled], check=True)
    ir = subprocess.run(["pto-opt", module, *common], capture_output=True, text=True, check=True).stdout.splitlines()
    flags = {kind: [line for line in ir if f"pto.{kind}_flag" in line] for kind in ("wait", "set")}
    found = collections.Counter()
    for n, line in enumerate(flags["wait"]):
        status, _, err = without(symbols, f"--set=backend.with.drop-wait={n}")
        source, target, event = re.search(r"wait_flag (\w+) -> (\w+) event\((.*)\)", line).groups()
        is_behind = len(line) - len(line.lstrip()) == 4  # a function's own block, in a module
        verdict = (rf"^\S+:\d+:\d+: error: \[pto\.cpu-sim/leftover-tokens\] \d+ tokens? of {source} -> {target} event\({re.escape(event)}\), set here, "
                   r".* redundant by happens-before: without it, every two accesses of this run that conflict are ordered \[@\w+/pto\.set_flag(#\d+)?\]$")
        race = (re.search(rf"^\S+:\d+:\d+: error: \[pto\.cpu-sim/race\] .* {path}$", err, re.M) and
                re.search(rf"^\S+:\d+:\d+: note: the other access.* {path}$", err, re.M))
        if status == 5 and race:
            found["races"] += 1
        elif status == 5 and re.search(verdict, err, re.M):
            found["redundant"] += 1
            found["in loops"] += not is_behind
        else:
            wrong.append(f"{name} without wait {n}, {line.strip()}: status {status}, {first(err)}")
    if found["in loops"] != 0:
        wrong.append(f"{name}: {found['in loops']} waits in loops are redundant")
    for n, line in enumerate(flags["set"]):
        status, _, err = without(symbols, f"--set=backend.with.drop-set={n}")
        source, target = re.search(r"set_flag (\w+) -> (\w+)", line).groups()
        # The error is at one of the pipes of the circle, notes at the others.
        is_located = re.search(rf"^\S+:\d+:\d+: error: \[pto\.cpu-sim/deadlock\] .* {path}$", err, re.M)
        if status == 5 and is_located and f"pipe {target} waits for a token of {source} -> {target} event(" in err:
            found["deadlocks"] += 1
        else:
            wrong.append(f"{name} without set {n}, {line.strip()}: status {status}, {first(err)}")
    status, _, err = run(compiled, symbols, f"--set=backend.with.drop-wait={len(flags['wait'])}")
    if "[pto.cpu-sim/no-such-flag]" not in err:
        wrong.append(f"{name}: more waits than in the text")
    print(f"{name}: {len(flags['wait'])} waits: {found['races']} races, {found['redundant']} redundant; {len(flags['set'])} sets: {found['deadlocks']} deadlocks")
    if found["races"] < 4 or found["deadlocks"] < 8:
        wrong.append(f"{name}: too few flags")


# With sanitizers the last, which has products and vector work.
for name, symbols in examples if os.environ["TEST_SHARE"] == "1" else examples[-1:]:
    check(name, symbols)
sys.exit("\n".join(wrong) if wrong else 0)
END
/usr/bin/python3 all.py
