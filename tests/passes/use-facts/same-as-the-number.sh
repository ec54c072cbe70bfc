# A fact costs nothing: kernels are those of the number, and a run may still say what the symbol is, if it is that.
. "$TEST_ROOT/tests/shell.sh"
cat >fact.ptir <<'EOF'
func @f(%x: tensor<$B x $C x f32>) -> tensor<$B x $C x f32> where ($C == 300) {
  %y = tensor.softmax %x : tensor<$B x $C x f32>
  return %y
}
EOF
sed 's/ where.*)/ /; s/\$C/300/g' fact.ptir >number.ptir
for name in fact number; do ends 0 pto-opt $name.ptir --pipeline=default.yaml -o $name.out; done
sed 's/ {known = [^}]*}//' fact.out | cmp - number.out || fail "a fact is not the number"
grep -q 'known = \[\["C", 300\]\]' fact.out || fail "the name is lost"

ends 0 pto-run fact.ptir --sym B=3 --sym C=300 --random-inputs 1
ends 0 pto-opt fact.ptir --pipeline=default.yaml --dump-dir=steps
ends 0 pto-run steps/*-fuse.ptir --from=tile --sym B=3 --sym C=300 --random-inputs 1
ends 4 pto-run fact.ptir --sym B=3 --sym C=299 --random-inputs 1
says 'fact.ptir:1:1: error: \[E1606\] the fact `$C == 300` does not hold: left side 299 by --sym, right side 300'
/usr/bin/python3 -c 'import numpy; numpy.save("x.npy", numpy.zeros((3, 299), numpy.float32))'
ends 4 pto-run fact.ptir --in x=x.npy
says 'x.npy: error: \[E1602\] dim 1 of `x` must be 300, the file has 299'
says 'note: its `where` says `$C == 300`'
ends 0 pto-run fact.ptir --sym B=3 --sym C=300 --random-inputs 1 --check=semantics

sed 's/\["C", 300\]/["C"]/' fact.out >bad.ptir
ends 4 pto-opt bad.ptir
says '\[E0412\] `func` has a malformed item 0 of `known`: it needs \["name", expression\]'
