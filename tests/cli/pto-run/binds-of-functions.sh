# Run-time extents that a function binds, in what it computes: as a workspace between kernels, and inside one kernel
# that has no memory of that extent.
. "$TEST_ROOT/tests/shell.sh"
check() { # NAME: NAME.ptir has the same results on the simulator and on reference, for several N
  for n in 0 1 6 77; do
    pto-run "$1.ptir" --sym N=$n --random-inputs=1 --compare=reference.yaml >out 2>&1 && ! grep -q DIFFERS out && continue
    complain "$1, N = $n"
  done
}
cat >one.ptir <<'EOF'
func @f(%x: tensor<$N x 4 x f32>, %z: tensor<4 x f32>) -> tensor<1 x 4 x f32> {
  bind $n = $N + 1 in [1, 100]
  %y = tensor.broadcast %z : tensor<$n x 4 x f32>
  %m = tensor.reduce_sum %y {axis = 0} : tensor<1 x 4 x f32>
  return %m
}
EOF
cat >two.ptir <<'EOF'
func @f(%x: tensor<$N x 4 x f32>, %z: tensor<4 x f32>) -> tensor<1 x 1 x f32> {
  bind $n = $N + 1 in [1, 100]
  %y = tensor.broadcast %z : tensor<$n x 4 x f32>
  %m = tensor.reduce_sum %y {axis = [0, 1]} : tensor<1 x 1 x f32>
  return %m
}
EOF
check one
check two
pto-opt two.ptir --pipeline=default.yaml >out && says 'exec.alloc.*gm<$n x 4 x f32>' out
# Beyond what the bind allows.
pto-run one.ptir --sym N=100 --random-inputs=1 >out 2>&1
[ $? -eq 5 ] && grep -q '101' out || complain "beyond the range"
