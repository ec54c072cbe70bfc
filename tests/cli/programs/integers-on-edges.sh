# Integer ops of all types on all values of 8 bits, and on edges of wider ones, quotients by 0 included: Python's
# numbers on both pipelines, with an operand that is repeated, too.
set -e
. "$TEST_ROOT/tests/shell.sh"
/usr/bin/python3 "$TEST_ROOT/tests/fuzz/integer_edges.py" --share "$((TEST_SHARE == 1 ? 1 : 5))" --keep . >out || fail
cat out
if is_sanitized; then grep -qx '[1-9][0-9]* forms in 10 runs, 0 wrong' out; else grep -qx '480 forms in 48 runs, 0 wrong' out; fi
