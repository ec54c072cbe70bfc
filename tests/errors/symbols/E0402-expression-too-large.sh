# A sum of 100,000 terms.
set -eu
{ echo 'func @f(%n: index) {'; printf '  if 1'; yes ' + 1' | head -n 100000 | tr -d '\n'; echo ' < %n {'; echo '  }'; echo '}'; } >sum.ptir
not timeout 120 pto-opt sum.ptir 2>sum.txt
grep -q '^sum.ptir:2:518: error: \[E0402\] an expression of more than 128 names and numbers$' sum.txt
