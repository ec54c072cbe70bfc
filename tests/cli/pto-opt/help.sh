# -h is shorter than --help and names every option that --help explains; what is not built yet is in neither and refused
# as unknown.
. "$TEST_ROOT/tests/shell.sh"
for tool in pto-opt pto-run pto-build pto-inspect pto-plugin pto-reduce; do
  $tool --help >long && $tool -h >short || fail "$tool: status"
  [ "$(wc -l <short)" -lt "$(wc -l <long)" ] || fail "$tool -h: $(wc -l <short) lines"
  sed -n 's/^  \(-[a-z], \|    \)\(--[a-z-]*\).*/\2/p' long | sort >explained
  sed -n '/^[a-z ]*:/,$p' short | grep -v '^usage' | grep -o -e '--[a-z-]*' | sort >named
  # The last line and the usage name some again.
  sort -u named | comm -3 - explained | grep . && fail "$tool: -h and --help differ"
  [ "$(wc -l <explained)" -ge 2 ] || fail "$tool: no options"
done
fails 2 '^pto-opt: error: \[E1502\] unknown option' pto-opt -j
pto-opt --help | grep -qw -e '-j' && fail '-j is in --help'
exits 2 pto-opt --print-schema=tensor 2>text && grep -q 'E1503' text || fail 'a kind of file that does not exist'
