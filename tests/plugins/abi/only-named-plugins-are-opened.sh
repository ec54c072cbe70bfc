# Of all plugins in a folder only the one that is named gets opened by the dynamic loader, and a refused one never.
set -e
. "$TEST_ROOT/tests/shell.sh"
cat >in.ptir <<END
func @f(%x: tensor<4 x f32>) -> tensor<4 x f32> {
  return %x
}
END
# One id is in two files here; only a pipeline that names it may mind.
LD_DEBUG=files LD_DEBUG_OUTPUT=loader pto-opt in.ptir --plugin-path="$TEST_PLUGINS" --passes=test.abi-constructor-runs >/dev/null
opened=$(cat loader.* | grep -o "$TEST_PLUGINS/[^ ;]*\.so" | sort -u)
[ "$opened" = "$TEST_PLUGINS/abi-constructor-runs.so" ] || fail "opened: $opened"

# The constructor of the accepted plugin writes the file, that of the refused one does not.
PTO_TEST_TOUCH=$PWD/accepted pto-opt in.ptir --plugin-path="$TEST_PLUGINS" --passes=test.abi-constructor-runs >/dev/null
[ -f accepted ] || fail "the constructor of an accepted plugin did not run, so this test shows nothing"
exits=0
PTO_TEST_TOUCH=$PWD/refused pto-opt in.ptir --plugin-path="$TEST_PLUGINS" --passes=test.abi-constructor 2>err >/dev/null || exits=$?
[ "$exits" -eq 3 ] || fail "exit status $exits"
grep -q "E1302.*nothing in the plugin was run" err
[ ! -e refused ] || fail "a refused plugin ran"
