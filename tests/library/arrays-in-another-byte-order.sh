# numpy has arrays whose elements are in the byte order of other machines, which DLPack has no type for: pto_library.py
# refuses them, inputs and constants, and says how to convert them.
set -e
. "$TEST_ROOT/tests/shell.sh"
! is_sanitized || exit 0 # Python does not have the library's sanitizer
cat >f.ptir <<'END'
func @add(%x: tensor<4 x f32>, const %w: tensor<4 x f32>) -> tensor<4 x f32> {
  %y = tensor.add %x, %w : tensor<4 x f32>
  return %y
}
END
cat >call.py <<'END'
import sys

import numpy

sys.path.insert(0, sys.argv[1])
from pto_library import Library

add = Library(sys.argv[2]).compile("f.ptir", "reference.yaml")
x = numpy.arange(4, dtype=numpy.float32)
other = x.astype(x.dtype.newbyteorder("S"))
wanted = f"elements of type {other.dtype.str} are in the byte order of another machine; a.astype(a.dtype.newbyteorder('=')) has them in that of this one"
for attempt in (lambda: add.set_constant("w", other), lambda: add.set_constant("w", x) or add(other)):
    try:
        attempt()
    except TypeError as e:
        assert str(e) == wanted, e
    else:
        sys.exit("it was taken")
y, = add(eval(wanted.split("; ")[1].split(" has")[0], {"a": other}))
assert (y == 2 * x).all(), y
END
ends 0 /usr/bin/python3 -B call.py "$TEST_ROOT/examples/embed" "$TEST_BUILD/lib/libpto.so"
