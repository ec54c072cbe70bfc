# A tensor without elements overlaps nothing, wherever its pointer leads: neither by libpto nor in a built library.
set -e
. "$TEST_ROOT/tests/shell.sh"
! is_sanitized || exit 0 # Python does not have the library's sanitizer
cat >f.ptir <<'END'
func @split(%x: tensor<$N x 8 x f32>, %z: tensor<4 x 8 x f32>) -> (tensor<$N x 8 x f32>, tensor<4 x 8 x f32>) {
  %a = tensor.neg %x : tensor<$N x 8 x f32>
  %b = tensor.neg %z : tensor<4 x 8 x f32>
  return %a, %b
}
END
cat >call.py <<'END'
import ctypes, sys

import numpy

sys.path.insert(0, sys.argv[1])
import pto_library

own = pto_library.tensor_of

# Of an array without elements, numpy's `ctypes` has another address.
def address(array):
    return array.__array_interface__["data"][0]

def tensor_of(array):
    t = own(array)
    t.data = address(array)
    return t

pto_library.tensor_of = tensor_of

def begin():
    memory = numpy.arange(128, dtype=numpy.float32).reshape(16, 8)
    x, a = (numpy.ndarray((0, 8), memory.dtype, memory, row * memory.strides[0]) for row in (9, 1))
    arrays = x, z, a, b = x, memory[:4], a, memory[8:12]
    assert address(b) < address(x) < address(b) + b.nbytes and address(z) < address(a) < address(z) + z.nbytes
    return arrays

def end(z, b, who):
    assert (b == -z).all(), who

for pipeline in "reference.yaml", "default.yaml", "native.yaml":
    x, z, a, b = begin()
    outputs = [a, b]
    pto_library.Library(sys.argv[2]).compile("f.ptir", pipeline)(x, z, new=lambda extents, dtype: outputs.pop(0))
    end(z, b, pipeline)

library = ctypes.CDLL("./libop.so")
library.op_error.restype = ctypes.c_char_p
arrays = x, z, a, b = begin()
assert library.op_split(None, *(ctypes.byref(tensor_of(t)) for t in arrays)) == 0, "the built library"
end(z, b, "the built library")
END
export XDG_CACHE_HOME="$TEST_TMP"
ends 0 pto-build f.ptir -o libop.so
ends 0 /usr/bin/python3 -B call.py "$TEST_ROOT/examples/embed" "$TEST_BUILD/lib/libpto.so"
