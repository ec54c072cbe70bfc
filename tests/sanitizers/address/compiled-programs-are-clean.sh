# shellcheck disable=SC2034
sanitizers=address,undefined prefix=__asan_
. "$TEST_ROOT/tests/sanitizers/inputs/compiled.sh"
