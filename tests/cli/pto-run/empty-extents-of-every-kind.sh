# Products and rows of which an extent is 0, as a number and as a symbol: nothing, or zeros where only the inner one is
# 0.
. "$TEST_ROOT/tests/shell.sh"
/usr/bin/python3 - <<'EOF' || exit 1
import numpy
for m, n, k in ((0, 5, 4), (4, 0, 5), (4, 5, 0), (0, 0, 0)):
    for transposed in (0, 1):
        b = (n, k) if transposed else (k, n)
        for names in ((m, n, k, *b), ("$M", "$N", "$K", *(("$N", "$K") if transposed else ("$K", "$N")))):
            way = "symbols" if names[0] == "$M" else "numbers"
            with open("m-%d%d%d-%d-%s.ptir" % (m, n, k, transposed, way), "w") as f:
                f.write("func @f(%%a: tensor<%s x %s x f32>, %%b: tensor<%s x %s x f32>) -> tensor<%s x %s x f32> {\n"
                        % (names[0], names[2], names[3], names[4], names[0], names[1]))
                f.write("  %%y = tensor.matmul %%a, %%b {transpose_b = %s} : tensor<%s x %s x f32>\n  return %%y\n}\n"
                        % (("false", "true")[transposed], names[0], names[1]))
    numpy.save("zeros-%d%d%d.npy" % (m, n, k), numpy.zeros((m, n), numpy.float32))
EOF
count=0
for file in m-*.ptir; do
  sizes=${file#m-} && sizes=${sizes%%-*}
  k=${sizes#??} n=${sizes#?} m=${sizes%??}
  n=${n%?}
  symbols=
  case $file in *-symbols.ptir) symbols="--sym M=$m --sym N=$n --sym K=$k" ;; esac
  pto-run "$file" --random-inputs=1 $symbols --expect "y=zeros-$sizes.npy" >text 2>&1 && grep -q '^y: ok' text ||
    { cat "$file" text; exit 1; }
  count=$((count + 1))
done
[ "$count" = 16 ] || exit 1

cat >rows.ptir <<'EOF'
func @f(%x: tensor<0 x 5 x f32>, %b: tensor<0 x 1 x f32>) -> tensor<0 x 5 x f32> {
  %a = tensor.abs %x : tensor<0 x 5 x f32>
  %y = tensor.add %b, %a : tensor<0 x 5 x f32>
  return %y
}
EOF
/usr/bin/python3 -c "import numpy; numpy.save('rows.npy', numpy.zeros((0, 5), numpy.float32))"
pto-run rows.ptir --random-inputs=1 --expect y=rows.npy >text 2>&1 && grep -q '^y: ok' text || fail
