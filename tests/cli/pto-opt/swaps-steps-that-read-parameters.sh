# A parameter whose readers went with what a later file or the command line took away is nobody's mistake; one that is
# set where nothing reads it is, in the file that sets it and on the command line.
. "$TEST_ROOT/tests/shell.sh"
m=$TEST_ROOT/examples/softmax/softmax.ptir
native='pto-opt --pipeline=native.yaml --machine=cpu-avx2'

# native.yaml sets `vec-bytes` for the strategy of its own.
for swap in .use=pto.tiling-heuristic =pto.tiling-native \
  '.with.others={ use: pto.tiling-manual, with: { rows: 8 } }' '={ use: pto.tiling-heuristic, with: { vec-bytes: 8KiB } }'; do
  ends 0 $native "$m" "--set=tile.with.strategy$swap" -o swapped.c
  [ ! -s text ] && [ -s swapped.c ] || fail "$swap"
done
ends 0 $native --set=tile.with.strategy.with.others.use=pto.tiling-manual --print-pipeline
ends 0 $native --remove=tile --print-pipeline

# What is wrong with an edit is what is said.
fails 2 'error: \[E1110\] unknown option of tiling strategy `pto.tiling-native`: `nope`' \
  $native '--set=tile.with.strategy={ use: pto.tiling-native, with: { nope: 1 } }'
! grep -q E1105 text || fail
fails 3 'error: \[E1307\] no plugin provides tiling `pto.nope`' $native --set=tile.with.strategy.with.others=pto.nope
! grep -q E1105 text || fail

# pipeline FILE PARENT EDIT..
pipeline() {
  file=$1
  { printf 'pto-pipeline: 1\nextends: %s\nedit:\n' "$2"; shift 2; printf '  - { %s }\n' "$@"; } >"$file"
}
pipeline own.yaml default.yaml 'set: params.vec-bytes, to: 8KiB'
pipeline without.yaml own.yaml 'set: tile.with.strategy, to: pto.tiling-manual'
pipeline late.yaml without.yaml 'set: params.vec-bytes, to: 4KiB'
pipeline again.yaml late.yaml 'set: tile.with.strategy, to: { use: pto.tiling-heuristic, with: { vec-bytes: $params.vec-bytes } }'
says='error: \[E1105\] parameter `vec-bytes` is set, but no option refers to it: write `$params.vec-bytes` below a `with`$'
ends 0 pto-opt --pipeline=without.yaml --explain
fails 2 "^late.yaml:4:12: $says" pto-opt --pipeline=late.yaml --explain
fails 2 "^late.yaml:4:12: $says" pto-opt --pipeline=late.yaml --remove=fuse --explain
ends 0 pto-opt --pipeline=again.yaml --explain
ends 0 pto-opt --pipeline=own.yaml --set=tile.with.strategy.use=pto.tiling-manual --explain
fails 2 "^<command line>:1:1: $says" pto-opt --pipeline=own.yaml --set=params.vec-bytes=4KiB --set=tile.with.strategy.use=pto.tiling-manual --explain
