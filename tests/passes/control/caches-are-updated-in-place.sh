# Functions whose results alias their parameters, through all levels: alone, and called by others, which get a changed
# copy and keep what they passed.
. "$TEST_ROOT/tests/shell.sh"
both() { /usr/bin/python3 "$TEST_ROOT/tests/passes/control/inputs/both.py" "$@" >text 2>&1 || fail; }

# A step of decoding: a row of the cache is replaced, another one is added to, and all of it is read.
cat >m.ptir <<'EOF'
func @step(inout %cache: tensor<$N x 48 x f32>, %k: tensor<2 x 48 x f32>, %at: tensor<2 x i32>, %q: tensor<1 x 48 x f32>) -> (tensor<$N x 1 x f32>, tensor<$N x 48 x f32> aliases %cache) where ($N >= 8) {
  %c = tensor.scatter_update %cache, %at, %k {axis = 0} : tensor<$N x 48 x f32>
  %d = tensor.assemble %q, %c[1, 0] : tensor<$N x 48 x f32>
  %p = tensor.mul %d, %q : tensor<$N x 48 x f32>
  %s = tensor.reduce_sum %p {axis = 1} : tensor<$N x 1 x f32>
  return %s, %d
}
EOF
cat >wanted.py <<'EOF'
def inputs(name, symbols, random):
    return np.array([5, 0], np.int32) if name == "at" else None
def wanted(cache, k, at, q, N):
    c = cache.copy()
    c[at] = k
    c[1] = q
    return {"s": (c * q).sum(1, keepdims=True), "cache": c}
EOF
both m.ptir wanted.py N=8 -- N=131
both m.ptir wanted.py +--check=semantics +--verify=paranoid N=17
# Nothing is copied, and a file keeps what it had.
ends 0 pto-opt m.ptir --pipeline=default.yaml --remarks=remarks
! grep -q 'pto.bufferize/copy' remarks || fail

# Two parameters that change places are kept before either is written; one stays as it is.
cat >m.ptir <<'EOF'
func @f(inout %a: tensor<3 x 4 x f32>, inout %b: tensor<3 x 4 x f32>) -> (tensor<3 x 4 x f32> aliases %b, tensor<3 x 4 x f32> aliases %a) {
  return %a, %b
}
func private @g(inout %a: tensor<3 x 4 x f32>) -> tensor<3 x 4 x f32> aliases %a {
  return %a
}
EOF
ends 0 pto-run m.ptir --pipeline=reference.yaml --random-inputs=3 --out=a=a.npy --out=b=b.npy
ends 0 pto-run m.ptir --pipeline=reference.yaml --in=a=a.npy --in=b=b.npy --expect=a=b.npy --expect=b=a.npy
ends 5 pto-opt m.ptir --pipeline=default.yaml
grep -q '@f/return' text || fail

# Called twice with one cache: each call has its own.
cat >m.ptir <<'EOF'
func @f(%x: tensor<$N x 8 x f32>, %k: tensor<1 x 8 x f32>) -> (tensor<$N x 8 x f32>, tensor<$N x 8 x f32>, tensor<$N x 8 x f32>) where ($N >= 3) {
  %a, %s = call @put(%x, %k) : tensor<$N x 8 x f32>, tensor<$N x 8 x f32>
  %b, %t = call @put(%a, %k) : tensor<$N x 8 x f32>, tensor<$N x 8 x f32>
  %u = tensor.add %s, %t : tensor<$N x 8 x f32>
  %v = tensor.sub %u, %x : tensor<$N x 8 x f32>
  return %b, %v, %a
}
func private @put(inout %c: tensor<$M x 8 x f32>, %k: tensor<1 x 8 x f32>) -> (tensor<$M x 8 x f32> aliases %c, tensor<$M x 8 x f32>) where ($M >= 3) {
  %n = tensor.neg %c : tensor<$M x 8 x f32>
  %d = tensor.assemble %k, %n[2, 0] : tensor<$M x 8 x f32>
  return %d, %n
}
EOF
cat >wanted.py <<'EOF'
def wanted(x, k, N):
    def put(c):
        n = -c
        d = n.copy()
        d[2] = k
        return d, n
    a, s = put(x)
    b, t = put(a)
    return {"b": b, "v": s + t - x, "a": a}
EOF
both m.ptir wanted.py N=3 -- N=40
both m.ptir wanted.py +--check=semantics N=5
