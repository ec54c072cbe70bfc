# Integer ops of all types on all values of 8 bits, and on edges of wider ones, quotients by 0 included: Python's
# numbers on both pipelines, with an operand that is repeated, too.
set -e
. "$TEST_ROOT/tests/shell.sh"
/usr/bin/python3 "$TEST_ROOT/tests/fuzz/integer_edges.py" --keep . >out || fail
cat out
grep -qx '480 forms in 48 runs, 0 wrong' out
