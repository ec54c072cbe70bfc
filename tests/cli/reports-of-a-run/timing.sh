# --timing: one row for each step, in order, and a total that is the sum; the result is the same.
. "$TEST_ROOT/tests/shell.sh"
. "$TEST_ROOT/tests/cli/reports-of-a-run/inputs/run.sh"
compile --timing -o timed.ptir 2>timing.txt && cmp final.ptir timed.ptir || exit 1
sed -n 's/^ *[0-9.]* *[0-9.]* *[0-9]*  \([a-z0-9-]*\) (pto\.[a-z0-9-]*)$/\1/p' timing.txt | cmp - steps.txt || fail "--timing lists other steps"
awk '$4 ~ /^[a-z0-9-]*$/ && $5 ~ /^\(/ { run += $1; verify += $2; next }
     function differ(a, b) { return a < b - .05 || a > b + .05 }
     $3 == "total" { n++; if (differ($1, run) || differ($2, verify)) { print "sums " run " " verify; bad = 1 } }
     END { exit bad || n != 1 || run <= 0 || verify <= 0 }' timing.txt || fail "--timing: $(cat timing.txt)"
