# --repeat N: every execution begins with the tensors as they were given, so a function that changes its input in place
# leaves what one execution leaves; and outputs and files are those of the last.
. "$TEST_ROOT/tests/shell.sh"
cat >m.ptir <<'END'
func @f(inout %x: gm<4 x 64 x f32>) {
  %t = tile.load %x[0, 0] size(4, 64) : tile<4 x 64 x f32, vec, nd>
  %u = tile.add %t, %t : tile<4 x 64 x f32, vec, nd>
  tile.store %u, %x[0, 0]
  return
}
END
/usr/bin/python3 -c "
import numpy
x = numpy.arange(256, dtype=numpy.float32).reshape(4, 64)
numpy.save('x.npy', x)
numpy.save('want.npy', x + x)"
run='pto-run m.ptir --backend=pto.reference --in x=x.npy --expect x=want.npy --report=report'
exits 0 $run || exit 1
exits 0 $run --repeat=3 --out x=out.npy >text || exit 1
grep -q '^x: ok, max abs error 0,' text || fail
grep -q "^time on this machine: [0-9.]* ms, min [0-9.]* ms, spread [0-9.]* ms\$" text || fail
head -n 1 report/counters.csv | grep -qx "name,unit,value,min,median,spread" || exit 1
[ "$(sort report/counters.csv | uniq -d | wc -l)" -eq 0 ] || { echo 'counters of several executions'; exit 1; }
cmp out.npy want.npy
