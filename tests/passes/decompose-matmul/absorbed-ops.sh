# Ops after a product that its kernel computes: the bits are those of the ops apart, on both pipelines near numpy's, at
# special values too, in fewer cycles; what the kernel cannot do has a reason, and a pin that cannot hold is refused.
. "$TEST_ROOT/tests/shell.sh"
cat >chains.py <<'END'
import subprocess
import sys

import numpy as np

rng = np.random.default_rng(7)
pin = 'pto-schedule: 1\ndecisions:\n  - { at: "@f/p", decide: epilogue, value: apart, pinned: true }\n'
open("apart.yaml", "w").write(pin)
NUMPY = {"f16": np.float16, "f32": np.float32}
FORMS = [  # type of the operands, of the product, of the bias; m, n, k, batch; ops
    ("f16", "f32", "f32", 130, 200, 70, [], ["add", "relu", "cast f16"]),
    ("f16", "f32", "f16", 17, 40, 300, [], ["wide add", "cast f16"]),
    ("f32", "f32", "f32", 33, 3, 17, [2], ["add", "relu"]),
    ("f32", "f32", "f32", 1, 130, 40, [], ["relu", "cast f16"]),
    ("f16", "f32", "f32", 16, 16, 0, [], ["add", "cast f16", "relu"]),
    ("f16", "f16", "f16", 40, 130, 130, [3], ["relu"]),
    ("f32", "f32", "f32", 0, 5, 3, [], ["add"]),
    ("f16", "f32", "f32", 24, 24, 24, [], ["cast f16", "relu"]),
]


def run(options):
    command = "pto-run f.ptir --in a=a.npy --in b=b.npy --in c=c.npy --out y=y.npy".split() + options
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        print(open("f.ptir").read(), options, done.stdout, done.stderr)
        sys.exit(1)
    return np.load("y.npy"), done.stdout


failed = 0
for t, sums, bias, m, n, k, batch, ops in FORMS:
    for symbols in (False, True):
        shape = lambda s, d: "tensor<" + "".join(f"{'$M' if symbols and e == m and m > 16 else e} x " for e in s) + d + ">"
        a, b, c = [(2 * rng.standard_normal(s)).astype(NUMPY[d]) for s, d in ((batch + [m, k], t), (batch + [k, n], t), ([n], bias))]
        if n > 8:
            c[:4] = [np.inf, -np.inf, np.nan, -0.0]
        lines = [f"  %p = tensor.matmul %a, %b {{out = {sums}}} : {shape(batch + [m, n], sums)}"]
        now, name, wide = sums, "%p", [x.astype(np.float64) for x in (a, b, c)]
        want = wide[0] @ wide[1]
        for i, op in enumerate(ops):
            if op == "wide add":
                lines.append(f"  %w = tensor.cast %c : {shape([n], sums)}")
            now = op[5:] if op.startswith("cast") else now
            args = {"add": f"add {name}, %c", "wide add": f"add %w, {name}", "relu": f"relu {name}"}.get(op, f"cast {name}")
            name = "%y" if i + 1 == len(ops) else f"%r{i}"
            lines.append(f"  {name} = tensor.{args} : {shape(batch + [m, n], now)}")
            with np.errstate(all="ignore"):
                want = want + wide[2] if "add" in op else np.where(want < 0, 0, want) if op == "relu" else want
        parameters = f"%a: {shape(batch + [m, k], t)}, %b: {shape(batch + [k, n], t)}, %c: {shape([n], bias)}"
        text = f"func @f({parameters}) -> {shape(batch + [m, n], now)} {{\n" + "\n".join(lines) + "\n  return %y\n}\n"
        open("f.ptir", "w").write(text)
        for x_name, x in (("a", a), ("b", b), ("c", c)):
            np.save(f"{x_name}.npy", x)
        results = [run(options) for options in ([], ["--schedule=apart.yaml"], ["--pipeline=reference.yaml"])]
        cycles = [int(said.split("cycles: ")[1].split()[0]) for _, said in results[:2]]
        same = results[0][0].tobytes() == results[1][0].tobytes()
        near = all(np.allclose(y.astype(np.float64), want, rtol=2e-3, atol=2e-3, equal_nan=True) for y, _ in results)
        if not same or not near or (m != 0 and cycles[0] >= cycles[1]):
            print(text, same, near, cycles)
            failed += 1
sys.exit(failed != 0)
END
/usr/bin/python3 chains.py >out 2>&1 || fail
apart() { # REASON OPERAND [MACHINE]
  cat >g.ptir <<END
func @g(%a: tensor<32 x 48 x f16>, %b: tensor<48 x 64 x f16>, %rest: tensor<32 x 64 x f32>, %column: tensor<32 x 1 x f32>, %row: tensor<64 x f32>) -> tensor<32 x 64 x f32> {
  %p = tensor.matmul %a, %b {out = f32} : tensor<32 x 64 x f32>
  %y = tensor.add %p, $2 : tensor<32 x 64 x f32>
  return %y
}
END
  ends 0 pto-opt g.ptir --pipeline=default.yaml --explain=schedule ${3:+--machine="$3"}
  says "^@g/p  *epilogue  *apart  *pto.decompose-matmul  *$1\$" out
}
apart 'the bias is not a row of the result' %rest
apart 'the bias is not a row of the result' %column
sed '/cycles-per-box/s/, f32: 2//' "$TEST_ROOT/pipelines/machines/ascend-910b.yaml" >narrow.yaml
apart 'the machine has no matrix unit for the bias' %row narrow.yaml
cat >p.yaml <<'END'
pto-schedule: 1
decisions:
  - { at: "@g/p", decide: epilogue, value: kernel, pinned: true }
END
sed -i 's/add %p, %row/add %p, %rest/' g.ptir
fails 2 'p.yaml:3:44: error: \[E1804\] `epilogue` of @g/p cannot be `kernel`: the bias is not a row of the result' \
  pto-opt g.ptir --pipeline=default.yaml --schedule=p.yaml
# All decisions emitted and pinned make the same module.
sed -i 's/add %p, %rest/add %p, %row/' g.ptir
ends 0 pto-opt g.ptir --pipeline=default.yaml --emit-schedule=all.yaml -o first.ptir
sed -i 's/}$/, pinned: true }/' all.yaml
ends 0 pto-opt g.ptir --pipeline=default.yaml --schedule=all.yaml -o second.ptir
cmp first.ptir second.ptir || fail
