# A scale that is a parameter, a number for each column or one for all, is a table of factors that the product's store
# reads: the bits are those of the ops apart, on both pipelines near numpy's, in fewer cycles where there are products,
# at tiles that are not whole too. Numbers that the table would cut stay apart unless an option has them cut. What
# stores cannot scale has a reason.
. "$TEST_ROOT/tests/shell.sh"
cat >forms.py <<'END'
[
    ("i8", "i32", "f32", 520, 200, 70, [], ["cast f32", "mul columns f16", "cast f16"], True),
    ("i8", "i32", "f32", 17, 40, 300, [2], ["cast f32", "mul columns f16", "cast i8 saturate"], True),
    ("i8", "i32", "f32", 33, 3, 17, [], ["cast f32", "mul one f16", "cast u8 saturate"], True),
    ("i8", "i32", "f32", 16, 16, 0, [], ["cast f32", "mul columns f16", "cast f16"], False),
    ("f16", "f32", "f32", 40, 530, 65, [], ["add", "mul columns f16", "cast i8 saturate"], True),
    ("f32", "f32", "f32", 1, 50, 40, [], ["mul one f16", "cast u8 saturate"], True),
    ("f32", "f32", "f32", 0, 5, 3, [], ["mul columns f16", "cast u8 saturate"], False),
]
END
/usr/bin/python3 "$TEST_ROOT/tests/passes/decompose-matmul/inputs/chains.py" 9 forms.py >out 2>&1 || fail
product() { # TYPE_OF_SCALE SCALE_SHAPE RESULT [ATTRIBUTES]
  cat >g.ptir <<END
func @g(%a: tensor<\$M x 48 x i8>, %b: tensor<48 x 300 x i8>, %s: tensor<$2$1>) -> tensor<\$M x 300 x $3> {
  %y = tensor.matmul %a, %b, %s {third = "scale", out = $3${4:-}} : tensor<\$M x 300 x $3>
  return %y
}
END
}
decided() { # WORD REASON [MACHINE] [PIPELINE]
  ends 0 pto-opt g.ptir --explain=schedule --pipeline="${4:-default.yaml}" --machine="${3:-ascend-910b}"
  says "^@g/y  *epilogue  *$1  *pto.decompose-matmul  *$2\$" out
}
product f16 '300 x ' f16
decided kernel ''
product bf16 '1 x 300 x ' i8
decided kernel ''
product bf16 '' u8
decided kernel ''
product f32 '300 x ' f16
decided apart 'stores would cut the numbers of the scale to 11 bits (`column-scales: cut`)'
product f16 '300 x ' bf16
decided apart 'stores of the machine do not scale columns to the result type'
product f16 '300 x ' f16 ', activation = "relu"'
decided apart 'the sign of the scale is not known, and the relu of a store comes before it'
product f16 '$M x 1 x ' f16
decided apart 'the scale has more than a number for each column: numbers for rows are work of the vector unit'
ends 0 pto-opt g.ptir --pipeline=default.yaml --remarks=remarks.txt
says 'remark: \[pto.decompose-matmul/apart\] what follows the product is not in its kernel: the scale has more than a number for' remarks.txt
product f16 '300 x ' f16
sed '/store-scaled-columns/d' "$TEST_ROOT/pipelines/machines/ascend-910b.yaml" >plain.yaml
decided apart 'stores of the machine do not scale columns to the result type' plain.yaml
sed '/to: scaling/d' "$TEST_ROOT/pipelines/machines/ascend-910b.yaml" >pathless.yaml
decided apart 'stores of the machine do not scale columns to the result type' pathless.yaml
sed '/^  scatter:/s/f32, //' "$TEST_ROOT/pipelines/machines/ascend-910b.yaml" >whole.yaml
decided apart 'the machine scatters no f32, so it makes no table of factors' whole.yaml
decided apart 'stores of the machine do not scale columns to the result type' cpu-generic
# What is cut is less than 2^-10 off, here of f32, and the kernel says so.
product f32 '300 x ' i8
cp "$TEST_ROOT/pipelines/machines/ascend-910b.yaml" .
sed 's/pto.decompose-matmul$/{ pass: pto.decompose-matmul, with: { column-scales: cut } }/; s/^machine: .*/machine: ascend-910b.yaml/' \
  "$TEST_ROOT/pipelines/default.yaml" >cut.yaml
decided kernel '' ascend-910b cut.yaml
ends 0 pto-opt g.ptir --pipeline=cut.yaml
says 'pto.tstore_fp %y.*\[.*\], %ty, %stfactors$' out
ends 0 pto-run g.ptir --pipeline=reference.yaml --sym M=70 --random-inputs 3 --out y=y.npy
ends 0 pto-run g.ptir --pipeline=cut.yaml --sym M=70 --random-inputs 3 --expect y=y.npy --rtol 0 --atol 1
says '^y: ok' out
# Without the flag between the load of the table and its move, and where the machine cannot store so.
ends 0 pto-opt g.ptir --pipeline=cut.yaml -o exec.ptir
wait=$(grep 'pto.wait_flag' exec.ptir | grep -n -m 1 'mte2 -> fix' | cut -d : -f 1)
fails 5 'error: \[pto.cpu-sim/race\]' pto-run g.ptir --pipeline=cut.yaml --sym M=70 --random-inputs 3 \
  --set=backend.with.drop-wait=$((wait - 1))
ends 0 pto-opt g.ptir --pipeline=cut.yaml --until=outline -o k.ptir
fails 5 'error: \[pto.select/no-scale\] stores of the machine do not scale columns of i32 to i8 (`matrix.store-scaled-columns`)' \
  pto-opt k.ptir --pipeline=default.yaml --from=select --machine=plain.yaml
