# pto-plugin lint: every first-party plugin is clean (status 0), a plugin that breaks what the host does not enforce
# gets one line for each finding (status 1), and what the host refuses or what is not a plugin is a diagnostic (status
# 3).
. "$TEST_ROOT/tests/shell.sh"
lint() { # STATUS FILE...
  wanted=$1
  shift
  ends "$wanted" pto-plugin lint "$@"
}
finds() { # NAME FINDING...: exactly these, in order
  name=$1
  shift
  for finding; do printf '%s: %s\n' "$TEST_PLUGINS/$name.so" "$finding"; done >wanted
  cmp -s wanted out || { cat wanted; fail "$name"; }
}
lint 0 "$TEST_BUILD"/lib/pto/plugins-1/*.so
[ ! -s text ] && [ "$(grep -c ': ok$' out)" -ge 22 ] && [ "$(wc -l <out)" -eq "$(grep -c ': ok$' out)" ] || fail clean

# Sanitizers have static data and start-up code of their own.
if is_sanitized; then is_sanitized=true; else is_sanitized=false; fi
exports='exports `test_lint_exported`; a plugin exports pto_plugin_entry_v1 alone (-fvisibility=hidden)'
documentation='pass test.abi-lint has no summary
pass test.abi-lint: option `bare` has no example'
lint 1 "$TEST_PLUGINS/abi-lint.so"
[ ! -s text ] || fail abi-lint
sed -n "s|^.*/abi-lint.so: ||p" out >short
printf '%s\n' "$documentation" >wanted
tail -n 2 short | cmp -s wanted - || fail documentation
[ "$(head -n 1 short)" = "$exports" ] || fail exports
if ! $is_sanitized; then
  for variable in calls of_thread; do
    grep -q "^has the writable static variable \`${variable}[.0-9]*\`; a plugin has none$" short || fail "$variable"
  done
  [ "$(wc -l <short)" -eq 5 ] || fail 'other findings'
  lint 1 "$TEST_PLUGINS/liar-keeps-handle.so"
  finds liar-keeps-handle 'has the writable static variable `kept`; a plugin has none'
  strip -o stripped.so "$TEST_PLUGINS/liar-keeps-handle.so"
  lint 1 stripped.so
  grep -q '^stripped.so: has [0-9]* bytes of writable static data in .bss; a plugin has none$' out || fail stripped
  lint 1 "$TEST_PLUGINS/abi-constructor-runs.so"
  finds abi-constructor-runs 'runs 1 functions of its own when it is loaded; a plugin runs none before its entry'
fi

lint 1 "$TEST_PLUGINS/abi-many-exports.so"
[ "$(grep -c 'exports `test_export_[1-7]`' out)" -eq 5 ] && grep -q ': exports 2 more symbols$' out || fail abi-many-exports

lint 3 "$TEST_PLUGINS/abi-needs-symbol.so"
finds abi-needs-symbol 'needs `test_abi_missing`, which neither libc nor libm has'
grep -q "^error: \[E1310\] plugin \`test.abi-needs-symbol\` cannot be loaded: .*undefined symbol: test_abi_missing$" text || fail loaded
lint 3 "$TEST_PLUGINS/abi-wrong-note.so"
grep -q '\[E1311\]' text && [ ! -s out ] || fail abi-wrong-note
lint 3 "$TEST_ROOT/README.md" absent.so
[ "$(grep -c '\[E1301\]' text)" -eq 2 ] || fail 'no plugin'
lint 3 "$TEST_PLUGINS/abi-dies-in-constructor.so"
grep -q "^error: \[E1328\] plugin \`test.abi-dies-in-constructor\` .* its code ended the process by signal 6 (Aborted)$" text || fail dies
lint 2
