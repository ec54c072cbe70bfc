# tile.rowgather reads its rows where they lie, and places that are loaded from a tile.
. "$TEST_ROOT/tests/shell.sh"
cat >f.ptir <<'END'
block.kernel @k core(any) grid(%i: 1) reads(%x, %p) writes(%y) (%x: gm<4 x 40 x f32>, %p: gm<4 x 90 x i32>, out %y: gm<4 x 8 x f32>) {
  %a = tile.load %x[0, 0] size(4, 40) : tile<4 x 48 x f32, vec, nd>
  %j = tile.load %p[0, 5] size(4, 8) : tile<4 x 16 x i32, vec, nd>
  %g = tile.rowgather %a, %j : tile<4 x 16 x f32, vec, nd>
  tile.store %g, %y[0, 0]
}
func @f(%x: gm<4 x 40 x f32>, %p: gm<4 x 90 x i32>, out %y: gm<4 x 8 x f32>) {
  block.launch @k args(%x, %p, %y)
  return
}
END
/usr/bin/python3 - <<'END' || exit 1
import numpy as np
rng = np.random.default_rng(0)
np.save("x.npy", rng.random((4, 40), dtype=np.float32))
np.save("p.npy", rng.integers(0, 40, (4, 90)).astype(np.int32))
END
ends 0 pto-run f.ptir --pipeline=native.yaml --from=native-bind --in x=x.npy --in p=p.npy --out y=y.npy
/usr/bin/python3 - <<'END' || fail 'other elements'
import numpy as np
x, p, y = np.load("x.npy"), np.load("p.npy"), np.load("y.npy")
assert np.array_equal(y, np.take_along_axis(x, p[:, 5:13], 1))
END
