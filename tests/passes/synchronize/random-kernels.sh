#!/bin/sh
# The first kernels of tests/fuzz/kernels.py: race-free, deadlock-free and right with their flags, and no change to them that makes a
# race passes the checker. `./dev fuzz kernels` goes on with more.
set -eu
/usr/bin/python3 "$TEST_ROOT/tests/fuzz/kernels.py" --count 16 --changes 3 --needed 4 --keep . >out || { cat out; exit 1; }
cat out
for what in '16 kernels' '[1-9][0-9]* barriers' '[1-9][0-9]* changes refused, wrong' '[1-9][0-9]* flags needed'; do
  grep -qE "(^|, )$what(,|\$)" out || { echo "no $what"; exit 1; }
done
