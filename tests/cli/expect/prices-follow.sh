# What is expected of symbols changes what sizes cost, and no result; what is expected wrongly is refused.
. "$TEST_ROOT/tests/shell.sh"
cat >m.ptir <<'EOF'
func @f(%x: tensor<$R x $C x f32>) -> tensor<$R x $C x f32> {
  %y = tensor.softmax %x : tensor<$R x $C x f32>
  return %y
}
EOF
tile() { # WORDS: the schedule has a tile with them
  grep -A1 'decide: tile' s.yaml | grep -q "$1" || fail "no tile $1: $(grep -A1 'decide: tile' s.yaml)"
}
ends 0 pto-opt m.ptir --pipeline=default.yaml --emit-schedule=s.yaml -o any.ptir
tile 'rows: 8, columns: 1024'
ends 0 pto-opt m.ptir --pipeline=default.yaml --emit-schedule=s.yaml --expect R=3 --expect '$C=100003' -o long.ptir
tile 'rows: 3, columns: 512'
says '{expect = \[\["R", 3\], \["C", 100003\]\]}' long.ptir
ends 0 pto-opt m.ptir --passes=pto.use-facts --expect R=3 --expect C=7 --expect R=5 -o said.ptir
says '{expect = \[\["C", 7\], \["R", 5\]\]}' said.ptir

# Any other size is right.
for rows in 1 3 17; do
  ends 0 pto-run m.ptir --expect R=3 --expect C=4096 --sym R=$rows --sym C=1500 --random-inputs 3 --out y=expected.npy
  ends 0 pto-run m.ptir --sym R=$rows --sym C=1500 --random-inputs 3 --out y=plain.npy
  ends 0 pto-run m.ptir --pipeline=reference.yaml --sym R=$rows --sym C=1500 --random-inputs 3 --out y=reference.npy
  /usr/bin/python3 -c '
import numpy
e, p, r = (numpy.load(f"{n}.npy") for n in ("expected", "plain", "reference"))
assert numpy.allclose(e, r, 1e-5, 1e-9) and numpy.allclose(p, r, 1e-5, 1e-9)' || fail "$rows rows"
done

refuses 2 'pto-opt: error: [E1608] no function has a symbol $Q to expect a value of' \
  pto-opt m.ptir --pipeline=default.yaml --expect Q=3
refuses 2 'pto-opt: error: [E1503] option `--expect` needs a whole number that is not negative, not `-3`' \
  pto-opt m.ptir --pipeline=default.yaml --expect R=-3
refuses 2 'pto-opt: error: [E1503] option `--expect` needs NAME=VALUE, not `R`' \
  pto-opt m.ptir --pipeline=default.yaml --expect R
refuses 4 'pto-run: error: [E1608] no function has a symbol $y to expect a value of' \
  pto-run m.ptir --sym R=3 --sym C=4 --random-inputs 3 --expect y=7
sed 's/ {$/ {expect = [["Q", 3]]} {/' m.ptir >bad.ptir
fails 4 '\[E0412\] `func` has in `expect` a number of $Q, which no parameter mentions' pto-opt bad.ptir
sed 's/ {$/ {expect = [["R"]]} {/' m.ptir >bad.ptir
fails 4 '\[E0412\] `func` has a malformed item 0 of `expect`: it needs \["name", number of at least 0\]' pto-opt bad.ptir
