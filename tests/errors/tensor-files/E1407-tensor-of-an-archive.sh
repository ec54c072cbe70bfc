# An archive without the tensor that is meant: the names that it has are said.
set -e
. "$TEST_ROOT/tests/shell.sh"
negation '$n' >f.ptir
/usr/bin/python3 -c 'import numpy as np; np.savez("a.npz", **{"k%d" % i: np.zeros(1) for i in range(60)}); np.savez("b.npz", x=np.zeros(2, np.float32)); np.savez("c.npz")'
run="pto-run --backend=pto.reference f.ptir"
ends 0 $run --in=x=b.npz
fails 4 '^b.npz:y: error: \[E1407\] the file has no tensor `y`; it has `x`$' $run --in=x=b.npz:y
fails 4 '^a.npz: error: \[E1407\] the file has 60 tensors, and none of them is named; it has `k0`, `k1`, .* and [0-9]* more$' $run --in=x=a.npz
says '^note: write the name after a colon, as FILE.npz:NAME or FILE.safetensors:NAME$'
fails 4 '^c.npz: error: \[E1407\] the file has no tensors$' $run --in=x=c.npz
fails 2 '^missing.npz: error: \[E1501\] cannot open: No such file or directory' $run --in=x=missing.npz:y
