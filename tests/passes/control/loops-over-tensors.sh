# A `for` that carries tensors, through all levels: no iteration, one, several; a known and a symbolic number of them;
# loops in loops; values that change places, that stay, that are parameters.
. "$TEST_ROOT/tests/shell.sh"
both() { /usr/bin/python3 "$TEST_ROOT/tests/passes/control/inputs/both.py" "$@" >text 2>&1 || fail; }

cat >m.ptir <<'EOF'
func @f(%x: tensor<$M x $N x f32>, %w: tensor<$M x $N x f32>) -> (tensor<$M x $N x f32>, tensor<$M x $N x f32>, tensor<$M x $N x f32>) {
  %r = for %i to 3 carry(%a = %x) {
    %y = tensor.mul %a, %w : tensor<$M x $N x f32>
    %z = tensor.add %y, %x : tensor<$M x $N x f32>
    yield %z
  } : tensor<$M x $N x f32>
  %s = for %i = 2 to 10 step 4 carry(%a = %r) {
    %y = tensor.mul %a, %r : tensor<$M x $N x f32>
    yield %y
  } : tensor<$M x $N x f32>
  %t = for %i to 1 carry(%a = %s) {
    %y = tensor.sub %a, %w : tensor<$M x $N x f32>
    yield %y
  } : tensor<$M x $N x f32>
  return %r, %s, %t
}
EOF
cat >wanted.py <<'EOF'
def wanted(x, w, M, N):
    r = x
    for i in range(3):
        r = r * w + x
    s = r * r * r
    return {"r": r, "s": s, "t": s - w}
EOF
both m.ptir wanted.py M=0 N=5 -- M=1 N=1 -- M=13 N=37
both m.ptir wanted.py +--check=semantics +--verify=paranoid M=7 N=5

# A symbolic number of iterations, and one from a parameter.
cat >m.ptir <<'EOF'
func @f(%x: tensor<$M x 8 x f32>, %w: tensor<$T x f32>, %n: index) -> (tensor<$M x 8 x f32>, tensor<$M x 8 x f32>) {
  %r = for %i to $T carry(%a = %x) {
    %y = tensor.mul %a, %x : tensor<$M x 8 x f32>
    yield %y
  } : tensor<$M x 8 x f32>
  %s = for %i = 1 to %n carry(%a = %r) {
    %y = tensor.add %a, %x : tensor<$M x 8 x f32>
    yield %y
  } : tensor<$M x 8 x f32>
  return %r, %s
}
EOF
cat >wanted.py <<'EOF'
def wanted(x, w, n, M, T):
    r = x
    for i in range(T):
        r = r * x
    return {"r": r, "s": r + max(n - 1, 0) * x}
EOF
both m.ptir wanted.py M=0 T=3 n=3 -- M=1 T=0 n=0 -- M=13 T=1 n=2 -- M=13 T=2 n=5 -- M=13 T=5 n=1
both m.ptir wanted.py +--verify=paranoid M=7 T=2 n=3

# Values that change places, stay, or are something else; a loop in a loop.
cat >m.ptir <<'EOF'
func @f(%x: tensor<$M x 8 x f32>, %w: tensor<$M x 8 x f32>) -> (tensor<$M x 8 x f32>, tensor<$M x 8 x f32>, tensor<$M x 8 x f32>, tensor<$M x 8 x f32>) {
  %p, %q, %k, %c = for %i to $M carry(%a = %x, %b = %w, %u = %x, %v = %w) {
    %s = for %j to 2 carry(%d = %b) {
      %e = tensor.mul %d, %a : tensor<$M x 8 x f32>
      yield %e
    } : tensor<$M x 8 x f32>
    %t = for %j = %i to $M carry(%d = %s) {
      %e = tensor.add %d, %x : tensor<$M x 8 x f32>
      yield %e
    } : tensor<$M x 8 x f32>
    yield %b, %t, %u, %x
  } : tensor<$M x 8 x f32>, tensor<$M x 8 x f32>, tensor<$M x 8 x f32>, tensor<$M x 8 x f32>
  return %p, %q, %k, %c
}
EOF
cat >wanted.py <<'EOF'
def wanted(x, w, M):
    a, b, v = x, w, w
    for i in range(M):
        s = b * a * a
        for j in range(i, M):
            s = s + x
        a, b, v = b, s, x
    return {"p": a, "q": b, "k": x, "c": v}
EOF
both m.ptir wanted.py M=0 -- M=1 -- M=3 -- M=4
both m.ptir wanted.py +--verify=paranoid M=2
