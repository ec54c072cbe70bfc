# The installed tree can be moved; CMake and pkg-config find everything from their own place; another minor is refused.
set -e
. "$TEST_ROOT/tests/shell.sh"
cmake --install "$TEST_BUILD" --prefix "$TEST_TMP/a" >install.log
mv a b

# accepted WANT ARGUMENTS: whether find_package(PTO <ARGUMENTS> CONFIG) takes the installed package.
accepted() {
  mkdir -p consumer
  cat >consumer/CMakeLists.txt <<END
cmake_minimum_required(VERSION 3.25)
project(consumer NONE)
find_package(PTO $2 CONFIG REQUIRED)
foreach(dir \${PTO_INCLUDE_DIR} \${PTO_PLUGIN_DIR} \${PTO_PIPELINE_DIR})
  if(NOT dir MATCHES "^$TEST_TMP/b/")
    message(FATAL_ERROR "\${dir} is not below the place the package was moved to")
  endif()
endforeach()
END
  rm -rf consumer/build
  if cmake -S consumer -B consumer/build -DPTO_DIR="$TEST_TMP/b/lib/cmake/PTO" >consumer.log 2>&1; then got=yes; else got=no; fi
  [ "$got" = "$1" ] && return
  cat consumer.log
  echo "find_package(PTO $2): wanted $1, got $got"
  exit 1
}
accepted yes "0.1 EXACT"
accepted yes "0.1.0 EXACT"
accepted yes "0.1"
accepted yes ""
accepted yes "0.1...<0.1.9"
accepted no "0.1.1"
accepted no "0.1.1 EXACT"
accepted no "0.0 EXACT"
accepted no "0.0"
accepted no "0.2"
accepted no "1.1"
accepted no "0.1...0.2"
accepted no "0 EXACT"

export PKG_CONFIG_PATH="$TEST_TMP/b/lib/pkgconfig"
[ -z "$(pkg-config --libs pto-plugin)" ] || fail "a plugin links to nothing, but --libs is not empty"
plugins=$(pkg-config --variable=plugindir pto-plugin)
[ "$(realpath -m "$plugins")" = "$TEST_TMP/b/lib/pto/plugins-1" ] || fail "plugindir is $plugins"
include=$(pkg-config --variable=includedir pto-plugin)
[ "$(cd "$include" && pwd)" = "$TEST_TMP/b/include" ] || fail "includedir is $include"
case $(pkg-config --cflags pto-plugin) in
*"-I$include"* | *"-I$TEST_TMP/b/include"*) ;;
*) echo "no include path in: $(pkg-config --cflags pto-plugin)"; exit 1 ;;
esac
if grep -rIlF -e "$TEST_TMP/a" -e "$TEST_ROOT" b/lib/cmake b/lib/pkgconfig b/include b/share; then
  echo "these installed files name a place on this machine"
  exit 1
fi

# A plugin out of tree brings the page that explains its codes.
PATH=$TEST_TMP/b/bin:$PATH
pto-plugin new backend org.acme.chip chip >/dev/null
cmake -S chip -B chip/build -DCMAKE_PREFIX_PATH="$TEST_TMP/b" >plugin.log 2>&1 && cmake --build chip/build >>plugin.log 2>&1 || fail "$(cat plugin.log)"
plugin=$(find chip/build -name '*.so')
ends 0 pto-inspect errors org.acme.chip/unknown-op --plugin="$plugin"
says '^The backend cannot run an op of the module' out
