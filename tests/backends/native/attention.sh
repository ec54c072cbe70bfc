# Attention as one nest, as C of this CPU: what numpy computes, with the same bits for any number of threads.
. "$TEST_ROOT/tests/shell.sh"
/usr/bin/python3 "$TEST_ROOT/tests/passes/native/attention-nest/inputs/attend.py" native.yaml causal padding narrow few-or-many whole-narrow >out 2>text || fail
says '^[1-9][0-9]* runs$' out
