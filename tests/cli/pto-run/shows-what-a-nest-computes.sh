# Nests have no debug ops; a workspace shows what one computes, the same on every backend.
set -e
. "$TEST_ROOT/tests/shell.sh"
cat >f.ptir <<'MODULE'
func @f(%x: gm<64 x 2 x f32>, out %y: gm<64 x 2 x f32>) {
  %w = tile.workspace : gm<64 x 2 x f32>
  forall "n" (%i) to (4) {
    %t = tile.load %x[16 * %i, 0] size(16, 2) : tile<16 x 2 x f32, ?>
    %e = tile.neg %t : tile<16 x 2 x f32, ?>
    tile.store %e, %w[16 * %i, 0]
    tile.store %t, %y[16 * %i, 0]
  }
  debug.print %w
  return
}
MODULE
for how in "reference.yaml" "default.yaml --from=bufferize" "native.yaml --from=bufferize"; do
  # shellcheck disable=SC2086
  XDG_CACHE_HOME=$TEST_TMP ends 0 pto-run f.ptir --pipeline=$how --random-inputs=1
  says '^f.ptir:9:3: note: \[debug.print\] 64 x 2 x f32$'
  says '^    \[\[-0.13312314 -0.49156353\]$'
done
sed 's/tile.store %e, %w.*/debug.print %w/' f.ptir >g.ptir
fails 4 '^g.ptir:6:5: error: \[E0318\] `debug.print` is inside `forall`; it looks at tensors, memory and scalars of a function$' pto-opt g.ptir
