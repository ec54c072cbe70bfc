# What is fused: an op that is pinned apart begins a group of its own, which its readers may join.
. "$TEST_ROOT/tests/shell.sh"
. "$TEST_ROOT/tests/cli/schedule/inputs/pins.sh"
pin @softmax/e fuse apart
ends 0 $compile "$softmax" --schedule=p.yaml --emit-schedule=f.yaml --until fuse
[ "$(grep -c tensor.group out)" = 2 ] && grep -A4 'tensor.group "softmax_1"' out | grep -q 'tensor.exp' || fail "fuse"
grep -A3 'at: "@softmax/e"' f.yaml | grep -q 'value: apart' || fail "fuse: $(cat f.yaml)"
grep -A3 'at: "@softmax/y"' f.yaml | grep -q 'value: joined' || fail "what is joined has no entry: $(cat f.yaml)"
pin @softmax/e fuse joined
ends 0 $compile "$softmax" --schedule=p.yaml --until fuse -o joined.ptir
ends 0 $compile "$softmax" --until fuse -o free.ptir
cmp -s joined.ptir free.ptir || fail "an op that is joined anyway was pinned so, and something changed"
# The two of them fit into a group of two; what feeds them stays out.
ends 0 $compile "$softmax" --schedule=p.yaml --set fuse.with.max-ops=2 --until fuse
[ "$(grep -A3 'tensor.group' out | grep -B1 'tensor.exp' | grep -c tensor.sub)" = 1 ] || fail "fuse"
ends 2 $compile "$softmax" --schedule=p.yaml --set fuse.with.max-ops=1
says 'error: \[pto.fuse/cannot-join\] `tensor.exp` cannot be in one group with what feeds it: the group would have more ops than `max-ops`'
says 'p.yaml:3:5: note: the schedule pins it here'
ends 0 $compile "$softmax" --set fuse.with.max-ops=2 --explain=schedule
grep -q '^@softmax/e  *fuse  *apart  *pto.fuse  *the group would have more ops than `max-ops`$' out || fail "fuse"
