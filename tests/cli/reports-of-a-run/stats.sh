# --stats: changes and ops of each step, with the counters of the pass below them; the result is the same.
. "$TEST_ROOT/tests/shell.sh"
. "$TEST_ROOT/tests/cli/reports-of-a-run/inputs/run.sh"
sed -n 's/^\([a-z0-9-]*\): [0-9]* changes, [0-9]* ops left$/\1/p' stats.txt | cmp - steps.txt || fail "--stats lists other steps"
ops=$(compile --print-generic | grep -c '"pto_[a-z_]*\.[a-z_0-9]*"(')
grep -A 2 '^decompose-softmax: [1-9]' stats.txt | grep -q '^ *1  decomposed$' || fail "--stats: $(cat stats.txt)"
grep -q "^task-graph: [0-9]* changes, $ops ops left$" stats.txt || fail "--stats: not $ops ops left"
