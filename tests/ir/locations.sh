# Places are those of the text unless it states others; they print on request, read back, and the generic form carries
# them. Fused ones keep all origins, each once, in order.
set -eu
cat >m.ptir <<'END'
func @f(%x: tensor<4 x f32>) -> tensor<4 x f32> {
  %a = tensor.exp %x : tensor<4 x f32> loc("model.py":12:7)
  %b = tensor.neg %a : tensor<4 x f32> loc(fused["a b.py":1:2, "model.py":12:7, "a b.py":1:2])
  %c = tensor.abs %b : tensor<4 x f32> loc(unknown)
  %d = tensor.abs %c : tensor<4 x f32>
  return %d
}
END
pto-opt --print-locations m.ptir >once
cat >want <<'END'
func @f(%x: tensor<4 x f32>) -> tensor<4 x f32> {
  %a = tensor.exp %x : tensor<4 x f32> loc("model.py":12:7)
  %b = tensor.neg %a : tensor<4 x f32> loc(fused["a b.py":1:2, "model.py":12:7])
  %c = tensor.abs %b : tensor<4 x f32> loc("m.ptir":4:8)
  %d = tensor.abs %c : tensor<4 x f32> loc("m.ptir":5:8)
  return %d loc("m.ptir":6:3)
} loc("m.ptir":1:1)
END
diff want once
pto-opt --print-locations once | diff want -
pto-opt --print-locations --print-generic m.ptir >generic
pto-opt --print-locations generic | diff want -
! pto-opt m.ptir | grep 'loc(' || exit 1
# What a pass makes of several ops has all their origins: the nest of a group, and the kernel that it becomes.
cat >several.ptir <<'END'
func @f(%x: tensor<4 x 64 x f32>) -> tensor<4 x 64 x f32> {
  %a = tensor.exp %x : tensor<4 x 64 x f32> loc("model.py":1:1)
  %b = tensor.neg %a : tensor<4 x 64 x f32> loc("model.py":2:1)
  return %b
}
END
pto-opt --pipeline=default.yaml --until=fuse --print-locations several.ptir >fused
grep -q '^ *} : tensor<4 x 64 x f32> loc(fused\["model.py":1:1, "model.py":2:1\])' fused || { cat fused; exit 1; }
pto-opt --pipeline=default.yaml --print-locations several.ptir >lowered
grep -q '^ *pto.texp .* loc("model.py":1:1)$' lowered || { cat lowered; exit 1; }
grep -q '^ *} loc(fused\["model.py":1:1, "model.py":2:1\])$' lowered || { cat lowered; exit 1; }
