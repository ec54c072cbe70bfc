# What was compiled is found by the module and the code of the generator: the text is not written for that.
. "$TEST_ROOT/tests/shell.sh"
export XDG_CACHE_HOME="$PWD/cache"
module() { # module FILE BLANK-LINES: it fails with depth -1, at its third line
  for _ in $(seq "$2"); do echo; done >"$1"
  cat >>"$1" <<END_OF_MODULE
block.kernel @k core(any) grid(%i: 1) reads(%a, %b) writes(%y) (%a: gm<4 x 4 x f32>, %b: gm<4 x 4 x f32>, %d: i32, out %y: gm<4 x 4 x f32>) {
  %z = tile.zero_acc valid(4, 4) : tile<16 x 16 x f32, acc, nz>
  %c = tile.contract %z, %a[0, 0], %b[0, 0] depth(%d) : tile<16 x 16 x f32, acc, nz>
  tile.store %c, %y[0, 0]
}
func @f(%a: gm<4 x 4 x f32>, %b: gm<4 x 4 x f32>, %d: i32, out %y: gm<4 x 4 x f32>) {
  block.launch @k args(%a, %b, %d, %y)
  return
}
END_OF_MODULE
}
cat >run <<'END'
#!/bin/sh
# run FILE.ptir DEPTH ..
file=$1 depth=$2
shift 2
exec pto-run "$file" --pipeline=native.yaml --from=native-bind --random-inputs=1 --in "d=$depth" "$@"
END
chmod +x run
kept() { # kept N
  found=$(find cache -name '*.so' | wc -l)
  [ "$found" -eq "$1" ] || fail "$found libraries are kept, expected $1"
}
module a.ptir 0
module b.ptir 7
ends 0 ./run a.ptir 4
kept 1
# The same module on other lines: nothing is compiled, and what goes wrong is said at the line that it has now.
fails 5 'b.ptir:10:8: error: \[pto.native/fault\] `tile.contract` has a depth below 0' ./run b.ptir -1
kept 1
fails 5 'a.ptir:3:8: error: \[pto.native/fault\] `tile.contract` has a depth below 0' ./run a.ptir -1
kept 1
# Another module, another generator.
sed 's/tile.store %c, %y\[0, 0\]/tile.store %c, %y[0, 0]\n  tile.store %c, %y[0, 0]/' a.ptir >e.ptir
ends 0 ./run e.ptir 4
kept 2
mkdir -p tree/bin tree/lib/pto/plugins-1
cp "$(command -v pto-run)" tree/bin
ln -s "$TEST_BUILD/share" tree/share
ln -s "$TEST_BUILD"/lib/pto/plugins-1/*.so tree/lib/pto/plugins-1
PATH="$PWD/tree/bin:$PATH"
emit_c=tree/lib/pto/plugins-1/emit-c.so
rm $emit_c
cp "$TEST_BUILD/lib/pto/plugins-1/emit-c.so" $emit_c
ends 0 ./run a.ptir 4
kept 2
if readelf -n $emit_c | grep -q 'Build ID: '; then
  objcopy --dump-section .note.gnu.build-id=note $emit_c
  printf x | dd conv=notrunc bs=1 seek=20 status=none of=note
  objcopy --update-section .note.gnu.build-id=note $emit_c
  ends 0 ./run a.ptir 4
  kept 3
  ends 0 ./run a.ptir 4
  kept 3
  objcopy --remove-section .note.gnu.build-id $emit_c
fi
# Without an id it is known by its bytes.
LC_ALL=C sed -i 's/Writes kernels of tile ops/Writes Kernels of tile ops/' $emit_c
before=$(find cache -name '*.so' | wc -l)
ends 0 ./run a.ptir 4
kept $((before + 1))
ends 0 ./run a.ptir 4
kept $((before + 1))
# As C it is written all the same.
ends 0 pto-opt a.ptir --pipeline=native.yaml --from=native-bind -o a.c
grep -q 'a.ptir:3:8 ' a.c || fail
