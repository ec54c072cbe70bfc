# An entry of PTO_PLUGIN_PATH or --plugin-path that cannot be read is one error, and no error about what would have been
# found.
. "$TEST_ROOT/tests/shell.sh"
m=$TEST_ROOT/examples/softmax/softmax.ptir
says_only() { # TEXT VARIABLE COMMAND..
  printf '%s\n' "$1" >want.txt
  PTO_PLUGIN_PATH=$2
  export PTO_PLUGIN_PATH
  shift 2
  exits 3 "$@" >out.txt 2>text && cmp text want.txt || fail
}
bad="error: [E1309] the plugin folder \`/nonexistent\` cannot be read: No such file or directory"
note='note: PTO_PLUGIN_PATH names it'
relative="error: [E1309] PTO_PLUGIN_PATH names \`here\`, which is not an absolute path"
says_only "$bad
$note" /nonexistent pto-opt "$m" --pipeline=default.yaml -o out
says_only "$bad
$note" /nonexistent pto-run "$m" --random-inputs=1 --sym B=1
says_only "$relative" here pto-opt "$m" --pipeline=default.yaml -o out
says_only "$bad
$note
$relative" /nonexistent:here pto-inspect passes
says_only "$bad" '' pto-opt "$m" --pipeline=default.yaml --plugin-path=/nonexistent -o out
[ ! -e out ]
