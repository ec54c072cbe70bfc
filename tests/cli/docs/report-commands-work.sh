# The commands of docs/reports.md work when pasted, every file it names is written, and the picture it shows is small
# and whole.
. "$TEST_ROOT/tests/shell.sh"
ln -s "$TEST_ROOT/examples" examples
awk '/^```sh$/ { on = 1; next } /^```$/ { on = 0 } on' "$TEST_ROOT/docs/reports.md" >commands
[ "$(wc -l <commands)" -eq 3 ] || fail "not three commands: $(cat commands)"
while IFS= read -r command; do
  sh -c "$command" >log 2>&1 || fail "$command"
done <commands
sed -n 's/^| \(`.*\) | .*/\1/p' "$TEST_ROOT/docs/reports.md" | grep -o '`[^`]*\.[a-z]*`' | tr -d '`' | sed 's/N-NAME/0-softmax_0/' >files
[ "$(wc -l <files)" -ge 10 ] || fail "the table of files is not found"
while IFS= read -r file; do
  [ -s "report/$file" ] || fail "$file is named and not written"
done <files
for cause in $(sed -n 's/.* \/ stall \/ \([a-z ]*\),.*/\1/p' report*/counters.csv | sort -u | tr ' ' '_'); do
  grep -qF "### \`stall / $(echo "$cause" | tr _ ' ')\`" "$TEST_ROOT/docs/reference/counters.md" || fail "the cause '$cause' is not explained"
done
picture=$TEST_ROOT/docs/report-timeline.svg
[ "$(wc -c <"$picture")" -lt 60000 ] || fail "$picture is too large for a page"
/usr/bin/python3 -c 'import sys, xml.etree.ElementTree as t; t.parse(sys.argv[1])' "$picture" || fail "$picture is not whole"
