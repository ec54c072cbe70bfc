# A pin parts a walk at any of its ops, and is kept; one that joins what cannot go together is refused with the reason.
# However walks are parted, and without the step, results are the same up to the order of sums.
. "$TEST_ROOT/tests/shell.sh"
cat >f.ptir <<'END'
  block.kernel @k core(cpu) grid(%i: 4) reads(%x) writes(%y, %m) (%x: gm<$R x $C x f32>, out %y: gm<$R x $C x f32>, out %m: gm<$R x 1 x f32>) where ($R <= 64, $C <= 100) {
    %a = tile.load %x[16 * %i, 0] size(max(0, min(16, $R - 16 * %i)), $C) : tile<16 x 112 x f32, vec, nd>
    %s = tile.rowmax %a : tile<16 x 1 x f32, vec, dn>
    %d = tile.rowexpandsub %a, %s : tile<16 x 112 x f32, vec, nd>
    %e = tile.exp %d : tile<16 x 112 x f32, vec, nd>
    %t = tile.rowsum %e : tile<16 x 1 x f32, vec, dn>
    %q = tile.rowexpanddiv %e, %t : tile<16 x 112 x f32, vec, nd>
    tile.store %q, %y[16 * %i, 0]
    tile.store %t, %m[16 * %i, 0]
  }
  func @f(%x: gm<$R x $C x f32>, out %y: gm<$R x $C x f32>, out %m: gm<$R x 1 x f32>) where ($R <= 64, $C <= 100) {
    block.launch @k args(%x, %y, %m)
    return
  }
END
walks() { # HOW-MANY OPTIONS
  n=$1
  shift
  ends 0 pto-opt f.ptir --passes=pto.fuse-vector "$@"
  [ "$(grep -c 'tile.fused' out)" = "$n" ] || fail "not $n regions"
}
pin() { printf 'pto-schedule: 1\ndecisions:\n  - { at: "@k/%s", decide: region, value: %s, pinned: true }\n' "$1" "$2" >pin.yaml; }
walks 1
pin e separate
walks 2 --schedule=pin.yaml --emit-schedule=s.yaml
says '@k/e' s.yaml
walks 2 --schedule=s.yaml
pin q joined
walks 1 --schedule=pin.yaml
ends 0 pto-opt f.ptir --passes='pto.fuse-vector{max-ops=1}'
! grep -q 'tile.fused' out || fail 'a region of one op'

run() { # OUT FIRST-STEP OPTIONS
  to=$1 from=$2
  shift 2
  ends 0 pto-run f.ptir --pipeline=native.yaml --from="$from" --random-inputs=7 --sym R=53 --sym C=97 \
    --out "y=$to-y.npy" --out "m=$to-m.npy" "$@"
}
run one fuse-vector
pin e separate
run two fuse-vector --schedule=pin.yaml
run ops native-bind
run most fuse-vector --set=fuse-vector.with.max-ops=3
/usr/bin/python3 - <<'END' || fail 'other numbers'
import numpy as np
for name in "ym":
    want = np.load(f"one-{name}.npy")
    assert want.size and np.isfinite(want).all()
    for to in ("two", "ops", "most"):
        np.testing.assert_allclose(np.load(f"{to}-{name}.npy"), want, rtol=1e-6)
END
# The oracle takes a region as its ops.
ends 0 pto-opt f.ptir --pipeline=native.yaml --from=fuse-vector --check=semantics --sym=R=53 --sym=C=97 -o f.c

sed 's/%t = tile.rowsum %e : tile<16 x 1 x f32, vec, dn>/%t = tile.colsum %e : tile<1 x 112 x f32, vec, nd>/; s/rowexpanddiv/colexpanddiv/; /%m\[16/d; s/, out %m: gm<$R x 1 x f32>//; s/, %m)/)/' f.ptir >g.ptir
pin q joined
ends 2 pto-opt g.ptir --passes=pto.fuse-vector --schedule=pin.yaml
says 'it needs all rows of what one of them makes'
