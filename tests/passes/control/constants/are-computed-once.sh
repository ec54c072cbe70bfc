# `@f.init` computes `const` parameters of @f: once, on both pipelines; given constants are not computed; what it makes
# must be a constant of @f.
. "$TEST_ROOT/tests/shell.sh"
cat >m.ptir <<'EOF'
func @f.init(const %w: tensor<$K x $N x f32>, const %g: tensor<1 x $N x f32>) -> (tensor<$K x $N x f32>, tensor<1 x $N x f32>) {
  %packed = tensor.mul %w, %g : tensor<$K x $N x f32>
  %sums = tensor.reduce_sum %packed {axis = 0} : tensor<1 x $N x f32>
  return %packed, %sums
}
func @f(%x: tensor<$M x $K x f32>, const %g: tensor<1 x $N x f32>, const %packed: tensor<$K x $N x f32>, const %sums: tensor<1 x $N x f32>) -> tensor<$M x $N x f32> {
  %p = tensor.matmul %x, %packed : tensor<$M x $N x f32>
  %q = tensor.add %p, %sums : tensor<$M x $N x f32>
  %y = tensor.sub %q, %g : tensor<$M x $N x f32>
  return %y
}
EOF
/usr/bin/python3 -c "
import numpy
random = numpy.random.default_rng(5)
x, w, g = (random.uniform(-1, 1, s).astype(numpy.float32) for s in ((7, 24), (24, 40), (1, 40)))
p = w * g
s = p.sum(0, keepdims=True)
for name, value in dict(x=x, w=w, g=g, packed=p, sums=s, y=x @ p + s - g, zero=0 * s, other=x @ p - g).items():
    numpy.save(name + '.npy', value)"
inputs='--in=x=x.npy --in=w=w.npy --in=g=g.npy --expect=y=y.npy --rtol=1e-4 --atol=1e-5'
for pipeline in reference default; do
  # The function to run is @f: the other one is its own.
  ends 0 pto-run m.ptir --pipeline=$pipeline.yaml $inputs
  grep -q '^y: ok' out || fail
  ends 0 pto-run m.ptir --pipeline=$pipeline.yaml $inputs --repeat=3 --verify=paranoid
  grep -q '^y: ok' out || fail
  # One that is given is not computed; all that are given leave nothing to compute, so %w is not needed.
  ends 0 pto-run m.ptir --pipeline=$pipeline.yaml --in=x=x.npy --in=w=w.npy --in=g=g.npy --in=sums=zero.npy --expect=y=other.npy --rtol=1e-4 --atol=1e-5
  ends 0 pto-run m.ptir --pipeline=$pipeline.yaml --in=x=x.npy --in=packed=packed.npy --in=g=g.npy --in=sums=sums.npy --expect=y=y.npy --rtol=1e-4 --atol=1e-5
  # Its own run is asked for by name.
  ends 0 pto-run m.ptir --pipeline=$pipeline.yaml --entry=f.init --in=w=w.npy --in=g=g.npy --expect=packed=packed.npy --rtol=1e-4
  # Random inputs are the same to both.
  ends 0 pto-run m.ptir --pipeline=$pipeline.yaml --random-inputs=4 --sym=M=3 --sym=K=8 --sym=N=16 --out=y=random-$pipeline.npy
done
/usr/bin/python3 -c "
import numpy
a, b = (numpy.load(f'random-{p}.npy') for p in ('reference', 'default'))
assert a.shape == (3, 16) and numpy.allclose(a, b, 1e-4, 1e-5), (a, b)"
short_of m.ptir M=7 K=24 N=40
ends 0 pto-opt short.ptir --pipeline=default.yaml --check=semantics
ends 0 pto-run short.ptir $inputs --check=semantics
says '^semantics: @f on given inputs' text
ends 0 pto-run m.ptir $inputs --compare=reference.yaml

# What is missing is said of the function that needs it, and so is what nobody has.
fails 4 'm.ptir:1:1: error: \[E1605\] input `w` was not given' pto-run m.ptir --in=x=x.npy --in=g=g.npy --sym=K=24
fails 4 'm.ptir:6:1: error: \[E1605\] input `x` was not given' pto-run m.ptir --in=w=w.npy --in=g=g.npy --sym=M=7
fails 4 'x.npy: error: \[E1605\] the function has no input `z`' pto-run m.ptir --in=x=x.npy --in=w=w.npy --in=g=g.npy --in=z=x.npy
fails 4 'error: \[E1608\] the function has no symbol \$Z' pto-run m.ptir --in=x=x.npy --in=w=w.npy --in=g=g.npy --sym=Z=3
sed 's/const %sums/%sums/' m.ptir >n.ptir
fails 4 'n.ptir:1:1: error: \[E1610\] @f.init makes `sums`, which is not a `const` parameter of @f' pto-run n.ptir --in=x=x.npy --in=w=w.npy --in=g=g.npy
# Its extents are those of the parameter.
sed 's/const %sums: tensor<1 x $N x f32>/const %sums: tensor<$M x $N x f32>/' m.ptir >n.ptir
fails 4 'error: \[E1602\] ' pto-run n.ptir --in=x=x.npy --in=w=w.npy --in=g=g.npy
