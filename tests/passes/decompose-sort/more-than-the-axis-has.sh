# topk of more elements than the axis has is refused by all backends and by a built library, also where there are no
# rows to take them from.
. "$TEST_ROOT/tests/shell.sh"
export XDG_CACHE_HOME="$PWD"
cat >f.ptir <<'END'
func @f(%x: tensor<$B x $N x f32>) -> (tensor<$B x 16 x f32>, tensor<$B x 16 x i32>) {
  %v, %i = tensor.topk %x {axis = 1, k = 16} : tensor<$B x 16 x f32>, tensor<$B x 16 x i32>
  return %v, %i
}
END
for rows in 0 1; do
  for pipeline in native.yaml default.yaml; do
    fails 4 'f.ptir:1:1: error: \[E1606\] the fact `$N >= 16` does not hold: left side 8, right side 16; $N is 8 by --sym \[@f\]$' \
      pto-run f.ptir --pipeline=$pipeline --random-inputs=1 --sym=B=$rows --sym=N=8
    ends 0 pto-run f.ptir --pipeline=$pipeline --random-inputs=1 --sym=B=$rows --sym=N=16
  done
  fails 5 'f.ptir:2:12: error: \[pto.reference/unsupported\] 16 elements of an axis that has 8' \
    pto-run f.ptir --pipeline=reference.yaml --random-inputs=1 --sym=B=$rows --sym=N=8
done
is_sanitized || {
  ends 0 pto-build f.ptir -o libop.so
  ends 0 /usr/bin/python3 -B -c '
import ctypes, sys
import numpy
sys.path.insert(0, sys.argv[1])
from pto_library import tensor_of
library = ctypes.CDLL("./libop.so")
library.op_open.restype = library.op_error.restype = ctypes.c_void_p
context = ctypes.c_void_p(library.op_open(1))
tensors = [numpy.empty((0, n), t) for n, t in ((8, "f4"), (16, "f4"), (16, "i4"))]
result = library.op_f(context, *(ctypes.byref(tensor_of(t)) for t in tensors))
print(result, ctypes.string_at(library.op_error(context)).decode())' "$TEST_ROOT/examples/embed"
  says_line '1 the fact `$N >= 16` does not hold' out
}
