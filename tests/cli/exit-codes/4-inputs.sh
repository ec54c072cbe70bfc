# 4: modules and tensors that are malformed, missing or do not fit.
. "$TEST_ROOT/tests/shell.sh"
. "$TEST_ROOT/tests/cli/exit-codes/inputs/files.sh"
wants 4 pto-opt syntax.ptir
wants 4 pto-opt type.ptir
wants 4 pto-opt x.npy
wants 4 $run --in x=short.npy
wants 4 $run --in x=good.ptir
wants 4 $run --in x=d.npy
wants 4 $run --in x=three.npy
wants 4 $run
wants 4 $run --in x=x.npy --in y=x.npy
wants 4 $run --in x=x.npy --expect a=short.npy
wants 4 $run --in x=x.npy --expect a=three.npy
wants 4 $run --in x=x.npy --expect a=bits.npy
wants 4 $run --in x=x.npy --expect nothing=y.npy
wants 4 $run --in x=x.npy --entry=g
