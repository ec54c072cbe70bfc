# Kernels that move floats of 8 bits move bytes; what computes in them computes in integers of their bits.
. "$TEST_ROOT/tests/shell.sh"
cat >move.ptir <<'END'
func @f(%x: tensor<16 x 64 x f8e4m3>, %y: tensor<16 x 64 x f8e4m3>) -> tensor<32 x 64 x f8e4m3> {
  %z = tensor.concat %x, %y {axis = 0} : tensor<32 x 64 x f8e4m3>
  return %z
}
END
ends 0 pto-opt move.ptir --pipeline=ascend.yaml -o tree/
grep -q '__gm__ uint8_t \*' tree/kernel_*.cpp || fail 'parameters are not bytes'
grep -q 'Tile<pto::TileType::Vec, uint8_t' tree/kernel_*.cpp || fail 'tiles are not bytes'
