# A pass of any kind may have alternatives: here one that copies ops as often as it may, and one that finds a function
# too large. Steps run again from the first that chooses, and only what does not fit gets another alternative.
. "$TEST_ROOT/tests/shell.sh"
cat >m.ptir <<'END'
func @f(%x: tensor<8 x f32>) -> tensor<8 x f32> {
  %y = tensor.neg %x : tensor<8 x f32>
  %z = tensor.exp %y : tensor<8 x f32>
  return %z
}
func @g(%x: tensor<8 x f32>) -> tensor<8 x f32> {
  %y = tensor.sqrt %x : tensor<8 x f32>
  return %y
}
END
compile() { # STATUS PASSES
  ends "$1" pto-opt m.ptir --plugin="$TEST_PLUGINS/probe-chooses.so" --remarks=remarks.txt --passes="$2" -o out.ptir
}
count() { grep -c "tensor.$1" out.ptir; }

# @f has 6 ops with 3 copies and fits with 2; @g has 5 from the start.
compile 0 'test.copies,test.limits{most=5}'
[ "$(count neg) $(count sqrt)" = '3 4' ] || complain "other alternatives: $(cat out.ptir)"
[ "$(grep -c 'remark: \[test.limits/does-not-fit\] has 6 ops' remarks.txt)" = 1 ] || complain "remarks: $(cat remarks.txt)"

# With two steps that choose, the first one tries all it has; then it keeps its best one, and the second one tries.
compile 0 'test.copies{copies=1},test.copies{copies=4},test.limits{most=6}'
[ "$(count neg) $(count sqrt)" = '4 5' ] || complain "not the first, then the second: $(cat out.ptir)"

# When none fits, the error of the last one, and no output.
rm out.ptir
compile 5 'test.copies{copies=2},test.limits{most=1}'
says 'm.ptir:1:1: error: \[test.limits/does-not-fit\] has 3 ops'
[ ! -e out.ptir ] || complain "it left an output"
[ "$(grep -c 'does-not-fit' remarks.txt)" = 2 ] || complain "remarks: $(cat remarks.txt)"

compile 5 test.copies-unsaid
says 'error: \[E1324\] pass `test.copies-unsaid` of plugin `test.probe-chooses` .* PTO_PASS_CHOOSES'
