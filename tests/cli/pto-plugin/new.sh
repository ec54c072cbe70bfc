# `new` says which templates there are: all of sdk/template/.
. "$TEST_ROOT/tests/shell.sh"
fails 2 '^pto-plugin: error: \[E1503\] there is no template `tree`; there are: ' pto-plugin new tree org.acme.tree tree
sed -n 's/.*there are: //p' text | tr -d ' ' | tr , '\n' | sort >said
(cd "$TEST_ROOT/sdk/template" && for kind in */; do echo "${kind%/}"; done) | sort >there
diff said there || fail "other templates"
fails 2 "E1504. usage: pto-plugin new $(sed 's/.*there are: //;s/, /|/g' text | head -1) ID DIR" pto-plugin new foo
