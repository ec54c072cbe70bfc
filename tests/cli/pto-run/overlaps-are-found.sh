# Every two buffers of one memory, forced to one address in the IR of examples: reported with both places when they are live at once;
# otherwise the results keep their bits. The simulator alone reports those that two pipes use. Every buffer that is forced past the
# end of its memory is reported, by both.
set -u
sed 's/^  cube: { count: 24,/  cube: { count: 1,/; s/^  vector: { count: 48,/  vector: { count: 2,/' "$TEST_ROOT/pipelines/machines/ascend-910b.yaml" >few-cores.yaml
printf 'pto-pipeline: 1\nname: simulator-alone\nmachine: few-cores.yaml\npasses: []\nbackend: pto.cpu-sim-unchecked\n' >alone.yaml
cat >all.py <<'END'
import itertools, os, re, subprocess, sys

examples = [("softmax/softmax", "x:y", "B=5"), ("softmax/rows", "x:y", "R=37 C=2000"), ("rms_norm/bf16", "x:y", "M=200"), ("gemm/gemm", "a:c", "M=300 N=200 K=300")]
buffer = re.compile(r"%(\w+) = block\.buffer \{space = (\w+), bytes_per_stage = (\d+),(?: stages = (\d+),)?(?: align = \d+,)? addr = (\d+)\}")
ends = {"vec": 196608, "mat": 512 << 10, "left": 64 << 10, "right": 64 << 10, "acc": 128 << 10}
common = ["--pipeline=default.yaml", "--machine=few-cores.yaml"]
wrong = []


def first(err):
    return err.partition("\n")[0]


def compiled(module, step):
    return subprocess.run(["pto-opt", module, *common, f"--until={step}"], capture_output=True, text=True, check=True).stdout


def run(text, out, symbols, *options):
    with open("forced.ptir", "w") as f:
        f.write(text)
    command = ["pto-run", "forced.ptir", *options, "--random-inputs=1", f"--out={out}=out.npy", *(f"--sym={s}" for s in symbols.split())]
    r = subprocess.run(command, capture_output=True, text=True, timeout=60)
    return r.returncode, r.stderr, open("out.npy", "rb").read() if r.returncode == 0 else b""


def forced(text, name, address):
    return re.sub(rf"(%{name} = block\.buffer .* addr = )\d+", rf"\g<1>{address}", text)


def is_located(err, code):
    return re.search(rf"^\S+:\d+:\d+: error: \[{code}\]", err, re.M)


def check(name, ports, symbols):
    module, out = f"{os.environ['TEST_ROOT']}/examples/{name}.ptir", ports.split(":")[1]
    text, final = compiled(module, "synchronize"), compiled(module, "task-graph")
    resumed, alone = [*common, "--from=task-graph"], ["--pipeline=alone.yaml"]
    status, err, bits = run(text, out, symbols, *resumed)
    if status:
        return wrong.append(f"{name}: {first(err)}")
    buffers = buffer.findall(text)
    count = {"reported": 0, "free": 0, "races": 0, "past the end": 0}
    for a, b in itertools.combinations(buffers, 2):
        if a[1] != b[1]:
            continue
        status, err, got = run(forced(text, b[0], a[4]), out, symbols, *resumed)
        if status == 2 and is_located(err, "pto.allocate/overlap") and re.search(r"^\S+:\d+:\d+: note: ", err, re.M):
            count["reported"] += 1
        elif status == 0 and got == bits:
            count["free"] += 1
            continue
        else:
            wrong.append(f"{name}: %{a[0]} and %{b[0]}: status {status}, {'other bits' if status == 0 else first(err)}")
        status, err, got = run(forced(final, b[0], a[4]), out, symbols, *alone)
        if status == 5 and is_located(err, "pto.cpu-sim/race") and re.search(r"^\S+:\d+:\d+: note: the other access", err, re.M):
            count["races"] += 1
        elif status:
            wrong.append(f"{name}: %{a[0]} and %{b[0]} on the simulator alone: status {status}, {first(err)}")
    for b in buffers:
        address = ends[b[1]] // 512 * 512 - 512 if int(b[2]) > 512 else ends[b[1]]
        status, err, _ = run(forced(text, b[0], address), out, symbols, *resumed)
        by_checker = status == 2 and is_located(err, "pto.allocate/[a-z-]*")
        status, err, _ = run(forced(final, b[0], address), out, symbols, *alone)
        if by_checker and status == 5 and is_located(err, "pto.cpu-sim/out-of-bounds"):
            count["past the end"] += 1
        else:
            wrong.append(f"{name}: %{b[0]} at {address} of {b[1]}: {first(err)}")
    print(name, count)
    if count["reported"] < 1 or count["races"] < 1 or count["past the end"] != len(buffers):
        wrong.append(f"{name}: {count}")


for example in examples:
    check(*example)
sys.exit("\n".join(wrong) if wrong else 0)
END
/usr/bin/python3 all.py
