# The first kernels of tests/fuzz/kernels.py: race-free, deadlock-free and right with their flags, and no change to them
# that makes a race passes the checker. `./dev fuzz kernels` goes on with more.
set -e
. "$TEST_ROOT/tests/shell.sh"
count=$((TEST_SHARE == 1 ? 16 : 4))
/usr/bin/python3 "$TEST_ROOT/tests/fuzz/kernels.py" --count $count --changes 3 --needed 4 --keep . >out || fail
cat out
for what in "$count kernels" '[1-9][0-9]* barriers' '[1-9][0-9]* changes refused, wrong' '[1-9][0-9]* flags needed'; do
  grep -qE "(^|, )$what(,|\$)" out || fail "no $what"
done
# With `while` and branches on elements of tiles.
/usr/bin/python3 "$TEST_ROOT/tests/fuzz/kernels.py" --decide --count $count --changes 2 --needed 4 --keep . >out || fail
cat out
for what in "$count kernels" '[1-9][0-9]* changes refused, wrong' '[1-9][0-9]* flags needed'; do
  grep -qE "(^|, )$what(,|\$)" out || fail "no $what"
done
# Kernels with so many periods that the flags decided whether stages were told apart, in the checker but not in the
# pass.
seeds='1795234169 1795234421'
! is_sanitized || seeds=1795234169
for seed in $seeds; do
  /usr/bin/python3 "$TEST_ROOT/tests/fuzz/kernels.py" --seed "$seed" --count 1 --changes 1 --keep . >out || fail
done
