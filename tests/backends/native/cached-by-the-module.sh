# What was compiled is found by the module, the machine and the code of the generator: the text is not written for that.
. "$TEST_ROOT/tests/shell.sh"
export XDG_CACHE_HOME="$PWD/cache"
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
product_of_depth >a.ptir
{ seq 7 | sed 's/.*//' && cat a.ptir; } >b.ptir
ends 0 ./run a.ptir 4
kept 1
# The same module on other lines: nothing is compiled, and what goes wrong is said at the line that it has now.
fails 5 'b.ptir:10:8: error: \[pto.native/fault\] `tile.contract` has a depth below 0' ./run b.ptir -1
kept 1
fails 5 'a.ptir:3:8: error: \[pto.native/fault\] `tile.contract` has a depth below 0' ./run a.ptir -1
kept 1
# Another module, another machine of that name, another generator.
sed 's/tile.store %c, %y\[0, 0\]/tile.store %c, %y[0, 0]\n  tile.store %c, %y[0, 0]/' a.ptir >e.ptir
ends 0 ./run e.ptir 4
kept 2
cp "$TEST_ROOT/pipelines/machines/cpu-avx2.yaml" one.yaml
sed 's/^\( *\)clock-hz: .*/\1clock-hz: 2345678901/' one.yaml >other.yaml
cmp -s one.yaml other.yaml && fail 'the machines are the same'
for machine in one other one; do ends 0 ./run a.ptir 4 --machine=$machine.yaml; done
kept 4
mkdir -p tree/bin tree/lib/pto/plugins-1
cp "$(command -v pto-run)" tree/bin
ln -s "$TEST_BUILD/share" tree/share
ln -s "$TEST_BUILD"/lib/pto/plugins-1/*.so tree/lib/pto/plugins-1
PATH="$PWD/tree/bin:$PATH"
emit_c=tree/lib/pto/plugins-1/emit-c.so
rm $emit_c
cp "$TEST_BUILD/lib/pto/plugins-1/emit-c.so" $emit_c
ends 0 ./run a.ptir 4
kept 4
if readelf -n $emit_c | grep -q 'Build ID: '; then
  objcopy --dump-section .note.gnu.build-id=note $emit_c
  printf x | dd conv=notrunc bs=1 seek=20 status=none of=note
  objcopy --update-section .note.gnu.build-id=note $emit_c
  ends 0 ./run a.ptir 4
  kept 5
  ends 0 ./run a.ptir 4
  kept 5
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
