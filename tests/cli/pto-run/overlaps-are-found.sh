# Every two buffers of one memory, forced to one address in the IR of every example: reported with both places when they
# are live at once, by the checker of addresses and by the simulator alone. When they are live one after the other,
# flags that were set for other addresses may not keep them apart: the checker of flags says so for every number of
# iterations, the simulator for those of the run. Otherwise both are silent, and the results keep their bits. The
# checker takes a buffer to live from its first to its last use; one that is only scratch memory is empty between two
# uses, as the simulator knows. Every buffer that is forced past the end of its memory is reported, by both.
set -u
# Without the barriers and facts of the chip: what other addresses bring together would be reported first.
sed '/^  barriers:/d; s/in-place: false/in-place: true/; s/^  cube: { count: 24,/  cube: { count: 1,/; s/^  vector: { count: 48,/  vector: { count: 2,/' "$TEST_ROOT/pipelines/machines/ascend-910b.yaml" >few-cores.yaml
printf 'pto-pipeline: 1\nname: simulator-alone\nmachine: few-cores.yaml\npasses: []\nbackend: pto.cpu-sim-unchecked\n' >alone.yaml
cat >all.py <<'END'
import itertools, os, re, subprocess, sys

examples = [("softmax/softmax", "y", "B=5"), ("softmax/rows", "y", "R=37 C=2000"), ("rms_norm/rms_norm", "y", "M=37 N=2000"),
            ("rms_norm/bf16", "y", "M=200"), ("gemm/gemm", "c", "M=300 N=200 K=300"), ("gemm/bf16", "c", "M=300 N=200 K=300"),
            ("gemm/transposed", "c", "M=300 N=200 K=300"), ("ffn/ffn", "y", "T=300")]
buffer = re.compile(r"\s+%(\w+) = block\.buffer \{space = (\w+), bytes_per_stage = (\d+),.* addr = (\d+)\}")
ends = {"vec": 196608, "mat": 512 << 10, "left": 64 << 10, "right": 64 << 10, "acc": 128 << 10}
# Tiles that leave space for a buffer in the place of another.
common = ["--pipeline=default.yaml", "--machine=few-cores.yaml", "--set=tile.with.strategy.with.cost=pto.cost-roofline"]
resumed, alone = [*common, "--from=task-graph"], ["--pipeline=alone.yaml"]
# As it is, and with a buffer for every result.
forms = {"": [], " not in place": ["--set=params.in-place=false"]}
wrong = []


def first(err):
    return err.partition("\n")[0]


def compiled(module, step, form):
    return subprocess.run(["pto-opt", module, *common, *forms[form], f"--until={step}"], capture_output=True, text=True, check=True).stdout.splitlines()


def buffers(lines):
    """(line number, kernel, name, space, address), in the order of the text."""
    kernel, found = "", []
    for n, line in enumerate(lines):
        kernel = line if line.lstrip().startswith("block.kernel") else kernel
        if m := buffer.match(line):
            found.append((n, re.search(r"@\w+", kernel)[0], m[1], m[2], int(m[3]), int(m[4])))
    return found


def scratch(lines):
    """(kernel, name) of buffers through which no instruction has its result. What is in them lives for one instruction."""
    kernel, owner, written = "", {}, set()
    for line in lines:
        if line.lstrip().startswith("block.kernel"):
            kernel, owner = re.search(r"@\w+", line)[0], {}
        if m := re.match(r"\s+%(\w+) = block\.tile %(\w+)\[", line):
            owner[m[1]] = m[2]
        elif (m := re.match(r"\s+pto\.t\w+ %(\w+),", line)) and m[1] in owner:
            written.add((kernel, owner[m[1]]))
    return {b[1:3] for b in buffers(lines)} - written


def run(lines, out, symbols, *options):
    with open("forced.ptir", "w") as f:
        f.write("\n".join(lines) + "\n")
    command = ["pto-run", "forced.ptir", *options, "--random-inputs=1", f"--out={out}=out.npy", *(f"--sym={s}" for s in symbols.split())]
    r = subprocess.run(command, capture_output=True, text=True, timeout=600)
    return r.returncode, r.stderr, open("out.npy", "rb").read() if r.returncode == 0 else b""


def forced(lines, n, address):
    return [*lines[:n], re.sub(r"addr = \d+", f"addr = {address}", lines[n]), *lines[n + 1:]]


def is_located(err, code):
    return re.search(rf"^\S+:\d+:\d+: error: \[{code}\]", err, re.M)


def has_both(err, code, note):
    return is_located(err, code) and re.search(rf"^\S+:\d+:\d+: note: {note}", err, re.M)


def check(name, out, symbols, form):
    module = f"{os.environ['TEST_ROOT']}/examples/{name}.ptir"
    name += form
    text, final = compiled(module, "synchronize", form), compiled(module, "task-graph", form)
    status, err, bits = run(text, out, symbols, *resumed)
    if status:
        return wrong.append(f"{name}: {first(err)}")
    at, at_final = buffers(text), {b[1:3]: b[0] for b in buffers(final)}
    holes = scratch(text)
    count = {"live, raced": 0, "live, overwritten": 0, "unordered": 0, "free": 0, "between uses as scratch": 0, "past the end": 0}
    for a, b in itertools.combinations(at, 2):
        if a[1] != b[1] or a[3] != b[3]:
            continue
        pair = f"{name}: %{a[2]} and %{b[2]} of {a[1]}"
        status, err, got = run(forced(text, b[0], a[5]), out, symbols, *resumed)
        is_live = status == 2 and has_both(err, "pto.allocate/overlap", "")
        is_unordered = status == 2 and has_both(err, "pto.synchronize/race", "")
        is_free = status == 0 and got == bits
        if not (is_live or is_unordered or is_free):
            wrong.append(f"{pair}: status {status}, {'other bits' if status == 0 else first(err)}")
        status, err, got = run(forced(final, at_final[b[1:3]], a[5]), out, symbols, *alone)
        has_raced = status == 5 and has_both(err, "pto.cpu-sim/race", "the other access")
        has_overlapped = (status == 5 and has_both(err, "pto.cpu-sim/overlap", "it is read through this buffer, ")
                          and has_both(err, "pto.cpu-sim/overlap", "it is written through this buffer, "))
        if not is_live and status == 0 and got == bits:
            count["free"] += 1
        elif is_live and (a[1:3] in holes or b[1:3] in holes) and status == 0 and got == bits:
            count["between uses as scratch"] += 1
        elif is_unordered and has_raced:
            count["unordered"] += 1
        elif is_live and (has_raced or has_overlapped):
            count["live, raced" if has_raced else "live, overwritten"] += 1
        else:
            wrong.append(f"{pair}: live at once {bool(is_live)}, free {is_free}; on the simulator alone: status {status}, {first(err)}")
    for b in at:
        address = ends[b[3]] // 512 * 512 - 512 if b[4] > 512 else ends[b[3]]
        status, err, _ = run(forced(text, b[0], address), out, symbols, *resumed)
        by_checker = status == 2 and is_located(err, "pto.allocate/[a-z-]*")
        status, err, _ = run(forced(final, at_final[b[1:3]], address), out, symbols, *alone)
        if by_checker and status == 5 and is_located(err, "pto.cpu-sim/out-of-bounds"):
            count["past the end"] += 1
        else:
            wrong.append(f"{name}: %{b[2]} of {b[1]} at {address} of {b[3]}: {first(err)}")
    print(name, count)
    if count["live, raced"] < 1 or count["past the end"] != len(at):
        wrong.append(f"{name}: {count}")
    return None


# The second form for one of each kind: it has more buffers, which are found in the same way.
cases = [(*example, form) for n, example in enumerate(examples) for form in forms if form == "" or n % 3 == 0]
for case in cases[:: int(os.environ["TEST_SHARE"])]:
    check(*case)
sys.exit("\n".join(wrong) if wrong else 0)
END
/usr/bin/python3 all.py
