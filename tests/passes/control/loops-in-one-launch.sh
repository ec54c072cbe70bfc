# A `for` over one nest runs in the instances of the nest: one launch, whatever the number of iterations. Rows and
# columns, several tensors, what is handed on as it is, the index as a number, truth values; and where it cannot.
. "$TEST_ROOT/tests/shell.sh"
both() { /usr/bin/python3 "$TEST_ROOT/tests/passes/control/inputs/both.py" "$@" >text 2>&1 || fail; }
# `launches N`: so many stand in the text.
launches() {
  ends 0 pto-opt m.ptir --pipeline=default.yaml -o exec.ptir --remarks=remarks
  [ "$(grep -c 'exec.launch' exec.ptir)" -eq "$1" ] || { cat exec.ptir; fail "launches: not $1"; }
}

cat >m.ptir <<'EOM'
func @f(%x: tensor<$M x 100 x f32>, %w: tensor<$M x 100 x f32>, %k: tensor<1 x 100 x f32>, %n: index) -> (tensor<$M x 100 x f32>, tensor<$M x 100 x f32>) {
  %r, %s, %t = for %i = 1 to %n step 2 carry(%a = %x, %b = %w, %c = %k) {
    %p = tensor.mul %a, %c : tensor<$M x 100 x f32>
    %m = tensor.reduce_max %b {axis = 1} : tensor<$M x 1 x f32>
    %q = tensor.sub %p, %m : tensor<$M x 100 x f32>
    %v = tensor.sub %b, %q : tensor<$M x 100 x f32>
    yield %q, %v, %c
  } : tensor<$M x 100 x f32>, tensor<$M x 100 x f32>, tensor<1 x 100 x f32>
  return %r, %s
}
EOM
cat >wanted.py <<'EOM'
def wanted(x, w, k, n, M):
    a, b = x, w
    for i in range(1, n, 2):
        q = a * k - b.max(axis=1, keepdims=True)
        a, b = q, b - q
    return {"r": a, "s": b}
EOM
both m.ptir wanted.py M=0 n=3 -- M=1 n=0 -- M=5 n=4 -- M=70 n=6
both m.ptir wanted.py +--verify=paranoid M=3 n=2
launches 1

# The launches are asked for by the schedule, which says where each such loop runs.
ends 0 pto-opt m.ptir --pipeline=default.yaml --emit-schedule=s.yaml -o exec.ptir
grep -q 'value: in-nest' s.yaml || { cat s.yaml; fail 'the schedule does not say where the loop runs'; }
sed 's/value: in-nest/value: launches/' s.yaml >t.yaml
ends 0 pto-opt m.ptir --pipeline=default.yaml --schedule=t.yaml -o exec.ptir
grep -q '  for %i' exec.ptir || fail 'the loop is not one of launches'

# One column, truth values, integers; a row that is the same for all.
cat >m.ptir <<'EOM'
func @f(%x: tensor<$M x 1 x f32>, %c: tensor<$M x 40 x bool>, %j: tensor<3 x $M x i32>) -> (tensor<$M x 1 x f32>, tensor<$M x 1 x f32>, tensor<$M x 40 x bool>, tensor<3 x $M x i32>) {
  %r = for %i to 4 carry(%a = %x) {
    %p = tensor.add %a, %x : tensor<$M x 1 x f32>
    yield %p
  } : tensor<$M x 1 x f32>
  %u = for %i to 4 carry(%a = %x) {
    %number = index_cast from(%i + 1) : f32
    %p = tensor.mul %a, %number : tensor<$M x 1 x f32>
    yield %p
  } : tensor<$M x 1 x f32>
  %s = for %i to 3 carry(%a = %c) {
    %p = tensor.logical_not %a : tensor<$M x 40 x bool>
    yield %p
  } : tensor<$M x 40 x bool>
  %t = for %i to 3 carry(%a = %j) {
    %p = tensor.add %a, %j : tensor<3 x $M x i32>
    yield %p
  } : tensor<3 x $M x i32>
  return %r, %u, %s, %t
}
EOM
cat >wanted.py <<'EOM'
def wanted(x, c, j, M):
    return {"r": 5 * x, "u": 24 * x, "s": ~c, "t": 4 * j}
EOM
both m.ptir wanted.py M=0 -- M=1 -- M=50
launches 4

# Not in tiles: other rows of what is carried, a column that every row reads, values that change places, two nests. One
# of them has instances that divide columns, and runs in memory.
cat >m.ptir <<'EOM'
func @f(%x: tensor<$M x 40 x f32>, %w: tensor<$M x 40 x f32>) -> (tensor<$M x 40 x f32>, tensor<$M x 40 x f32>, tensor<$M x 40 x f32>, tensor<$M x 40 x f32>) where ($M >= 1) {
  %r = for %i to 2 carry(%a = %x) {
    %p = tensor.flip %a {axis = 0} : tensor<$M x 40 x f32>
    %q = tensor.add %a, %p : tensor<$M x 40 x f32>
    yield %q
  } : tensor<$M x 40 x f32>
  %s = for %i to 2 carry(%a = %x) {
    %p = tensor.view %a[0, 0] : tensor<1 x 40 x f32>
    %q = tensor.add %a, %p : tensor<$M x 40 x f32>
    yield %q
  } : tensor<$M x 40 x f32>
  %t, %u = for %i to 3 carry(%a = %x, %b = %w) {
    %q = tensor.sub %a, %b : tensor<$M x 40 x f32>
    yield %b, %q
  } : tensor<$M x 40 x f32>, tensor<$M x 40 x f32>
  %v = for %i to 2 carry(%a = %x) {
    %m = tensor.reduce_max %a {axis = 0} : tensor<1 x 40 x f32>
    %q = tensor.sub %a, %m : tensor<$M x 40 x f32>
    yield %q
  } : tensor<$M x 40 x f32>
  return %r, %s, %u, %v
}
EOM
cat >wanted.py <<'EOM'
def wanted(x, w, M):
    r, s, v, a, b = x, x, x, x, w
    for i in range(2):
        r, s, v = r + r[::-1], s + s[:1], v - v.max(axis=0, keepdims=True)
    for i in range(3):
        a, b = b, a - b
    return {"r": r, "s": s, "u": b, "v": v}
EOM
both m.ptir wanted.py M=1 -- M=9
ends 0 pto-opt m.ptir --pipeline=default.yaml --until=sink-loops -o tile.ptir --remarks=remarks
[ "$(grep -c 'pto.sink-loops/launches' remarks)" -eq 3 ] || { cat remarks; fail 'not three loops of launches'; }
grep -q 'pto.sink-loops/in-nest.*instances of [0-9]* along dim 1' remarks || { cat remarks; fail 'columns are not divided'; }
ends 0 pto-opt m.ptir --pipeline=default.yaml --until=sink-loops --set=sink-loops.with.bodies=false -o tile.ptir --remarks=remarks
[ "$(grep -c 'pto.sink-loops/launches' remarks)" -eq 4 ] || { cat remarks; fail 'not four loops of launches'; }
