# --shuffle=SEED puts the instances of each launch into another order, which a kernel that depends on it shows; those of
# the compiler do not.
. "$TEST_ROOT/tests/shell.sh"
cat >last.ptir <<'END'
block.kernel @k core(any) grid(%i: 7) reads(%x) writes(%y) (%x: gm<7 x 8 x f32>, out %y: gm<1 x 8 x f32>) {
  %t = tile.load %x[%i, 0] size(1, 8) : tile<1 x 8 x f32, vec, nd>
  tile.store %t, %y[0, 0]
}
func @f(%x: gm<7 x 8 x f32>, out %y: gm<1 x 8 x f32>) {
  block.launch @k args(%x, %y)
  return
}
END
rows=$(for row in 0 1 2 3 4 5 6; do for _ in $(seq 32); do printf '\\%03o' $row; done; done)
npy x.npy "{'descr': '<f4', 'fortran_order': False, 'shape': (7, 8), }" "$rows"
last() { # THREADS OPTION..: the row that was written last
  threads=$1
  shift
  ends 0 pto-run last.ptir --pipeline=native.yaml --from=native-bind --in=x=x.npy --threads="$threads" --out=y=y.npy "$@"
  tail -c 1 y.npy | od -An -tu1 | tr -d ' '
}
[ "$(last 1)" = 6 ] || fail 'without a seed the last instance is not the last'
for seed in 1 2 3 4 5 6 7 8; do
  one=$(last 1 --shuffle=$seed)
  [ "$(last 1 --shuffle=$seed)" = "$one" ] || complain "seed $seed has two orders"
  echo "$one"
done >seen
[ "$(sort -u seen | wc -l)" -ge 3 ] || fail "orders that end with $(tr '\n' ' ' <seen)"
ends 0 pto-run last.ptir --pipeline=native.yaml --from=native-bind --in=x=x.npy --threads=1 --shuffle=3 --report=report
says '"first instance":6,"instances":1}' report/swimlane.json

for run in softmax/case gemm/bf16 attention/case layer_norm/bf16; do
  example $run
  for seed in none 1 2; do
    order=--shuffle=$seed
    [ $seed != none ] || order=
    ends 0 pto-run --case "$yaml" --pipeline=native.yaml --threads=1 "$kept_data" $order --out="$output=$seed.npy"
    cmp none.npy $seed.npy || complain "$run has other bits with seed $seed"
  done
done
