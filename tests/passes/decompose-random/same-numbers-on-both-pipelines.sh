# Random numbers that the default pipeline makes are those of the reference: uniform ones bit for bit, of every type,
# with counters that carry into the next word and wrap; normal ones within their bound. Extents of 1, primes, nothing,
# symbols; with sanitizers two of them.
. "$TEST_ROOT/tests/shell.sh"
for shape in 1 7 '0 x 3' '3 x 5 x 11' '$B x 33'; do
  case $TEST_SHARE:$shape in 1:* | *:'0 x 3' | *:*B*) ;; *) continue ;; esac
  for row in 'uniform f32 0 0 0' 'uniform f16 -1 4294967290 0' 'uniform bf16 81985529216486895 -2 0' 'normal f32 99 4294967295 3e-6' 'normal f16 5 12 4e-3'; do
    # shellcheck disable=SC2086
    set -- $row
    type="tensor<$shape x $2>"
    cat >random.ptir <<END
func @f(%x: $type) -> ($type, $type) {
  %y = tensor.random_$1 {key = $3, counter = $4} : $type
  %z = tensor.add %y, %x : $type
  return %y, %z
}
END
    symbol=
    case $shape in *B*) symbol=--sym=B=5 ;; esac
    ends 0 pto-run random.ptir $symbol --random-inputs=1 --pipeline=reference.yaml --out y=y.npy
    ends 0 pto-run random.ptir $symbol --random-inputs=1 --expect y=y.npy --atol="$5"
    says '^y: ok' out
  done
done
ends 0 pto-opt random.ptir --passes=pto.decompose-random --stats -o out.ptir
says '^ *1  decomposed'
