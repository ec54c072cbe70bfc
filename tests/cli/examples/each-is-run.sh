# Every case file of examples/ is run by a test of this folder.
. "$TEST_ROOT/tests/shell.sh"
for yaml in "$TEST_ROOT"/examples/*/*.yaml; do
  case=${yaml#"$TEST_ROOT"/examples/}
  grep -q "[ \"]${case%.yaml}[: \"]\|[ \"]${case%.yaml}\$" "$TEST_ROOT"/tests/cli/examples/*.sh || complain "$case is not run"
done
