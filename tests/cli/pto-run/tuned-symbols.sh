# A program that leaves a block size open has the same answer for each of its values, on every way to fix it.
. "$TEST_ROOT/tests/shell.sh"
cat >m.ptir <<'END'
func @scale(%x: tensor<$B x 40 x f32>) -> tensor<$B x 40 x f32> where ($B >= 1) {
  tune $KB in [64, 500] step 64
  %s = tensor.index_cast from($KB) : tensor<f32>
  %one = tensor.constant {value = 1.0} : tensor<$B x $KB x f32>
  %sum = tensor.reduce_sum %one {axis = 1} : tensor<$B x 1 x f32>
  %a = tensor.mul %x, %s : tensor<$B x 40 x f32>
  %y = tensor.add %a, %sum : tensor<$B x 40 x f32>
  return %y
}
END
/usr/bin/python3 -c "
import numpy
x = numpy.arange(80, dtype=numpy.float32).reshape(2, 40)
numpy.save('x.npy', x)
for n in (128, 448):
    numpy.save('y%d.npy' % n, n * x + n)"
run() { pto-run m.ptir --in x=x.npy "$@" >text 2>&1 && grep -q '^y: ok' text || fail; }
run --backend=pto.reference --sym KB=128 --expect y=y128.npy
run --backend=pto.reference --sym KB=448 --expect y=y448.npy
run --sym KB=128 --expect y=y128.npy
run --expect y=y448.npy
run --set tile.with.symbols=KB=128 --expect y=y128.npy
run --pipeline=reference.yaml --sym KB=128 --expect y=y128.npy
# The wrong one is not an answer.
exits 1 pto-run m.ptir --in x=x.npy --sym KB=192 --expect y=y128.npy >text 2>&1 || fail

# Written in tiles: offsets, sizes and trip counts may be open, and are fixed before the first step.
cat >tiles.ptir <<'END'
func @double(%x: tensor<$B x 1000 x f32>) -> tensor<$B x 1000 x f32> where ($B >= 1) {
  tune $KB in [64, 512] step 64
  %e = tile.empty : tensor<$B x 1000 x f32>
  %y = forall "n" (%i, %j) to ($B, ceildiv(1000, $KB)) out(%o = %e) {
    %t = tile.load %x[%i, $KB * %j] size(1, min($KB, 1000 - $KB * %j)) : tile<1 x 512 x f32, ?>
    %u = tile.add %t, %t : tile<1 x 512 x f32, ?>
    tile.store %u, %o[%i, $KB * %j]
  } : tensor<$B x 1000 x f32>
  return %y
}
END
/usr/bin/python3 -c "
import numpy
x = numpy.arange(3000, dtype=numpy.float32).reshape(3, 1000)
numpy.save('x.npy', x)
numpy.save('y.npy', 2 * x)"
for size in 64 192 512; do
  pto-run tiles.ptir --pipeline=default.yaml --from=bufferize --sym KB=$size --in x=x.npy --expect y=y.npy >text 2>&1 &&
    grep -q '^y: ok' text || fail
done
fails 5 'tiles.ptir:2:3: error: \[pto.outline/open-symbol\]' pto-run tiles.ptir --pipeline=default.yaml --from=bufferize --in x=x.npy
