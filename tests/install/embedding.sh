# The examples of examples/embed, as a user builds and runs them from an installed tree that was moved; and a project
# that finds the library by CMake, shared and static.
set -e
. "$TEST_ROOT/tests/shell.sh"
! is_sanitized || exit 0 # a program would need the same sanitizer
unset PTO_PLUGIN_PATH PTO_PIPELINE_PATH
peers=${HOME:-}/.cache/pto-bench-peers # where ./dev bench-peers puts torch
cmake --install "$TEST_BUILD" --prefix "$TEST_TMP/a" >install.log
mv a b
prefix=$TEST_TMP/b
module=$prefix/share/pto/examples/softmax/softmax.ptir
sources=$prefix/share/pto/examples/embed
export PKG_CONFIG_PATH="$prefix/lib/pkgconfig" XDG_CACHE_HOME="$TEST_TMP/cache"

# As its README builds it.
(cd "$sources" && eval "$(sed -n "s|PREFIX|$prefix|g; s|-o call_softmax\$|-Wall -Wextra -Werror -o $TEST_TMP/in-c|p" README.md)")
ends 0 ./in-c "$module"
says_line '@softmax x: f32 x $B x 32 x 256 -> y' out
says_line 'rows sum to 1 within 1e-5' out
refuses 1 "missing.ptir: error: [E0115] cannot be read: No such file or directory" ./in-c missing.ptir

# shellcheck disable=SC2046
g++ -std=c++17 -Wall -Wextra -Werror "$sources/call_softmax.cpp" $(pkg-config --cflags --libs pto) -Wl,-rpath,"$prefix/lib" -o in-cpp
ends 0 ./in-cpp "$module"
says_line 'rows sum to 1 within 1e-5' out

ends 0 /usr/bin/python3 -B "$sources/call_softmax.py" "$prefix"
says_line 'batch 1: right, compared with numpy' out
says_line 'batch 3: right, compared with numpy' out
says_line 'a wrong shape: error: [E1602] dim 1 of `x` must be 32, the tensor has 31' out
says '^torch' out
for python in /usr/bin/python3 "$peers/bin/python"; do
  { [ -x "$python" ] && "$python" -c 'import torch' 2>/dev/null; } || continue
  ends 0 "$python" -B "$sources/call_softmax.py" "$prefix"
  says_line 'torch: right' out
  says_line 'torch in bf16: right' out
  says "^a tensor that is not dense: error: \[E1612\] the tensor for .x. is not dense: dim [01] has stride [0-9]* and not [0-9]*$" out
  break
done

ends 0 "$prefix/bin/pto-build" "$module" -o libop.so --header op.h
ends 0 /usr/bin/python3 -B "$sources/call_built.py" ./libop.so
says_line 'softmax: right, compared with numpy' out
says_line 'a strided array: 1, `x` is not dense: dim 0 has stride 16384 and not 8192' out
# Its source, with what the installed tree has.
ends 0 "$prefix/bin/pto-build" "$module" -o op.c
# shellcheck disable=SC2046
cc -std=gnu17 -O2 -ffp-contract=off -fno-math-errno -fno-strict-aliasing -march=native -DPTO_VECTOR_BYTES=32 -fPIC -shared op.c $(pkg-config --cflags --libs pto-runtime) -o libop.so
ends 0 /usr/bin/python3 -B "$sources/call_built.py" ./libop.so

# The program of the guide.
sed -n '/^```c$/,/^```$/p' "$prefix/share/pto/docs/embedding.md" | grep -v '^```' >twice.c
# shellcheck disable=SC2046
cc -Wall -Wextra -Werror twice.c $(pkg-config --cflags --libs pto) -Wl,-rpath,"$prefix/lib" -o twice
ends 0 ./twice
says_line '2 4 6' out

mkdir consumer
cat >consumer/CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(consumer C)
find_package(PTO 0.1 EXACT CONFIG REQUIRED)
add_executable(with-shared ${SOURCE})
target_link_libraries(with-shared PRIVATE PTO::pto m)
add_executable(with-static ${SOURCE})
target_link_libraries(with-static PRIVATE PTO::pto_static m)
install(TARGETS with-shared with-static RUNTIME DESTINATION bin)
CMAKE
cmake -S consumer -B consumer/build -DSOURCE="$sources/call_softmax.c" -DCMAKE_PREFIX_PATH="$prefix" >consumer.log 2>&1 &&
  cmake --build consumer/build >>consumer.log 2>&1 || fail "$(cat consumer.log)"
ends 0 consumer/build/with-shared "$module"
# The static library looks beside the program that holds it.
cp consumer/build/with-static "$prefix/bin"
ends 0 "$prefix/bin/with-static" "$module"
says_line 'rows sum to 1 within 1e-5' out
if readelf -d "$prefix/bin/with-static" | grep -q libpto; then fail "with-static needs libpto.so"; fi
