# Bias and relu in the kernel of the product: the bits are those of ops of their own, and near numpy's, at special
# values too; fewer cycles; what the machine cannot do is apart, for a reason that the schedule says; pins are kept.
. "$TEST_ROOT/tests/shell.sh"
cat >products.py <<'END'
import subprocess
import sys

import numpy as np

rng = np.random.default_rng(4)
pin = 'pto-schedule: 1\ndecisions:\n  - { at: "@f/y", decide: epilogue, value: apart, pinned: true }\n'
open("apart.yaml", "w").write(pin)
FORMS = [  # type, out, m, n, k, batch, attributes, bias
    ("f16", "f16", 130, 200, 70, [], "", "<200"),
    ("f16", "f32", 17, 40, 300, [], 'activation = "relu"', "<1 x 40"),
    ("f32", "f32", 33, 3, 17, [2], 'transpose_b = true, activation = "relu"', "<1 x 1 x 3"),
    ("f32", "f16", 1, 130, 40, [], 'transpose_a = true, activation = "relu"', "<130"),
    ("f16", "f16", 16, 16, 0, [], 'activation = "relu"', "<16"),
    ("f16", "f16", 40, 130, 130, [3], 'activation = "relu"', None),
    ("f32", "f32", 0, 5, 3, [], "", "<5"),
]
NUMPY = {"f16": np.float16, "f32": np.float32}
failed = 0
for t, out, m, n, k, batch, attributes, bias in FORMS:
    for symbols in (False, True):
        a_shape = batch + ([k, m] if "transpose_a" in attributes else [m, k])
        b_shape = batch + ([n, k] if "transpose_b" in attributes else [k, n])
        c_shape = [int(d) for d in (bias or "<1").strip("<").split(" x ")]
        a, b, c = [(2 * rng.standard_normal(s)).astype(NUMPY[t]) for s in (a_shape, b_shape, c_shape)]
        if n > 8 and bias:
            c.reshape(-1)[:4] = [np.inf, -np.inf, np.nan, -0.0]
            a[..., :1] *= 0 if k == 0 else 1
        text = lambda s, d: "tensor<" + "".join(f"{'$M' if symbols and e == m and m > 16 else e} x " for e in s) + d + ">"
        words = ", ".join(filter(None, [attributes, f"out = {out}" if out != t else ""]))
        y = text(batch + [m, n], out)
        open("f.ptir", "w").write(
            f"func @f(%a: {text(a_shape, t)}, %b: {text(b_shape, t)}, %c: {text(c_shape, t)}) -> {y} {{\n"
            f"  %y = tensor.matmul %a, %b{', %c' if bias else ''} {{{words}}} : {y}\n  return %y\n}}\n".replace(" {}", "")
        )
        for name, x in (("a", a), ("b", b), ("c", c)):
            np.save(f"{name}.npy", x)
        results, cycles = [], []
        for options in ([], ["--schedule=apart.yaml"]):
            run = "pto-run f.ptir --in a=a.npy --in b=b.npy --in c=c.npy --out y=y.npy".split() + options
            done = subprocess.run(run, capture_output=True, text=True)
            if done.returncode != 0:
                print(open("f.ptir").read(), options, done.stdout, done.stderr)
                sys.exit(1)
            results.append(np.load("y.npy"))
            cycles.append(int(done.stdout.split("cycles: ")[1].split()[0]))
        wide = [x.astype(np.float64) for x in (a, b, c)]
        with np.errstate(all="ignore"):
            p = np.swapaxes(wide[0], -1, -2) if "transpose_a" in attributes else wide[0]
            q = np.swapaxes(wide[1], -1, -2) if "transpose_b" in attributes else wide[1]
            want = p @ q + (wide[2] if bias else 0)
            if "relu" in attributes:
                want = np.where(want < 0, 0, want)
        same = results[0].tobytes() == results[1].tobytes()
        near = np.allclose(results[0].astype(np.float64), want, rtol=2e-3, atol=2e-3, equal_nan=True)
        if not same or not near or (m != 0 and cycles[0] >= cycles[1]):
            print(open("f.ptir").read(), same, near, cycles)
            failed += 1
sys.exit(failed != 0)
END
/usr/bin/python3 products.py >out 2>&1 || fail
# What stays apart, and why.
apart() { # REASON OPERANDS ATTRIBUTES [MACHINE]
  cat >g.ptir <<END
func @g(%a: tensor<32 x 48 x f16>, %b: tensor<48 x 64 x f16>, %r: tensor<32 x 1 x f16>, %w: tensor<64 x f32>, %s: tensor<1 x f32>) -> tensor<32 x 64 x f16> {
  %y = tensor.matmul %a, %b, $2 {$3} : tensor<32 x 64 x f16>
  return %y
}
END
  ends 0 pto-opt g.ptir --pipeline=default.yaml --explain=schedule ${4:+--machine="$4"}
  says "^@g/y  *epilogue  *apart  *pto.decompose-matmul  *$1\$" out
}
apart 'the bias is not a row of the result' %r 'activation = "relu"'
apart 'stores of the machine do not scale columns to the result type' %s 'third = "scale"'
printf 'pto-schedule: 1\ndecisions:\n  - { at: "@g/y", decide: epilogue, value: kernel, pinned: true }\n' >p.yaml
fails 2 'p.yaml:3:44: error: \[E1804\] `epilogue` of @g/y cannot be `kernel`: stores of the machine do not scale columns to the result type' \
  pto-opt g.ptir --pipeline=default.yaml --schedule=p.yaml
sed '/cycles-per-box/s/, f32: 2//' "$TEST_ROOT/pipelines/machines/ascend-910b.yaml" >narrow.yaml
apart 'the machine has no matrix unit for the bias' %w 'activation = "relu"' narrow.yaml
# On a machine whose stores have no relu.
sed '/store-relu/d' "$TEST_ROOT/pipelines/machines/ascend-910b.yaml" >plain.yaml
sed -i 's/%y = .*/%y = tensor.matmul %a, %b {activation = "relu"} : tensor<32 x 64 x f16>/' g.ptir
ends 0 pto-opt g.ptir --pipeline=default.yaml --machine=plain.yaml --explain=schedule
says '^@g/y  *epilogue  *apart  *pto.decompose-matmul  *stores of the machine have no relu$' out
ends 0 pto-opt g.ptir --pipeline=default.yaml --until=outline -o k.ptir
fails 5 'error: \[pto.select/no-relu\] stores of the machine have no relu (`matrix.store-relu`)' \
  pto-opt k.ptir --pipeline=default.yaml --from=select --machine=plain.yaml
