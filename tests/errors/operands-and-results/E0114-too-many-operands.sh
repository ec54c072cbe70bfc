# 70,000 operands of one op, and as many parameters.
set -eu
{ echo 'func @f(%n: index) {'; echo '  call @f(%n'; yes ', %n' | head -n 70000; echo ')'; echo '}'; } >operands.ptir
not timeout 120 pto-opt operands.ptir 2>operands.txt
grep -q '^operands.ptir:65537:3: error: \[E0114\] more than 65535 operands$' operands.txt
{ echo 'func @f('; seq 70000 | sed 's/.*/%a&: index,/'; echo ') {'; echo '}'; } >parameters.ptir
not timeout 120 pto-opt parameters.ptir 2>parameters.txt
grep -q '^parameters.ptir:65537:1: error: \[E0114\] more than 65535 arguments$' parameters.txt
