# Branches in `parallel` loops: the nests of both sides run for all iterations, and each instance asks whether it is one
# of theirs. Branches in branches, loops in them, scalars in their conditions; no iterations. Both pipelines give what
# numpy does.
. "$TEST_ROOT/tests/shell.sh"
both() { /usr/bin/python3 "$TEST_ROOT/tests/passes/control/inputs/both.py" "$@" >text 2>&1 || fail; }
in_order() {
  ends 0 pto-opt m.ptir --pipeline=default.yaml --until=spread-loops -o spread.ptir --remarks=remarks
  [ "$(grep -c 'pto.spread-loops/in-order' remarks)" -eq "$1" ] || { cat remarks; fail "loops in order: not $1"; }
}

cat >m.ptir <<'EOM'
func @f(%x: tensor<$M x 8 x 64 x f32>, %k: tensor<1 x 64 x f32>, %n: index, %at: tensor<1 x i32>) -> (tensor<$M x 8 x 64 x f32>, tensor<$M x 8 x 64 x f32>, tensor<$M x 8 x 64 x f32>) {
  %r = for %i parallel to $M carry(%a = %x) {
    %p = tensor.view %x[%i, 0, 0] : tensor<1 x 8 x 64 x f32>
    %z = if %i < 3 {
      %m = tensor.reduce_max %p {axis = 1} : tensor<1 x 1 x 64 x f32>
      %y = tensor.sub %p, %m : tensor<1 x 8 x 64 x f32>
      yield %y
    } else {
      %e = tensor.exp %p : tensor<1 x 8 x 64 x f32>
      %s = tensor.reduce_sum %e {axis = [1, 2]} : tensor<1 x 1 x 1 x f32>
      %q = tensor.div %e, %s : tensor<1 x 8 x 64 x f32>
      %v = if %i + 1 == $M {
        %t = tensor.neg %q : tensor<1 x 8 x 64 x f32>
        yield %t
      } else {
        yield %q
      } : tensor<1 x 8 x 64 x f32>
      yield %v
    } : tensor<1 x 8 x 64 x f32>
    %c = tensor.assemble %z, %a[%i, 0, 0] : tensor<$M x 8 x 64 x f32>
    yield %c
  } : tensor<$M x 8 x 64 x f32>
  %l = scalar_of %at[0] : i32
  %w = for %i parallel = 1 to $M step 2 carry(%a = %x) {
    %p = tensor.view %x[%i, 0, 0] : tensor<1 x 8 x 64 x f32>
    %z = if %i >= %n {
      %y = tensor.mul %p, %k : tensor<1 x 8 x 64 x f32>
      yield %y
    } else {
      %u = if %l < 2 {
        %y = tensor.add %p, %k : tensor<1 x 8 x 64 x f32>
        yield %y
      } else {
        yield %p
      } : tensor<1 x 8 x 64 x f32>
      yield %u
    } : tensor<1 x 8 x 64 x f32>
    %c = tensor.assemble %z, %a[%i, 0, 0] : tensor<$M x 8 x 64 x f32>
    yield %c
  } : tensor<$M x 8 x 64 x f32>
  %g = for %i parallel to $M carry(%a = %x) {
    %d = for %j parallel to 8 carry(%b = %a) {
      %p = tensor.view %x[%i, %j, 0] : tensor<1 x 1 x 64 x f32>
      %y = if %i + %j <= 4 {
        %o = tensor.mul %p, %p : tensor<1 x 1 x 64 x f32>
        yield %o
      } else {
        %o = tensor.neg %p : tensor<1 x 1 x 64 x f32>
        yield %o
      } : tensor<1 x 1 x 64 x f32>
      %h = tensor.assemble %y, %b[%i, %j, 0] : tensor<$M x 8 x 64 x f32>
      yield %h
    } : tensor<$M x 8 x 64 x f32>
    yield %d
  } : tensor<$M x 8 x 64 x f32>
  return %r, %w, %g
}
EOM
cat >wanted.py <<'EOM'
def wanted(x, k, n, at, M):
    r, w, g = x.copy(), x.copy(), x.copy()
    for i in range(M):
        e = np.exp(x[i])
        r[i] = x[i] - x[i].max(axis=0) if i < 3 else e / e.sum() * (-1 if i + 1 == M else 1)
        if i % 2 == 1 and (i >= n or at[0] < 2):
            w[i] = x[i] * k if i >= n else x[i] + k
        near = max(5 - i, 0)
        g[i, :near], g[i, near:] = x[i, :near] ** 2, -x[i, near:]
    return {"r": r, "w": w, "g": g}
EOM
both m.ptir wanted.py M=0 n=0 -- M=1 n=1 -- M=4 n=3 -- M=11 n=6
in_order 0
grep -q 'for %' spread.ptir && fail 'a loop is left'
ends 0 pto-run m.ptir --pipeline=native.yaml --compare=default.yaml --random-inputs=1 --sym M=7 --in n=4

# Where a branch has a loop that runs in order, so does the loop around it.
cat >m.ptir <<'EOM'
func @f(%x: tensor<$M x 8 x f32>, %y: tensor<$M x 8 x f32>) -> tensor<$M x 8 x f32> {
  %r = for %i parallel to $M carry(%a = %x) {
    %p = tensor.view %x[%i, 0] : tensor<1 x 8 x f32>
    %z = if %i < 2 {
      %q = for %j to $M carry(%b = %p) {
        %v = tensor.view %y[%j, 0] : tensor<1 x 8 x f32>
        %m = tensor.matmul %v, %v {transpose_a = true} : tensor<8 x 8 x f32>
        %c = tensor.matmul %b, %m : tensor<1 x 8 x f32>
        yield %c
      } : tensor<1 x 8 x f32>
      yield %q
    } else {
      %n = tensor.neg %p : tensor<1 x 8 x f32>
      yield %n
    } : tensor<1 x 8 x f32>
    %d = tensor.assemble %z, %a[%i, 0] : tensor<$M x 8 x f32>
    yield %d
  } : tensor<$M x 8 x f32>
  return %r
}
EOM
cat >wanted.py <<'EOM'
def wanted(x, y, M):
    r = -x
    for i in range(min(M, 2)):
        r[i] = x[i]
        for j in range(M):
            r[i] = r[i] @ np.outer(y[j], y[j])
    return {"r": r}
EOM
both m.ptir wanted.py M=1 -- M=3
in_order 1
grep -q 'in order: the loop holds control flow beside nests' remarks || fail 'the remark is another one'
