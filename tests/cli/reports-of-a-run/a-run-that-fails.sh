# A run that fails leaves the output as it was, and dumps what was reached.
. "$TEST_ROOT/tests/shell.sh"
. "$TEST_ROOT/tests/cli/reports-of-a-run/inputs/run.sh"
cp "$module" kept.ptir
pto-opt "$module" --pipeline=default.yaml --set=tile.with.strategy=pto.tiling-manual --dump-dir=reached --timing -o kept.ptir 2>failed.txt
[ $? -eq 5 ] && cmp "$module" kept.ptir || fail "-o was written by a run that failed: $(cat failed.txt)"
grep -q "in step \`tile\`" failed.txt || fail "the step is not named: $(cat failed.txt)"
[ -f "$(echo reached/??-fuse.ptir)" ] || fail "the dumps before the failure are missing"
[ "$(find reached -name '*.ptir' | wc -l)" = "$(sed '/-fuse/q' expected.txt | wc -l)" ] || fail "other dumps than before the failure: $(ls reached)"
pto-opt "$module" --pipeline=default.yaml --set=tile.with.strategy=pto.tiling-manual -o absent.ptir 2>/dev/null
[ ! -e absent.ptir ] || fail "-o was made by a run that failed"
