# 4096 elements along an axis: 16 million comparisons in tiles, no memory for them.
. "$TEST_ROOT/tests/shell.sh"
cat >sort.ptir <<'END'
func @f(%x: tensor<1 x $N x f32>) -> (tensor<1 x $N x f32>, tensor<1 x 8 x i32>) {
  %y = tensor.sort %x {axis = 1} : tensor<1 x $N x f32>
  %v, %i = tensor.topk %x {axis = 1, k = 8} : tensor<1 x 8 x f32>, tensor<1 x 8 x i32>
  return %y, %i
}
END
ends 0 pto-run sort.ptir --sym N=4096 --random-inputs=1 --pipeline=reference.yaml --out y=y.npy --out i=i.npy
limit=
is_sanitized || limit=--memory-limit=1GiB
ends 0 pto-run sort.ptir --sym N=4096 --random-inputs=1 --expect y=y.npy --expect i=i.npy $limit
says '^y: ok' out
says '^i: ok' out
# An axis that is shorter than k is refused by both: before anything runs, and when the op does.
ends 4 pto-run sort.ptir --sym N=5 --random-inputs=1
says 'sort.ptir:1:1: error: \[E1606\] the fact `$N >= 8` does not hold: left side 5, right side 8; $N is 5 by --sym \[@f\]$'
ends 5 pto-run sort.ptir --sym N=5 --random-inputs=1 --pipeline=reference.yaml
says 'sort.ptir:3:12: error: \[pto.reference/unsupported\] 8 elements of an axis that has 5'
