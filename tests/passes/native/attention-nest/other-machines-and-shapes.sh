# Where the units are on different cores nothing changes; where no nest can be made a remark says why, and the pass
# that takes attention apart comes next. What a schedule pins is kept or refused.
# shellcheck disable=SC2086
. "$TEST_ROOT/tests/shell.sh"
attention() { # QUERIES KEYS ELEMENTS MASK
  cat >m.ptir <<END
func @f(%q: tensor<2 x $1 x $3 x f32>, %k: tensor<2 x $2 x $3 x f32>, %v: tensor<2 x $2 x 8 x f32>, %m: tensor<$4 x bool>) -> tensor<2 x $1 x 8 x f32> {
  %y = tensor.attention %q, %k, %v, %m : tensor<2 x $1 x 8 x f32>
  return %y
}
END
}
left() { # WHY
  ends 0 pto-opt m.ptir --machine=cpu-avx2.yaml --passes=pto.attention-nest --remarks=-
  says "pto.attention-nest/left\] becomes no nest: $1"
  ! grep -q 'call' out || fail 'a nest was made'
}
attention '$S' '$T' 16 '$T'
ends 0 pto-opt m.ptir --machine=ascend-910b.yaml --passes=pto.attention-nest --remarks=-
says '^    %y = tensor.attention %q, %k, %v, %m : ' out
[ "$(grep -c func out)" -eq 1 ] || fail 'a nest on cores that cannot run it'
[ ! -s text ] || fail 'a remark'

attention '$S' '$T' '$D' '$T'
left 'a row of q or v has a number of elements that is not known'
attention '$S' '$T' 2048 '$T'
left 'a row of q or v has .* more than 1024'
attention '$S' '$T' 16 '$S x 1'
left 'its mask has one element for all keys'
attention '$S' 0 16 1
left 'it has no queries or no keys'
ends 0 pto-run m.ptir --pipeline=native.yaml --random-inputs=1 --sym=S=3 --quiet

# What a user asks for leaves it too.
attention '$S' '$T' 16 '$T'
left_by() { # WHY OPTION..
  why=$1
  shift
  ends 0 pto-opt m.ptir --machine=cpu-avx2.yaml "$@" --remarks=-
  says "2:8: remark: \[pto.attention-nest/left\] becomes no nest: $why"
  ! grep -q 'call' out || fail 'a nest was made'
}
left_by 'the scores of all keys are more than `scores`, or their number is not known, and `online` is never' '--passes=pto.attention-nest{online=never}'
printf 'pto-schedule: 1\ndecisions:\n  - { at: "@f/y", decide: attention, value: composed, pinned: true }\n' >pinned.yaml
left_by 'a pin makes it `composed`' --passes=pto.attention-nest --schedule=pinned.yaml

# Tiles of one column.
attention 64 1 16 1
left 'it has one key, or rows of one element'
ends 0 pto-run m.ptir --pipeline=native.yaml --random-inputs=1 --quiet --compare=reference.yaml
attention '$S' '$T' 1 '$T'
left 'it has one key, or rows of one element'
ends 0 pto-run m.ptir --pipeline=native.yaml --random-inputs=1 --sym=S=3 --sym=T=5 --quiet --compare=reference.yaml

# Decisions: what was chosen, and what may be.
attention '$S' '$T' 16 '$T'
nests='pto-opt m.ptir --machine=cpu-avx2.yaml --passes=pto.attention-nest'
ends 0 pto-opt m.ptir --machine=cpu-avx2.yaml --passes=pto.attention-nest --emit-schedule=s.yaml
says 'value: online' s.yaml
says 'value: { rows: 256, keys: 256 }' s.yaml
pin_all s.yaml | sed 's/rows: 256, keys: 256/rows: 16, keys: 24/' >pinned.yaml
ends 0 $nests --schedule=pinned.yaml
says '%tscores = .* : tile<16 x 24 x f32, ?>' out
pin_form() { # FORM
  pin_all s.yaml | sed "/attention-few/,\$d; s/online/$1/" | sed '$d' >"$1.yaml"
}
pin_form composed
ends 0 $nests --schedule=composed.yaml
! grep -q call out || fail 'a nest where none is wanted'
pin_form rows
fails 2 'pto.attention-nest/open-keys\] the form `rows` holds the scores of all keys, and their number is not known or above 65536' $nests --schedule=rows.yaml
attention '$S' '$T' '$D' '$T'
pin_form online
fails 2 'a row of q or v has a number of elements that is not known' $nests --schedule=online.yaml

# With the scores of all keys a block has no other number of them.
attention 64 96 16 96
ends 0 $nests --emit-schedule=s.yaml
says 'value: { rows: 64, keys: 96 }' s.yaml
pin_all s.yaml | sed 's/keys: 96/keys: 24/' >fewer.yaml
fails 2 '\[E1804\] `attention-blocks.keys` of @f/y is 24; the least legal value is 96' $nests --schedule=fewer.yaml

# A block of one row is whole, so that a mask for all rows has as many.
attention '$S' '$T' 16 '$T'
cat >single.yaml <<'END'
pto-schedule: 1
decisions:
  - { at: "@f/y", decide: attention-blocks, value: { rows: 1, keys: 256 }, pinned: true }
END
ends 0 pto-run m.ptir --pipeline=native.yaml --schedule=single.yaml --random-inputs=1 --sym=S=3 --sym=T=5 --quiet --compare=reference.yaml
