# docs/reference/op-types.md is what runs show of ops and element types, on pto.reference and for each machine. With
# sanitizers some of the pairs.
. "$TEST_ROOT/tests/shell.sh"
passed=$TEST_BUILD/tests/kernels/tensor_ops.passed
[ -s "$passed" ] || fail "$passed is not there: run ctest -R kernels/tensor_ops"
again="/usr/bin/python3 docs/op_types.py build/bin $passed >op-types.md && mv op-types.md docs/reference"
if [ "$TEST_SHARE" -ne 1 ]; then
  /usr/bin/python3 -B "$TEST_ROOT/docs/op_types.py" "$TEST_BUILD/bin" "$passed" $((TEST_SHARE * 4)) || fail "$again"
  exit 0
fi
/usr/bin/python3 -B "$TEST_ROOT/docs/op_types.py" "$TEST_BUILD/bin" "$passed" >made || fail "$(cat made)"
[ "$(grep -c '^| `' made)" -ge 110 ] || fail "few rows"
diff "$TEST_ROOT/docs/reference/op-types.md" made || fail "docs/reference/op-types.md is out of date: $again"

# A type that no test shows, and a run that fails.
grep -vx 'tensor.neg i16' "$passed" >less
not /usr/bin/python3 -B "$TEST_ROOT/docs/op_types.py" "$TEST_BUILD/bin" less 1000000 2>text || fail "a pair less"
says '^no test shows on pto.reference: neg i16$'
