# A plugin that closes descriptors does not send the result elsewhere: what can be put back is, with a warning that
# names the plugin; when nothing is left to put back from, the tool ends with 70, one sentence and no result, and no
# half of one.
. "$TEST_ROOT/tests/shell.sh"
m="$TEST_ROOT/tests/attack/inputs/one-product.ptir"
pto-opt "$m" >want || exit 1
who='in plugin `test.hostile-state`, pass test.hostile-state, step `hostile-state` (<command line>:1), function @f'
for way in close_above_2 close_all replace_all; do
  ends 70 pto-opt "$m" --plugin="$TEST_PLUGINS/hostile-state.so" "--passes=test.hostile-state{way=$way}"
  [ ! -s out ] || fail "$way: a result"
  grep -qxF "pto-opt: internal error: standard input, output or error, or the working folder, was taken away $who" text || fail "$way: not said"
  rm -f o.ptir
  ends 70 pto-opt "$m" --plugin="$TEST_PLUGINS/hostile-state.so" "--passes=test.hostile-state{way=$way}" -o o.ptir
  [ "$(echo o.ptir*)" = 'o.ptir*' ] || fail "$way: left $(echo o.ptir*)"
done
ends 70 pto-run "$m" --random-inputs=1 --plugin="$TEST_PLUGINS/hostile-state.so" --insert-after='canonicalize=test.hostile-state{way=close_above_2}'
[ ! -s out ] || fail 'run: a result'

exits 0 pto-opt "$m" --plugin="$TEST_PLUGINS/hostile-state.so" '--passes=test.hostile-state{way=close_standard}' >out 2>text </dev/null || fail close_standard
cmp want out || fail 'close_standard: the result'
grep -q "warning: \[E1327\] pass \`test.hostile-state\` of plugin \`test.hostile-state\` changed standard input, output or error; " text || fail 'close_standard: not said'
PTO_TEST_LOADING=constructor-files exits 70 pto-opt "$m" --plugin="$TEST_PLUGINS/hostile-loads.so" --passes=test.hostile-loads >out 2>text || fail loading
grep -q '^pto-opt: internal error: standard input, output or error, or the working folder, was taken away in plugin `test.hostile-loads`, loading ' text || fail loading
