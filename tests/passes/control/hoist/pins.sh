# How many loops an op leaves can be read and pinned: as it was decided, fewer, and more where the cycles say no. What
# cannot be is refused at the pin.
. "$TEST_ROOT/tests/shell.sh"
cat >m.ptir <<'EOF'
func @f(%x: tensor<$M x 4096 x bf16>, %g: tensor<4096 x bf16>) -> tensor<$M x 4096 x bf16> {
  %xf = tensor.cast %x : tensor<$M x 4096 x f32>
  %gf = tensor.cast %g : tensor<4096 x f32>
  %yf = tensor.rms_norm %xf, %gf : tensor<$M x 4096 x f32>
  %y = tensor.cast %yf : tensor<$M x 4096 x bf16>
  return %y
}
EOF
ends 0 pto-opt m.ptir --pipeline=default.yaml --emit-schedule=s.yaml --until=hoist -o 1.ptir
before_loop() { sed '/for %t/q' "$1" | grep -c 'tile\.' || true; }
[ "$(before_loop 1.ptir)" = 2 ] || fail "$(cat 1.ptir)"
grep -A2 '@f/tgf' s.yaml | grep -A1 'decide: hoist' | grep -q 'value: 1' || fail "$(cat s.yaml)"

sed 's/^\( *\)origin:/\1pinned: true\n&/' s.yaml >all.yaml
ends 0 pto-opt m.ptir --pipeline=default.yaml --schedule=all.yaml --until=hoist -o 2.ptir
cmp -s 1.ptir 2.ptir || fail 'pinned as decided, something else comes out'

pin() { printf 'pto-schedule: 1\ndecisions:\n  - { at: "%s", decide: hoist, value: %s, pinned: true }\n' "$1" "$2" >p.yaml; }
pin @f/tgf 0
ends 0 pto-opt m.ptir --pipeline=default.yaml --schedule=p.yaml --until=hoist -o 3.ptir
sed '1,/for %t/d' 3.ptir | grep -q '%tgf = tile.cast' || fail "$(cat 3.ptir)"
pin @f/tgf 2
fails 2 'p.yaml:3:.*: error: \[E1804\] `hoist` of @f/tgf is 2; the largest legal value is 1' \
  pto-opt m.ptir --pipeline=default.yaml --schedule=p.yaml

# A core that has one tile makes nothing again, and yet it can leave.
pin @f/tgf 1
ends 0 pto-opt m.ptir --pipeline=default.yaml --expect M=48 --emit-schedule=none.yaml --until=hoist -o 4.ptir
[ "$(before_loop 4.ptir)" = 0 ] || fail "$(cat 4.ptir)"
# What takes a tile that is pinned to its loop is decided, too: all that a schedule lists can be pinned.
pin_all none.yaml >all.yaml
ends 0 pto-opt m.ptir --pipeline=default.yaml --expect M=48 --schedule=all.yaml --until=hoist -o 6.ptir
cmp -s 4.ptir 6.ptir || fail 'pinned to stay, something else comes out'
ends 0 pto-opt m.ptir --pipeline=default.yaml --expect M=48 --schedule=p.yaml --until=hoist -o 5.ptir
[ "$(before_loop 5.ptir)" = 2 ] || fail "$(cat 5.ptir)"

ends 2 pto-opt m.ptir --pipeline=default.yaml --schedule=p.yaml --set hoist.with.share=0
says '\[pto.hoist/does-not-fit\] %tgf leaves 1 loops, and then 16384 bytes of `vec` would be held during loops, of 0 that may by the option `share`; pin fewer' text
says 'p.yaml:3:' text
ends 2 pto-opt m.ptir --pipeline=default.yaml --schedule=p.yaml --set hoist.with.bytes=1000
says 'would be held during loops, of 1000 that may by the option `bytes`; pin fewer' text
