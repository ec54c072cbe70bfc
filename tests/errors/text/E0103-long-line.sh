# A line of 10 MB ends in one diagnostic at once.
set -e
. "$TEST_ROOT/tests/shell.sh"
{ echo 'func @f() {'; head -c 10000000 /dev/zero | tr '\0' x; echo; echo '}'; } >long.ptir
fails 4 '^long.ptir:2:1: error: \[E0103\] the line has 10000000 bytes; the limit is 1048576$' timeout 120 pto-opt long.ptir
