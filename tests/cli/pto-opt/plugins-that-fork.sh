# A pass that forks and returns in both processes: one of them goes on, so that the module is printed once, and it is
# said.
. "$TEST_ROOT/tests/shell.sh"
negation >m.ptir
pto-opt m.ptir --plugin="$TEST_PLUGINS/liar-dies.so" --passes='test.liar-dies{way=fork}' >out 2>err || fail
[ "$(grep -c 'func @f' out)" = 1 ] || fail "printed"
# The copy may end after the tool.
tries=0
until grep -q "error: pass \`test.liar-dies\` of plugin \`test.liar-dies\` forked, and returned in the new process too, which ends here" err; do
  tries=$((tries + 1))
  [ "$tries" -lt 600 ] || fail "not said"
  sleep 0.1
done
