# A library keeps what it makes of constants for calls that have the same, as a program says by a version; each address
# and each shape is a constant of its own, and without a version nothing stays.
. "$TEST_ROOT/tests/shell.sh"
export XDG_CACHE_HOME="$PWD"
cat >f.ptir <<'END'
func @f(%x: tensor<$M x 270 x i8>, const %w: tensor<270 x 300 x i8>) -> tensor<$M x 300 x i32> {
  %y = tensor.matmul %x, %w {out = i32} : tensor<$M x 300 x i32>
  return %y
}
END
ends 0 pto-build f.ptir --pipeline=native.yaml -o libop.so --header op.h
says '^void op_constants(op_context \*context, uint64_t version);$' op.h
says '^ \*   w  const: 270 x 300 x i8$' op.h
nm -D --defined-only libop.so | sed 's/.* //' | sort >names
printf '%s\n' op_close op_constants op_error op_f op_open | cmp - names || fail 'it exports something else'
cat >call.py <<'END'
import ctypes
import sys

import numpy

sys.path.insert(0, sys.argv[1])
from pto_library import tensor_of

random = numpy.random.default_rng(3)
library = ctypes.CDLL("./libop.so")
library.op_open.restype = ctypes.c_void_p
library.op_constants.argtypes = [ctypes.c_void_p, ctypes.c_uint64]


def numbers(*shape):
    return random.integers(-128, 128, shape, "i1")


def run(context, x, w):
    y = numpy.zeros((len(x), w.shape[1]), "i4")
    if library.op_f(context, *(ctypes.byref(tensor_of(a)) for a in (x, w, y))) != 0:
        sys.exit("a call failed")
    return y


def check(is_right, what):
    if not is_right:
        sys.exit(what)


def exact(x, w):
    return x.astype("i4") @ w.astype("i4")


for threads in (1, 2):
    for rows in (1300, 40):
        context = ctypes.c_void_p(library.op_open(threads))
        x, w, other = numbers(rows, 270), numbers(270, 300), numbers(270, 300)
        first = exact(x, w)
        check((run(context, x, w) == first).all(), "the first call is wrong")
        w[:] = numbers(270, 300)
        check((run(context, x, w) == exact(x, w)).all(), "without a version something stays")
        library.op_constants(context, 1)
        kept = exact(x, w)
        for again in range(2):
            check((run(context, x, w) == kept).all(), "a constant is wrong")
            check((run(context, x, other) == exact(x, other)).all(), "another constant is wrong")
        library.op_constants(context, 1)
        w[:] = numbers(270, 300)
        check((run(context, x, w) == kept).all(), "what was packed does not stay")
        library.op_constants(context, 2)
        check((run(context, x, w) == exact(x, w)).all(), "another version is wrong")
        library.op_constants(context, 0)
        w[:] = numbers(270, 300)
        check((run(context, x, w) == exact(x, w)).all(), "after the last version something stays")
        library.op_close(context)
library.op_constants(None, 1)
check((run(None, x, w) == exact(x, w)).all(), "without a context it is wrong")
# The same memory as a matrix of another shape, whose panels take as many bytes.
views = ctypes.CDLL("./libviews.so")
views.views_open.restype = ctypes.c_void_p
views.views_constants.argtypes = [ctypes.c_void_p, ctypes.c_uint64]
context = ctypes.c_void_p(views.views_open(1))
views.views_constants(context, 1)
memory = random.standard_normal(2048 * 1024).astype("f4")
for k, n in ((2048, 1024), (1024, 2048), (2048, 1024)):
    x, w, y = random.standard_normal((40, k)).astype("f4"), memory.reshape(k, n), numpy.zeros((40, n), "f4")
    check(views.views_f(context, *(ctypes.byref(tensor_of(a)) for a in (x, w, y))) == 0, "a call failed")
    bound = (k + 2) * 2.0**-24 * (abs(x).astype(float) @ abs(w))
    check((abs(y - x.astype(float) @ w) <= bound).all(), f"{k} x {n} of the same memory is wrong")
views.views_close(context)
print("same")
END
cat >views.ptir <<'END'
func @f(%x: tensor<$M x $K x f32>, const %w: tensor<$K x $N x f32>) -> tensor<$M x $N x f32> {
  %y = tensor.matmul %x, %w : tensor<$M x $N x f32>
  return %y
}
END
ends 0 pto-build views.ptir --pipeline=native.yaml --set=native-layout.with.gain=1 -o libviews.so
ends 0 /usr/bin/python3 -B call.py "$TEST_ROOT/examples/embed"
says_line same out
# Functions that take no constants have no versions of them.
negation >n.ptir
ends 0 pto-build n.ptir -o libn.so --header n.h
! grep -q constants n.h || fail 'a library without constants has versions of them'
# Nor can a function have the name.
negation 4 constants >n.ptir
fails 4 'error: \[E1613\] @constants would be n_constants, which each library has for itself: rename it$' pto-build n.ptir -o n.so
