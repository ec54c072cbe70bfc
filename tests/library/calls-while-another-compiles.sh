# While the C compiler of one context runs, another context calls, and makes callables that the cache has.
set -e
. "$TEST_ROOT/tests/shell.sh"
! is_sanitized || exit 0
cc -D_GNU_SOURCE -O1 -I "$TEST_ROOT/sdk/include" "$TEST_ROOT/tests/library/inputs/slow_compiler.c" -L "$TEST_BUILD/lib" -lpto -lpthread -Wl,-rpath,"$TEST_BUILD/lib" -o slow-compiler
cat >slow-cc <<END
#!/bin/sh
touch '$PWD/started'
until [ -e '$PWD/go' ]; do sleep 0.01; done
exec gcc "\$@"
END
chmod +x slow-cc
XDG_CACHE_HOME=$TEST_TMP ends 0 ./slow-compiler native.yaml "$PWD/slow-cc" started go
says_line 'while it compiles' out
