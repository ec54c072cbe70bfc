# The memory that the worker shares with its supervisor can be written over by a plugin: the supervisor then still ends
# with status 70 and one line that ends, prints no control characters, and removes no folder but one that pto-run makes.
. "$TEST_ROOT/tests/shell.sh"
printf 'func @f(%%x: tensor<4 x f32>) -> tensor<4 x f32> {\n  return %%x\n}\n' >m.ptir
mkdir v pto-case-ABCDEF
touch v/kept pto-case-ABCDEF/kept
for way in names_without_end folder colours; do
  ends 70 pto-opt m.ptir --plugin="$TEST_PLUGINS/hostile-scribbles.so" --passes="test.hostile-scribbles{way=$way}"
  grep -q 'pto-opt: internal error: ' text && [ "$(head -n 1 text | wc -c)" -lt 1000 ] || fail "$way"
  ! grep -q "$(printf '\033')" text || fail "$way: control characters"
  [ -e v/kept ] && [ -e pto-case-ABCDEF/kept ] || fail "$way: removed a folder"
done
