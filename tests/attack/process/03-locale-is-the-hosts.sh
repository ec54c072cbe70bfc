# A plugin that sets a locale with a decimal comma, for the process or the thread, in a run or while it is loaded,
# changes no text: modules read back, the JSON and the CSV of a report are what they are without it.
. "$TEST_ROOT/tests/shell.sh"
command -v localedef >/dev/null || { echo "localedef is missing: it makes the locale with a decimal comma"; exit 77; }
mkdir locales
localedef -i de_DE -f UTF-8 locales/de_DE.UTF-8 >text 2>&1 || [ -d locales/de_DE.UTF-8 ] || fail localedef
export LOCPATH="$PWD/locales" PTO_TEST_LOCALE=de_DE.UTF-8
[ "$(LC_ALL=de_DE.UTF-8 printf '%.1f' 1 2>/dev/null)" = 1,0 ] || [ "$(LC_ALL=de_DE.UTF-8 locale decimal_point)" = , ] || { echo "no locale with a decimal comma"; exit 77; }
cat >l.ptir <<'END'
func @f(%x: tensor<4 x f32>) -> tensor<4 x f32> {
  %c = tensor.constant {value = 0.1} : tensor<4 x f32>
  %y = tensor.mul %x, %c {acme.w = [0.5, 0.25]} : tensor<4 x f32>
  return %y
}
END
pto-opt l.ptir >want.ptir || exit 1
state=--plugin=$TEST_PLUGINS/hostile-state.so
for way in locale thread_locale; do
  exits 0 pto-opt l.ptir "$state" "--passes=test.hostile-state{way=$way}" >got.ptir 2>text || fail "$way"
  cmp want.ptir got.ptir || fail "$way: the module"
done
grep -q "warning: \[E1327\] pass \`test.hostile-state\` of plugin \`test.hostile-state\` changed the locale of the thread; " text || fail 'not said'
for when in constructor entry; do
  PTO_TEST_LOADING=$when-locale exits 0 pto-opt l.ptir --plugin="$TEST_PLUGINS/hostile-loads.so" --passes=test.hostile-loads >got.ptir 2>text || fail "$when"
  [ ! -s text ] && cmp want.ptir got.ptir || fail "$when: the module"
done

exits 0 pto-run l.ptir --random-inputs=1 --report want >want.out 2>text || fail report
for way in locale thread_locale; do
  exits 0 pto-run l.ptir --random-inputs=1 --report "$way" "$state" --insert-after="canonicalize=test.hostile-state{way=$way}" >got.out 2>text || fail "report, $way"
  cmp want.out got.out || fail "report, $way: standard output"
  for file in counters.csv swimlane.json; do cmp "want/$file" "$way/$file" || fail "report, $way"; done
done
