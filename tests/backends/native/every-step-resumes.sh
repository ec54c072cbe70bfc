# For every step of the native pipeline: --until it to a file and --from the next in a new process make the same module
# byte for byte, where a step on the way makes @f.init.
. "$TEST_ROOT/tests/shell.sh"
cat >m.ptir <<'END'
func @f(%x: tensor<16 x 100 x f32>, const %w: tensor<100 x 72 x f32>, const %g: tensor<1 x 72 x f32>) -> tensor<16 x 72 x f32> {
  %p = tensor.matmul %x, %w : tensor<16 x 72 x f32>
  %c = tensor.exp %g : tensor<1 x 72 x f32>
  %y = tensor.add %p, %c : tensor<16 x 72 x f32>
  return %y
}
END
native='--pipeline=native.yaml --machine=cpu-avx2.yaml'
ends 0 pto-opt m.ptir $native -o whole.ptir
says 'func @f.init(.*out %c: .*) {$' whole.ptir
previous=
for step in $(steps_of native.yaml); do
  if [ -n "$previous" ]; then
    ends 0 pto-opt m.ptir $native --until="$previous" -o half.ptir
    ends 0 pto-opt half.ptir $native --from="$step" -o rest.ptir
    cmp -s rest.ptir whole.ptir || fail "resumed at $step: $(diff rest.ptir whole.ptir)"
  fi
  previous=$step
done
[ "$previous" = native-bind ] || fail "the last step is $previous"
