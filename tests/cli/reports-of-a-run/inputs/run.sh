# What the scripts of this folder share: a run without reports, its steps, and which of them changed the module.
# shellcheck disable=SC2034
module=$TEST_ROOT/examples/softmax/rows.ptir
compile() { pto-opt "$module" --pipeline=default.yaml "$@"; }
steps_of default.yaml >steps.txt
grep -qx tile steps.txt || fail "other steps: $(cat steps.txt)"
compile -o final.ptir || exit 1
compile --stats -o counted.ptir 2>stats.txt && cmp final.ptir counted.ptir || exit 1
awk '/ changes, / { n++; sub(/:/, "", $1); if ($2 > 0) printf "%02d-%s.ptir\n", n, $1 }' stats.txt >changed.txt
{ echo 00-input.ptir; cat changed.txt; } >expected.txt
compile --dump-dir=dump -o dumped.ptir && cmp final.ptir dumped.ptir || exit 1
