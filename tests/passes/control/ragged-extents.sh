# Extents of which a `bind` in a loop decides, through all levels: each iteration has memory of its own size.
. "$TEST_ROOT/tests/shell.sh"
both() { /usr/bin/python3 "$TEST_ROOT/tests/passes/control/inputs/both.py" "$@" >text 2>&1 || fail; }

cat >m.ptir <<'EOF'
func @f(%x: tensor<1 x 8 x f32>, %w: tensor<1 x 8 x f32>, %n: index) -> tensor<1 x 8 x f32> {
  %r = for %i to %n carry(%a = %x) {
    bind $k = %i + 1 in [1, 64]
    %b = tensor.broadcast %w : tensor<$k x 8 x f32>
    %e = tensor.exp %b : tensor<$k x 8 x f32>
    %s = tensor.reduce_sum %e {axis = 0} : tensor<1 x 8 x f32>
    %y = tensor.add %a, %s : tensor<1 x 8 x f32>
    yield %y
  } : tensor<1 x 8 x f32>
  return %r
}
EOF
cat >wanted.py <<'EOF'
def wanted(x, w, n):
    a = x
    for i in range(n):
        a = a + (i + 1) * np.exp(w)
    return {"r": a}
EOF
both m.ptir wanted.py n=0 -- n=1 -- n=13
both m.ptir wanted.py +--verify=paranoid n=2

# In products and transposes.
cat >m.ptir <<'EOF'
func @f(%x: tensor<$N x 8 x f32>, %w: tensor<$N x 8 x f32>, %n: index) -> tensor<1 x 8 x f32> {
  %z = tensor.reduce_max %x {axis = 0} : tensor<1 x 8 x f32>
  %r = for %i to %n carry(%a = %z) {
    bind $k = %i + 1 in [1, 64]
    %b = tensor.broadcast %a : tensor<$k x 8 x f32>
    %t = tensor.transpose %b {perm = [1, 0]} : tensor<8 x $k x f32>
    %p = tensor.matmul %t, %b {out = f32} : tensor<8 x 8 x f32>
    %s = tensor.reduce_max %p {axis = 0} : tensor<1 x 8 x f32>
    %h = tensor.constant {value = 0.125} : tensor<f32>
    %m = tensor.mul %s, %h : tensor<1 x 8 x f32>
    yield %m
  } : tensor<1 x 8 x f32>
  return %r
}
EOF
cat >wanted.py <<'EOF'
def wanted(x, w, n, N):
    a = x.max(0, keepdims=True)
    for i in range(n):
        b = np.repeat(a, i + 1, 0)
        a = (b.T @ b).max(0, keepdims=True) * np.float32(0.125)
    return {"r": a}
EOF
both m.ptir wanted.py n=0 N=3 -- n=1 N=1 -- n=5 N=7

# Beyond the capacity is a fault of both.
sed 's/in \[1, 64\]/in [1, 4]/' m.ptir >small.ptir
for pipeline in reference default; do
  fails 5 'small.ptir:4:5: error: \[pto.[a-z-]*/expression\] .*5' \
    pto-run small.ptir --pipeline=$pipeline.yaml --random-inputs=1 --in=n=6 --sym=N=3
done
