# --print-after*: what is printed goes to stderr, after a line that names the step.
. "$TEST_ROOT/tests/shell.sh"
. "$TEST_ROOT/tests/cli/reports-of-a-run/inputs/run.sh"
compile --print-after-all -o printed.ptir 2>all.txt && cmp final.ptir printed.ptir || exit 1
sed -n 's|^// after step ||p' all.txt | cmp - steps.txt || fail "--print-after-all prints other steps"
compile --print-after-change -o printed.ptir 2>change.txt && cmp final.ptir printed.ptir || exit 1
sed -n 's|^// after step ||p' change.txt >some.txt
sed 's/^..-//; s/\.ptir$//' changed.txt | cmp - some.txt || fail "--print-after-change prints $(cat some.txt)"
compile --print-after=fuse -o printed.ptir 2>one.txt && cmp final.ptir printed.ptir || exit 1
{ echo '// after step fuse'; cat dump/??-fuse.ptir; } | cmp - one.txt || fail "--print-after=fuse"
