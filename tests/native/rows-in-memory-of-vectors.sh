# Extremes of rows are those of the reference, whatever zeros and NaN there are; sweeps take each element once.
. "$TEST_ROOT/tests/native/inputs/compile_each.sh"
# It compiles for itself, and runs nothing of the build.
! is_sanitized || exit 0
native_each vector_rows
says "^[0-9]\{5,\} results agree$" first
