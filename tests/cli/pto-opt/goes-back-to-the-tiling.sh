# A step that finds no space after the tiling sends the nest back for the next size that its strategy offers, each time
# with a remark. Sizes that the schedule pins, or that have no successor, end with the error and the buffers that live.
. "$TEST_ROOT/tests/shell.sh"
cp "$TEST_ROOT/tests/cli/pto-opt/inputs/long-rows.ptir" m.ptir
# What tile and pipeline count on, that results take the buffers of operands and dead ones are used again, does not come
# true.
compile() {
  pto-opt m.ptir --pipeline=default.yaml --set select.with.in-place=false --set allocate.with.reuse=never "$@"
}
compile --remarks=r.txt --emit-schedule=s.yaml --stats -o out.ptir 2>stats.txt || complain "not compiled: $(cat stats.txt)"
grep -q 'remark: \[pto.allocate/does-not-fit\] the buffers of @f_0 need [0-9]* bytes of `vec`, the machine has 188416' r.txt ||
  complain "no remark: $(cat r.txt)"
tile_of() { # LABEL FILE
  grep -A2 "at: \"@./$1\"" "$2" | sed -n '/decide: tile/{n;s/.*value: //p;}'
}
pto-opt m.ptir --pipeline=default.yaml --emit-schedule=plain.yaml -o plain.ptir || complain "the default pipeline fails"
first=$(tile_of f_0 plain.yaml) next=$(tile_of f_0 s.yaml)
[ -n "$first" ] && [ -n "$next" ] && [ "$first" != "$next" ] || complain "f_0 gets '$first', and then '$next'"
[ "$(tile_of g_0 plain.yaml)" = "$(tile_of g_0 s.yaml)" ] || complain "g_0 was not to blame and got another size"

# The same as if the size had been pinned from the start, counters included; a pinned size has no price.
printf 'pto-schedule: 1\ndecisions:\n  - { at: "@f/f_0", decide: tile, value: %s, pinned: true }\n' "$next" >p.yaml
compile --schedule=p.yaml --stats -o pinned.ptir 2>pinned.txt || complain "not compiled: $(cat pinned.txt)"
cmp -s out.ptir pinned.ptir || complain "going back makes another module than the same size at once"
sed 's/: [0-9]* changes/:/; / for their price$/d' stats.txt >a
sed 's/: [0-9]* changes/:/; / for their price$/d' pinned.txt >b
cmp -s a b || complain "counters: $(diff a b)"

# What was decided before the tiling is not forgotten, and all of it pinned makes the same.
grep -q 'decide: fuse' s.yaml || complain "decisions before the tiling are lost: $(cat s.yaml)"
compile --print-search-space | grep -q 'decide: fuse' || complain "the search space lost what was asked before the tiling"
pin_all s.yaml >all.yaml
compile --schedule=all.yaml -o all.ptir && cmp -s out.ptir all.ptir || complain "all of it pinned makes another module"

does_not_fit() { # WANTED-STATUS ARGUMENTS..
  wanted=$1
  shift
  compile --remarks=- -o no.ptir "$@" 2>text
  status=$?
  [ "$status" = "$wanted" ] || complain "$*: status $status, wanted $wanted"
  [ -e no.ptir ] && complain "$*: left an output"
  grep -q 'error: \[pto.allocate/does-not-fit\] the buffers of @f_0 need' text && grep -q 'note: `%tx_b` takes [0-9]* bytes' text ||
    complain "$*"
}
printf 'pto-schedule: 1\ndecisions:\n  - { at: "@f/f_0", decide: tile, value: %s, pinned: true }\n' "$first" >p.yaml
does_not_fit 2 --schedule=p.yaml
# The pinned size stays: what is left to choose is how many buffers stores and loads have.
[ "$(grep -c 'remark: \[pto.allocate' text)" = 2 ] || complain "a pinned size was tried again"
grep -q 'note: `%tx_b` takes 16384 bytes' text || complain "not the pinned size"
grep -q 'p.yaml:3:5: note: the schedule pins it here' text || complain "no line of the pin"
does_not_fit 5 --set "tile.with.strategy={ use: pto.tiling-manual, with: $first }"
grep -q "remark: \[E1332\] strategy \`pto.tiling-manual\` offers no further tile that fits; there were 1" text ||
  complain "no further offer"
# Where no size fits the best one stays, and pto.pipeline tries fewer buffers, stores first. Pinned, they make the same.
compile --set 'tile.with.strategy={ use: pto.tiling-manual, with: { rows: 2, columns: 1280 } }' --remarks=r.txt --emit-schedule=s.yaml \
  -o fewer.ptir 2>text || complain "not compiled with fewer buffers: $(cat text)"
[ "$(grep -c 'remark: \[pto.allocate/does-not-fit\]' r.txt)" = 2 ] || complain "remarks: $(cat r.txt)"
for at in tx tile.store; do
  grep -A4 "at: \"@f/$at\"" s.yaml | grep -A1 'decide: stages' | sed -n 's/.*value: //p'
done >stages
[ "$(paste -sd ' ' stages)" = '2 1' ] || complain "buffers of loads and stores: $(cat stages)"
grep -q 'limit: "a later step had no space for more"' s.yaml || complain "the schedule does not say why"
pin_all s.yaml >all.yaml
compile --schedule=all.yaml -o all.ptir && cmp -s fewer.ptir all.ptir || complain "fewer buffers, pinned, make another module"
# From a snapshot after the tiling there is nothing to go back to.
compile --until select -o select.ptir --set "tile.with.strategy={ use: pto.tiling-manual, with: $first }" ||
  complain "until select"
mv select.ptir m.ptir
does_not_fit 5 --from order
