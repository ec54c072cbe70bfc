# The names and choices of options must be such that --print-pipeline prints what reads back.
. "$TEST_ROOT/tests/shell.sh"
printf 'func @f() {\n  return\n}\n' >m.ptir
refused() { # PLUGIN TEXT
  fails 3 "error: \[E1390\] $2" pto-opt m.ptir --plugin="$TEST_PLUGINS/$1.so" --passes="test.$1" --print-pipeline
  fails 3 "error: \[E1390\] $2" pto-plugin lint "$TEST_PLUGINS/$1.so"
}
refused abi-option-name '`test.abi-option-name` of plugin `test.abi-option-name`: an option has a name that cannot be written: it takes letters, digits, - and _'
refused abi-option-choice 'option `odd` of `test.abi-option-choice` of plugin `test.abi-option-choice`: a choice cannot be written: it takes letters, digits, - and _'
