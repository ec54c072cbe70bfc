# Some forms of tests/fuzz/forms.py after every step of the default pipeline: the module parses back, reference computes
# numpy's results, and going on from there ends in the same module. Then random programs.
set -e
. "$TEST_ROOT/tests/shell.sh"
forms='^(fused-middle|batch-norm|first-axis-back|softmax-middle|bias-of-a-middle-dim|heads|transpose-.2, 0, 1.)$'
right() { # FORMS OPTIONS..
  count=$1
  shift
  /usr/bin/python3 "$TEST_ROOT/tests/fuzz/forms.py" "$@" --share "$TEST_SHARE" --keep . >out || fail
  cat out
  count=$(((count + TEST_SHARE - 1) / TEST_SHARE))
  grep -qx "$count forms, $((2 * count)) runs right, 0 wrong" out
}
right 7 --stages --only "$forms" --sizes 1
right 40 --random 40
