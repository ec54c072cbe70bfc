# Nests of attention of all forms are what numpy computes: full, causal with more keys than queries and with fewer,
# masks, shared heads, 16 bits, no queries, no keys. On the reference, which runs the nest as it is.
. "$TEST_ROOT/tests/shell.sh"
cat >nests.yaml <<END
pto-pipeline: 1
name: nests
machine: $TEST_ROOT/pipelines/machines/cpu-avx2.yaml
passes: [pto.attention-nest]
backend: pto.reference
END
/usr/bin/python3 "$TEST_ROOT/tests/passes/native/attention-nest/inputs/attend.py" nests.yaml >out 2>text || fail
says '^[1-9][0-9]* runs$' out
