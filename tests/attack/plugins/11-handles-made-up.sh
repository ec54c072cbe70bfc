# The number in a handle of a type, attribute, expression or location must be one that there is.
. "$TEST_ROOT/tests/shell.sh"
cat >m.ptir <<'IN'
func @f(%x: tensor<4 x f32>) -> tensor<4 x f32> {
  %y = tensor.neg %x : tensor<4 x f32>
  return %y
}
IN
for what in 'a type' 'an attribute' 'an expression' 'a location'; do
  fails 5 "error: \[E1320\] pass 'test.hostile-handles' of plugin 'test.hostile-handles' made a handle of $what by itself" \
    pto-opt m.ptir --plugin="$TEST_PLUGINS/hostile-handles.so" --passes="test.hostile-handles{way=forge_${what#* }}"
done
