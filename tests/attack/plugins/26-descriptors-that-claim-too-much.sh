# A property of another level, two passes of one id, flags that this core does not know: refused before anything runs,
# and by lint.
. "$TEST_ROOT/tests/shell.sh"
printf 'func @f(%%x: tensor<4 x f32>) -> tensor<4 x f32> {\n  return %%x\n}\n' >m.ptir
refused() { # PLUGIN PASS TEXT
  ends 3 pto-opt m.ptir --plugin="$TEST_PLUGINS/$1.so" --passes="$2" -o out.ptir
  grep -qF "error: $3" text && [ ! -e out.ptir ] || fail
  fails 3 'error: \[E13' pto-plugin lint "$TEST_PLUGINS/$1.so"
}
where=$TEST_PLUGINS
refused abi-other-level test.abi-other-level "[E1340] pass \`test.abi-other-level\` of plugin \`test.abi-other-level\` says that it establishes pto.addresses-assigned, a property of block/1; it goes from tensor/1 to tensor/1"
refused abi-other-level test.abi-other-level-needs "[E1340] pass \`test.abi-other-level-needs\` of plugin \`test.abi-other-level\` says that it requires test.abi-other-level-property, a property of block/1; it goes from tile/1 to tile/1"
refused abi-same-pass-twice test.abi-same-pass-twice "[E1312] plugin \`test.abi-same-pass-twice\` ($where/abi-same-pass-twice.so) describes itself wrongly: two of its passes are called \`test.abi-same-pass-twice\`"
refused abi-unknown-flags test.abi-unknown-flags "[E1312] plugin \`test.abi-unknown-flags\` ($where/abi-unknown-flags.so) describes itself wrongly: pass \`test.abi-unknown-flags\` sets the flags 0x51, of which this core knows 0xf"
