# 0: it worked, and nothing is said. 1: an output differs; no tolerance is exact.
. "$TEST_ROOT/tests/shell.sh"
. "$TEST_ROOT/tests/cli/exit-codes/inputs/files.sh"
wants 0 pto-opt good.ptir
wants 0 pto-opt good.ptir --pipeline=p.yaml
wants 0 $run --in x=x.npy --expect a=y.npy
wants 0 $run --in x=x.npy --expect a=z.npy --rtol 1e-6
wants 0 pto-inspect errors

# 1: no tolerance is exact.
wants 1 $run --in x=x.npy --expect a=z.npy
wants 1 $run --in x=x.npy --expect a=x.npy
