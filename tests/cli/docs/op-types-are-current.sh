# docs/reference/op-types.md is what runs show of ops and element types, on pto.reference and for each machine. Every
# seventh pair is run here; `docs/op_types.py` runs them all.
. "$TEST_ROOT/tests/shell.sh"
passed=$TEST_BUILD/tests/kernels/tensor_ops.passed
[ -s "$passed" ] || fail "$passed is not there: run ctest -R kernels/tensor_ops"
again="/usr/bin/python3 docs/op_types.py build/bin $passed >op-types.md && mv op-types.md docs/reference"
/usr/bin/python3 -B "$TEST_ROOT/docs/op_types.py" "$TEST_BUILD/bin" "$passed" $((TEST_SHARE * 7)) >text 2>&1 || fail "$(cat text)
$again"
[ "$(grep -c '^| `' "$TEST_ROOT/docs/reference/op-types.md")" -ge 110 ] || fail "few rows"

# A type that no test shows, and a run that fails.
grep -vx 'tensor.neg i16' "$passed" >less
not /usr/bin/python3 -B "$TEST_ROOT/docs/op_types.py" "$TEST_BUILD/bin" less 1000000 2>text || fail "a pair less"
says '^no test shows on pto.reference: neg i16$'

# An op that the page lacks.
mkdir -p tree/docs/reference tree/ir/ops
cp "$TEST_ROOT/docs/op_types.py" tree/docs
cp "$TEST_ROOT/ir/ops/types.def" tree/ir/ops
sed '/^| `cbrt` /d' "$TEST_ROOT/docs/reference/op-types.md" >tree/docs/reference/op-types.md
not /usr/bin/python3 -B tree/docs/op_types.py "$TEST_BUILD/bin" "$passed" 1000000 2>text || fail "a row less"
says '^is not as the page says: cbrt f32, cbrt f16, cbrt bf16$'
