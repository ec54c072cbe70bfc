# Loads, stores and tails touch their elements alone; conversions of each mode and maxima are those of the reference.
. "$TEST_ROOT/tests/native/inputs/compile_each.sh"
# It compiles for itself, and runs nothing of the build.
! is_sanitized || exit 0
for module in element element_convert lanes; do
  ends 0 gcc -std=c17 -O2 -I "$TEST_ROOT/sdk/include" -I "$TEST_BUILD/include" -I "$TEST_ROOT/plugins/shared" \
    -c "$TEST_ROOT/plugins/shared/semantics/$module.c"
done
native_includes="-D_GNU_SOURCE -I $TEST_ROOT/plugins/shared -I $TEST_BUILD/include"
native_each vector_casts element.o element_convert.o lanes.o
says "^[0-9]\{7,\} results agree$" first
