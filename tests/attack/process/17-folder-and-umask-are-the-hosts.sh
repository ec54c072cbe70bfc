# A plugin that changes the working folder or the umask, while it is loaded or in a run, neither moves nor locks an
# output, nor hides an input; the warning names it.
. "$TEST_ROOT/tests/shell.sh"
cp "$TEST_ROOT/tests/attack/inputs/one-product.ptir" m.ptir
mkdir elsewhere
pto-opt m.ptir -o want.ptir || exit 1
# check NAME WARNING OPTION...: o.ptir comes out here, readable, with that warning alone.
check() {
  name=$1 warning=$2; shift 2
  rm -f o.ptir
  ends 0 pto-opt m.ptir "$@" -o o.ptir
  cmp want.ptir o.ptir && [ "$(stat -c %a o.ptir)" = "$(stat -c %a want.ptir)" ] || fail "$name: the output"
  [ -z "$(ls elsewhere)" ] || fail "$name: an output elsewhere"
  [ "$(grep -c . text)" = 1 ] && grep -qF "warning: [E1327] $warning; a plugin leaves the process as it found it; the host has put that back" text || fail "$name: not said"
}
for pair in 'chdir:the working folder' 'umask:the rights of new files (umask)'; do
  check "${pair%%:*}" "pass \`test.hostile-state\` of plugin \`test.hostile-state\` changed ${pair#*:}" \
    --plugin="$TEST_PLUGINS/hostile-state.so" --passes="test.hostile-state{way=${pair%%:*}},pto.canonicalize"
done
for when in constructor entry; do
  for pair in 'folder:the working folder' 'rights:the rights of new files (umask)'; do
    export PTO_TEST_LOADING="$when-${pair%%:*}"
    check "$PTO_TEST_LOADING" "plugin \`test.hostile-loads\` ($TEST_PLUGINS/hostile-loads.so) changed ${pair#*:} while it was loaded" \
      --plugin="$TEST_PLUGINS/hostile-loads.so" --passes=test.hostile-loads
  done
done

# In a backend too: the files of its report are in the report's folder, whatever it changes in between.
PTO_TEST_BACKEND=process exits 0 pto-run m.ptir --random-inputs=1 --plugin="$TEST_PLUGINS/hostile-backend.so" --backend=test.hostile-backend \
  --report report --out y=y.npy >out 2>text || fail backend
[ "$(cat report/note.txt)" = note ] && [ -s report/counters.csv ] && [ -z "$(ls elsewhere)" ] || fail 'backend: elsewhere'
[ "$(stat -c %a report/note.txt y.npy | sort -u)" = "$(stat -c %a want.ptir)" ] || fail 'backend: the rights'
for what in 'the working folder' 'the rights of new files (umask)' 'how floating point rounds, traps or treats denormals'; do
  [ "$(grep -cF "warning: [E1327] backend \`test.hostile-backend\` of plugin \`test.hostile-backend\` changed $what; " text)" = 1 ] || fail "backend: $what"
done
