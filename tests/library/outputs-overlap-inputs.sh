# Outputs may be in the memory of inputs where the function says so, else it is refused at the function.
set -e
. "$TEST_ROOT/tests/shell.sh"
! is_sanitized || exit 0
cat >wanted <<'END'
not declared: 4
mine.ptir:27:1: error: [E1612] the tensor for `y` overlaps that for `x`, which the function does not declare [@not]
END
cc -D_GNU_SOURCE -Wall -Wextra -Werror -I "$TEST_ROOT/sdk/include" "$TEST_ROOT/tests/library/inputs/overlapping_calls.c" -L "$TEST_BUILD/lib" -lpto -Wl,-rpath,"$TEST_BUILD/lib" -o overlapping-calls
for pipeline in reference.yaml default.yaml native.yaml; do
  XDG_CACHE_HOME=$TEST_TMP ends 0 ./overlapping-calls "$pipeline"
  diff wanted out || fail "$pipeline: other bits or sentences"
done
