# Results have the same bits for any number of threads, and what asks for threads is heeded or refused.
. "$TEST_ROOT/tests/shell.sh"
cat >f.ptir <<'END'
func @f(%x: tensor<300 x 257 x f32>, %w: tensor<257 x 64 x f32>) -> tensor<300 x 64 x f32> {
  %m = tensor.reduce_max %x {axis = 1} : tensor<300 x 1 x f32>
  %d = tensor.sub %x, %m : tensor<300 x 257 x f32>
  %e = tensor.exp %d : tensor<300 x 257 x f32>
  %y = tensor.matmul %e, %w : tensor<300 x 64 x f32>
  return %y
}
END
for threads in 1 2 7; do
  ends 0 pto-run f.ptir --pipeline=native.yaml --random-inputs=1 --set=backend.with.threads=$threads --repeat=20 --out=y=$threads.npy
  cmp -s 1.npy $threads.npy || complain "$threads threads compute other bits"
done
for threads in 1 3; do
  ends 0 env OMP_NUM_THREADS=$threads pto-run f.ptir --pipeline=native.yaml --random-inputs=1 --out=y=openmp.npy
  cmp -s 1.npy openmp.npy || complain "OMP_NUM_THREADS=$threads computes other bits"
done
ends 0 taskset -c "$(taskset -cp $$ | sed 's/.*[:,-] *//')" pto-run f.ptir --pipeline=native.yaml --random-inputs=1 --out=y=pinned.npy
cmp -s 1.npy pinned.npy || complain 'one CPU computes other bits'

fails 5 'f.ptir:1:1: error: \[pto.native/threads\] OMP_NUM_THREADS is `many`, expected a number of threads from 1 on' \
  env OMP_NUM_THREADS=many pto-run f.ptir --pipeline=native.yaml --random-inputs=1
ends 0 env OMP_NUM_THREADS=many pto-run f.ptir --pipeline=native.yaml --random-inputs=1 --set=backend.with.threads=2
fails 2 'option `threads` of backend `pto.native` is 257; the maximum is 256' \
  pto-run f.ptir --pipeline=native.yaml --random-inputs=1 --set=backend.with.threads=257

# A workspace that no system has.
cat >huge.ptir <<'END'
block.kernel @k core(any) grid(%c: 1) reads(%x) writes(%w, %y) (%x: gm<1 x 8 x f32>, out %w: gm<33554432 x 33554432 x f32>, out %y: gm<1 x 8 x f32>) {
  %t = tile.load %x[0, 0] size(1, 8) : tile<1 x 8 x f32, vec, nd>
  tile.store %t, %w[0, 0]
  tile.store %t, %y[0, 0]
}
func @f(%x: gm<1 x 8 x f32>, out %y: gm<1 x 8 x f32>) {
  %w = block.workspace : gm<33554432 x 33554432 x f32>
  block.launch @k args(%x, %w, %y)
  return
}
END
fails 5 'huge.ptir:.*: error: \[pto.native/fault\] `block.workspace` needs more memory than there is: a workspace of 4503599627370496 bytes is needed beside 0 bytes, the limit is [0-9]* bytes' \
  pto-run huge.ptir --pipeline=native.yaml --from=native-bind --random-inputs=1
