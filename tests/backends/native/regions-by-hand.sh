# A kernel with a `tile.fused` that somebody wrote, in a loop that carries what it yields: natively, on the simulator
# and op by op on the oracle.
. "$TEST_ROOT/tests/shell.sh"
cat >f.ptir <<'END'
block.kernel @k core(CORE) grid(%i: 2) reads(%x) writes(%y, %m) (%x: gm<12 x 80 x f32>, out %y: gm<12 x 80 x f32>, out %m: gm<12 x 1 x f32>) {
  %zero = constant {value = 0.0} : f32
  %z = tile.fill %zero valid(6, 16) : tile<8 x 16 x f32, vec, nd>
  %all = for %t to 5 carry(%before = %z) {
    %a = tile.load %x[6 * %i, 16 * %t] size(6, 16) : tile<8 x 16 x f32, vec, nd>
    %sum, %b = tile.fused {
      %e = tile.exp %a : tile<8 x 16 x f32, vec, nd>
      %n = tile.add %before, %e : tile<8 x 16 x f32, vec, nd>
      tile.store %n, %y[6 * %i, 16 * %t]
      yield %n, %e
    } : tile<8 x 16 x f32, vec, nd>, tile<8 x 16 x f32, vec, nd>
    yield %sum
  } : tile<8 x 16 x f32, vec, nd>
  %r = tile.rowmax %all : tile<8 x 1 x f32, vec, dn>
  tile.store %r, %m[6 * %i, 0]
}
func @f(%x: gm<12 x 80 x f32>, out %y: gm<12 x 80 x f32>, out %m: gm<12 x 1 x f32>) {
  block.launch @k args(%x, %y, %m)
  return
}
END
sed 's/CORE/any/' f.ptir >any.ptir
sed 's/CORE/vector/' f.ptir >vector.ptir
outs() { printf -- '--out y=%s-y.npy --out m=%s-m.npy' "$1" "$1"; }
# shellcheck disable=SC2046 # words
{
  ends 0 pto-run any.ptir --pipeline=native.yaml --from=native-bind --random-inputs=3 $(outs native)
  ends 0 pto-run any.ptir --pipeline=native.yaml --from=native-bind --backend=pto.reference --random-inputs=3 $(outs reference)
  ends 0 pto-run vector.ptir --pipeline=default.yaml --from=select --random-inputs=3 $(outs sim)
}
/usr/bin/python3 - <<'END' || fail 'other numbers'
import numpy as np
for name in "ym":
    want = np.load(f"reference-{name}.npy")
    assert want.size and np.isfinite(want).all() and want.min() > 0
    for to in ("native", "sim"):
        np.testing.assert_allclose(np.load(f"{to}-{name}.npy"), want, rtol=1e-6)
END
