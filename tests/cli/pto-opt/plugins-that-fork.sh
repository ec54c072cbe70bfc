# A pass that forks and returns in both processes: one of them goes on, so that the module is printed once, and it is said.
set -u
cat >m.ptir <<'END'
func @f(%x: tensor<4 x f32>) -> tensor<4 x f32> {
  %a = tensor.neg %x : tensor<4 x f32>
  return %a
}
END
pto-opt m.ptir --plugin="$TEST_PLUGINS/liar-dies.so" --passes='test.liar-dies{way=fork}' >out 2>err || { cat err; exit 1; }
[ "$(grep -c 'func @f' out)" = 1 ] || { echo "printed: $(cat out)"; exit 1; }
# The copy may end after the tool.
tries=0
until grep -q "error: pass 'test.liar-dies' of plugin 'test.liar-dies' forked, and returned in the new process too, which ends here" err; do
  tries=$((tries + 1))
  [ "$tries" -lt 600 ] || { echo "not said: $(cat err)"; exit 1; }
  sleep 0.1
done
