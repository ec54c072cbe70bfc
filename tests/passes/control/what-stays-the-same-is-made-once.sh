# Loops in which something stays the same, also in a loop in a loop, and read by what changes memory in place. All
# pipelines give what numpy does.
. "$TEST_ROOT/tests/shell.sh"
both() { /usr/bin/python3 "$TEST_ROOT/tests/passes/control/inputs/both.py" "$@" >text 2>&1 || fail; }
cat >m.ptir <<'EOM'
func @f(%x: tensor<$M x 16 x f32>, %w: tensor<16 x 16 x f32>, %k: tensor<1 x 16 x f32>) -> (tensor<$M x 16 x f32>, tensor<$M x 16 x f32>, tensor<$M x 16 x f32>) where ($M >= 4) {
  %r = for %i to 3 carry(%a = %x) {
    %t = tensor.transpose %w {perm = [1, 0]} : tensor<16 x 16 x f32>
    %m = tensor.reduce_max %t {axis = 0} : tensor<1 x 16 x f32>
    %c = tensor.mul %a, %m : tensor<$M x 16 x f32>
    yield %c
  } : tensor<$M x 16 x f32>
  %s = for %i to 2 carry(%a = %x) {
    %q = for %j to 3 carry(%b = %a) {
      %t = tensor.transpose %w {perm = [1, 0]} : tensor<16 x 16 x f32>
      %u = tensor.transpose %b {perm = [1, 0]} : tensor<16 x $M x f32>
      %p = tensor.reduce_max %a {axis = 0} : tensor<1 x 16 x f32>
      %v = tensor.matmul %t, %u : tensor<16 x $M x f32>
      %y = tensor.transpose %v {perm = [1, 0]} : tensor<$M x 16 x f32>
      %z = tensor.add %y, %p : tensor<$M x 16 x f32>
      yield %z
    } : tensor<$M x 16 x f32>
    yield %q
  } : tensor<$M x 16 x f32>
  %g = for %i to 4 carry(%a = %x) {
    %e = tensor.exp %k : tensor<1 x 16 x f32>
    %h = tensor.reduce_sum %w {axis = 0} : tensor<1 x 16 x f32>
    %n = tensor.assemble %e, %h[0, 0] : tensor<1 x 16 x f32>
    %l = tensor.add %n, %h : tensor<1 x 16 x f32>
    %c = tensor.assemble %l, %a[%i, 0] : tensor<$M x 16 x f32>
    yield %c
  } : tensor<$M x 16 x f32>
  return %r, %s, %g
}
EOM
cat >wanted.py <<'EOM'
def inputs(name, symbols, random):
    return random.uniform(-0.2, 0.2, (16, 16)).astype(np.float32) if name == "w" else None


def wanted(x, w, k, M):
    r, s, g = x.copy(), x.astype(np.float64), x.copy()
    for i in range(3):
        r = r * w.T.max(axis=0)
    for i in range(2):
        p = s.max(axis=0)
        for j in range(3):
            s = (w.T @ s.T).T + p
    g[:4] = np.exp(k) + w.sum(axis=0)
    return {"r": r, "s": s.astype(np.float32), "g": g}
EOM
both m.ptir wanted.py M=4 -- M=37
ends 0 pto-opt m.ptir --pipeline=default.yaml --until=sink-loops -o out.ptir --remarks=remarks
[ "$(grep -c 'pto.sink-loops/hoisted' remarks)" -ge 5 ] || { cat remarks; fail 'not all that stays the same is hoisted'; }
