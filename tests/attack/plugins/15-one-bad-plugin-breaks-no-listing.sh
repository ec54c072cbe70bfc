# A plugin that hangs, crashes, ends the process or is damaged while it is loaded is refused with its reason; every
# listing of its folder is complete without it and ends, and lint goes on with the next file. The first refused plugin
# ends no list.
. "$TEST_ROOT/tests/shell.sh"
mkdir folder
cp "$TEST_PLUGINS/hostile-loads.so" "$TEST_PLUGINS/hostile-state.so" "$TEST_PLUGINS/liar-silent.so" folder
cp "$TEST_PLUGINS/abi-odd-text.so" "$TEST_PLUGINS/abi-final-2-0.so" folder
loads=folder/hostile-loads.so
pto-inspect passes --plugin-path=folder >want 2>/dev/null
while read -r how limit words; do
  for subject in options passes; do
    PTO_TEST_LOADING=$how exits 3 pto-inspect $subject --plugin-path=folder "--time-limit=$limit" >out 2>text || fail "$how, $subject"
    [ "$(grep -cF "error: [E1328] plugin \`test.hostile-loads\` ($loads) cannot be loaded: its code $words" text)" = 1 ] || fail "$how, $subject: not said once"
    grep -qF "refused: plugin \`test.hostile-loads\` ($loads) cannot be loaded: its code $words" out || fail "$how, $subject: not listed"
    grep -q '^test.hostile-state ' out && grep -q '^pto.tile ' out || fail "$how, $subject: not whole"
  done
  [ "$(wc -l <out)" = "$(wc -l <want)" ] || fail "$how: a line is missing"
  PTO_TEST_LOADING=$how exits 3 pto-inspect passes test.hostile-loads --plugin="$loads" "--time-limit=$limit" >out 2>text || fail "$how, named"
  grep -qF "its code $words" text || fail "$how, named"
  PTO_TEST_LOADING=$how exits 3 pto-plugin lint "$loads" folder/hostile-state.so "--time-limit=$limit" >out 2>text || fail "$how, lint"
  grep -qF "error: [E1328] plugin \`test.hostile-loads\` ($loads) cannot be loaded: its code $words" text || fail "$how, lint: not said"
  grep -q '^folder/hostile-state.so: ' out || fail "$how, lint: the next file"
done <<'END'
constructor-hang 1 did not return within 1 s
entry-hang-deaf 1 did not return within 1 s
constructor-abort 10 ended the process by signal 6 (Aborted)
entry-end 10 ended the process with status 0
constructor-term 10 ended the process by signal 15 (Terminated)
entry-files 10 took standard input, output or error, or the working folder, away
END

# What notes refuse, and what is not a plugin, are lines of the lists and ends of none.
ends 0 pto-inspect plugins --plugin-path=folder
[ ! -s text ] && grep -q '^test.abi-final-2-0 *plugin .* speaks plugin ABI 2.0' out && grep -q '^test.hostile-loads' out || fail plugins
echo text >notes.txt
ends 3 pto-inspect plugins --plugin=folder/abi-final-2-0.so --plugin=notes.txt --plugin="$loads" --format=json
grep -q '"test.abi-final-2-0"' out && grep -q '"test.hostile-loads"' out && /usr/bin/python3 -m json.tool out >json || fail given
grep -q 'error: \[E1302\]' text && grep -q 'error: \[E1301\]' text && [ "$(grep -c error text)" = 2 ] || fail 'given: errors'

# Good plugins take the limit each, and a limit is a number of seconds.
ends 0 pto-inspect passes --time-limit=5
refuses 2 'pto-inspect: error: [E1503] option `--time-limit` needs seconds, more than 0 and at most 1000000000, not `soon`' \
  pto-inspect passes --time-limit=soon
