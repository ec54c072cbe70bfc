# A library that pto-build makes packs weights by the function for constants, and libpto by itself, after each change of
# the weights: both compute what numpy computes in float64.
. "$TEST_ROOT/tests/shell.sh"
export XDG_CACHE_HOME="$PWD"
cat >f.ptir <<'END'
func @f(%x: tensor<6 x 40 x f32>, const %w: tensor<40 x 56 x f32>) -> tensor<6 x 56 x f32> {
  %y = tensor.matmul %x, %w : tensor<6 x 56 x f32>
  return %y
}
END
cat >call.py <<'END'
import ctypes
import re
import sys

import numpy

sys.path.insert(0, sys.argv[1])
from pto_library import Library, tensor_of

random = numpy.random.default_rng(5)
x = random.standard_normal((6, 40)).astype(numpy.float32)
weights = [random.standard_normal((40, 56)).astype(numpy.float32) for i in range(3)]


def check(y, w, what):
    bound = 42 * 2.0**-24 * (abs(x).astype(float) @ abs(w))
    if not (abs(y - x.astype(float) @ w) <= bound).all():
        sys.exit(f"{what} computes something else")


# The header says how many panels of how many columns the kernels of this CPU read.
shape = [int(n) for n in re.search(r"w_panels  out: +(\d+) x (\d+) x (\d+) x f32", open("op.h").read()).groups()]
built = ctypes.CDLL("./libop.so")
built.op_open.restype = ctypes.c_void_p
for threads in (1, 2):
    context = ctypes.c_void_p(built.op_open(threads))
    for w in weights:
        panels, y = numpy.full(shape, numpy.nan, numpy.float32), numpy.zeros((6, 56), numpy.float32)
        pointers = [ctypes.byref(tensor_of(a)) for a in (x, w, panels, y)]
        if built.op_f_init(context, pointers[1], pointers[2]) != 0 or built.op_f(context, *pointers) != 0:
            sys.exit("a call failed")
        check(y, w, f"the library on {threads} threads")
    built.op_close(context)

function = Library(sys.argv[2]).compile("f.ptir", "packs.yaml") if len(sys.argv) > 2 else None
for w in weights if function else ():
    function.set_constant("w", w)
    for again in range(2):
        check(function(x)[0], w, "libpto")
print("same")
END
printf 'pto-pipeline: 1\nname: packs\nextends: native.yaml\nedit:\n  - { set: native-layout.with.gain, to: 0.1 }\n' >packs.yaml
ends 0 pto-build f.ptir --pipeline=packs.yaml -o libop.so --header op.h
says 'int op_f_init(op_context \*context, const DLTensor \*w, const DLTensor \*w_panels);' op.h
# A Python without sanitizers cannot load a library with them.
library=$TEST_BUILD/lib/libpto.so
is_sanitized && library=
ends 0 /usr/bin/python3 -B call.py "$TEST_ROOT/examples/embed" ${library:+"$library"}
says_line same out
