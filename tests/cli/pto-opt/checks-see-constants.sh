# Of functions that differ in the numbers of constants alone a checker is asked for one, unless it read those: by the
# attribute, by its place, by the hash of the op, or by asking whether two ops are equal.
. "$TEST_ROOT/tests/shell.sh"
cat >m.ptir <<'END'
func @f(%x: tensor<4 x f32>) -> tensor<4 x f32> {
  %a = constant {value = 1.0} : f32
  %b = constant {value = 2.0} : f32
  return %x
}
func @g(%x: tensor<4 x f32>) -> tensor<4 x f32> {
  %a = constant {value = 2.0} : f32
  %b = constant {value = 2.0} : f32
  return %x
}
END
for way in attr attr-at hash equal; do
  exits 6 pto-opt m.ptir --plugin="$TEST_PLUGINS/probe-constants.so" --passes="test.claim-unlike-$way" -o no.ptir 2>text ||
    complain "$way"
  grep -q '^m.ptir:8:8: error: \[test.probe-constants/twin\]' text || complain "$way: $(cat text)"
done
