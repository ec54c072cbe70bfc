# The commands of docs/checking.md work when pasted, and its numbers are those of the code.
. "$TEST_ROOT/tests/shell.sh"
ln -s "$TEST_ROOT/examples" examples
page=$TEST_ROOT/docs/checking.md
awk '/^```sh$/ { on = 1; next } /^```$/ { on = 0 } on' "$page" >commands
[ "$(wc -l <commands)" -eq 5 ] || fail "not five commands: $(cat commands)"
while IFS= read -r command; do
  sh -c "$command" >log 2>&1 || fail "$command"
done <commands
[ -s compile.json ] && [ -s ffn.exec.ptir ] || fail "files are not written"
grep '^bisect: ' "$page" >lines
pto-opt examples/ffn/ffn.ptir --pipeline=default.yaml --bisect=4 -o out.ptir 2>text || fail "bisect"
while IFS= read -r line; do grep -qxF "$line" text || fail "not said: $line"; done <lines
elements=$(sed -n 's/.*SYMBOL_SEARCH_ELEMENTS_MAX = 1 << \([0-9]*\).*/\1/p' "$TEST_ROOT/tools/check/symbol_search.h")
grep -q "More than $(awk "BEGIN { print 2 ^ $elements }" | sed 's/^\([0-9]*\)\([0-9]\{3\}\)\([0-9]\{3\}\)$/\1,\2,\3/') elements" "$page" || fail "the largest inputs"
work=$(sed -n 's/.*TRIAL_WORK_LARGE = \([0-9]*\) << \([0-9]*\).*/\1 \2/p' "$TEST_ROOT/tools/check/semantics_trials.h")
grep -q "as large as $(awk "BEGIN { print ${work% *} * 2 ^ ${work#* } }" | sed 's/^\([0-9]*\)\([0-9]\{3\}\)\([0-9]\{3\}\)$/\1,\2,\3/') elements" "$page" || fail "how large symbols get"
