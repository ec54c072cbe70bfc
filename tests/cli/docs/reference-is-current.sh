# docs/reference is what docs/generate makes of the tables.
set -u
sh "$TEST_ROOT/docs/generate" "$TEST_BUILD" made || exit 1
diff -r -x README.md "$TEST_ROOT/docs/reference" made || { echo "docs/reference is out of date: run docs/generate build docs/reference"; exit 1; }
