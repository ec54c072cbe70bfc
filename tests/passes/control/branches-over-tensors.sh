# An `if` whose results are tensors, through all levels: on symbols, parameters and the indices of loops around it, in
# each other, with scalars beside the tensors; branches whose values nobody reads.
. "$TEST_ROOT/tests/shell.sh"
both() { /usr/bin/python3 "$TEST_ROOT/tests/passes/control/inputs/both.py" "$@" >text 2>&1 || fail; }

cat >m.ptir <<'EOF'
func @f(%x: tensor<$M x 8 x f32>, %w: tensor<8 x 8 x f32>, %n: index) -> (tensor<$M x 8 x f32>, tensor<$M x 8 x f32>, tensor<$M x 8 x f32>) {
  %r = if $M <= 4 {
    %y = tensor.mul %x, %x : tensor<$M x 8 x f32>
    yield %y
  } else {
    %y = tensor.matmul %x, %w {out = f32} : tensor<$M x 8 x f32>
    yield %y
  } : tensor<$M x 8 x f32>
  %s, %k = if 2 * %n != 6 {
    %t = if %n > 3 {
      yield %x
    } else {
      %y = tensor.neg %r : tensor<$M x 8 x f32>
      yield %y
    } : tensor<$M x 8 x f32>
    %one = constant {value = 1} : index
    yield %t, %one
  } else {
    yield %r, %n
  } : tensor<$M x 8 x f32>, index
  %u = for %i to 5 carry(%a = %s) {
    %v = if %i mod 2 == %k {
      %y = tensor.add %a, %x : tensor<$M x 8 x f32>
      yield %y
    } else {
      %y = tensor.mul %a, %x : tensor<$M x 8 x f32>
      yield %y
    } : tensor<$M x 8 x f32>
    yield %v
  } : tensor<$M x 8 x f32>
  if %n == 2 {
    %unread = tensor.exp %x : tensor<$M x 8 x f32>
  }
  return %r, %s, %u
}
EOF
cat >wanted.py <<'EOF'
def wanted(x, w, n, M):
    r = x * x if M <= 4 else x @ w
    s, k = ((x if n > 3 else -r), 1) if 2 * n != 6 else (r, n)
    u = s
    for i in range(5):
        u = u + x if i % 2 == k else u * x
    return {"r": r, "s": s, "u": u}
EOF
both m.ptir wanted.py M=0 n=1 -- M=1 n=2 -- M=4 n=3 -- M=13 n=4 -- M=37 n=0
both m.ptir wanted.py +--verify=paranoid M=5 n=1
