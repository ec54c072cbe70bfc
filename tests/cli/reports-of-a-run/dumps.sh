# --dump-dir: a dump for the input and for each step that changed something, numbered by step; each is what --until
# leaves.
. "$TEST_ROOT/tests/shell.sh"
. "$TEST_ROOT/tests/cli/reports-of-a-run/inputs/run.sh"
find dump -type f ! -name .pto-files | sed 's|.*/||' | sort | cmp - expected.txt || fail "the dumps are $(ls dump)"
grep -q tile changed.txt || fail "these dumps: $(cat changed.txt)"
while read -r name; do
  step=${name#??-}
  compile --until="${step%.ptir}" -o until.ptir && cmp "dump/$name" until.ptir || exit 1
done <changed.txt
pto-opt "$module" | cmp - dump/00-input.ptir || exit 1
cmp "dump/$(tail -n 1 changed.txt)" final.ptir || exit 1
