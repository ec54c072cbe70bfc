# A plugin that crashes or ends the process is one sentence that names plugin, pass, step, YAML line and function, and
# status 70, or 75 when memory ran out; no output is left, not even in part.
. "$TEST_ROOT/tests/shell.sh"
negation 4 victim >m.ptir
cat >p.yaml <<'END'
pto-pipeline: 1
params:
  way: { type: str, default: segfault }
passes:
  - pto.canonicalize
  - pass: test.liar-dies
    id: dies
    with: { way: $params.way }
END
plugin=--plugin=$TEST_PLUGINS/liar-dies.so
who='in plugin `test.liar-dies`, pass test.liar-dies, step `dies` (p.yaml:6), function @victim'

dies() { # STATUS WAY SENTENCE, a pattern of grep
  ends "$1" pto-opt m.ptir $plugin --pipeline=p.yaml --set params.way="$2" -o out.ptir
  grep -q "^pto-opt: $3 $who\$" text || fail "$2: wanted the sentence: $3 $who"
  [ "$(grep -c "$who" text)" -eq 1 ] || fail "$2: more than one sentence"
  [ "$(echo out.ptir*)" = 'out.ptir*' ] || fail "$2: left $(echo out.ptir*)"
}
defect='internal error: the worker'
dies 70 segfault "$defect was ended by signal [0-9]* (.*)"
dies 70 exit "$defect ended itself with status 0"
dies 70 abort "$defect was ended by signal 6 (Aborted)"
dies 70 recursion "$defect was ended by signal [0-9]* (.*)"

# Under AddressSanitizer, whose shadow is larger than any limit, memory cannot be limited.
if ! is_sanitized; then
  ulimit -S -v 300000
  dies 75 scratch 'memory ran out'
  dies 70 heap "$defect was ended by signal 11 (Segmentation fault)"
  ulimit -S -v unlimited
fi

# The constructor of a plugin, named by the pipeline's line.
printf 'pto-pipeline: 1\npasses:\n  - test.abi-dies-in-constructor\n' >c.yaml
ends 70 pto-opt m.ptir --plugin="$TEST_PLUGINS/abi-dies-in-constructor.so" --pipeline=c.yaml
grep -q '^pto-opt: internal error: the worker was ended by signal 6 (Aborted) in plugin `test.abi-dies-in-constructor`, loading .*/abi-dies-in-constructor.so (c.yaml:3)$' text ||
  fail constructor

# What a plugin prints does not mix with the result.
fails 0 'a plugin talks' pto-opt m.ptir $plugin --pipeline=p.yaml --set params.way=print
pto-opt m.ptir | cmp - out || fail 'print: the result differs'
