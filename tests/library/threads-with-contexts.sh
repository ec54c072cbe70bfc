# Contexts on threads of their own compile and call at the same time, with the same bits; callables of one context stay
# open side by side.
set -e
. "$TEST_ROOT/tests/shell.sh"
! is_sanitized || exit 0
cc -D_GNU_SOURCE -O1 -I "$TEST_ROOT/sdk/include" "$TEST_ROOT/tests/library/inputs/many_threads.c" -L "$TEST_BUILD/lib" -lpto -lpthread -lm -Wl,-rpath,"$TEST_BUILD/lib" -o many-threads
for pipeline in reference.yaml default.yaml native.yaml; do
  XDG_CACHE_HOME=$TEST_TMP ends 0 ./many-threads "$pipeline" "$TEST_ROOT/examples/softmax/softmax.ptir"
  says_line 0.00390625 out
done
