# Weights that are packed once make the products that they made before, bit for bit: whatever the threads, the
# instructions and the width of panels, for sizes that are symbols and columns that fill no panel, for functions that
# share a weight, and again after the weights have changed.
. "$TEST_ROOT/tests/shell.sh"
cat >f.ptir <<'END'
func @f(%x: tensor<$M x $K x f32>, const %w: tensor<$K x $N x f32>, const %v: tensor<$N x $K x f32>) -> (tensor<$M x $N x f32>, tensor<$M x $N x f32>) {expect = [["M", 12], ["K", 40], ["N", 50]]} {
  %p = tensor.matmul %x, %w : tensor<$M x $N x f32>
  %q = tensor.matmul %x, %v {transpose_b = true} : tensor<$M x $N x f32>
  return %p, %q
}
func @g(%x: tensor<7 x 40 x f32>, const %w: tensor<40 x 50 x f32>) -> tensor<7 x 50 x f32> {
  %p = tensor.matmul %x, %w : tensor<7 x 50 x f32>
  return %p
}
END
cat >n.ptir <<'END'
func @h(%x: tensor<$M x $K x bf16>, const %w: tensor<$K x $N x bf16>) -> tensor<$M x $N x f32> {expect = [["M", 12], ["K", 40], ["N", 50]]} {
  %p = tensor.matmul %x, %w {out = f32} : tensor<$M x $N x f32>
  return %p
}
func @i(%x: tensor<$M x $K x f16>, const %w: tensor<$N x $K x f16>) -> tensor<$M x $N x f32> {expect = [["M", 12], ["K", 40], ["N", 50]]} {
  %p = tensor.matmul %x, %w {transpose_b = true, out = f32} : tensor<$M x $N x f32>
  return %p
}
func @j(%x: tensor<$M x $K x i8>, const %w: tensor<$K x $N x i8>) -> tensor<$M x $N x i32> {expect = [["M", 12], ["K", 40], ["N", 50]]} {
  %p = tensor.matmul %x, %w {out = i32} : tensor<$M x $N x i32>
  return %p
}
END
file=f.ptir
check() { # ENTRY RESULTS SIZES OPTION..
  entry=$1 results=$2 sizes=$3 to_a='' to_b=''
  shift 3
  for r in $results; do to_a="$to_a --out=$r=$r.a.npy" to_b="$to_b --out=$r=$r.b.npy"; done
  # shellcheck disable=SC2086
  ends 0 pto-run "$file" --entry="$entry" --pipeline=native.yaml --machine=cpu-avx2 $sizes --random-inputs=3 --quiet \
    --set=native-layout.with.gain=1 $to_a
  # shellcheck disable=SC2086
  ends 0 pto-run "$file" --entry="$entry" --pipeline=native.yaml --machine=cpu-avx2 $sizes --random-inputs=3 --remarks=- \
    --set=native-layout.with.gain=0 --repeat=6 --rebind=2 $to_b "$@"
  says 'pto.native-layout/packed'
  says "^@$entry.init ran 3 times, before the first run and between runs" out
  for r in $results; do cmp -s "$r.a.npy" "$r.b.npy" || fail "$entry $sizes $*: other bits of $r"; done
}
f='--sym=M=12 --sym=K=40 --sym=N=50'
check f 'p q' "$f" --set=backend.with.threads=1
check f 'p q' "$f" --set=backend.with.threads=2
check f 'p q' "$f" --set=native-layout.with.columns=32
check f 'p q' "$f" --set=backend.with.isa=plain
check f 'p q' '--sym=M=1 --sym=K=1 --sym=N=1'
check f 'p q' '--sym=M=67 --sym=K=400 --sym=N=130'
check g p ''
file=n.ptir
for entry in h i j; do
  check "$entry" p "$f"
  check "$entry" p "$f" --set=native-layout.with.columns=64
  check "$entry" p '--sym=M=3 --sym=K=257 --sym=N=70' --set=native-layout.with.columns=32
  check "$entry" p '--sym=M=1 --sym=K=1 --sym=N=1' --set=native-layout.with.columns=32
  check "$entry" p '--sym=M=67 --sym=K=300 --sym=N=130' --set=native-layout.with.columns=64
done
ends 0 pto-run f.ptir --entry=f --pipeline=native.yaml --sym=M=0 --sym=K=3 --sym=N=17 --random-inputs=3 --set=native-layout.with.gain=0 --quiet

# Each step of the pipeline leaves a module that computes the same on the reference, the functions for constants too.
ends 0 pto-opt f.ptir --pipeline=native.yaml --machine=cpu-avx2 --set=native-layout.with.gain=0 --check=semantics --sym=M=5 --sym=K=20 --sym=N=35 -o f.c

# What numpy computes in float64; then with other weights, which nothing of the first ones is left of.
multiply() { # SEED
  /usr/bin/python3 - "$1" <<'END' || fail "numpy, $1"
import subprocess
import sys
import numpy
random = numpy.random.default_rng(int(sys.argv[1]))
x, w = (random.standard_normal(d).astype(numpy.float32) for d in ((7, 40), (40, 50)))
numpy.save("x.npy", x)
numpy.save("w.npy", w)
subprocess.run(["pto-run", "f.ptir", "--entry=g", "--pipeline=native.yaml", "--set=native-layout.with.gain=0.1", "--in=x=x.npy", "--in=w=w.npy", "--out=p=p.npy",
                "--set=native-layout.with.gain=0", "--quiet"], check=True)
wanted, bound = x.astype(float) @ w, 42 * 2.0**-24 * (abs(x).astype(float) @ abs(w))
assert (abs(numpy.load("p.npy") - wanted) <= bound).all()
END
}
multiply 1
multiply 2
