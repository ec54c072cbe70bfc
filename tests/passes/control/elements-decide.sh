# What functions decide by elements that they read, through all levels: how long a `while` goes on, what an `if` takes,
# where the next element is, and a factor in a kernel, which gets it as a parameter beside the index of a loop.
. "$TEST_ROOT/tests/shell.sh"
both() { /usr/bin/python3 "$TEST_ROOT/tests/passes/control/inputs/both.py" "$@" >text 2>&1 || fail; }

cat >m.ptir <<'EOF'
func @f(%x: tensor<$M x 8 x f32>, %w: tensor<8 x f32>) -> (tensor<$M x 8 x f32>, tensor<8 x f32>) {
  %limit = constant {value = 100.0} : f32
  %one = tensor.constant {value = 1.0} : tensor<8 x f32>
  %r, %q = while carry(%a = %x, %b = %w) {
    %m = tensor.reduce_max %b {axis = 0} : tensor<1 x f32>
    %s = scalar_of %m[0] : f32
    %go = compare %s lt %limit : bool
    yield %go
  } do (%c, %d) {
    %y = tensor.add %c, %x : tensor<$M x 8 x f32>
    %e = tensor.add %d, %d : tensor<8 x f32>
    %g = tensor.add %e, %one : tensor<8 x f32>
    yield %y, %g
  } : tensor<$M x 8 x f32>, tensor<8 x f32>
  return %r, %q
}
EOF
cat >wanted.py <<'EOF'
def wanted(x, w, M):
    a, b = x, w
    while b.max() < 100:
        a, b = a + x, b + b + 1
    return {"r": a, "q": b}
EOF
both m.ptir wanted.py M=0 -- M=1 -- M=13
both m.ptir wanted.py +--verify=paranoid M=7

cat >m.ptir <<'EOF'
func @f(%x: tensor<$M x 8 x f32>, %k: tensor<4 x i32>, %n: index) -> (tensor<$M x 8 x f32>, tensor<$M x 8 x f32>) {
  %r = for %i to 4 carry(%a = %x) {
    %s = scalar_of %k[%i] : i32
    %t = tensor.index_cast from(%i + 2 * %s) : tensor<f32>
    %y = tensor.mul %a, %t : tensor<$M x 8 x f32>
    %z = if %s > 0 {
      %p = tensor.add %y, %x : tensor<$M x 8 x f32>
      yield %p
    } else {
      yield %y
    } : tensor<$M x 8 x f32>
    yield %z
  } : tensor<$M x 8 x f32>
  %v = tensor.index_cast from(%n) : tensor<f32>
  %u = tensor.add %r, %v : tensor<$M x 8 x f32>
  return %r, %u
}
EOF
cat >wanted.py <<'EOF'
def wanted(x, k, n, M):
    a = x
    for i in range(4):
        s = int(k[i])
        a = a * np.float32(i + 2 * s)
        if s > 0: a = a + x
    return {"r": a, "u": a + np.float32(n)}
EOF
both m.ptir wanted.py M=0 n=3 -- M=1 n=2 -- M=13 n=0
both m.ptir wanted.py +--verify=paranoid M=7 n=1

# Where an element is not, both say so; without data there is none.
cat >m.ptir <<'EOF'
func @f(%x: tensor<4 x f32>, %n: index) -> tensor<4 x f32> {
  %s = scalar_of %x[%n] : f32
  %zero = constant {value = 0.0} : f32
  %c = compare %s lt %zero : bool
  %r = if %c == 1 {
    %y = tensor.neg %x : tensor<4 x f32>
    yield %y
  } else {
    yield %x
  } : tensor<4 x f32>
  return %r
}
EOF
fails 5 'm.ptir:2:8: error: \[pto.reference/out-of-bounds\] `scalar_of` needs 1 element from 4 on along dim 0, whose extent is 4' \
  pto-run m.ptir --pipeline=reference.yaml --random-inputs=1 --in=n=4
fails 5 'm.ptir:2:8: error: \[pto.cpu-sim/out-of-bounds\] `scalar_of` in @f needs elements 4 to 5 of dim 0, which has 4' \
  pto-run m.ptir --pipeline=default.yaml --random-inputs=1 --in=n=4
fails 5 'm.ptir:2:8: error: \[pto.cpu-sim/no-data\] `scalar_of` reads an element, and this run has none: the option `data` must be `full`' \
  pto-run m.ptir --pipeline=default.yaml --random-inputs=1 --in=n=1 --set=backend.with.data=none
