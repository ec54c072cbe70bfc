# Bytes after the elements: numpy.load ignores them, and so does pto-run, but it says how many they are. The same of
# inputs and of references; a file without any is read in silence.
set -e
. "$TEST_ROOT/tests/shell.sh"
negation '$n' >f.ptir
/usr/bin/python3 - <<'EOF'
import numpy as np

x = np.array([1, -2, 3], np.float32)
np.save("x.npy", x), np.save("y.npy", -x)
for name in "xy":
    whole = open(f"{name}.npy", "rb").read()
    open(f"{name}-more.npy", "wb").write(whole + b"1234567")
    open(f"{name}-two.npy", "wb").write(whole + whole)
    assert (np.load(f"{name}-more.npy") == np.load(f"{name}.npy")).all()
empty = open("empty-more.npy", "wb")
np.save(empty, np.zeros(0, np.float32)), empty.write(b"1")
EOF
warning_of() { # FILE LEFT ELEMENTS BYTES
  echo "$1: warning: [E1406] $2 bytes follow the elements, of which the shape has $3 in $4 bytes; they are ignored"
}
run() {
  pto-run --backend=pto.reference f.ptir "$@" >out.txt 2>text
  grep -q '^y: ok, max abs error 0,' out.txt
}
run --in=x=x-more.npy --expect=y=y.npy
warning_of x-more.npy 7 3 12 | cmp - text
run --in=x=x.npy --expect=y=y-two.npy
warning_of y-two.npy 140 3 12 | cmp - text
run --in=x=x.npy --expect=y=y.npy
[ ! -s text ]
pto-run --backend=pto.reference f.ptir --in=x=empty-more.npy 2>text >out.txt
warning_of empty-more.npy 1 0 0 | cmp - text
