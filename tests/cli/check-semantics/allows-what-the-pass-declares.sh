# One unit in the last place of f32: not for a pass that is exact, except for one that may change the order of sums.
. "$TEST_ROOT/tests/shell.sh"
. "$TEST_ROOT/tests/cli/check-semantics/inputs/liar.sh"
checked 6 f.ptir scales --set the-liar.with.factor=1.00000011920928955078125
says "error: \[E1901\] step"
checked 0 f.ptir reassociates --set the-liar.with.factor=1.00000011920928955078125
says '^semantics: steps that changed the module and not the numbers: 2, bit for bit: 1; largest error [01][0-9.]* of its limit, after `the-liar`$'
says '^semantics: @f on random inputs, \$N = 37$'
checked 6 f.ptir reassociates --set the-liar.with.factor=1.0000152587890625
says "the pass declares that it may change the order of sums"
says "error [0-9.e-]*, limit [1-9][0-9.]*e-0[67]$"
