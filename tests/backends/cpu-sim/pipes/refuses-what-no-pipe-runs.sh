# An instruction whose unit feeds no pipe of its core is refused by name, by the pass that orders pipes and by the
# simulator; so is a core with more pipes than the simulator takes.
. "$TEST_ROOT/tests/shell.sh"
inputs=$TEST_ROOT/tests/backends/cpu-sim/pipes/inputs
sed 's/, v: vector }/ }/' "$inputs/two-engines.yaml" >no-vector.yaml
cat >kernel.ptir <<'END'
module {pipes = {to_vec = "load", to_mat = "load", out = "store"}} {
func @f(%x: gm<16 x 8 x f32>, out %y: gm<16 x 8 x f32>) {
  exec.launch @k args(%x, %y)
  return
}
block.kernel @k core(any) grid(%i: 1) reads(%x) writes(%y) (%x: gm<16 x 8 x f32>, out %y: gm<16 x 8 x f32>) {
  %p = block.buffer {space = vec, bytes_per_stage = 512, addr = 0} : buffer
  %a = block.tile %p[0] valid(16, 8) : tile<16 x 8 x f32, vec, nd>
  pto.tload %a, %x[0, 0]
  pto.set_flag to_vec -> out event(0)
  pto.wait_flag to_vec -> out event(0)
  pto.tneg %a, %a
  pto.tstore %y[0, 0], %a
}
}
END
printf 'pto-pipeline: 1\nname: p\npasses: []\nbackend: pto.cpu-sim-unchecked\n' >p.yaml
fails 5 '^kernel.ptir:12:3: error: \[pto.cpu-sim/no-path\] `pto.tneg` needs a pipe of the unit `vector`; a core of kind `core` has none' \
  pto-run kernel.ptir --pipeline=p.yaml --machine=no-vector.yaml --random-inputs=1
fails 5 '^kernel.ptir:12:3: error: \[pto.synchronize/no-pipe\] `pto.tneg` works in `vec`, and the core that owns it has no pipe of the unit `vector`' \
  pto-opt kernel.ptir --passes=pto.synchronize --machine=no-vector.yaml

names=''
for i in 1 2 3 4 5 6 7 8 9 10 11; do names="$names, v$i: vector"; done
sed "s/, v: vector }/, v: vector$names }/" "$inputs/two-engines.yaml" >many.yaml
fails 5 'error: \[pto.cpu-sim/machine\] a core of kind `core` has 16 pipes; the simulator takes up to 15' \
  pto-run kernel.ptir --pipeline=p.yaml --machine=many.yaml --random-inputs=1
