# Where a cost class says `one-row`, a tile whose rows follow each other without gaps takes the repeats of one row:
# 16 x 16 of f32 are 4 repeats, and 16 where each row has a gap after it. Lengths that are not whole repeats take more.
. "$TEST_ROOT/tests/shell.sh"
cat >k.ptir <<'MODULE'
module {machine = "ascend-910b"} {
  block.kernel @k core(vector) grid(%i: 1) (%x: gm<16 x 16 x f32>, out %y: gm<16 x 16 x f32>) {
    %b = block.buffer {space = vec, bytes_per_stage = 2048, addr = 0} : buffer
    %t = block.tile %b[0] valid(16, 16) : tile<16 x COLUMNS x f32, vec, nd>
    pto.tload %t, %x[0, 0]
    pto.set_flag mte2 -> v event(0)
    pto.wait_flag mte2 -> v event(0)
    pto.texp %t, %t
    pto.set_flag v -> mte3 event(0)
    pto.wait_flag v -> mte3 event(0)
    pto.tstore %y[0, 0], %t
  }
  func @f(%x: gm<16 x 16 x f32>, out %y: gm<16 x 16 x f32>) {
    exec.launch @k args(%x, %y)
    return
  }
}
MODULE
cp "$TEST_ROOT/pipelines/machines/ascend-910b.yaml" .
sed 's/one-row: true, //' ascend-910b.yaml >rows.yaml
takes() { # CYCLES COLUMNS MACHINE; with head 13 and 2 for a repeat
  sed "s/COLUMNS/$2/" k.ptir >case.ptir
  mkdir -p report
  ends 0 pto-run case.ptir --passes= --machine="$3" --backend=pto.cpu-sim-unchecked --random-inputs=1 --report=report
  grep -q "\"name\":\"pto.texp\".*\"cycles\":$1," report/swimlane.json || fail "$(grep pto.texp report/swimlane.json)"
}
takes $((13 + 2 * 4)) 16 ascend-910b.yaml
takes $((13 + 2 * 16 + 2)) 32 ascend-910b.yaml
takes $((13 + 2 * 16 + 2)) 16 rows.yaml
