# A home that cannot be read, such as another user's, keeps nobody from the installed plugins; a folder that was asked
# for must be there.
. "$TEST_ROOT/tests/shell.sh"
negation >m.ptir
ln -s loop loop || exit 1
HOME=$PWD/loop XDG_DATA_HOME='' pto-opt m.ptir --pipeline=default.yaml >out 2>text || fail
grep -q "^warning: \[E1309\] the plugin folder \`$PWD/loop/.local/share/pto/plugins-1\` cannot be read: " text && grep -q '^  block.kernel @f_0' out ||
  fail
fails 3 "^error: \[E1309\] the plugin folder \`$PWD/loop\` cannot be read: " env PTO_PLUGIN_PATH="$PWD/loop" pto-opt m.ptir --pipeline=default.yaml
