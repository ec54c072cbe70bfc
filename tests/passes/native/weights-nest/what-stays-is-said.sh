# A product with weights of which no nest is made stays, and a remark says why; on cores that only multiply nothing
# changes; a pin keeps the weights apart, or is refused.
. "$TEST_ROOT/tests/shell.sh"
weights() { # TYPE-OF-HALVES SCALES ATTRIBUTES MORE-OF-DEQUANTIZE LEFT MORE-OF-MATMUL
  cat >w.ptir <<END
func @f(%a: tensor<$5 x f32>, const %b: tensor<64 x 16 x u8>, const %s: tensor<$2 x f32>, const %z: tensor<$2 x $1>, const %v: tensor<32 x f32>) -> tensor<8 x 32 x f32> {
  %q = tensor.unpack %b : tensor<64 x 32 x $1>
  %w = tensor.dequantize %q, %s$4 {$3} : tensor<64 x 32 x f32>
  %c = tensor.matmul %a, %w$6 : tensor<8 x 32 x f32>
  return %c
}
END
}
nests='pto-opt w.ptir --machine=cpu-avx2.yaml --passes=pto.weights-nest'
left() { # WHY
  ends 0 $nests --remarks=-
  says "pto.weights-nest/left\] dequantises its weights apart: $1"
  ! grep -q 'call' out || fail 'a nest was made'
}
weights u8 '2 x 32' 'axis = 0, block = 32' '' '8 x 64' ''
left 'its weights are numbers without sign'
weights i8 '2 x 32' 'axis = 0, block = 32' ', %z' '8 x 64' ''
left 'its weights have a zero point'
weights i8 '2 x 32' 'axis = 0, block = 32' '' '8 x 64' ', %v'
left 'it has a bias, a scale or an activation of its own'
weights i8 '2 x 32' 'axis = 0, block = 32' '' '8 x 64' ' {activation = "relu"}'
left 'it has a bias, a scale or an activation of its own'
weights i8 '64 x 4' 'axis = 1, block = 8' '' '8 x 64' ''
left 'its scales are not f32, or not one for each column'
weights i8 '64 x 32' 'axis = 1, block = 1' '' '8 x 64' ''
left 'its blocks are not along k'
weights i8 '64 x 32' '' '' '8 x 64' ''
left 'each weight has a scale of its own'
cat >w.ptir <<END
func @f(%a: tensor<8 x 64 x f32>, const %q: tensor<64 x 32 x i8>, const %s: tensor<1 x 32 x f32>) -> tensor<8 x 32 x f32> {
  %w = tensor.dequantize %q, %s : tensor<64 x 32 x f32>
  %c = tensor.matmul %a, %w : tensor<8 x 32 x f32>
  return %c
}
END
left 'its weights are not halves of bytes'

weights i8 '2 x 32' 'axis = 0, block = 32' '' '8 x 64' ''
ends 0 pto-opt w.ptir --machine=ascend-910b.yaml --passes=pto.weights-nest --remarks=-
says 'tensor.dequantize' out
[ ! -s text ] || fail 'a remark'

# Decisions: what was chosen, and what may be.
ends 0 $nests --emit-schedule=s.yaml
says 'value: in-product' s.yaml
says 'value: { rows: 8, columns: 32 }' s.yaml
pin_all s.yaml | sed 's/rows: 8, columns: 32/rows: 4, columns: 16/' >pinned.yaml
ends 0 $nests --schedule=pinned.yaml
says 'tile.contract_weights .* : tile<4 x 16 x f32, ?>' out
pin_all s.yaml | sed '/weights-blocks/,$d; s/in-product/apart/' | sed '$d' >apart.yaml
ends 0 $nests --schedule=apart.yaml
! grep -q call out || fail 'a nest where none is wanted'
weights i8 '2 x 32' 'axis = 0, block = 32' ', %z' '8 x 64' ''
pin_all s.yaml | sed '/weights-blocks/,$d' | sed '$d' >nest.yaml
fails 2 'its weights have a zero point' $nests --schedule=nest.yaml
