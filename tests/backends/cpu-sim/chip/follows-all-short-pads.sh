# However many tiles a load has not filled to the end, the simulator remembers each one: the last of 20 is read too far.
. "$TEST_ROOT/tests/shell.sh"
count=20
{
  echo 'func @f(%x: gm<16 x 20 x f32>, out %y: gm<16 x 1 x f32>) {'
  echo '  exec.launch @k args(%x, %y)'
  echo '  return'
  echo '}'
  echo 'block.kernel @k core(vector) grid(%i: 1) reads(%x) writes(%y) (%x: gm<16 x 20 x f32>, out %y: gm<16 x 1 x f32>) {'
  echo '  %q = block.buffer {space = vec, bytes_per_stage = 64, addr = 4096} : buffer'
  echo '  %r = block.buffer {space = vec, bytes_per_stage = 2048, addr = 8192} : buffer'
  echo '  %m = block.tile %q[0] valid(16, 1) : tile<16 x 1 x f32, vec, dn>'
  echo '  %t = block.tile %r[0] valid(16, 32) : tile<16 x 32 x f32, vec, nd>'
  for i in $(seq "$count"); do
    echo "  %b$i = block.buffer {space = vec, bytes_per_stage = 2048, addr = $((16384 + i * 2048))} : buffer"
    echo "  %p$i = block.tile %b${i}[0] valid(16, 20) : tile<16 x 32 x f32, vec, nd>"
    echo "  pto.tload %p$i, %x[0, 0] {pad = -inf}"
  done
  echo "  %all = block.tile %b${count}[0] valid(16, 32) : tile<16 x 32 x f32, vec, nd>"
  echo '  pto.set_flag mte2 -> v event(0)'
  echo '  pto.wait_flag mte2 -> v event(0)'
  echo '  pto.trowmax %m, %all, %t'
  echo '  pto.set_flag v -> mte3 event(0)'
  echo '  pto.wait_flag v -> mte3 event(0)'
  echo '  pto.tstore %y[0, 0], %m'
  echo '}'
} >f.ptir
line=$(grep -n trowmax f.ptir | cut -d: -f1)
refuses 5 "f.ptir:$line:3: error: [pto.cpu-sim/pad] \`pto.trowmax\` reads 16 x 32 elements of a tile of which a load has filled 16 x 24; the rest is what was there before [@k/pto.trowmax]" \
  pto-run f.ptir --pipeline="$TEST_ROOT/tests/backends/cpu-sim/inputs/exec.yaml" --random-inputs=1
