# Calls of functions that write to `out` and `inout` memory, from tensor level through all levels: in loops, branches,
# with what is read later, with scalars, of each other.
. "$TEST_ROOT/tests/shell.sh"
both() { /usr/bin/python3 "$TEST_ROOT/tests/passes/control/inputs/both.py" "$@" >text 2>&1 || fail; }
# --check=semantics draws an $M of 32771 too, where it is allowed: minutes, of loops whose iterations copy a tensor.
checked() { # SYMBOL=N..
  sed '/^func @f/s/ {$/ where ($M <= 40) {/' m.ptir >small.ptir
  both small.ptir wanted.py +--check=semantics +--verify=paranoid "$@"
}

cat >both.ptir <<'EOF'
func private @both(%x: gm<$A x $B x f32>, %f: f32, out %y: gm<$A x $B x f32>, inout %n: gm<$A x $B x f32>) where ($B <= 8) {
  forall "both" (%i) to ($A) {
    %t = tile.load %x[%i, 0] size(1, $B) : tile<1 x 8 x f32, ?>
    %u = tile.muls %t, %f : tile<1 x 8 x f32, ?>
    tile.store %u, %y[%i, 0]
    %m = tile.load %n[%i, 0] size(1, $B) : tile<1 x 8 x f32, ?>
    %d = tile.add %m, %u : tile<1 x 8 x f32, ?>
    tile.store %d, %n[%i, 0]
  }
  return
}
func private @twice(%x: gm<$A x 5 x f32>, %f: f32, out %y: gm<$A x 5 x f32>, inout %n: gm<$A x 5 x f32>) {
  %w = tile.workspace : gm<$A x 5 x f32>
  call @both(%x, %f, %w, %n)
  call @both(%w, %f, %y, %n)
  return
}
EOF
# What is passed stays as it was, also twice in one call, and a result of a call is changed by the next one.
cat >m.ptir <<'EOF'
func @f(%x: tensor<$M x 5 x f32>, %z: tensor<$M x 5 x f32>) -> (tensor<$M x 5 x f32>, tensor<$M x 5 x f32>, tensor<$M x 5 x f32>, tensor<$M x 5 x f32>) {
  %h = constant {value = 0.5} : f32
  %w = tensor.add %x, %z : tensor<$M x 5 x f32>
  %y, %n = call @both(%w, %h, %x) : tensor<$M x 5 x f32>, tensor<$M x 5 x f32>
  %a, %b = call @both(%n, %h, %n) : tensor<$M x 5 x f32>, tensor<$M x 5 x f32>
  %c, %d = call @twice(%y, %h, %b) : tensor<$M x 5 x f32>, tensor<$M x 5 x f32>
  %p, %q = call @both(%x, %h, %w) : tensor<$M x 5 x f32>, tensor<$M x 5 x f32>
  %s = tensor.sub %a, %n : tensor<$M x 5 x f32>
  return %s, %c, %d, %q
}
EOF
cat both.ptir >>m.ptir
cat >wanted.py <<'EOF'
def both(x, f, n):
    return x * f, n + x * f
def twice(x, f, n):
    w, n = both(x, f, n)
    return both(w, f, n)
def wanted(x, z, M):
    w, h = x + z, np.float32(0.5)
    y, n = both(w, h, x)
    a, b = both(n, h, n)
    c, d = twice(y, h, b)
    return {"s": a - n, "c": c, "d": d, "q": both(x, h, w)[1]}
EOF
both m.ptir wanted.py M=0 -- M=1 -- M=13
checked M=7
# Nothing is left of the calls, and what nobody reads afterwards is changed in place.
ends 0 pto-opt m.ptir --pipeline=default.yaml --until=inline-nests --remarks=remarks
! grep -q 'call\|@both\|@twice' out || fail 'a call is left'
[ "$(grep -c 'pto.bufferize/copy' remarks)" -eq 2 ] || { cat remarks; fail 'not two copies'; }

# In a loop that carries what the call changes, and on one side of a branch.
cat >m.ptir <<'EOF'
func @f(%x: tensor<$M x 5 x f32>, %n: index) -> (tensor<$M x 5 x f32>, tensor<$M x 5 x f32>) {
  %h = constant {value = 2.0} : f32
  %r, %y = for %i to %n carry(%a = %x, %b = %x) {
    %e, %c = call @both(%x, %h, %a) : tensor<$M x 5 x f32>, tensor<$M x 5 x f32>
    %k = if %i mod 2 == 0 {
      %u, %v = call @both(%e, %h, %b) : tensor<$M x 5 x f32>, tensor<$M x 5 x f32>
      yield %v
    } else {
      yield %b
    } : tensor<$M x 5 x f32>
    yield %c, %k
  } : tensor<$M x 5 x f32>, tensor<$M x 5 x f32>
  return %r, %y
}
EOF
cat both.ptir >>m.ptir
cat >wanted.py <<'EOF'
def wanted(x, n, M):
    r, y = x, x
    for i in range(n):
        r = r + 2 * x
        if i % 2 == 0:
            y = y + 4 * x
    return {"r": r, "y": y}
EOF
both m.ptir wanted.py M=3 n=0 -- M=3 n=1 -- M=9 n=4
checked M=2 n=3

# A function of tile ops outside of any nest.
cat >m.ptir <<'EOF'
func @f(%x: tensor<4 x 8 x f32>) -> tensor<4 x 8 x f32> {
  %n = tensor.neg %x : tensor<4 x 8 x f32>
  %y = call @tiles(%n) : tensor<4 x 8 x f32>
  return %y
}
func private @tiles(%x: gm<4 x 8 x f32>, out %y: gm<4 x 8 x f32>) {
  %t = tile.load %x[0, 0] size(4, 8) : tile<4 x 8 x f32, vec>
  %u = tile.exp %t : tile<4 x 8 x f32, vec>
  tile.store %u, %y[0, 0]
  return
}
EOF
cat >wanted.py <<'EOF'
def wanted(x):
    return {"y": np.exp(-x)}
EOF
both m.ptir wanted.py
