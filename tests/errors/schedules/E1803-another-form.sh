# A pinned value has the form of its decision: a number, a word, or a mapping with all keys.
set -u
failed=0
refuses() { # EXAMPLE AT DECIDE VALUE MESSAGE
  printf 'pto-schedule: 1\ndecisions:\n  - at: "%s"\n    decide: %s\n    value: %s\n    pinned: true\n' "$2" "$3" "$4" >s.yaml
  pto-opt --pipeline=default.yaml "$TEST_ROOT/examples/$1/$1.ptir" --schedule=s.yaml -o out.ptir 2>err
  status=$?
  [ "$status" = 2 ] && [ ! -e out.ptir ] && grep -qF -- "$5" err && return
  echo "$3 = $4: status $status, wanted '$5' in: $(cat err)"
  failed=1
}
refuses softmax @softmax/softmax_0 tile 16 's.yaml:5:12: error: [E1803] `tile` of @softmax/softmax_0 is a mapping such as { rows: 1, columns: 1 }'
refuses softmax @softmax/softmax_0 tile '{ rows: 16 }' 's.yaml:5:12: error: [E1803] `tile` of @softmax/softmax_0 lacks `columns`: a pinned decision says all of its values'
refuses softmax @softmax/softmax_0 tile '{ rows: 16, colums: 256 }' 's.yaml:5:24: error: [E1803] unknown key `colums`; did you mean `columns`?'
refuses softmax @softmax/softmax_0 tile '{ rows: many, columns: 256 }' 's.yaml:5:20: error: [E1803] `tile` of @softmax/softmax_0 is a mapping such as'
refuses softmax @softmax/softmax_0 tile '{ rows: 99999999999999999999, columns: 256 }' 'error: [E1803]'
refuses softmax @softmax/softmax_0 tile '{ rows: 9999999999, columns: 256 }' '`tile.rows` of @softmax/softmax_0 is 9999999999; the largest legal value is 1048576'
refuses softmax @softmax/softmax_0 tile '{ rows: 0, columns: 256 }' '`tile.rows` of @softmax/softmax_0 is 0; the least legal value is 1'
refuses softmax @softmax/softmax_0 cores '[1, 2]' 's.yaml:5:12: error: [E1803] `cores` of @softmax/softmax_0 is a whole number'
refuses softmax @softmax/softmax_0 cores '"7"' 's.yaml:5:12: error: [E1803] `cores` of @softmax/softmax_0 is a whole number'
refuses gemm @gemm/gemm_0 walk rows 's.yaml:5:12: error: [E1803] `walk` of @gemm/gemm_0 is one of `linear`, `columns`'
exit $failed
