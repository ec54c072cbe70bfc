# The coefficients in the headers are those that the script in the tree finds.
. "$TEST_ROOT/tests/shell.sh"
# No binary of this tree runs.
! is_sanitized || exit 0
ends 0 /usr/bin/python3 "$TEST_ROOT/tests/native/fit_polynomials.py" --check "$TEST_ROOT"/sdk/include/pto/native_vector_*.h
says '^exp: 2^-29' out
# A header without them is told of.
echo '0x1p+0' >other.h
ends 1 /usr/bin/python3 "$TEST_ROOT/tests/native/fit_polynomials.py" --check other.h
says '^log: no header holds ' out
