# Symbols and the seed are taken from the command line; options that make no sense are refused.
. "$TEST_ROOT/tests/shell.sh"
. "$TEST_ROOT/tests/cli/check-semantics/inputs/liar.sh"
checked 6 f.ptir scales --sym N=3 --random-inputs 7
says 'random inputs, seed 7, \$N = 3$'
checked 2 f.ptir scales --sym M=3
says 'error: \[E1608\] no public function has a symbol \$M that --sym could give'
checked 2 f.ptir scales --sym M
says 'error: \[E1503\] option `--sym` needs NAME=VALUE, not `M`'
ends 2 pto-opt f.ptir --passes=pto.canonicalize --sym N=3
says 'error: \[E1504\] option `--sym` has no effect without --check'
ends 2 pto-opt f.ptir --passes=pto.canonicalize --check=numbers
says 'error: \[E1503\] option `--check` needs semantics, not `numbers`'
ends 2 pto-opt f.ptir --check=semantics
says 'error: \[E1504\] option `--check` has no effect without --pipeline or --passes'
