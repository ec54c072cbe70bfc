# An entry of PTO_PLUGIN_PATH or --plugin-path that cannot be read is one error, and no error about what would have been found.
set -u
cd "$TEST_TMP" || exit 1
m=$TEST_ROOT/examples/softmax/softmax.ptir
says() { # TEXT VARIABLE COMMAND..
  printf '%s\n' "$1" >want.txt
  PTO_PLUGIN_PATH=$2
  export PTO_PLUGIN_PATH
  shift 2
  exits 3 "$@" >out.txt 2>err.txt && cmp err.txt want.txt || { cat err.txt; exit 1; }
}
bad="error: [E1309] the plugin folder '/nonexistent' cannot be read: No such file or directory"
note='note: PTO_PLUGIN_PATH names it'
relative="error: [E1309] PTO_PLUGIN_PATH names 'here', which is not an absolute path"
says "$bad
$note" /nonexistent pto-opt "$m" --pipeline=default.yaml -o out
says "$bad
$note" /nonexistent pto-run "$m" --random-inputs=1 --sym B=1
says "$relative" here pto-opt "$m" --pipeline=default.yaml -o out
says "$bad
$note
$relative" /nonexistent:here pto-inspect passes
says "$bad" '' pto-opt "$m" --pipeline=default.yaml --plugin-path=/nonexistent -o out
[ ! -e out ]
