# --progress says each step as it starts, also one that fails.
. "$TEST_ROOT/tests/shell.sh"
softmax=$TEST_ROOT/examples/softmax/softmax.ptir
inputs=$TEST_ROOT/tests/cli/pto-opt/inputs
ends 0 pto-opt "$softmax" --pipeline="$inputs/to-tiles.yaml" --until fuse --progress -o out.ptir
cat >wanted <<'END'
step 1 of 7: canonicalize (pto.canonicalize)
step 2 of 7: decompose-softmax (pto.decompose-softmax)
step 3 of 7: decompose-rms-norm (pto.decompose-rms-norm)
step 4 of 7: legalize-types (pto.legalize-types)
step 5 of 7: expand-math (pto.expand-math)
step 6 of 7: again (pto.canonicalize)
step 7 of 7: fuse (pto.fuse)
END
cmp text wanted || fail progress
ends 5 pto-opt "$softmax" "--plugin=$TEST_PLUGINS/liar-silent.so" --passes=pto.canonicalize,test.liar-silent --progress
[ "$(sed -n 2p text)" = "step 2 of 2: liar-silent (test.liar-silent)" ] || fail "before the error"
