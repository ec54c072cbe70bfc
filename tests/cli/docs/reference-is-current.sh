# docs/reference is what docs/generate makes of the tables.
. "$TEST_ROOT/tests/shell.sh"
sh "$TEST_ROOT/docs/generate" "$TEST_BUILD" made || exit 1
diff -r -x README.md -x op-types.md "$TEST_ROOT/docs/reference" made || fail "docs/reference is out of date: run docs/generate build docs/reference"
