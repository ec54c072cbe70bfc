# Artefacts that a backend leaves wrongly are a diagnostic that names it, with or without --report; many of them take no
# long time.
. "$TEST_ROOT/tests/shell.sh"
printf 'func @f(%%x: tensor<4 x f32>) -> tensor<4 x f32> {\n  %%y = tensor.neg %%x : tensor<4 x f32>\n  return %%y\n}\n' >m.ptir
artefacts() { # STATUS WAY OPTION...
  status=$1
  printf 'pto-pipeline: 1\npasses: [pto.canonicalize]\nbackend: { use: test.hostile-artefacts, with: { way: %s } }\n' "$2" >p.yaml
  shift 2
  exits "$status" pto-run m.ptir --plugin="$TEST_PLUGINS/hostile-artefacts.so" --pipeline=p.yaml --random-inputs=1 "$@" >out 2>text
}
blamed() { # WAY CODE TEXT OPTION...
  way=$1 says="error: [$2] backend \`test.hostile-artefacts\` of plugin \`test.hostile-artefacts\` $3"
  shift 3
  artefacts 5 "$way" "$@" && grep -qF "p.yaml:3:" text && grep -qF "$says" text || fail "$way"
  [ ! -s out ] || fail "$way: printed"
}
artefacts 0 nothing --report nothing || fail
# The host's view of a tensor is its own.
artefacts 0 change_call --repeat=2 || fail
grep -q '^cycles: 1 cycles$' out || fail

blamed write_unbegun E1341 'tried to write to a report file that it did not begin' --report r
blamed end_unbegun E1341 'tried to end a report file that it did not begin' --report r
blamed leave_open E1341 'did not end the report file `a.txt`' --report r
blamed begin_twice E1341 'began a report file before `a.txt` had ended' --report r
blamed same_name E1341 'began a report file `a.txt`, which it wrote before' --report r
blamed name_with_nul E1341 'began a report file `a' --report r
blamed name_with_slash E1341 'began a report file `../a`, which is not a plain file name' --report r
blamed name_of_report E1341 'began a report file `index.html`, which the report itself writes' --report r
blamed no_such_unit E1342 'gave a slice of unit 7; it has named 0' --report r
blamed backwards E1342 'gave a slice from cycle 9 to 5' --report r
blamed short_slice E1342 'gave a slice without its struct_size' --report r
blamed odd_cause E1342 'gave the cause of a slice that is not plain text in one line of at most 255 bytes' --report r
blamed odd_counter E1342 'gave the name of a counter that is not plain text in one line of 1 to 255 bytes'
blamed odd_unit E1342 'gave the unit of a counter that is not plain text in one line of at most 255 bytes'
blamed counter_twice E1342 'gave the counter `cycles` twice'
blamed write_input E1343 'wrote to the input `x`'
blamed write_input E1343 'wrote to the input `x`' --repeat=3
# With sanitizers that takes long.
for kind in units counters; do
  ! is_sanitized || [ $kind = units ] || continue
  artefacts 0 "many_$kind" --report many --time-limit=200 || fail
done
