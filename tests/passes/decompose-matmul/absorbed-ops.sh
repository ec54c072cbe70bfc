# Ops after a product that its kernel computes: the bits are those of the ops apart, on both pipelines near numpy's, at
# special values too, in fewer cycles; what the kernel cannot do has a reason, and a pin that cannot hold is refused.
. "$TEST_ROOT/tests/shell.sh"
cat >forms.py <<'END'
[
    ("f16", "f32", "f32", 130, 200, 70, [], ["add", "relu", "cast f16"], True),
    ("f16", "f32", "f16", 17, 40, 300, [], ["wide add", "cast f16"], True),
    ("f32", "f32", "f32", 33, 3, 17, [2], ["add", "relu"], True),
    ("f32", "f32", "f32", 1, 130, 40, [], ["relu", "cast f16"], True),
    ("f16", "f32", "f32", 16, 16, 0, [], ["add", "cast f16", "relu"], True),
    ("f16", "f16", "f16", 40, 130, 130, [3], ["relu"], True),
    ("f32", "f32", "f32", 0, 5, 3, [], ["add"], False),
    ("f16", "f32", "f32", 24, 24, 24, [], ["cast f16", "relu"], True),
]
END
/usr/bin/python3 "$TEST_ROOT/tests/passes/decompose-matmul/inputs/chains.py" 7 forms.py >out 2>&1 || fail
apart() { # REASON OPERAND [MACHINE]
  cat >g.ptir <<END
func @g(%a: tensor<32 x 48 x f16>, %b: tensor<48 x 64 x f16>, %rest: tensor<32 x 64 x f32>, %column: tensor<32 x 1 x f32>, %row: tensor<64 x f32>) -> tensor<32 x 64 x f32> {
  %p = tensor.matmul %a, %b {out = f32} : tensor<32 x 64 x f32>
  %y = tensor.add %p, $2 : tensor<32 x 64 x f32>
  return %y
}
END
  ends 0 pto-opt g.ptir --pipeline=default.yaml --explain=schedule ${3:+--machine="$3"}
  says "^@g/p  *epilogue  *apart  *pto.decompose-matmul  *$1\$" out
}
apart 'the bias is not a row of the result' %rest
apart 'the bias is not a row of the result' %column
sed '/cycles-per-box/s/, f32: 2//' "$TEST_ROOT/pipelines/machines/ascend-910b.yaml" >narrow.yaml
apart 'the machine has no matrix unit for the bias' %row narrow.yaml
cat >p.yaml <<'END'
pto-schedule: 1
decisions:
  - { at: "@g/p", decide: epilogue, value: kernel, pinned: true }
END
sed -i 's/add %p, %row/add %p, %rest/' g.ptir
fails 2 'p.yaml:3:44: error: \[E1804\] `epilogue` of @g/p cannot be `kernel`: the bias is not a row of the result' \
  pto-opt g.ptir --pipeline=default.yaml --schedule=p.yaml
# All decisions emitted and pinned make the same module.
sed -i 's/add %p, %rest/add %p, %row/' g.ptir
ends 0 pto-opt g.ptir --pipeline=default.yaml --emit-schedule=all.yaml -o first.ptir
sed -i 's/}$/, pinned: true }/' all.yaml
ends 0 pto-opt g.ptir --pipeline=default.yaml --schedule=all.yaml -o second.ptir
cmp first.ptir second.ptir || fail
