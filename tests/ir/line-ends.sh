# Line ends of any system and a last line without one make the same module, with the same places.
set -e
. "$TEST_ROOT/tests/shell.sh"
printf 'func @f(%%x: tensor<4 x f32>) {\n  // comment\n  %%y = tensor.exp %%x : tensor<4 x f32>\n  return\n}\n' >plain.ptir
sed 's/$/\r/' plain.ptir >crlf.ptir
printf %s "$(cat plain.ptir)" >open.ptir
printf '%s // the end' "$(cat plain.ptir)" >comment.ptir
pto-opt plain.ptir >want
for file in crlf.ptir open.ptir comment.ptir; do
  pto-opt "$file" | diff want - || fail "$file differs"
  pto-opt --print-locations "$file" | grep -q "loc(\"$file\":3:8)" || { pto-opt --print-locations "$file"; exit 1; }
done
printf '' >empty.ptir
[ -z "$(pto-opt empty.ptir)" ]
