# libpto.a in a program that has names of its own, which are also names inside of the library; it is told where pto is
# installed. The shared library exports what the header declares.
set -e
. "$TEST_ROOT/tests/shell.sh"
! is_sanitized || exit 0
# shellcheck disable=SC2046
cc -I "$TEST_ROOT/sdk/include" "$TEST_ROOT/tests/library/inputs/own_names.c" "$TEST_BUILD/lib/libpto.a" $(pkg-config --libs yaml-0.1 zlib) -lm -o own-names
ends 0 ./own-names "$TEST_BUILD"
says_line '0 10 func @f() {' out
ends 0 ./own-names /nowhere
says 'E1501. cannot open `reference.yaml`' out
sed -n 's/^PTO_API .*[ *]\(pto_[a-z_]*\)(.*/\1/p' "$TEST_ROOT/sdk/include/pto/pto.h" | sort >declared
nm -D --defined-only "$TEST_BUILD/lib/libpto.so" | awk '{ print $NF }' | sort >exported
diff declared exported || fail "the header declares, and the library exports"
nm --defined-only "$TEST_BUILD/lib/libpto.a" | awk '$2 ~ /^[A-Z]$/ { print $NF }' | sort | diff declared - || fail "the header declares, and the static library exports"
