# Tiles of a nest: notes with their instance, in an order that a second run has too; what is stored is the same without.
. "$TEST_ROOT/tests/shell.sh"
cat >f.ptir <<'MODULE'
func @f(%x: gm<4 x 10 x f32>, out %y: gm<4 x 10 x f32>) {
  %c = constant {value = 1.5} : f32
  forall "n" (%i) to (2) {
    %t = tile.load %x[2 * %i, 0] size(2, 10) : tile<2 x 16 x f32, ?>
    tile.print %t
    %u = tile.muls %t, %c : tile<2 x 16 x f32, ?>
    tile.print %u
    tile.store %u, %y[2 * %i, 0]
  }
  return
}
MODULE
sed '/tile.print/d' f.ptir >silent.ptir
/usr/bin/python3 -c "
import numpy
numpy.save('x.npy', numpy.arange(40, dtype=numpy.float32).reshape(4, 10))"
cat >want <<'TEXT'
f.ptir:5:5: note: [tile.print] instance [0]: 2 x 10 x f32
    [[0 1 2 3 4 5 6 7 8 9]
     [10 11 12 13 14 15 16 17 18 19]]
f.ptir:7:5: note: [tile.print] instance [0]: 2 x 10 x f32
    [[0 1.5 3 4.5 6 7.5 9 10.5 12 13.5]
     [15 16.5 18 19.5 21 22.5 24 25.5 27 28.5]]
f.ptir:5:5: note: [tile.print] instance [1]: 2 x 10 x f32
    [[20 21 22 23 24 25 26 27 28 29]
     [30 31 32 33 34 35 36 37 38 39]]
f.ptir:7:5: note: [tile.print] instance [1]: 2 x 10 x f32
    [[30 31.5 33 34.5 36 37.5 39 40.5 42 43.5]
     [45 46.5 48 49.5 51 52.5 54 55.5 57 58.5]]
TEXT
notes() { sed -n '/note:/,/\]\]$/p' text; }
ends 0 pto-run f.ptir --backend=pto.reference --in x=x.npy --out y=y.npy
notes >got
diff want got || fail
ends 0 pto-run silent.ptir --backend=pto.reference --in x=x.npy --expect y=y.npy --rtol=0 --atol=0

# The instructions of both instances run at once: by the time at which they end.
for machine in ascend-910b.yaml ascend-950.yaml; do
  how="--pipeline=default.yaml --from=bufferize --machine=$machine"
  # shellcheck disable=SC2086
  ends 0 pto-run f.ptir $how --in x=x.npy --expect y=y.npy --rtol=0 --atol=0
  notes >got
  # shellcheck disable=SC2086
  ends 0 pto-run f.ptir $how --in x=x.npy --expect y=y.npy --rtol=0 --atol=0
  notes >again
  diff got again || fail
  sed 's/tile.print/pto.tprint/' want | sort >want.sorted
  sort got | diff want.sorted - || fail
done
ends 0 pto-run f.ptir --pipeline=default.yaml --from=bufferize --set=backend.with.data=none --in x=x.npy
says '^f.ptir:5:5: warning: \[pto.cpu-sim/no-data\] `pto.tprint` does nothing: this run has no elements; the option `data` must be `full`'
fails 5 '^f.ptir:5:5: error: \[pto.emit-c/unsupported\] `tile.print` has no C yet: instances would print in any order: `pto.reference` and `pto.cpu-sim` print tiles' \
  pto-run f.ptir --pipeline=native.yaml --from=bufferize --in x=x.npy
