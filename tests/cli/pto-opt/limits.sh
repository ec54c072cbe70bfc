# --time-limit and --memory-limit: a plugin that is asked to stop and does, one that is asked and does not, and one that
# takes too much memory is named in one sentence, with status 75 and no output; what ends in time is as without a limit.
. "$TEST_ROOT/tests/shell.sh"
negation 4 victim >m.ptir
cat >p.yaml <<'END'
pto-pipeline: 1
params:
  way: { type: str, default: stop }
passes:
  - pto.canonicalize
  - pass: test.liar-dies
    id: dies
    with: { way: $params.way }
  - pass: pto.canonicalize
    id: last
END
who='in plugin `test.liar-dies`, pass test.liar-dies, step `dies` (p.yaml:6), function @victim'
# late WAY PATTERN: the limit that is kept in $limit runs out where PATTERN says.
late() {
  exits 75 reaches "$2" pto-opt m.ptir --plugin="$TEST_PLUGINS/liar-dies.so" --pipeline=p.yaml --set "params.way=$1" -o out.ptir >text || fail "$1"
  [ "$(echo out.ptir*)" = 'out.ptir*' ] || fail "$1: left $(echo out.ptir*)"
  limit=$(sed -n 's/^pto-opt: the time limit of \([0-9.]*\) s ran out .*/\1/p' text)
}
run() { # STATUS WAY OPTION
  ends "$1" pto-opt m.ptir --plugin="$TEST_PLUGINS/liar-dies.so" --pipeline=p.yaml --set "params.way=$2" "$3" -o out.ptir
  [ "$1" -eq 0 ] || [ "$(echo out.ptir*)" = 'out.ptir*' ] || fail "$2 $3: left $(echo out.ptir*)"
}
says_once() {
  [ "$(grep -cxF "$1" text)" -eq 1 ] || fail "wanted once: $1"
}

# One that polls says itself where it was, or leaves that to the host.
late stop "ran out $who"
says_once "m.ptir:1:1: error: [test.liar-dies/interrupted] stopped while looking at the function [@victim]"
says_once "p.yaml:6:11: note: reported by pass \`test.liar-dies\` of plugin \`test.liar-dies\` in step \`dies\`"
says_once "pto-opt: the time limit of $limit s ran out $who"
late silent "ran out $who"
says_once "p.yaml:6:11: error: [E1711] the time ran out in pass \`test.liar-dies\` of plugin \`test.liar-dies\`"
says_once "pto-opt: the time limit of $limit s ran out $who"
# One that does not is killed two seconds later, and leaves a reproducer.
late hang "was killed $who"
says_once "pto-opt: the time limit of $limit s ran out and the worker did not stop when asked; it was killed $who"
[ -x "$(tail -n 1 text)" ] || fail 'hang: no reproducer'
# One that takes too long but comes back: the next step does not begin.
late slow 'before step .last.'
says_once 'p.yaml:9:11: error: [E1711] the time ran out before step `last`'
says_once "pto-opt: the time limit of $limit s ran out in plugin \`pto.canonicalize\`, step \`last\`"
run 0 print --time-limit=100
[ "$(cat text)" = 'a plugin talks' ] && pto-opt m.ptir | cmp - out.ptir && rm out.ptir || fail 'in time, but not as without a limit'

if ! is_sanitized; then
  run 75 scratch --memory-limit=300MiB
  says_once "pto-opt: the memory limit of 314572800 bytes ran out $who"
  run 0 print --memory-limit=300MiB
  rm out.ptir
  run 2 stop --memory-limit=much
  grep -q '^pto-opt: error: \[E1032\]' text || fail much
  run 2 stop --memory-limit=4096
  grep -q '^pto-opt: error: \[E1033\]' text || fail 4096
fi
for wrong in 0 -1 nan inf soon 1e10; do
  run 2 stop "--time-limit=$wrong"
  says_once "pto-opt: error: [E1503] option \`--time-limit\` needs seconds, more than 0 and at most 1000000000, not \`$wrong\`"
done
ends 2 pto-opt m.ptir --no-supervise --time-limit=1
says_once 'pto-opt: error: [E1504] --no-supervise excludes --time-limit'
