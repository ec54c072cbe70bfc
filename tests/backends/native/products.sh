# Products of every form against pto.reference, at sizes without elements, below and beyond a tile; bits are the same
# for any number of threads.
. "$TEST_ROOT/tests/shell.sh"
number=0 rtol=1e-5 atol=2e-5
# PARAMETERS RESULT OPS..: runs a function that returns %y of that type.
form() {
  parameters=$1 result=$2
  shift 2
  number=$((number + 1))
  {
    echo "func @f($parameters) -> tensor<$result> {"
    printf '  %s\n' "$@"
    echo '  return %y'
    echo '}'
  } >$number.ptir
  ends 0 pto-opt $number.ptir --pipeline=native.yaml -o $number.c --stats
  grep -q 'packing_);' $number.c || complain "no kernel is called in $number.ptir: $(cat $number.ptir)"
  for sizes in $all_sizes; do
    symbols=$(echo "$sizes" | tr , ' ' | sed 's/\([A-Z]=\)/--sym=\1/g')
    # shellcheck disable=SC2086
    ends 0 pto-run $number.ptir --backend=pto.reference $symbols --random-inputs=5 --out y=y.npy
    for threads in 1 2 5 7; do
      # shellcheck disable=SC2086
      ends 0 pto-run $number.ptir --pipeline=native.yaml $symbols --random-inputs=5 --set=backend.with.threads=$threads \
        --expect y=y.npy "--rtol=$rtol" "--atol=$atol" --out y=$threads.npy
    done
    for threads in 2 5 7; do
      cmp -s 1.npy $threads.npy || complain "$number.ptir with $sizes has other bits with $threads threads"
    done
  done
}
all_sizes='M=3,N=5,K=7 M=150,N=290,K=70 M=0,N=9,K=9 M=9,N=0,K=9 M=9,N=9,K=0 M=1,N=300,K=1030'
[ "$TEST_SHARE" -eq 1 ] || all_sizes="M=3,N=5,K=7 M=9,N=9,K=0"
for type in f32 bf16 f16 i8; do
  out=f32
  [ $type != i8 ] || out=i32
  form "%a: tensor<\$M x \$K x $type>, %b: tensor<\$K x \$N x $type>" "\$M x \$N x $out" \
    "%y = tensor.matmul %a, %b {out = $out} : tensor<\$M x \$N x $out>"
  form "%a: tensor<\$K x \$M x $type>, %b: tensor<\$N x \$K x $type>" "\$M x \$N x $out" \
    "%y = tensor.matmul %a, %b {transpose_a = true, transpose_b = true, out = $out} : tensor<\$M x \$N x $out>"
done
all_sizes='M=3,N=5,K=7 M=140,N=33,K=40 M=9,N=9,K=0'
[ "$TEST_SHARE" -eq 1 ] || all_sizes='M=3,N=5,K=7'
# Batches, the right one for all of them or one for each.
form '%a: tensor<3 x $M x $K x f32>, %b: tensor<$K x $N x f32>' '3 x $M x $N x f32' \
  '%y = tensor.matmul %a, %b : tensor<3 x $M x $N x f32>'
form '%a: tensor<3 x $M x $K x bf16>, %b: tensor<3 x $N x $K x bf16>' '3 x $M x $N x f32' \
  '%y = tensor.matmul %a, %b {transpose_b = true, out = f32} : tensor<3 x $M x $N x f32>'
# What follows sums: a bias, scales, relu, a residual; what comes before: a cast, values that the kernel computes.
form '%a: tensor<$M x $K x f32>, %b: tensor<$K x $N x f32>, %c: tensor<$N x f32>' '$M x $N x f32' \
  '%p = tensor.matmul %a, %b : tensor<$M x $N x f32>' '%s = tensor.add %p, %c : tensor<$M x $N x f32>' \
  '%y = tensor.relu %s : tensor<$M x $N x f32>'
form '%a: tensor<$M x $K x f32>, %b: tensor<$K x $N x f32>, %c: tensor<$M x 1 x f32>, %r: tensor<$M x $N x f32>' '$M x $N x f32' \
  '%p = tensor.matmul %a, %b : tensor<$M x $N x f32>' '%s = tensor.mul %p, %c : tensor<$M x $N x f32>' \
  '%y = tensor.add %s, %r : tensor<$M x $N x f32>'
rtol=8e-3
form '%a: tensor<$M x $K x bf16>, %b: tensor<$K x $N x bf16>' '$M x $N x bf16' \
  '%y = tensor.matmul %a, %b {out = bf16} : tensor<$M x $N x bf16>'
form '%a: tensor<$M x $K x f32>, %b: tensor<$K x $N x bf16>' '$M x $N x f32' \
  '%t = tensor.exp %a : tensor<$M x $K x f32>' '%h = tensor.cast %t : tensor<$M x $K x bf16>' \
  '%y = tensor.matmul %h, %b {out = f32} : tensor<$M x $N x f32>'
# Sums that leave as another type: a relu, a factor, both; rows that end within a vector.
for type in f32 bf16; do
  for to in f32 bf16 f16; do
    rtol=1e-5
    [ $to != bf16 ] || rtol=8e-3
    [ $to != f16 ] || rtol=1e-3
    form "%a: tensor<\$M x \$K x $type>, %b: tensor<\$K x \$N x $type>" "\$M x \$N x $to" \
      "%p = tensor.matmul %a, %b {out = f32} : tensor<\$M x \$N x f32>" '%s = tensor.relu %p : tensor<$M x $N x f32>' \
      '%h = tensor.constant {value = 0.125} : tensor<f32>' '%t = tensor.mul %s, %h : tensor<$M x $N x f32>' \
      "%y = tensor.cast %t : tensor<\$M x \$N x $to>"
  done
done
rtol=0 atol=0
form '%a: tensor<$M x $K x i8>, %b: tensor<$K x $N x i8>' '$M x $N x i8' \
  '%p = tensor.matmul %a, %b {out = i32} : tensor<$M x $N x i32>' '%q = tensor.cast %p : tensor<$M x $N x f32>' \
  '%h = tensor.constant {value = 0.01} : tensor<f32>' '%s = tensor.mul %q, %h : tensor<$M x $N x f32>' \
  '%y = tensor.cast %s {mode = "rint", saturate = true} : tensor<$M x $N x i8>'
