# Pipes, devices and folders in place of every kind of input: a text may come through a pipe, which is read until nobody
# writes to it any more, as any tool does; a .npy file, a plugin and what a reproducer copies must be regular files; a
# device without end ends at once; and a pipe that nobody writes to ends with --time-limit, status 75, though the worker
# waits inside of open().
. "$TEST_ROOT/tests/shell.sh"
negation >m.ptir
printf 'pto-pipeline: 1\npasses: [pto.canonicalize]\n' >p.yaml
pto-opt m.ptir -o want.ptir || exit 1
mkfifo pipe other
mkdir folder
export TMPDIR="$PWD"
# first_line STATUS TEXT COMMAND...: within 20 seconds and 1 GB, with that status and exactly that first line.
first_line() {
  want=$1 text=$2
  shift 2
  (ulimit -v "$room"; timeout -s KILL 120 "$@" <m.ptir >out 2>err)
  got=$?
  [ $got -eq "$want" ] && [ "$(head -n 1 err)" = "$text" ] && return
  complain "$*: status $got, wanted $want"
}
room=1000000
if is_sanitized; then room=unlimited; fi

for device in /dev/zero /dev/full; do
  first_line 4 "$device:1:1: error: [E0101] a NUL byte; the input is not text" pto-opt $device
done
first_line 0 '' pto-opt /dev/null
first_line 2 "folder: error: [E0115] cannot be read: it is a directory" pto-opt folder
first_line 2 "/dev/zero: error: [E1001] the file has more than 262144 bytes" pto-opt m.ptir --pipeline=/dev/zero
first_line 2 "/dev/zero: error: [E1001] the file has more than 262144 bytes" pto-opt m.ptir --pipeline=p.yaml --machine=/dev/zero
first_line 2 "/dev/zero: error: [E1001] the file has more than 262144 bytes" pto-run --case /dev/zero
for file in /dev/zero folder pipe; do
  first_line 4 "$file: error: [E1501] cannot read: this is not a regular file" pto-run --backend=pto.reference m.ptir --in=x=$file
  first_line 4 "$file: error: [E1501] cannot read: this is not a regular file" \
    pto-run --backend=pto.reference m.ptir --random-inputs=1 --expect=y=$file
done
first_line 2 "error: [E1501] cannot read \`folder\`: Is a directory" pto-opt m.ptir --pipeline=folder
first_line 2 "<command line>:1:1: error: [E1501] cannot read the machine file \`./folder\`: Is a directory" pto-opt m.ptir --pipeline=p.yaml --machine=./folder
first_line 2 "error: [E1501] cannot read \`folder\`: Is a directory" pto-run --case folder
first_line 3 "error: [E1301] \`./pipe\` is not a regular file" pto-opt m.ptir --passes=x --plugin=pipe
first_line 3 "error: [E1301] \`/dev/zero\` is not a regular file" pto-opt m.ptir --passes=x --plugin=/dev/zero
first_line 3 "error: [E1309] the plugin folder \`pipe\` cannot be read: Not a directory" pto-opt m.ptir --passes=x --plugin-path=pipe
# Standard input is kept for a reproducer first, and without end as well.
timeout -s KILL 120 sh -c 'pto-opt - </dev/zero; pto-opt - --no-supervise </dev/zero; cat /dev/zero | pto-opt -' 2>err
[ "$(grep -c '^<stdin>:1:1: error: \[E0101\] a NUL byte' err)" -eq 3 ] || complain "standard input without end"

# What comes through a pipe is read.
first_line 0 '' pto-opt /dev/stdin && cmp out want.ptir || complain "read from a pipe"
cat m.ptir >pipe & cat p.yaml >other &
first_line 0 '' pto-opt pipe --pipeline=other && cmp out want.ptir || complain "read from a pipe"
wait

# Nobody writes. An `extends` of a reproducer's pipeline may be a pipe as well: the reproducer is given up.
printf 'pto-pipeline: 1\nextends: pipe\npasses: []\n' >extends.yaml
while read -r name tool arguments; do
  # shellcheck disable=SC2086
  (timeout -s KILL 120 "$tool" $arguments --time-limit=0.2 >"$name.out" 2>"$name.err" </dev/null; echo $? >"$name.status") &
done <<'EOF'
module pto-opt pipe
pipeline pto-opt m.ptir --pipeline=pipe
machine pto-opt m.ptir --pipeline=p.yaml --machine=pipe
case pto-run --case pipe
extends pto-opt m.ptir --pipeline=extends.yaml
EOF
wait
for name in module pipeline machine case extends; do
  tool=pto-opt
  [ $name = case ] && tool=pto-run
  case $name in
  module) phase='reading the module' ;;
  case) phase='reading the case' ;;
  *) phase='opening the pipeline' ;;
  esac
  late="$tool: the time limit of 0.2 s ran out and the worker did not stop when asked; it was killed outside any plugin, while $phase"
  [ "$(cat $name.status)" -eq 75 ] && [ "$(head -n 1 $name.err)" = "$late" ] && continue
  complain "$name: status $(cat $name.status)"
done
[ "$(tail -n 1 extends.err)" = 'pto-opt: no reproducer could be written' ] || complain "extends: $(cat extends.err)"
