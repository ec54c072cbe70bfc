# One known scale, and what quantises and dequantises, on the way of the product's store: the bits are those of the ops
# apart, on both pipelines near numpy's, at special values too, in fewer cycles. What a store cannot scale has a reason.
. "$TEST_ROOT/tests/shell.sh"
cat >forms.py <<'END'
[
    ("i8", "i32", "f32", 130, 200, 70, [], ["cast f32", "mul 0.1", "cast f16"], True),
    ("i8", "i32", "f32", 17, 40, 300, [2], ["cast f32", "mul 0.001", "cast i8 saturate"], True),
    ("i8", "i32", "f32", 33, 3, 17, [], ["cast f32", "mul 0.013", "relu", "cast u8 saturate"], True),
    ("i8", "i32", "f32", 16, 16, 0, [], ["cast f32", "mul 3.0", "cast f16", "relu"], True),
    ("f16", "f32", "f32", 40, 130, 65, [], ["add", "mul -0.3", "cast f16"], True),
    ("f16", "f32", "f32", 24, 24, 24, [], ["add", "relu", "mul 0.7", "cast f16"], True),
    ("f32", "f32", "f32", 1, 50, 40, [], ["add", "mul 2.1", "cast i8 saturate"], True),
    ("f32", "f32", "f32", 20, 50, 40, [], ["mul 30000.0", "relu", "cast f16"], True),
    ("f32", "f32", "f32", 0, 5, 3, [], ["mul 2.0", "cast u8 saturate"], False),
]
END
/usr/bin/python3 "$TEST_ROOT/tests/passes/decompose-matmul/inputs/chains.py" 8 forms.py >out 2>&1 || fail
apart() { # REASON ATTRIBUTES NUMBER [MACHINE]
  cat >g.ptir <<END
func @g(%a: tensor<32 x 48 x f16>, %b: tensor<48 x 64 x f16>) -> tensor<32 x 64 x f${5:-16}> {
  %s = tensor.constant {value = $3} : tensor<64 x f32>
  %y = tensor.matmul %a, %b, %s {third = "scale"$2} : tensor<32 x 64 x f${5:-16}>
  return %y
}
END
  ends 0 pto-opt g.ptir --pipeline=default.yaml --explain=schedule ${4:+--machine="$4"}
  says "^@g/y  *epilogue  *${6:-apart}  *pto.decompose-matmul  *$1\$" out
}
apart '' '' 0.5 '' 16 kernel
apart 'stores of the machine do not scale columns to the result type' '' inf
apart 'the scale is below 0, and the relu of a store comes before it' ', activation = "relu"' -0.5
apart 'stores of the machine do not scale to the result type' ', out = f32' 0.5 '' 32
sed '/store-scaled/d' "$TEST_ROOT/pipelines/machines/ascend-910b.yaml" >plain.yaml
apart 'stores of the machine do not scale to the result type' '' 0.5 plain.yaml
apart '' '' 0.5 '' 16 kernel
ends 0 pto-opt g.ptir --pipeline=default.yaml --until=outline -o k.ptir
fails 5 'error: \[pto.select/no-scale\] stores of the machine do not scale f32 to f16 (`matrix.store-scaled`)' \
  pto-opt k.ptir --pipeline=default.yaml --from=select --machine=plain.yaml
# The same constant as bias and scale, beside constant weights, which are memory.
cat >h.ptir <<'END'
func @h(%a: tensor<32 x 64 x f32>) -> tensor<32 x 64 x f16> {
  %w = tensor.constant {value = 0.5} : tensor<64 x 64 x f32>
  %s = tensor.constant {value = 0.5} : tensor<64 x f32>
  %y = tensor.matmul %a, %w, %s, %s {out = f16} : tensor<32 x 64 x f16>
  return %y
}
END
ends 0 pto-run h.ptir --pipeline=reference.yaml --random-inputs 4 --out y=y.npy
ends 0 pto-run h.ptir --pipeline=default.yaml --random-inputs 4 --expect y=y.npy --rtol 2e-3 --atol 2e-3
says '^y: ok' out
ends 0 pto-opt h.ptir --pipeline=default.yaml
says 'pto.tstore %y.* {scale = 0.5}$' out
# Steps before and after have the same numbers, at extremes too, where sums are infinite in f32.
ends 0 pto-opt h.ptir --pipeline=default.yaml --check=semantics -o /dev/null
cat >i.ptir <<'END'
func @i(%a: tensor<$M x 40 x bf16>, %b: tensor<40 x 96 x bf16>, %c: tensor<96 x f32>) -> tensor<$M x 96 x bf16> {
  %s = tensor.constant {value = 0.3} : tensor<f32>
  %h = tensor.matmul %a, %b {out = f32} : tensor<$M x 96 x f32>
  %u = tensor.add %h, %c : tensor<$M x 96 x f32>
  %v = tensor.mul %u, %s : tensor<$M x 96 x f32>
  %r = tensor.relu %v : tensor<$M x 96 x f32>
  %y = tensor.cast %r : tensor<$M x 96 x bf16>
  return %y
}
END
ends 0 pto-opt i.ptir --pipeline=default.yaml --check=semantics -o /dev/null
