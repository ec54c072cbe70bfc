# Facts are kept; extents that cannot be small, and facts that cannot be met, are said.
. "$TEST_ROOT/tests/shell.sh"
. "$TEST_ROOT/tests/cli/check-semantics/inputs/liar.sh"
sed 's/^\(func.*\) {$/\1 where ($N mod 16 == 0, $N >= 100) {/' f.ptir >facts.ptir
checked 6 facts.ptir scales
says 'random inputs, seed 1, \$N = 128$'
sed 's/8 x f32/4000001 x f32/g; s/\$N/9/g' f.ptir >large.ptir
checked 2 large.ptir scales
says '^large.ptir:1:1: error: \[E1903\] @f is too large to be run after every step: its parameters and results have 72000018 elements, the limit is 16777216'
says "note: give the symbols with --sym NAME=N, or inputs of your own with pto-run --check=semantics"
sed 's/^\(func.*\) {$/\1 where ($N mod 100003 == 1, $N >= 2) {/' f.ptir >never.ptir
checked 2 never.ptir scales
says 'error: \[E1903\] no small values were found for the symbols of @f that its facts allow'
