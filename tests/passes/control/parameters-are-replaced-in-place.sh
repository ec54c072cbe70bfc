# Results that replace an `inout` parameter, through all levels: computed of what has the same place, of the row, or of
# what was read before. Nothing is copied.
. "$TEST_ROOT/tests/shell.sh"
both() { /usr/bin/python3 "$TEST_ROOT/tests/passes/control/inputs/both.py" "$@" >text 2>&1 || fail; }
in_place() {
  ends 0 pto-opt m.ptir --pipeline=default.yaml --remarks=remarks
  ! grep -q 'pto.bufferize/copy' remarks || fail
}

# A step of training: the gradient is clipped by its norm, of which the weights and both moments are made.
cat >m.ptir <<'EOF'
func @step(inout %w: tensor<$N x $M x f32>, inout %m: tensor<$N x $M x f32>, inout %v: tensor<$N x $M x f32>, %g: tensor<$N x $M x f32>) -> (tensor<$N x $M x f32> aliases %w, tensor<$N x $M x f32> aliases %m, tensor<$N x $M x f32> aliases %v, tensor<$N x $M x f16>) {
  %most = constant {value = 0.9} : f32
  %rest = constant {value = 0.1} : f32
  %one = constant {value = 1.0} : f32
  %g2 = tensor.mul %g, %g : tensor<$N x $M x f32>
  %n2 = tensor.reduce_sum %g2 {axis = [0, 1]} : tensor<1 x 1 x f32>
  %n = tensor.sqrt %n2 : tensor<1 x 1 x f32>
  %d = tensor.maximum %n, %one : tensor<1 x 1 x f32>
  %c = tensor.div %g, %d : tensor<$N x $M x f32>
  %ma = tensor.mul %m, %most : tensor<$N x $M x f32>
  %mb = tensor.mul %c, %rest : tensor<$N x $M x f32>
  %mn = tensor.add %ma, %mb : tensor<$N x $M x f32>
  %c2 = tensor.mul %c, %c : tensor<$N x $M x f32>
  %va = tensor.mul %v, %most : tensor<$N x $M x f32>
  %vb = tensor.mul %c2, %rest : tensor<$N x $M x f32>
  %va2 = tensor.abs %va : tensor<$N x $M x f32>
  %vn = tensor.add %va2, %vb : tensor<$N x $M x f32>
  %s = tensor.sqrt %vn : tensor<$N x $M x f32>
  %s1 = tensor.add %s, %one : tensor<$N x $M x f32>
  %u = tensor.div %mn, %s1 : tensor<$N x $M x f32>
  %wn = tensor.sub %w, %u : tensor<$N x $M x f32>
  %half = tensor.cast %wn : tensor<$N x $M x f16>
  return %wn, %mn, %vn, %half
}
EOF
cat >wanted.py <<'EOF'
def wanted(w, m, v, g, N, M):
    c = g / max(1, np.sqrt((g * g).sum()))
    m = 0.9 * m + 0.1 * c
    v = abs(0.9 * v) + 0.1 * c * c
    return {"w": w - m / (np.sqrt(v) + 1), "m": m, "v": v}
EOF
both m.ptir wanted.py ++--verify=paranoid N=3 M=5 -- N=70 M=300 -- N=0 M=4
in_place

# Rows of themselves, whole or walked twice; the sums of columns are read before, and the branch is the caller's.
cat >m.ptir <<'EOF'
func @f(inout %w: tensor<$N x $M x f32>, inout %v: tensor<$N x $M x f32>) -> (tensor<$N x $M x f32> aliases %w, tensor<1 x $M x f32>, tensor<$N x $M x f32> aliases %v) where ($M >= 1) {
  %y = tensor.softmax %w {axis = 1} : tensor<$N x $M x f32>
  %s = tensor.reduce_sum %v {axis = 0} : tensor<1 x $M x f32>
  %z = if $N <= 4 {
    %d = tensor.sub %v, %s : tensor<$N x $M x f32>
    yield %d
  } else {
    %m = tensor.reduce_max %v {axis = 1} : tensor<$N x 1 x f32>
    %p = tensor.sub %v, %m : tensor<$N x $M x f32>
    yield %p
  } : tensor<$N x $M x f32>
  return %y, %s, %z
}
EOF
cat >wanted.py <<'EOF'
def wanted(w, v, N, M):
    e = np.exp(w - w.max(1, keepdims=True))
    s = v.sum(0, keepdims=True)
    return {"w": e / e.sum(1, keepdims=True), "s": s, "v": v - (s if N <= 4 else v.max(1, keepdims=True))}
EOF
both m.ptir wanted.py N=3 M=70 -- N=9 M=20000
both m.ptir wanted.py +--check=semantics N=5 M=6
in_place

# Old elements are read once more after the first row of sums; with rows on chip that is before the store.
cat >m.ptir <<'EOF'
func @f(inout %w: tensor<40 x 64 x f32>, %g: tensor<40 x 64 x f32>) -> (tensor<40 x 64 x f32> aliases %w, tensor<40 x 64 x f32>) {
  %y = tensor.sub %w, %g : tensor<40 x 64 x f32>
  %s = tensor.reduce_sum %y {axis = 1} : tensor<40 x 1 x f32>
  %z = tensor.mul %w, %s : tensor<40 x 64 x f32>
  return %y, %z
}
EOF
cat >wanted.py <<'EOF'
def wanted(w, g):
    return {"w": w - g, "z": w * (w - g).sum(1, keepdims=True)}
EOF
both m.ptir wanted.py
sed -i 's/64 x f32/40000 x f32/g' m.ptir
ends 5 pto-opt m.ptir --pipeline=default.yaml
grep -q 'pto.bufferize/alias' text || fail

# Elements of other places, two parameters for one result, and old elements that are read later.
# refused MODE RESULT: of the second parameter, and which result there is beside the first.
refused() {
  { echo "func @f(inout %w: tensor<9 x 9 x f32>, $1 %v: tensor<9 x 9 x f32>) -> (tensor<9 x 9 x f32> aliases %w, $2) {"; cat; echo "}"; } >m.ptir
  ends 0 pto-run m.ptir --pipeline=reference.yaml --random-inputs=1
  ends 5 pto-opt m.ptir --pipeline=default.yaml
  grep -q 'error: \[pto.bufferize/alias\] `return` returns' text || fail
}
refused '' 'tensor<9 x 9 x f32>' <<'EOF'
  %y = tensor.matmul %w, %w : tensor<9 x 9 x f32>
  %z = tensor.neg %v : tensor<9 x 9 x f32>
  return %y, %z
EOF
refused inout 'tensor<9 x 9 x f32> aliases %v' <<'EOF'
  %y = tensor.sub %w, %v : tensor<9 x 9 x f32>
  return %y, %y
EOF
refused '' 'tensor<9 x 9 x f32>' <<'EOF'
  %y = tensor.sub %w, %v : tensor<9 x 9 x f32>
  %z = tensor.matmul %y, %w : tensor<9 x 9 x f32>
  return %y, %z
EOF

# Bytes of a parameter are not made as truth values.
cat >m.ptir <<'EOF'
func @f(inout %w: tensor<9 x 40 x u8>, %g: tensor<9 x 40 x f32>) -> tensor<9 x 40 x u8> aliases %w {
  %b = tensor.gt %g, %g : tensor<9 x 40 x bool>
  %u = tensor.bitcast %b : tensor<9 x 40 x u8>
  return %u
}
EOF
ends 5 pto-opt m.ptir --pipeline=default.yaml
grep -q 'error: \[pto.bufferize/alias\]' text || fail

# Memory that may overlap is copied before it is replaced.
cat >m.ptir <<'EOF'
func @f(%x: tensor<64 x 32 x f32>, inout %w: tensor<64 x 32 x f32> may_alias %x) -> tensor<64 x 32 x f32> aliases %w {
  %n = tensor.sub %w, %x : tensor<64 x 32 x f32>
  return %n
}
EOF
ends 0 pto-opt m.ptir --pipeline=default.yaml --remarks=remarks
grep -q '%x is copied, since memory that may overlap it is written to' remarks || fail
