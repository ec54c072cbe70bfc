# Random programs of every row of the table, of op and element type: numpy's results on the reference, and of every
# second one by the default pipeline, for random machines, options and pins, within a bound that follows the numbers.
# The long run is `./dev fuzz programs`.
set -u
. "$TEST_ROOT/tests/shell.sh"
/usr/bin/python3 "$TEST_ROOT/tests/fuzz/programs/run.py" --count $((500 / TEST_SHARE)) --lowered 2 --keep . >out || fail "$(cat out)"
grep -q ": $((500 / TEST_SHARE)) programs, .* 0 wrong$" out || fail "$(cat out)"
# The default pipeline refuses 3 % of legal programs at most, on the machine that it names.
refused=$(sed -n 's/.* lowered, \([0-9]*\) refused.*/\1/p' out)
[ "$refused" -le $((7 / TEST_SHARE + 1)) ] || fail "$(cat out)"
