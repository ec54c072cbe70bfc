# A line of 10 MB ends in one diagnostic at once.
set -eu
{ echo 'func @f() {'; head -c 10000000 /dev/zero | tr '\0' x; echo; echo '}'; } >long.ptir
not timeout 120 pto-opt long.ptir 2>long.txt
grep -q '^long.ptir:2:1: error: \[E0103\] the line has 10000000 bytes; the limit is 1048576$' long.txt
