#!/bin/sh
# The memory that the worker shares with its supervisor can be written over by a plugin: the supervisor then still ends with status 70 and
# one line that ends, prints no control characters, and removes no folder but one that pto-run makes.
set -u
printf 'func @f(%%x: tensor<4 x f32>) -> tensor<4 x f32> {\n  return %%x\n}\n' >m.ptir
mkdir v pto-case-ABCDEF
touch v/kept pto-case-ABCDEF/kept
for way in names_without_end folder colours; do
  exits 70 pto-opt m.ptir --plugin="$TEST_PLUGINS/hostile-scribbles.so" --passes="test.hostile-scribbles{way=$way}" 2>text || { cat text; exit 1; }
  grep -q 'pto-opt: internal error: ' text && [ "$(head -n 1 text | wc -c)" -lt 1000 ] || { echo "$way:"; cat text; exit 1; }
  ! grep -q "$(printf '\033')" text || { echo "$way: control characters"; cat text; exit 1; }
  [ -e v/kept ] && [ -e pto-case-ABCDEF/kept ] || { echo "$way: removed a folder"; exit 1; }
done
