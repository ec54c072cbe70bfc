# `parallel` loops through all levels: iterations become instances, also of loops in loops, backwards, in steps, with
# workspace for each; what cannot be spread runs in order. Both pipelines give what numpy does.
. "$TEST_ROOT/tests/shell.sh"
both() { /usr/bin/python3 "$TEST_ROOT/tests/passes/control/inputs/both.py" "$@" >text 2>&1 || fail; }
# `loops N`: so many are left when all passes have run.
loops() {
  ends 0 pto-opt m.ptir --pipeline=default.yaml --until=spread-loops -o spread.ptir --remarks=remarks
  [ "$(grep -c ' parallel' spread.ptir)" -eq 0 ] || fail 'a loop is still parallel'
  [ "$(grep -c 'pto.spread-loops/in-order' remarks)" -eq "$1" ] || { cat remarks; fail "loops in order: not $1"; }
}

cat >m.ptir <<'EOM'
func @f(%x: tensor<4 * $M x 16 x f32>, %k: tensor<1 x 16 x f32>, %m: tensor<$M x f32>) -> tensor<4 * $M x 16 x f32> {
  %r = for %i parallel to $M carry(%a = %x) {
    %p = tensor.view %a[4 * $M - 4 - 4 * %i, 0] : tensor<4 x 16 x f32>
    %t = tensor.reduce_max %p {axis = 1} : tensor<4 x 1 x f32>
    %q = tensor.sub %p, %t : tensor<4 x 16 x f32>
    %y = tensor.mul %q, %k : tensor<4 x 16 x f32>
    %c = tensor.assemble %y, %a[4 * $M - 4 - 4 * %i, 0] : tensor<4 * $M x 16 x f32>
    yield %c
  } : tensor<4 * $M x 16 x f32>
  return %r
}
EOM
cat >wanted.py <<'EOM'
def wanted(x, k, m, M):
    return {"r": (x - x.max(axis=1, keepdims=True)) * k}
EOM
both m.ptir wanted.py M=0 -- M=1 -- M=3 -- M=60
both m.ptir wanted.py +--verify=paranoid M=5
loops 0

# A loop in a loop, from 1 on in steps of 2; a row is read after its elements were changed one by one.
cat >m.ptir <<'EOM'
func @f(%x: tensor<$M x $K x f32>) -> tensor<$M x $K x f32> {
  %r = for %i parallel = 1 to $M step 2 carry(%a = %x) {
    %q = for %j parallel to $K carry(%b = %a) {
      %v = tensor.view %b[%i, $K - 1 - %j] : tensor<1 x 1 x f32>
      %w = tensor.neg %v : tensor<1 x 1 x f32>
      %c = tensor.assemble %w, %b[%i, $K - 1 - %j] : tensor<$M x $K x f32>
      yield %c
    } : tensor<$M x $K x f32>
    %p = tensor.view %q[%i, 0] : tensor<1 x $K x f32>
    %m = tensor.reduce_max %p {axis = 1} : tensor<1 x 1 x f32>
    %u = tensor.sub %p, %m : tensor<1 x $K x f32>
    %s = tensor.assemble %u, %q[%i, 0] : tensor<$M x $K x f32>
    yield %s
  } : tensor<$M x $K x f32>
  return %r
}
EOM
cat >wanted.py <<'EOM'
def wanted(x, M, K):
    r = x.copy()
    for i in range(1, M, 2):
        r[i] = -r[i] - (-r[i]).max()
    return {"r": r}
EOM
both m.ptir wanted.py M=0 K=1 -- M=1 K=3 -- M=8 K=20
loops 0

# A loop inside that runs in its nest. In order: a number of iterations that only the call knows, elements that decide.
cat >m.ptir <<'EOM'
func @f(%x: tensor<$M x 8 x f32>, %n: index, %at: tensor<$M x i32>) -> (tensor<$M x 8 x f32>, tensor<$M x 8 x f32>, tensor<$M x 8 x f32>) {
  %r = for %i parallel to $M carry(%a = %x) {
    %p = tensor.view %a[%i, 0] : tensor<1 x 8 x f32>
    %q = for %j to 3 carry(%b = %p) {
      %c = tensor.mul %b, %b : tensor<1 x 8 x f32>
      yield %c
    } : tensor<1 x 8 x f32>
    %d = tensor.assemble %q, %a[%i, 0] : tensor<$M x 8 x f32>
    yield %d
  } : tensor<$M x 8 x f32>
  %s = for %i parallel to %n carry(%a = %x) {
    %p = tensor.view %a[%i, 0] : tensor<1 x 8 x f32>
    %c = tensor.exp %p : tensor<1 x 8 x f32>
    %d = tensor.assemble %c, %a[%i, 0] : tensor<$M x 8 x f32>
    yield %d
  } : tensor<$M x 8 x f32>
  %t = for %i parallel to $M carry(%a = %x) {
    %l = scalar_of %at[%i] : i32
    %d = if %l < 0 {
      %p = tensor.view %x[%i, 0] : tensor<1 x 8 x f32>
      %c = tensor.neg %p : tensor<1 x 8 x f32>
      %e = tensor.assemble %c, %a[%i, 0] : tensor<$M x 8 x f32>
      yield %e
    } else {
      yield %a
    } : tensor<$M x 8 x f32>
    yield %d
  } : tensor<$M x 8 x f32>
  return %r, %s, %t
}
EOM
cat >wanted.py <<'EOM'
def wanted(x, n, at, M):
    s, t = x.copy(), x.copy()
    s[:n] = np.exp(x[:n])
    t[at < 0] *= -1
    return {"r": x**8, "s": s, "t": t}
EOM
both m.ptir wanted.py M=1 n=0 -- M=9 n=7
loops 2
