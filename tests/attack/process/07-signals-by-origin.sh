# A signal that a plugin raises is its death, with a sentence, a reproducer and 70, whatever its number; the user's
# signal ends the tool with 128 + n and no word (cli/pto-opt/signals.sh). A write to a closed pipe of the plugin's own
# is an error of write.
. "$TEST_ROOT/tests/shell.sh"
m="$TEST_ROOT/tests/attack/inputs/one-product.ptir"
signals=--plugin=$TEST_PLUGINS/hostile-signals.so
for pair in term:15:Terminated int:2:Interrupt hup:1:Hangup quit:3:Quit 'pipe:13:Broken pipe'; do
  way=${pair%%:*} rest=${pair#*:}
  ends 70 pto-opt "$m" "$signals" "--passes=test.hostile-signals{way=raise_$way}" -o o.ptir
  grep -qF "pto-opt: internal error: the worker was ended by signal ${rest%%:*} (${rest#*:}) in plugin \`test.hostile-signals\`, pass test.hostile-signals, step " text || fail "$way: not said"
  [ -x "$(tail -n 1 text)" ] || fail "$way: no reproducer"
  [ ! -e o.ptir ] || fail "$way: an output"
done
for way in term pipe; do
  PTO_TEST_LOADING=constructor-$way exits 70 pto-opt "$m" --plugin="$TEST_PLUGINS/hostile-loads.so" --passes=test.hostile-loads 2>text || fail "loading, $way"
  grep -q 'in plugin `test.hostile-loads`, loading ' text || fail "loading, $way: not said"
done
ends 0 pto-opt "$m" "$signals" '--passes=test.hostile-signals{way=write_pipe}' -o o.ptir
[ ! -s text ] && pto-opt "$m" | cmp - o.ptir || fail write_pipe
