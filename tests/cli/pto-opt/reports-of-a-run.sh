# --timing, --stats, --print-after*, --dump-dir, --only and -o report what a run did and where it stopped; none of them
# changes the result.
. "$TEST_ROOT/tests/shell.sh"
module=$TEST_ROOT/examples/softmax/rows.ptir
compile() { pto-opt "$module" --pipeline=default.yaml "$@"; }
steps_of default.yaml >steps.txt
grep -qx tile steps.txt || fail "other steps: $(cat steps.txt)"
compile -o final.ptir || exit 1

# One row for each step, in order, and a total that is the sum.
compile --timing -o timed.ptir 2>timing.txt && cmp final.ptir timed.ptir || exit 1
sed -n 's/^ *[0-9.]* *[0-9.]* *[0-9]*  \([a-z-]*\) (pto\.[a-z-]*)$/\1/p' timing.txt | cmp - steps.txt || fail "--timing lists other steps"
awk '$4 ~ /^[a-z-]*$/ && $5 ~ /^\(/ { run += $1; verify += $2; next }
     function differ(a, b) { return a < b - .05 || a > b + .05 }
     $3 == "total" { n++; if (differ($1, run) || differ($2, verify)) { print "sums " run " " verify; bad = 1 } }
     END { exit bad || n != 1 || run <= 0 || verify <= 0 }' timing.txt || fail "--timing: $(cat timing.txt)"

# Changes and ops of each step, with the pass's own counters below.
compile --stats -o counted.ptir 2>stats.txt && cmp final.ptir counted.ptir || exit 1
sed -n 's/^\([a-z-]*\): [0-9]* changes, [0-9]* ops left$/\1/p' stats.txt | cmp - steps.txt || fail "--stats lists other steps"
ops=$(compile --print-generic | grep -c '"pto_[a-z_]*\.[a-z_0-9]*"(')
grep -A 2 '^decompose-softmax: [1-9]' stats.txt | grep -q '^ *1  decomposed$' || fail "--stats: $(cat stats.txt)"
grep -q "^task-graph: [0-9]* changes, $ops ops left$" stats.txt || fail "--stats: not $ops ops left"

# A dump for the input and for each step that changed something, numbered by step; each is what --until gives.
compile --dump-dir=dump -o dumped.ptir && cmp final.ptir dumped.ptir || exit 1
awk '/ changes, / { n++; sub(/:/, "", $1); if ($2 > 0) printf "%02d-%s.ptir\n", n, $1 }' stats.txt >changed.txt
{ echo 00-input.ptir; cat changed.txt; } >expected.txt
find dump -type f ! -name .pto-files | sed 's|.*/||' | sort | cmp - expected.txt || fail "the dumps are $(ls dump)"
grep -q tile changed.txt || fail "these dumps: $(cat changed.txt)"
while read -r name; do
  step=${name#??-}
  compile --until="${step%.ptir}" -o until.ptir && cmp "dump/$name" until.ptir || exit 1
done <changed.txt
pto-opt "$module" | cmp - dump/00-input.ptir || exit 1
cmp "dump/$(tail -n 1 changed.txt)" final.ptir || exit 1

# What is printed goes to stderr, headed by the step.
compile --print-after-all -o printed.ptir 2>all.txt && cmp final.ptir printed.ptir || exit 1
sed -n 's|^// after step ||p' all.txt | cmp - steps.txt || fail "--print-after-all prints other steps"
compile --print-after-change -o printed.ptir 2>change.txt && cmp final.ptir printed.ptir || exit 1
sed -n 's|^// after step ||p' change.txt >some.txt
sed 's/^..-//; s/\.ptir$//' changed.txt | cmp - some.txt || fail "--print-after-change prints $(cat some.txt)"
compile --print-after=fuse -o printed.ptir 2>one.txt && cmp final.ptir printed.ptir || exit 1
{ echo '// after step fuse'; cat dump/??-fuse.ptir; } | cmp - one.txt || fail "--print-after=fuse"

# One step alone, from what the steps before it left; without that it is refused.
compile --until=canonicalize-expanded -o before.ptir || exit 1
pto-opt before.ptir --pipeline=default.yaml --only=fuse >only.ptir 2>only.txt || fail "--only=fuse: $(cat only.txt)"
cmp only.ptir dump/??-fuse.ptir || exit 1
compile --only=tile >only.ptir 2>only.txt
[ $? -eq 2 ] && [ ! -s only.ptir ] && grep -q '\[E1707\] the module does not have property pto.no-softmax' only.txt ||
  fail "--only=tile: $(cat only.txt)"

# A run that fails leaves the output as it was, and dumps what was reached.
cp "$module" kept.ptir
pto-opt "$module" --pipeline=default.yaml --set=tile.with.strategy=pto.tiling-manual --dump-dir=reached --timing -o kept.ptir 2>failed.txt
[ $? -eq 5 ] && cmp "$module" kept.ptir || fail "-o was written by a run that failed: $(cat failed.txt)"
grep -q "in step 'tile'" failed.txt || fail "the step is not named: $(cat failed.txt)"
[ -f "$(echo reached/??-fuse.ptir)" ] || fail "the dumps before the failure are missing"
[ "$(find reached -name '*.ptir' | wc -l)" = "$(sed '/-fuse/q' expected.txt | wc -l)" ] || fail "other dumps than before the failure: $(ls reached)"
pto-opt "$module" --pipeline=default.yaml --set=tile.with.strategy=pto.tiling-manual -o absent.ptir 2>/dev/null
[ ! -e absent.ptir ] || fail "-o was made by a run that failed"
