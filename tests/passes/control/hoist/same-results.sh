# What leaves loops makes the same bits, on the simulator and natively, also where loops have no iteration; each step is
# held to the one before it. And it saves cycles where loops run often.
. "$TEST_ROOT/tests/shell.sh"
cat >norm.ptir <<'EOF'
func @f(%x: tensor<$M x 256 x bf16>, %g: tensor<256 x bf16>, %b: tensor<256 x f32>) -> tensor<$M x 256 x bf16> {
  %xf = tensor.cast %x : tensor<$M x 256 x f32>
  %gf = tensor.cast %g : tensor<256 x f32>
  %yf = tensor.layer_norm %xf, %gf, %b : tensor<$M x 256 x f32>
  %y = tensor.cast %yf : tensor<$M x 256 x bf16>
  return %y
}
EOF
# A loop of each core that may have no iteration, and one in it.
cat >loops.ptir <<'EOF'
func @f(%x: gm<$M x 64 x f32>, %g: gm<1 x 64 x f32>, %h: gm<8 x 64 x f32>, out %y: gm<$M x 64 x f32>) {
  forall "f_0" (%i) to (ceildiv($M, 8)) {
    %x0 = tile.load %x[8 * %i, 0] size(min(8, $M - 8 * %i), 64) : tile<8 x 64 x f32, ?>
    %y0 = for %j to ($M mod 5) carry(%s = %x0 valid(min(8, $M - 8 * %i), 64)) {
      %g0 = tile.load %g[0, 0] size(1, 64) : tile<1 x 64 x f32, ?>
      %g1 = tile.exp %g0 : tile<1 x 64 x f32, ?>
      %h0 = tile.load %h[%j, 0] size(1, 64) : tile<1 x 64 x f32, ?>
      %p = tile.colexpandmul %s, %g1 : tile<8 x 64 x f32, ?>
      %q = tile.colexpandadd %p, %h0 : tile<8 x 64 x f32, ?>
      yield %q
    } : tile<8 x 64 x f32, ?>
    tile.store %y0, %y[8 * %i, 0]
  }
  return
}
EOF
run() { # MODULE PIPELINE FROM M OUT OPTION..
  run_module=$1 run_pipeline=$2 run_from=$3 run_m=$4 run_out=$5
  shift 5
  ends 0 pto-run "$run_module" --pipeline="$run_pipeline" $run_from --sym=M="$run_m" --random-inputs=7 --out=y="$run_out" "$@"
}
for pipeline in default.yaml native.yaml; do
  for m in 0 5 77; do
    for of in 'norm ' 'loops --from=inline-nests'; do
      module=${of%% *}.ptir from=${of#* }
      run "$module" $pipeline "$from" $m a.npy --remove=hoist
      run "$module" $pipeline "$from" $m b.npy --set=hoist.with.always=true
      cmp -s a.npy b.npy || fail "$module: other bits on $pipeline with M = $m"
    done
  done
  ends 0 pto-opt norm.ptir --pipeline=$pipeline --check=semantics --set=hoist.with.always=true -o checked.ptir
done
ends 0 pto-opt norm.ptir --pipeline=native.yaml --until=hoist --set=hoist.with.always=true -o hoisted.ptir
sed '/for %t/q' hoisted.ptir | grep -q 'tile.cast' || fail "$(cat hoisted.ptir)"
ends 0 pto-opt loops.ptir --pipeline=default.yaml --from=inline-nests --until=hoist --set=hoist.with.always=true -o hoisted.ptir
sed '/for %t/q' hoisted.ptir | grep -q 'tile.exp' || fail "$(cat hoisted.ptir)"

! is_sanitized || exit 0
sed -i s/256/4096/g norm.ptir
cycles() { sed -n 's/^cycles: \([0-9]*\) cycles/\1/p' out; }
run norm.ptir default.yaml '' 512 a.npy --expect=M=512 --remove=hoist
before=$(cycles)
run norm.ptir default.yaml '' 512 a.npy --expect=M=512
[ "$(cycles)" -lt "$before" ] || fail "$(cycles) cycles, $before without hoist"
