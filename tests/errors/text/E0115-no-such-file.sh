# A file that is not there and a folder: path and cause.
set -e
. "$TEST_ROOT/tests/shell.sh"
fails 2 '^missing.ptir: error: \[E0115\] cannot be read: No such file or directory$' pto-opt missing.ptir
fails 2 '^\.: error: \[E0115\] cannot be read: it is a directory$' pto-opt .
