# What no tensor holds, such as complex numbers or Python's objects: pto_library.py names the type.
set -e
. "$TEST_ROOT/tests/shell.sh"
! is_sanitized || exit 0 # Python does not have the library's sanitizer
cat >f.ptir <<'END'
func @neg(%x: tensor<$N x f32>) -> tensor<$N x f32> {
  %y = tensor.neg %x : tensor<$N x f32>
  return %y
}
END
cat >call.py <<'END'
import sys

import numpy

sys.path.insert(0, sys.argv[1])
from pto_library import Library

neg = Library(sys.argv[2]).compile("f.ptir", "reference.yaml")
for array in numpy.zeros(4, complex), numpy.array([None]), numpy.array(["x"]):
    try:
        neg(array)
    except TypeError as e:
        print(e)
END
ends 0 /usr/bin/python3 -B call.py "$TEST_ROOT/examples/embed" "$TEST_BUILD/lib/libpto.so"
says_line 'tensors have no elements of type complex128' out
says_line 'tensors have no elements of type object' out
says_line 'tensors have no elements of type <U1' out
