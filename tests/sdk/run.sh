#!/bin/sh
# run.sh BUILD: the SDK as a stranger meets it. Installs, moves the installed tree, and from it alone - source and build
# trees out of reach, PTO_* unset - starts plugins from the templates, builds them by CMake and by one compiler line
# with gcc and clang, checks the headers as C++17, and runs what was built. Ends in "N passed, N failed".
set -u
case $0 in /*) self=$0 ;; *) self=$PWD/$0 ;; esac
build=$(cd "$1" && pwd) || exit 2
work=$(mktemp -d "${TMPDIR:-/tmp}/pto-sdk-XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
for name in $(env | sed -n 's/^\(PTO_[A-Za-z0-9_]*\)=.*/\1/p'); do unset "$name"; done
export XDG_DATA_HOME="$work/no-data" LC_ALL=C
passed=0
failed=0

# check NAME COMMAND...: one line for each; the output only when it fails.
check() {
  name=$1
  shift
  if "$@" >"$work/log" 2>&1; then
    passed=$((passed + 1))
    printf 'ok      %s\n' "$name"
  else
    failed=$((failed + 1))
    printf 'FAILED  %s\n' "$name"
    sed 's/^/        /' "$work/log" | tail -n 30
  fi
}

cmake --install "$build" --prefix "$work/first" >"$work/log" 2>&1 || { cat "$work/log"; exit 2; }
mkdir "$work/moved" && mv "$work/first" "$work/moved/pto"
root=$work/moved/pto
export PATH="$root/bin:$PATH" PKG_CONFIG_PATH="$root/lib/pkgconfig"
cd "$work" || exit 2

# What is installed must not name the place it was built at.
leaks() {
  ! grep -rlF -e "$build" "$root/include" "$root/lib/cmake" "$root/lib/pkgconfig" "$root/share" "$root/bin" "$root/lib/pto"
}
check "the installed tree names neither build tree nor first prefix" leaks

cat >neg.ptir <<'END'
func @f(%x: tensor<8 x f32>) -> tensor<8 x f32> {
  %a = tensor.neg %x : tensor<8 x f32>
  %y = tensor.add %a, %x : tensor<8 x f32>
  return %y
}
END
cat >softmax.ptir <<'END'
func @softmax(%x: tensor<$B x 300 x f32>) -> tensor<$B x 300 x f32> {
  %y = tensor.softmax %x : tensor<$B x 300 x f32>
  return %y
}
END
cat >strategy.yaml <<'END'
pto-pipeline: 1
extends: default.yaml
edit:
  - { set: tile.with.strategy, to: { use: org.acme.tiling, with: { rows: 12 } } }
END

cmake_build() { # KIND COMPILER
  cmake -S "$1-by-cmake" -B "$1-$2" -DCMAKE_PREFIX_PATH="$root" -DCMAKE_C_COMPILER="$2" && cmake --build "$1-$2"
}
line_build() { # KIND COMPILER
  # shellcheck disable=SC2046
  "$2" -shared -fPIC -fvisibility=hidden -Wall -Wextra -Werror $(pkg-config --cflags pto-plugin) "$1-by-cmake/plugin.c" -o "$1-$2.so"
}
as_cxx() { # COMPILER HEADER
  echo "#include <$2>" >header.cc
  # shellcheck disable=SC2046
  "$1" -std=c++17 -Wall -Wextra -Werror -fsyntax-only $(pkg-config --cflags pto-plugin) header.cc
}
one_export() { # FILE
  [ "$(nm -D --defined-only "$1" | awk '{ print $3 }')" = pto_plugin_entry_v1 ]
}
# The pass changes what it says, the numbers stay.
pass_runs() { # FILE
  pto-run softmax.ptir --sym B=96 --random-inputs 7 --plugin="$1" --insert-after=pipeline=org.acme.pass --out y=with.npy >with.txt &&
    pto-run softmax.ptir --sym B=96 --random-inputs 7 --out y=without.npy >without.txt && cmp with.npy without.npy &&
    ! cmp -s with.txt without.txt
}
tiling_runs() { # FILE
  pto-opt softmax.ptir --pipeline=strategy.yaml --plugin="$1" -o other.ptir && pto-opt softmax.ptir --pipeline=default.yaml -o usual.ptir &&
    ! cmp -s other.ptir usual.ptir &&
    pto-run softmax.ptir --pipeline=strategy.yaml --plugin="$1" --sym B=96 --random-inputs 7 --expect y=want.npy --rtol 1e-5 >other.txt &&
    ! cmp -s other.txt usual.txt
}
# Fewer, larger tiles than those of the usual model; the price in the schedule is its own.
cost_runs() { # FILE
  pto-opt softmax.ptir --pipeline=default.yaml --plugin="$1" --set=tile.with.strategy.with.cost=org.acme.cost --explain=schedule >priced.txt &&
    pto-opt softmax.ptir --pipeline=default.yaml --explain=schedule >usual-schedule.txt && grep ' tile ' priced.txt &&
    ! cmp -s priced.txt usual-schedule.txt && pto-inspect costs --plugin="$1" | grep -q '^org.acme.cost  *Count tiles'
}
backend_runs() { # FILE
  pto-run neg.ptir --plugin="$1" --backend=org.acme.backend --random-inputs 3 --out y=zero.npy &&
    ! pto-run softmax.ptir --sym B=1 --plugin="$1" --backend=org.acme.backend --random-inputs 3 2>text &&
    grep -q 'softmax.ptir:2:8: error: \[org.acme.backend/unknown-op\] this backend cannot run `tensor.softmax`' text
}

# Its op is read, listed, evaluated and, made ops that the pipeline knows, simulated.
opset_runs() { # FILE
  pto-inspect ops org.acme.squared_distance --plugin="$1" | grep -q 'plugin  *org.acme.opset' &&
    pto-run opset-by-cmake/distance.ptir --plugin="$1" --backend=pto.reference --sym B=7 --random-inputs 5 --out d=d.npy &&
    pto-run opset-by-cmake/distance.ptir --plugin="$1" --pipeline=default.yaml --insert-before=canonicalize=org.acme.decompose-squared-distance \
      --sym B=7 --random-inputs 5 --expect d=d.npy --rtol 6e-6
}

check "softmax runs on the reference backend" pto-run softmax.ptir --sym B=96 --random-inputs 7 --backend=pto.reference --out y=want.npy
check "softmax runs through the default pipeline" sh -c 'pto-run softmax.ptir --sym B=96 --random-inputs 7 --expect y=want.npy --rtol 1e-5 >usual.txt'
for kind in pass tiling cost backend opset; do
  check "pto-plugin new $kind" pto-plugin new $kind "org.acme.$kind" "$kind-by-cmake"
  for compiler in gcc clang-19; do
    check "$kind: CMake with $compiler" cmake_build $kind $compiler
    check "$kind: one line with $compiler" line_build $kind $compiler
    check "$kind: one export with $compiler" one_export "$kind-$compiler.so"
    check "$kind: pto-plugin lint with $compiler" pto-plugin lint "$kind-$compiler.so"
  done
  for file in "$kind-gcc/plugin.so" "$kind-clang-19.so"; do
    check "$kind: $file works" ${kind}_runs "$file"
  done
done
for header in "$root"/include/pto/*.h; do
  header=pto/${header##*/}
  check "$header as C++17 with g++" as_cxx g++ "$header"
  check "$header as C++17 with clang++" as_cxx clang++-19 "$header"
done

# Another minor of pto is not found.
mkdir other && cat >other/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.25)
project(other LANGUAGES C)
find_package(PTO 0.2 EXACT CONFIG REQUIRED)
END
refused() { ! cmake -S other -B other-build -DCMAKE_PREFIX_PATH="$root"; }
check "another minor version is refused" refused
check "an unknown id is refused" sh -c '! pto-plugin new pass NoDots x 2>text && grep -q "is not a plugin id" text'

# The guide, command by command, from the installed tree.
source_root=$(cd "$(dirname "$self")/../.." && pwd)
export PTO="$root"
# guide PAGE: its commands, one line each, in a folder of their own.
guide() {
  mkdir "guide-$1" && cd "guide-$1" || exit 2
  awk '/^```sh$/ { on = 1; next } /^```$/ { on = 0 } on' "$source_root/docs/$1.md" >../commands
  while IFS= read -r command; do
    check "docs/$1.md: $command" sh -c "$command"
    case $command in *"--size bench"*) grep '^cycles:' "$work/log" >>cycles ;; esac
  done <../commands
}
guide first-pass
sed -n '/^cycles:/p' "$source_root/docs/first-pass.md" >shown
check "docs/first-pass.md: the cycle counts that it shows" diff shown cycles
cd ..
guide own-plugins
lines_are_there() {
  awk '/^```c$/ { on = 1; next } /^```$/ { on = 0 } on' "$source_root/docs/own-plugins.md" >shown
  cat ./*/plugin.c >code
  [ "$(wc -l <shown)" -ge 10 ] && ! grep -vxF -f code shown
}
check "docs/own-plugins.md: the lines of C that it shows" lines_are_there
cd ..

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
