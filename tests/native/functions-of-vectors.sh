# Functions of f32 vectors keep the bounds that the header states, in ulp of libm in double, on every exponent; every
# width, ISA and compiler makes the same bits.
. "$TEST_ROOT/tests/native/inputs/compile_each.sh"
# It compiles for itself, and runs nothing of the build.
! is_sanitized || exit 0
native_each vector_functions
cat measured
says "^exp  *0\.[0-9]* ulp" measured
# What `./dev fuzz vectors` takes one after the other.
ends 0 "$native_first" part 300 sigmoid
says '^sigmoid  *[0-9.]* ulp'
[ "$(wc -l <out)" -eq 1 ] || fail "other functions run as well"
! grep -qxF "$(cat out)" first || fail "a part has the numbers of the whole"
