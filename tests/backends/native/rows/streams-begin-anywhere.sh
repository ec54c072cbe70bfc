# Rows of results that are streamed begin anywhere in a line of memory: their elements are those of few rows, which are
# not streamed, wherever tensors begin and on any number of threads, of which several stream what no cache holds, and
# nothing beside them is written. A result
# may lie in the memory of what it is computed from. What is changed
# in place is read before it is.
. "$TEST_ROOT/tests/shell.sh"
! is_sanitized || exit 0 # Python does not have the library's sanitizer
cat >f.ptir <<'END'
func @norm(%x: tensor<$R x 1021 x f32>, %g: tensor<1021 x f32>) -> tensor<$R x 1021 x f32> {
  %y = tensor.rms_norm %x, %g : tensor<$R x 1021 x f32>
  return %y
}
func @weights(%x: tensor<$R x 1021 x f32>) -> tensor<$R x 1021 x f32> {
  %y = tensor.softmax %x {axis = 1} : tensor<$R x 1021 x f32>
  return %y
}
func @any(%x: tensor<$R x $C x f32>, %z: tensor<$R x $C x f32>) -> (tensor<$R x $C x f32>, tensor<$R x $C x i32>) {
  %p = tensor.mul %x, %z : tensor<$R x $C x f32>
  %y = tensor.gelu %p : tensor<$R x $C x f32>
  %s = tensor.add %x, %z : tensor<$R x $C x f32>
  %i = tensor.cast %s : tensor<$R x $C x i32>
  return %y, %i
}
func @place(%x: tensor<$R x $C x f32>, inout %z: tensor<$R x $C x f32>) -> (tensor<$R x $C x f32> aliases %z) {
  %p = tensor.mul %x, %z : tensor<$R x $C x f32>
  %y = tensor.add %p, %z : tensor<$R x $C x f32>
  return %y
}
func @over(%x: tensor<$R x 1021 x f32>) -> tensor<$R x 1021 x f32> may_alias %x {
  %y = tensor.exp %x : tensor<$R x 1021 x f32>
  return %y
}
END
cat >look.py <<'END'
import os
import sys

import numpy

sys.path.insert(0, os.path.join(os.environ["TEST_ROOT"], "examples/embed"))
from pto_library import Library

FEW, LINE, GUARD = 9, 64, 64
random = numpy.random.default_rng(11)


def shifted(array, elements):
    """A copy that begins so many elements after a line, with memory around it."""
    memory = numpy.full(array.nbytes + 2 * GUARD + LINE + 64 * 4, 0xA5, numpy.uint8)
    start = -(memory.ctypes.data + GUARD) % LINE + GUARD + elements * array.itemsize
    place = memory[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    place[...] = array
    return memory, start, place


def is_clean(memory, start, array):
    return (memory[:start] == 0xA5).all() and (memory[start + array.nbytes :] == 0xA5).all()


def call(function, inputs, shift):
    """Outputs, and what is changed in place, as bits."""
    placed = [shifted(a, shift * (i + 1) % 16) for i, a in enumerate(inputs)]
    made = []

    def new(*what):
        made.append(shifted(numpy.zeros(*what), (3 * shift + 5 * len(made)) % 16))
        return made[-1][2]

    outputs = list(function(*(place for _, _, place in placed), new=new))
    if not all(is_clean(*m) for m in made + placed):
        sys.exit("something beside a tensor was written")
    changed = [place for (_, _, place), a in zip(placed, inputs) if place.tobytes() != a.tobytes()]
    return [a.copy() for a in outputs + changed]


def check(library, name, shapes):
    for threads in (1, 2, 7):
        function = library.compile("f.ptir", function=name, settings=[f"backend.with.threads={threads}"])
        for dims in shapes:
            inputs = [random.standard_normal(d).astype("f4") for d in dims]
            rows = len(inputs[0])
            at = sorted({0, rows - FEW, rows // 2})
            slices = [[a[r : r + FEW] if len(a) == rows else a for a in inputs] for r in at]
            wanted = [call(function, few, 0) for few in slices]
            for shift in (0, 1, 5, 15):
                got = call(function, inputs, shift)
                moved = sum(a.nbytes for a in inputs + got)
                if len(got) != len(wanted[0]) or not got or moved < (16, 48)[threads > 1] << 20:
                    sys.exit(f"{name}, {dims}: there is not enough to compare")
                for r, few in zip(at, wanted):
                    for a, b in zip(got, few):
                        if a[r : r + FEW].tobytes() != b.tobytes():
                            sys.exit(f"{name}, {dims}: row {r}, {threads} threads, {shift} elements after a line")


library = Library(os.path.join(os.environ["TEST_BUILD"], "lib/libpto.so"))
check(library, "norm", [((6200, 1021), (1021,))])
check(library, "weights", [((6200, 1021),)])
pairs = [((r, c), (r, c)) for r, c in ((4300, 1021), (132000, 33), (102000, 31), (45, 70001), (3100, 1040))]
check(library, "any", pairs)
check(library, "place", pairs[:2])
function = library.compile("f.ptir", function="over")
x = random.standard_normal((2100, 1021)).astype("f4")
wanted = function(x)[0]
for shift in (0, 1, 5, 15):
    memory, start, place = shifted(x, shift)
    if function(place, new=lambda *what: place)[0].tobytes() != wanted.tobytes() or not is_clean(memory, start, x):
        sys.exit(f"over what it is computed from, {shift} elements after a line, it is something else")
print("same")
END
ends 0 env TEST_ROOT="$TEST_ROOT" TEST_BUILD="$TEST_BUILD" /usr/bin/python3 -B look.py
says_line same out
# It is what is meant: the sweep that stores begins later, and no other does.
ends 0 pto-opt f.ptir --pipeline=native.yaml --machine=cpu-avx2 -o f.c
[ "$(grep -c PTO_SWEEP_FROM f.c)" -ge 4 ] || fail 'too few sweeps begin later'
