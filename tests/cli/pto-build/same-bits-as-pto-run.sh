# A built function computes the bits that pto-run computes natively: products, vector work, several outputs, and on one
# thread as on two.
set -e
. "$TEST_ROOT/tests/shell.sh"
cat >call.py <<'PYTHON'
import ctypes, sys

import numpy

sys.path.insert(0, sys.argv[1])
from pto_library import tensor_of

library, function, inputs, outputs = ctypes.CDLL(sys.argv[2]), sys.argv[3], sys.argv[4].split(","), sys.argv[5].split(",")
library.op_open.restype = ctypes.c_void_p
library.op_error.restype = ctypes.c_char_p
given = [numpy.load(f"{name}.npy") for name in inputs]
wanted = [numpy.load(f"{name}.npy") for name in outputs]
for threads in (None, 1, 2):
    context = ctypes.c_void_p(library.op_open(threads) if threads else None)
    got = [numpy.zeros_like(w) for w in wanted]
    if getattr(library, function)(context, *(ctypes.byref(tensor_of(a)) for a in given + got)) != 0:
        sys.exit(library.op_error(context).decode() if threads else "without a context it fails")
    library.op_close(context)
    for name, g, w in zip(outputs, got, wanted):
        if g.tobytes() != w.tobytes():
            sys.exit(f"{function}, {threads} threads: {name} has other bits than pto-run computes")
PYTHON
# same EXAMPLE FUNCTION INPUTS OUTPUTS: the data of its case, on one thread as on two.
same() {
  example "$1"
  rm -rf data && mkdir data
  outs=''
  for name in $(echo "$4" | tr ',' ' '); do outs="$outs --out $name=$TEST_TMP/data/$name.npy"; done
  # shellcheck disable=SC2086
  ends 0 pto-run --case "$yaml" --pipeline=native.yaml --data-dir data "$kept_data" $outs
  ends 0 pto-build "$module" -o libop.so
  (cd data && /usr/bin/python3 -B ../call.py "$TEST_ROOT/examples/embed" ../libop.so "$2" "$3" "$4") || fail "$1"
}
same softmax/case op_softmax x y
same gemm/case op_gemm a,b c
same gemm/bf16 op_gemm a,b c
same ffn/case op_ffn x,w1,b1,w2 y
