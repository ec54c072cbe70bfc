#!/bin/sh
# Some forms of tests/fuzz/forms.py after every step of the default pipeline: the module parses back, reference gives numpy's results, and
# going on from there ends in the same module. Then random programs.
set -eu
forms='^(fused-middle|batch-norm|first-axis-back|softmax-middle|bias-of-a-middle-dim|heads|transpose-.2, 0, 1.)$'
/usr/bin/python3 "$TEST_ROOT/tests/fuzz/forms.py" --stages --only "$forms" --sizes 1 --keep . >out || { cat out; exit 1; }
cat out
grep -qE '^7 forms, 14 runs right, 0 wrong$' out
/usr/bin/python3 "$TEST_ROOT/tests/fuzz/forms.py" --random 40 --keep . >out || { cat out; exit 1; }
cat out
grep -qE '^40 forms, 80 runs right, 0 wrong$' out
