# Loops whose iterations write to a part of a tensor that they carry, through all levels: in one piece of memory where
# nothing needs what is overwritten, else with copies.
. "$TEST_ROOT/tests/shell.sh"
both() { /usr/bin/python3 "$TEST_ROOT/tests/passes/control/inputs/both.py" "$@" >text 2>&1 || fail; }
# `copied N`: so many copies are remarked on.
copied() {
  ends 0 pto-opt m.ptir --pipeline=default.yaml --until=bufferize --remarks=remarks
  [ "$(grep -c 'pto.bufferize/copy' remarks)" -eq "$1" ] || { cat remarks; fail "copies: not $1"; }
}

# A row for each iteration, computed from the rows before it; the parameter is copied once, before the loop.
cat >m.ptir <<'EOF'
func @f(%x: tensor<$M x 8 x f32>, %k: tensor<1 x 8 x f32>) -> tensor<$M x 8 x f32> where ($M >= 1) {
  %r = for %i = 1 to $M carry(%a = %x) {
    %p = tensor.view %a[%i - 1, 0] : tensor<1 x 8 x f32>
    %q = tensor.mul %p, %k : tensor<1 x 8 x f32>
    %c = tensor.assemble %q, %a[%i, 0] : tensor<$M x 8 x f32>
    yield %c
  } : tensor<$M x 8 x f32>
  return %r
}
EOF
cat >wanted.py <<'EOF'
def wanted(x, k, M):
    r = x.copy()
    for i in range(1, M):
        r[i] = r[i - 1] * k[0]
    return {"r": r}
EOF
both m.ptir wanted.py M=1 -- M=2 -- M=9 -- M=33
# --check=semantics draws an $M of 32771 too, where it is allowed: minutes, of a loop whose iterations copy a tensor.
sed 's/where ($M >= 1)/where ($M >= 1, $M <= 40)/' m.ptir >small.ptir
both small.ptir wanted.py +--check=semantics +--verify=paranoid M=5
copied 1

# An inout parameter needs no copy: tokens are decoded in a loop that reads the whole cache and adds a row to it, and
# a loop in it changes another part of the same memory.
cat >m.ptir <<'EOF'
func @f(inout %cache: tensor<40 x 16 x f32>, %x: tensor<1 x 16 x f32>, %n: index) -> (tensor<40 x 16 x f32> aliases %cache, tensor<1 x 16 x f32>) {
  %r, %y = for %i to %n carry(%a = %cache, %t = %x) {
    %c = tensor.assemble %t, %a[%i, 0] : tensor<40 x 16 x f32>
    %s = tensor.reduce_max %c {axis = 0} : tensor<1 x 16 x f32>
    %d = for %j to 3 carry(%b = %c) {
      %w = tensor.view %b[%j, 0] : tensor<1 x 16 x f32>
      %u = tensor.sub %w, %t : tensor<1 x 16 x f32>
      %v = tensor.assemble %u, %b[20 + %j, 0] : tensor<40 x 16 x f32>
      yield %v
    } : tensor<40 x 16 x f32>
    yield %d, %s
  } : tensor<40 x 16 x f32>, tensor<1 x 16 x f32>
  return %r, %y
}
EOF
cat >wanted.py <<'EOF'
def wanted(cache, x, n):
    r, t = cache.copy(), x
    for i in range(n):
        r[i] = t
        s = r.max(axis=0, keepdims=True)
        for j in range(3):
            r[20 + j] = r[j] - t
        t = s
    return {"cache": r, "y": t}
EOF
both m.ptir wanted.py n=0 -- n=1 -- n=7
both m.ptir wanted.py +--check=semantics +--verify=paranoid n=3
ends 0 pto-opt m.ptir --pipeline=default.yaml --until=bufferize --remarks=remarks
! grep -q '%cache is copied\|%[abcdv] is copied' remarks || fail 'the cache is copied'

# A while, with a condition that reads the tensor; scatter_update as the change; what it began with is used later.
cat >m.ptir <<'EOF'
func @f(%x: tensor<$M x 8 x f32>, %at: tensor<1 x i32>) -> (tensor<$M x 8 x f32>, tensor<$M x 8 x f32>) where ($M >= 2) {
  %limit = constant {value = 100.0} : f32
  %two = constant {value = 2.0} : f32
  %z = tensor.mul %x, %two : tensor<$M x 8 x f32>
  %r = while carry(%a = %z) {
    %s = scalar_of %a[1, 0] : f32
    %go = compare %s lt %limit : bool
    yield %go
  } do (%b) {
    %w = tensor.view %b[1, 0] : tensor<1 x 8 x f32>
    %u = tensor.add %w, %w : tensor<1 x 8 x f32>
    %v = tensor.scatter_update %b, %at, %u {axis = 0} : tensor<$M x 8 x f32>
    yield %v
  } : tensor<$M x 8 x f32>
  %y = tensor.sub %r, %z : tensor<$M x 8 x f32>
  return %r, %y
}
EOF
cat >wanted.py <<'EOF'
def inputs(name, symbols, random):
    if name == "at":
        return np.array([1], np.int32)
    return 1 + np.arange(8 * symbols["M"]).reshape(-1, 8).astype(np.float32) if name == "x" else None
def wanted(x, at, M):
    z = x + x
    r = z.copy()
    while r[1, 0] < 100:
        r[1] += r[1]
    return {"r": r, "y": r - z}
EOF
both m.ptir wanted.py M=2 -- M=13
both m.ptir wanted.py +--verify=paranoid M=3
copied 1

# Rows as they were are needed after a row is overwritten, are handed on twice, or begin two loops: there are copies.
cat >m.ptir <<'EOF'
func @f(%x: tensor<6 x 8 x f32>, %k: tensor<1 x 8 x f32>) -> (tensor<6 x 8 x f32>, tensor<6 x 8 x f32>, tensor<6 x 8 x f32>, tensor<6 x 8 x f32>, tensor<6 x 8 x f32>) {
  %z = tensor.neg %x : tensor<6 x 8 x f32>
  %r, %t = for %i to 5 carry(%a = %z, %b = %x) {
    %c = tensor.assemble %k, %a[%i, 0] : tensor<6 x 8 x f32>
    %d = tensor.add %c, %a : tensor<6 x 8 x f32>
    yield %c, %d
  } : tensor<6 x 8 x f32>, tensor<6 x 8 x f32>
  %p, %q = for %i to 4 carry(%a = %z, %b = %r) {
    %c = tensor.assemble %k, %a[%i + 2, 0] : tensor<6 x 8 x f32>
    yield %c, %c
  } : tensor<6 x 8 x f32>, tensor<6 x 8 x f32>
  %m = for %i to 2 carry(%a = %z) {
    %c = tensor.assemble %k, %a[3 * %i, 0] : tensor<6 x 8 x f32>
    yield %c
  } : tensor<6 x 8 x f32>
  %n = tensor.assemble %k, %m[4, 0] : tensor<6 x 8 x f32>
  return %r, %t, %p, %q, %n
}
EOF
cat >wanted.py <<'EOF'
def wanted(x, k):
    z = -x
    r, t = z.copy(), x
    for i in range(5):
        c = r.copy()
        c[i] = k
        r, t = c, c + r
    p = z.copy()
    p[2:] = k
    n = z.copy()
    n[[0, 3, 4]] = k
    return {"r": r, "t": t, "p": p, "q": p, "n": n}
EOF
both m.ptir wanted.py
both m.ptir wanted.py +--check=semantics +--verify=paranoid

# A loop that carries a tensor in place inside one that does not, and a ragged window.
cat >m.ptir <<'EOF'
func @f(%x: tensor<$M x 8 x f32>, %k: tensor<8 x 8 x f32>, %n: tensor<$T x i32>) -> tensor<$M x 8 x f32> where ($M >= 16) {
  %r = for %i to $T carry(%a = %x) {
    %e = tensor.add %a, %a : tensor<$M x 8 x f32>
    %l = scalar_of %n[%i] : i32
    bind $n = min(8, max(%l, 0)) in [0, 8]
    %v = tensor.view %k[0, 0] : tensor<$n x 8 x f32>
    %s = for %j to 2 carry(%b = %e) {
      %c = tensor.assemble %v, %b[8 * %j, 0] : tensor<$M x 8 x f32>
      yield %c
    } : tensor<$M x 8 x f32>
    yield %s
  } : tensor<$M x 8 x f32>
  return %r
}
EOF
cat >wanted.py <<'EOF'
def wanted(x, k, n, M, T):
    r = x
    for i in range(T):
        r = r + r
        l = min(8, max(int(n[i]), 0))
        r[0:l] = k[:l]
        r[8:8 + l] = k[:l]
    return {"r": r}
EOF
both m.ptir wanted.py M=16 T=0 -- M=16 T=1 -- M=19 T=5

# A number beside it, which a bool of the loop and the next window come from.
cat >m.ptir <<'EOF'
func @f(%x: tensor<$M x 8 x f32>, %k: tensor<1 x 8 x f32>) -> tensor<$M x 8 x f32> where ($M >= 1) {
  %zero = index_cast from(0) : i32
  %last = index_cast from($M) : i32
  %at, %r = while carry(%p = %zero, %a = %x) {
    %go = compare %p lt %last : bool
    yield %go
  } do (%q, %b) {
    %row = index_cast from(%q) : index
    %c = tensor.assemble %k, %b[%row, 0] : tensor<$M x 8 x f32>
    %next = index_cast from(%q + 3) : i32
    yield %next, %c
  } : i32, tensor<$M x 8 x f32>
  return %r
}
EOF
cat >wanted.py <<'EOF'
def wanted(x, k, M):
    r = x.copy()
    r[::3] = k
    return {"r": r}
EOF
both m.ptir wanted.py M=1 -- M=9
copied 1
