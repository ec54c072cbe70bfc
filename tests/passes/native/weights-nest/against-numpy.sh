# Nests of products with weights of 4 bits are what numpy computes in float64: on the reference, which runs the nest as
# it is, and as native code, with vectors and without, on one thread and on two.
. "$TEST_ROOT/tests/shell.sh"
cat >nests.yaml <<END
pto-pipeline: 1
name: nests
machine: $TEST_ROOT/pipelines/machines/cpu-avx2.yaml
passes: [pto.weights-nest]
backend: pto.reference
END
# With sanitizers the first shapes.
all=9
if is_sanitized; then all=3; fi
for options in "$all --pipeline=nests.yaml" "$all --pipeline=native.yaml --set=backend.with.threads=1" \
  '3 --pipeline=native.yaml --set=backend.with.threads=2 --set=weights-nest.with.rows=3 --set=weights-nest.with.columns=16' \
  '3 --pipeline=native.yaml --machine=cpu-generic --set=backend.with.isa=plain'; do
  # shellcheck disable=SC2086
  /usr/bin/python3 "$TEST_ROOT/tests/passes/native/weights-nest/inputs/multiply.py" $options >out 2>text || fail "$options"
  says "^$((4 * ${options%% *})) runs\$" out
done
