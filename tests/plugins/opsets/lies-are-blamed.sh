# Functions of an op-set that break the rules: what they did is one error at the op, which names op and plugin; one that
# dies or does not return is named by the supervisor. Nothing is printed of the module.
. "$TEST_ROOT/tests/shell.sh"
module() { # OP
  printf 'func @f(%%x: tensor<4 x 8 x f32>) -> tensor<4 x 8 x f32> {\n  %%y = test.%s : tensor<4 x 8 x f32>\n  return %%y\n}\n' "$1" >m.ptir
}
lies() { # OP TEXT
  module "$1 %x"
  ends 4 pto-opt m.ptir --plugin="$TEST_PLUGINS/liar-ops.so"
  says_line "m.ptir:2:8: error: $2"
  [ ! -s out ] || fail "$1"
}
op="of plugin \`test.liar-ops\`"
lies infers_nothing "[E1324] op \`test.infers_nothing\` $op inferred no type for result 0"
lies infers_garbage "[E1320] op \`test.infers_garbage\` $op made a handle of a type by itself"
lies infers_a_tile "[E1324] op \`test.infers_a_tile\` $op inferred a type for result 0 that its row does not allow"
lies infers_and_writes "[E1325] op \`test.infers_and_writes\` $op tried to change the module, which it may only read"
lies infers_no_status "[E1323] op \`test.infers_no_status\` $op returned 17, which is not a status here"
lies infers_silently "[E1326] op \`test.infers_silently\` $op failed without saying why; this is a defect of the plugin"

export TMPDIR="$PWD"
module 'infers_and_dies %x'
fails 70 "ended by signal .* in plugin \`test.liar-ops\`, op test.infers_and_dies (m.ptir:2), function @f" \
  pto-opt m.ptir --plugin="$TEST_PLUGINS/liar-ops.so"
module 'infers_for_ever %x'
fails 75 "it was killed in plugin \`test.liar-ops\`, op test.infers_for_ever (m.ptir:2), function @f" \
  pto-opt m.ptir --plugin="$TEST_PLUGINS/liar-ops.so" --time-limit 1

# What an honest one reports is at the op as well, and a note says what reported it.
module 'scaled %x {steps = [1], scale = -1.0}'
refuses 4 'm.ptir:2:8: error: [test/scale] has a scale that is not above 0' pto-opt m.ptir --plugin="$TEST_PLUGINS/liar-ops.so"
says_line "m.ptir:2:8: note: reported by op \`test.scaled\` $op"

# Without reference semantics, or with such that fail; and what no step before pto.tile has made other ops of.
run() { # OP BACKEND-OPTIONS..
  module "$1 %x"
  shift
  ends 5 pto-run m.ptir --plugin="$TEST_PLUGINS/liar-ops.so" --random-inputs 1 "$@"
}
run no_semantics --backend=pto.reference
says_line "m.ptir:2:8: error: [pto.reference/unsupported] \`test.no_semantics\` has no semantics in this backend [@f/y]"
run evaluates_badly --backend=pto.reference
says_line 'm.ptir:2:8: error: [test/too-hard] cannot be computed today [@f/y]'
says_line "m.ptir:2:8: note: reported by op \`test.evaluates_badly\` $op"
run elementwise --pipeline=default.yaml
says_line 'm.ptir:2:8: error: [pto.expand-math/no-expansion] `test.elementwise` has no instruction, and its row does not say which ops it can be made of; a step before this one must do that [@f/y]'
run no_semantics --pipeline=default.yaml
says_line 'm.ptir:2:8: error: [pto.tile/unsupported-op] `test.no_semantics` has no tile form; a pass of the plugin that it comes from must make tensor ops of it in a step before [@f/y]'
