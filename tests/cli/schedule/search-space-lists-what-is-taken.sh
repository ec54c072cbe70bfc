# --print-search-space: what could be decided. Every offer, pinned, is taken.
. "$TEST_ROOT/tests/shell.sh"
. "$TEST_ROOT/tests/cli/schedule/inputs/pins.sh"
ends 0 $compile "$softmax" --print-search-space
cp out space.yaml
chosen=$(sed -n 's/^    chosen: \({ rows: .*\)/\1/p' space.yaml)
says_line "      - value: $chosen" space.yaml
says '^        limit: "vec: [0-9]* of 188416 bytes"$' space.yaml
says_line '    most: 48' space.yaml
[ "$(grep -c '^      - value' space.yaml)" -gt 2 ] || fail "few offers: $(cat space.yaml)"
for offer in "$(grep '^      - value' space.yaml | sed -n 's/.*value: //;2p')" "$(grep '^      - value' space.yaml | sed -n 's/.*value: //;$p')"; do
  pin @softmax/softmax_0 tile "$offer"
  ends 0 $compile "$softmax" --schedule=p.yaml --explain=schedule
  grep -qF "$offer  user" out || fail "offer $offer"
done
ends 0 $compile "$gemm" --print-search-space
grep -q '^    words: \[linear, columns\]$' out || fail "words"
