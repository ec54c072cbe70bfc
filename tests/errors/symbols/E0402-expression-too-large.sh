# A sum of 100,000 terms.
set -e
. "$TEST_ROOT/tests/shell.sh"
{ echo 'func @f(%n: index) {'; printf '  if 1'; yes ' + 1' | head -n 100000 | tr -d '\n'; echo ' < %n {'; echo '  }'; echo '}'; } >sum.ptir
fails 4 '^sum.ptir:2:518: error: \[E0402\] an expression of more than 128 names and numbers$' timeout 120 pto-opt sum.ptir
