# A home that cannot be read, such as another user's, keeps nobody from the installed plugins; a folder that was asked for must be there.
set -u
cat >m.ptir <<'EOF'
func @f(%x: tensor<4 x f32>) -> tensor<4 x f32> {
  %a = tensor.neg %x : tensor<4 x f32>
  return %a
}
EOF
ln -s loop loop || exit 1
HOME=$PWD/loop XDG_DATA_HOME='' pto-opt m.ptir --pipeline=default.yaml >out 2>text || { cat text; exit 1; }
grep -q "^warning: \[E1309\] the plugin folder '$PWD/loop/.local/share/pto/plugins-1' cannot be read: " text && grep -q '^  block.kernel @f_0' out ||
  { cat text; exit 1; }
exits 3 env PTO_PLUGIN_PATH="$PWD/loop" pto-opt m.ptir --pipeline=default.yaml >out 2>text || { cat text; exit 1; }
grep -q "^error: \[E1309\] the plugin folder '$PWD/loop' cannot be read: " text || { cat text; exit 1; }
