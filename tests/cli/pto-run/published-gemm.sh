# A published time of the chip (pto-isa 4.7): f16 gemm 6144^3 on 24 cores in 1.506 ms. The model is within 20 %.
set -u
cat >gemm.ptir <<'END'
func @gemm(%a: tensor<6144 x 6144 x f16>, %b: tensor<6144 x 6144 x f16>) -> tensor<6144 x 6144 x f32> {
  %c = tensor.matmul %a, %b {out = f32} : tensor<6144 x 6144 x f32>
  return %c
}
END
pto-run gemm.ptir --random-inputs 1 --set backend.with.data=none >out.txt || exit 1
awk '$1 == "time:" { seen = 1; if ($2 < 1204.8 || $2 > 1807.2) { print "gemm 6144^3 takes " $2 " us, published are 1506"; exit 1 } } END { exit !seen }' out.txt
