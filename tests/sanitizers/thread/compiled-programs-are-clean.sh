# shellcheck disable=SC2034
sanitizers=thread prefix=__tsan_
. "$TEST_ROOT/tests/sanitizers/inputs/compiled.sh"
