# Random programs of every row of the table against numpy, as C of this CPU; the long run is `./dev fuzz programs`.
. "$TEST_ROOT/tests/shell.sh"
count=$((30 / TEST_SHARE))
/usr/bin/python3 "$TEST_ROOT/tests/fuzz/programs/run.py" --seed 7000 --count $count --lowered 0 --native 1 --keep . >out || fail
says "$count native, [0-3] refused there, 0 wrong\$" out
