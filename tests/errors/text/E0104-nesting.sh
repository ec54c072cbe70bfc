# 100,000 nested blocks, and as many brackets: the limit is named and nothing overflows.
set -e
. "$TEST_ROOT/tests/shell.sh"
{ echo 'func @f(%n: index) {'; yes '  if %n < 2 {' | head -n 100000; } >blocks.ptir
fails 4 '^blocks.ptir:257:13: error: \[E0104\] blocks are nested 257 deep; the limit is 256$' timeout 120 pto-opt blocks.ptir
{ echo 'func @f(%n: index) {'; printf '  if '; yes '(' | head -n 100000 | tr -d '\n'; echo; } >brackets.ptir
fails 4 '^brackets.ptir:2:70: error: \[E0104\] brackets are nested 65 deep; the limit is 64$' timeout 120 pto-opt brackets.ptir
