# A loop over several nests runs in instances of one nest, whatever the cycles say, when the schedule says so: instances
# divide rows or columns that all nests have in common, in blocks of several, or one instance does all. What is carried
# is made in place or copied at the end of an iteration. Numbers are those of numpy, with launches and without.
. "$TEST_ROOT/tests/shell.sh"
both() { /usr/bin/python3 "$TEST_ROOT/tests/passes/control/inputs/both.py" "$@" >text 2>&1 || fail; }
pin() {
  {
    echo 'pto-schedule: 1'
    echo 'decisions:'
    for name; do printf '  - { at: "@f/%s", decide: loop, value: %s, pinned: true }\n' "$name" "$value"; done
  } >"$value.yaml"
}
# `both_ways "LOOPS" RUNS..`: with each loop in a nest and with launches.
both_ways() {
  names=$1
  shift
  for value in in-nest launches; do
    # shellcheck disable=SC2086
    pin $names
    both m.ptir wanted.py "++--schedule=$PWD/$value.yaml" "$@"
  done
}

# Rows and columns of one matrix: one instance does all. A row that all read; another tensor that each iteration makes.
cat >m.ptir <<'EOM'
func @f(%x: tensor<$M x 40 x f32>, %k: tensor<1 x 40 x f32>, %n: index) -> (tensor<$M x 40 x f32>, tensor<1 x 40 x f32>) where ($M >= 1) {
  %r, %s = for %i to %n carry(%a = %x, %t = %k) {
    %m = tensor.reduce_max %a {axis = 1} : tensor<$M x 1 x f32>
    %p = tensor.sub %a, %m : tensor<$M x 40 x f32>
    %c = tensor.reduce_sum %p {axis = 0} : tensor<1 x 40 x f32>
    %h = index_cast from(64 * %i + 100) : f32
    %d = tensor.div %c, %h : tensor<1 x 40 x f32>
    %q = tensor.add %p, %d : tensor<$M x 40 x f32>
    %w = tensor.sub %d, %t : tensor<1 x 40 x f32>
    yield %q, %w
  } : tensor<$M x 40 x f32>, tensor<1 x 40 x f32>
  return %r, %s
}
EOM
cat >wanted.py <<'EOM'
def wanted(x, k, n, M):
    a, t = x.astype(np.float64), k.astype(np.float64)
    for i in range(n):
        p = a - a.max(axis=1, keepdims=True)
        d = p.sum(axis=0, keepdims=True) / (64 * i + 100)
        a, t = p + d, d - t
    return {"r": a.astype(np.float32), "s": t.astype(np.float32)}
EOM
both_ways r M=1 n=0 -- M=1 n=3 -- M=9 n=1 -- M=70 n=2

# Products one after the other, whose rows are those of an instance.
cat >m.ptir <<'EOM'
func @f(%x: tensor<$M x 24 x f32>, %w: tensor<24 x 40 x f32>, %u: tensor<40 x 24 x f32>) -> tensor<$M x 24 x f32> {
  %r = for %i to 3 carry(%a = %x) {
    %p = tensor.matmul %a, %w : tensor<$M x 40 x f32>
    %q = tensor.relu %p : tensor<$M x 40 x f32>
    %y = tensor.matmul %q, %u : tensor<$M x 24 x f32>
    yield %y
  } : tensor<$M x 24 x f32>
  return %r
}
EOM
cat >wanted.py <<'EOM'
def inputs(name, symbols, random):
    shapes = {"x": (symbols["M"], 24), "w": (24, 40), "u": (40, 24)}
    return random.uniform(-0.25, 0.25, shapes[name]).astype(np.float32)


def wanted(x, w, u, M):
    a = x.astype(np.float64)
    for i in range(3):
        a = np.maximum(a @ w, 0) @ u
    return {"r": a.astype(np.float32)}
EOM
both_ways r M=0 -- M=1 -- M=33 -- M=2100
ends 0 pto-opt m.ptir --pipeline=default.yaml -o exec.ptir --expect M=1000
[ "$(grep -c 'exec.launch' exec.ptir)" -le 2 ] || { cat exec.ptir; fail 'not one launch, and one of a copy'; }

# What is transposed has no rows in common with the rest. A chip that copies on other cores than those that multiply
# launches; one core does all of it on others.
cat >m.ptir <<'EOM'
func @f(%x: tensor<$M x 24 x f32>) -> tensor<$M x 24 x f32> {
  %r = for %i to 2 carry(%a = %x) {
    %t = tensor.matmul %a, %a {transpose_a = true} : tensor<24 x 24 x f32>
    %y = tensor.matmul %a, %t : tensor<$M x 24 x f32>
    yield %y
  } : tensor<$M x 24 x f32>
  return %r
}
EOM
cat >wanted.py <<'EOM'
def inputs(name, symbols, random):
    return random.uniform(-0.25, 0.25, (symbols["M"], 24)).astype(np.float32)


def wanted(x, M):
    b = x.astype(np.float64)
    for i in range(2):
        b = b @ (b.T @ b)
    return {"r": b.astype(np.float32)}
EOM
both m.ptir wanted.py M=1 -- M=33 -- M=70
ends 0 pto-opt m.ptir --pipeline=default.yaml --until=sink-loops -o tile.ptir --remarks=remarks
grep -q "cores that multiply have no copy of what is carried" remarks || { cat remarks; fail 'no reason'; }

# Rows that are walked in parts, tensors of three dims, a tensor that a nest changes in place, one that is handed on as
# it is, values that do not depend on what is carried.
cat >m.ptir <<'EOM'
func @f(%x: tensor<$M x 20000 x f32>, %v: tensor<3 x $M x 20 x f32>, %z: tensor<4 x $M x 20 x f32>) -> (tensor<$M x 20000 x f32>, tensor<3 x $M x 20 x f32>, tensor<$M x 20 x f32>) where ($M >= 3) {
  %r = for %i to 2 carry(%a = %x) {
    %m = tensor.reduce_max %a {axis = 1} : tensor<$M x 1 x f32>
    %d = tensor.sub %a, %m : tensor<$M x 20000 x f32>
    %e = tensor.exp %d : tensor<$M x 20000 x f32>
    %s = tensor.reduce_max %e {axis = 0} : tensor<1 x 20000 x f32>
    %q = tensor.add %e, %s : tensor<$M x 20000 x f32>
    yield %q
  } : tensor<$M x 20000 x f32>
  %box = for %i to 3 carry(%a = %v) {
    %m = tensor.reduce_sum %a {axis = 1} : tensor<3 x 1 x 20 x f32>
    %p = tensor.sub %a, %m : tensor<3 x $M x 20 x f32>
    %c = tensor.reduce_max %p {axis = 2} : tensor<3 x $M x 1 x f32>
    %q = tensor.sub %p, %c : tensor<3 x $M x 20 x f32>
    %t = tensor.exp %q : tensor<3 x $M x 20 x f32>
    yield %t
  } : tensor<3 x $M x 20 x f32>
  %h = tensor.view %z[0, 0, 0] : tensor<1 x $M x 20 x f32>
  %g = tensor.reshape %h : tensor<$M x 20 x f32>
  %last = for %i to 3 carry(%a = %g) {
    %p = tensor.view %z[%i + 1, 0, 0] : tensor<1 x $M x 20 x f32>
    %k = tensor.reshape %p : tensor<$M x 20 x f32>
    %m = tensor.reduce_max %k {axis = 0} : tensor<1 x 20 x f32>
    %b = tensor.add %a, %m : tensor<$M x 20 x f32>
    %w = tensor.view %b[0, 0] : tensor<2 x 20 x f32>
    %y = tensor.exp %w : tensor<2 x 20 x f32>
    %c = tensor.assemble %y, %b[1, 0] : tensor<$M x 20 x f32>
    yield %c
  } : tensor<$M x 20 x f32>
  return %r, %box, %last
}
EOM
cat >wanted.py <<'EOM'
def wanted(x, v, z, M):
    a, b, c = x.astype(np.float64), v.astype(np.float64), z[0].astype(np.float64)
    for i in range(2):
        e = np.exp(a - a.max(axis=1, keepdims=True))
        a = e + e.max(axis=0, keepdims=True)
    for i in range(3):
        p = b - b.sum(axis=1, keepdims=True)
        b = np.exp(p - p.max(axis=2, keepdims=True))
    for i in range(3):
        c = c + z[i + 1].max(axis=0, keepdims=True)
        c[1:3] = np.exp(c[0:2])
    return {"r": a.astype(np.float32), "box": b.astype(np.float32), "last": c.astype(np.float32)}
EOM
both_ways "r box" M=3 -- M=17

# Small matrices whose rows and columns are divided by their sums: one nest sees rows of all of them as one matrix, the
# other takes a matrix at a time. Instances have several matrices each.
cat >m.ptir <<'EOM'
func @f(%x: tensor<$B x 4 x 4 x f32>) -> tensor<$B x 4 x 4 x f32> {
  %e = tensor.exp %x : tensor<$B x 4 x 4 x f32>
  %r = for %i to 5 carry(%a = %e) {
    %s = tensor.reduce_sum %a {axis = 2} : tensor<$B x 4 x 1 x f32>
    %p = tensor.div %a, %s : tensor<$B x 4 x 4 x f32>
    %c = tensor.reduce_sum %p {axis = 1} : tensor<$B x 1 x 4 x f32>
    %q = tensor.div %p, %c : tensor<$B x 4 x 4 x f32>
    yield %q
  } : tensor<$B x 4 x 4 x f32>
  return %r
}
EOM
cat >wanted.py <<'EOM'
def wanted(x, B):
    a = np.exp(x.astype(np.float64))
    for i in range(5):
        a = a / a.sum(axis=2, keepdims=True)
        a = a / a.sum(axis=1, keepdims=True)
    return {"r": a.astype(np.float32)}
EOM
both_ways r B=0 -- B=1 -- B=33 -- B=300
ends 0 pto-opt m.ptir --pipeline=default.yaml --expect B=100 -o exec.ptir --remarks=remarks
grep -q 'pto.sink-loops/in-nest.*along dim 0 of %r' remarks || { cat remarks; fail 'matrices are not divided'; }
[ "$(grep -c 'exec.launch' exec.ptir)" -eq 2 ] || { cat exec.ptir; fail 'not two launches'; }
