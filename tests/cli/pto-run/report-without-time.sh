# A report where there is less to say: of the reference backend at any level it says that there are no cycles; outputs
# that differ are reported like others; what cannot be written is an error, 74, and leaves no half file.
. "$TEST_ROOT/tests/shell.sh"
softmax=$TEST_ROOT/examples/softmax/case.yaml
for step in none tile outline select allocate; do
  set -- --pipeline=default.yaml --until="$step" --backend=pto.reference
  [ $step != none ] || set -- --pipeline=reference.yaml
  rm -rf report
  pto-run --case "$softmax" "$@" --report=report >out.txt 2>&1 || fail "$step"
  grep -q 'it does not model time' report/index.html || fail "$step: the page does not say that there are no cycles"
  ! grep -q 'id="time"\|id="units"' report/index.html || fail "$step: a table of times without times"
  for file in report/*.svg report/index.html; do
    /usr/bin/python3 -c 'import sys, xml.etree.ElementTree as t; t.parse(sys.argv[1])' "$file" || fail "$step: $file"
  done
  case $step in
  allocate) [ -f report/memory-0-softmax_0.svg ] || fail "no memory map after allocate" ;;
  *) [ ! -e report/memory-0-softmax_0.svg ] || fail "$step: a memory map without addresses" ;;
  esac
done

/usr/bin/python3 -c 'import numpy; numpy.save("x.npy", numpy.zeros((4, 8), "f4")); numpy.save("y.npy", numpy.ones((4, 8), "f4"))'
pto-run "$TEST_ROOT/examples/softmax/rows.ptir" --in x=x.npy --expect y=y.npy --report=differs >out.txt 2>&1
[ $? -eq 1 ] || fail "outputs that differ"
grep -q 'y: DIFFERS' differs/index.html || fail "the page does not say that outputs differ"

expect_74() { # FOLDER TEXT
  pto-run --case "$softmax" --report="$1" >out.txt 2>&1
  [ $? -eq 74 ] || fail "$1: not 74"
  grep -q "error: \[E15$2" out.txt || fail "$1"
}
: >file
expect_74 file/report '01\] cannot create the folder: Not a directory'
expect_74 absent/report '01\] cannot create the folder: No such file or directory'
expect_74 file '01\] cannot open the folder: Not a directory'
mkdir -p taken/index.html
expect_74 taken '07\] the folder holds a file `index.html` that pto did not write'
[ "$(find taken -name '*index*' | wc -l)" = 1 ] || fail "a half file is left: $(ls taken)"
