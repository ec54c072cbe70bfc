# A pinned value has the form of its decision: a number, a word, or a mapping with all keys.
. "$TEST_ROOT/tests/shell.sh"
refuses_pin() { # EXAMPLE AT DECIDE VALUE MESSAGE
  printf 'pto-schedule: 1\ndecisions:\n  - at: "%s"\n    decide: %s\n    value: %s\n    pinned: true\n' "$2" "$3" "$4" >s.yaml
  pto-opt --pipeline=default.yaml "$TEST_ROOT/examples/$1/$1.ptir" --schedule=s.yaml -o out.ptir 2>text
  status=$?
  [ "$status" = 2 ] && [ ! -e out.ptir ] && grep -qF -- "$5" text && return
  complain "$3 = $4: status $status, wanted '$5'"
}
refuses_pin softmax @softmax/softmax_0 tile 16 's.yaml:5:12: error: [E1803] `tile` of @softmax/softmax_0 is a mapping such as { rows: 1, columns: 1 }'
refuses_pin softmax @softmax/softmax_0 tile '{ rows: 16 }' 's.yaml:5:12: error: [E1803] `tile` of @softmax/softmax_0 lacks `columns`: a pinned decision says all of its values'
refuses_pin softmax @softmax/softmax_0 tile '{ rows: 16, colums: 256 }' 's.yaml:5:24: error: [E1803] unknown key `colums`; did you mean `columns`?'
refuses_pin softmax @softmax/softmax_0 tile '{ rows: many, columns: 256 }' 's.yaml:5:20: error: [E1803] `tile.rows` of @softmax/softmax_0 is a whole number'
refuses_pin softmax @softmax/softmax_0 tile '{ rows: 99999999999999999999, columns: 256 }' 's.yaml:5:20: error: [E1803] `tile.rows` of @softmax/softmax_0 is a whole number'
refuses_pin softmax @softmax/softmax_0 tile '{ rows: 9999999999, columns: 256 }' '`tile.rows` of @softmax/softmax_0 is 9999999999; the largest legal value is 1048576'
refuses_pin softmax @softmax/softmax_0 tile '{ rows: 0, columns: 256 }' '`tile.rows` of @softmax/softmax_0 is 0; the least legal value is 1'
refuses_pin softmax @softmax/softmax_0 cores '[1, 2]' 's.yaml:5:12: error: [E1803] `cores` of @softmax/softmax_0 is a whole number'
refuses_pin softmax @softmax/softmax_0 cores '"7"' 's.yaml:5:12: error: [E1803] `cores` of @softmax/softmax_0 is a whole number'
refuses_pin gemm @gemm/gemm_0 walk rows 's.yaml:5:12: error: [E1803] `walk` of @gemm/gemm_0 is one of `linear`, `columns`'
