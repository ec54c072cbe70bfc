# A function of a built library looks at its tensors before it reads them; what is wrong is a result and a sentence.
set -e
. "$TEST_ROOT/tests/shell.sh"
cat >f.ptir <<'MODULE'
func @scale(%x: tensor<2 * $N x f32>, %w: tensor<$N x f32>) -> tensor<2 * $N x f32> where($N >= 1) {
  %v = tensor.concat %w, %w {axis = 0} : tensor<2 * $N x f32>
  %y = tensor.mul %x, %v : tensor<2 * $N x f32>
  return %y
}
MODULE
cat >wanted <<'WANTED'
fine: 0
no tensor: 1 `x` is NULL
on a device: 1 `x` is on a device of DLPack's type 2; only memory of the CPU, type 1, can be used
i32: 1 `x` needs elements of type f32; it has DLPack's code 0, 32 bits, 1 lanes
rank 2: 1 `x` needs rank 1; it has rank 2
no shape: 1 `x` has no shape: it is NULL
negative: 1 `x` has the extent -1 in dim 0; extents are 0 to 2147483647
huge: 1 `x` has the extent 2147483648 in dim 0; extents are 0 to 2147483647
computed: 1 dim 0 of `x` must be 2 * $N = 8; it is 6
symbols: 1 dim 0 of `x` must be 2 * $N = 6; it is 8
strided: 1 `x` is not dense: dim 0 has stride 2 and not 1
no data: 1 `x` has no data: it is NULL
unaligned: 1 `x` begins at an address that is not a multiple of 4, the bytes of an element
overlap: 1 the memory of `y` overlaps that of `x`
fact: 1 the fact `$N >= 1` does not hold
fine again: 0
0 133
without a context: 0
no such threads
WANTED
ends 0 pto-build f.ptir -o libop.so --header op.h
cc -Wall -Wextra -Werror -I . -x c "$TEST_ROOT/tests/cli/pto-build/inputs/wrong_tensors.c.txt" -x none -L . -lop -Wl,-rpath,. -o wrong-tensors
ends 0 ./wrong-tensors
diff wanted out || fail "other sentences"
