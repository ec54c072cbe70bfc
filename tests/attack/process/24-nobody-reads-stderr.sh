# A tool whose standard error nobody reads keeps its status and leaves its reproducer; one whose result nobody reads
# ends with SIGPIPE, as programs do, unless it was told to ignore that.
. "$TEST_ROOT/tests/shell.sh"
m="$TEST_ROOT/tests/attack/inputs/one-product.ptir"
signals=--plugin=$TEST_PLUGINS/hostile-signals.so
cat >run.py <<'END'
import os, subprocess, sys
# Runs a program with pipes nobody reads for the descriptors named, and prints its status as a shell does.
closed, ignore = sys.argv[1], sys.argv[2] == "ignored"
read, write = os.pipe()
os.close(read)
where = {n: write for n in ("stdout", "stderr") if n in closed}
code = subprocess.run(sys.argv[3:], stdin=subprocess.DEVNULL, restore_signals=not ignore, **where).returncode
print(128 - code if code < 0 else code, file=open("status", "w"))
END
# ends_unread STATUS CLOSED IGNORED COMMAND...
ends_unread() {
  want=$1; shift
  /usr/bin/python3 run.py "$@" >out 2>text
  [ "$(cat status)" = "$want" ] || fail "$*: status $(cat status), wanted $want"
}
echo 'func @f(' >bad.ptir
for closed in text stdout+stderr; do
  rm -rf pto-reproducer-*
  ends_unread 70 $closed default pto-opt "$m" "$signals" '--passes=test.hostile-signals{way=abort}'
  [ -x "$(echo pto-reproducer-*/reproduce)" ] || fail "$closed: no reproducer"
  ends_unread 4 $closed default pto-opt bad.ptir
  ends_unread 2 $closed default pto-opt "$m" --no-such-option
done
ends_unread 0 text default pto-opt "$m" --plugin="$TEST_PLUGINS/liar-dies.so" '--passes=test.liar-dies{way=print}'
pto-opt "$m" | cmp - out || exit 1
ends_unread 141 stdout default pto-opt "$m"
[ ! -s text ] || fail
ends_unread 141 stdout default pto-run "$m" --random-inputs=1
ends_unread 74 stdout ignored pto-opt "$m"
grep -q '^<stdout>: error: \[E1501\] cannot write: Broken pipe$' text || fail
