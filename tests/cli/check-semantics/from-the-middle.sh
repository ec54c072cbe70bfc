# From the middle of a pipeline, whatever the level; a symbol that `tile` fixes, and that the numbers depend on; steps
# that were taken back, and a smaller tile tried.
. "$TEST_ROOT/tests/shell.sh"
. "$TEST_ROOT/tests/cli/check-semantics/inputs/liar.sh"
sed 's/1024/64/g' "$TEST_ROOT/examples/ffn/ffn.ptir" >ffn.ptir
pto-opt ffn.ptir --pipeline=default.yaml --until tile -o tile.ptir || exit 1
ends 0 pto-opt tile.ptir --pipeline=default.yaml --from bufferize --check=semantics -o out.ptir
says '^semantics: steps that changed the module and not the numbers: \([0-9]*\), bit for bit: \1$'
pto-opt tile.ptir --pipeline=default.yaml --from bufferize --until select -o select.ptir || exit 1
ends 0 pto-opt select.ptir --pipeline=default.yaml --from order --check=semantics -o out.ptir
cat >tuned.ptir <<'END'
func @f(%x: tensor<$B x 40 x f32>) -> tensor<$B x 40 x f32> {
  tune $KB in [64, 500] step 64
  %y = tensor.group "f_0" {
    %s = tensor.index_cast from($KB) : tensor<f32>
    %p = tensor.mul %x, %s : tensor<$B x 40 x f32>
    yield %p
  } : tensor<$B x 40 x f32>
  return %y
}
END
for kb in 64 192 448; do
  ends 0 pto-opt tuned.ptir --passes=pto.tile --machine=ascend-910b --set "tile.with.symbols=KB=$kb" --check=semantics -o out.ptir
  grep -q "from($kb)" out.ptir || fail "KB=$kb: not fixed"
done
short_of "$TEST_ROOT/tests/cli/pto-opt/inputs/long-rows.ptir" B=1
exits 0 pto-opt short.ptir --pipeline=default.yaml --set select.with.in-place=false --set allocate.with.reuse=never --check=semantics --progress \
  --verify=paranoid -o out.ptir 2>text || fail "taken back"
[ "$(grep -c '^step [0-9]* of [0-9]*: tile ' text)" -ge 2 ] || fail "nothing was taken back"
if is_sanitized; then says '^semantics: @f on random inputs$'; else says '^semantics: @f on random inputs, \$B = 5$'; fi
