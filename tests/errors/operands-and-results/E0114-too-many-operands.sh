# 70,000 operands of one op, and as many parameters.
set -e
. "$TEST_ROOT/tests/shell.sh"
{ echo 'func @f(%n: index) {'; echo '  call @f(%n'; yes ', %n' | head -n 70000; echo ')'; echo '}'; } >operands.ptir
fails 4 '^operands.ptir:65537:3: error: \[E0114\] more than 65535 operands$' timeout 120 pto-opt operands.ptir
{ echo 'func @f('; seq 70000 | sed 's/.*/%a&: index,/'; echo ') {'; echo '}'; } >parameters.ptir
fails 4 '^parameters.ptir:65537:1: error: \[E0114\] more than 65535 arguments$' timeout 120 pto-opt parameters.ptir
