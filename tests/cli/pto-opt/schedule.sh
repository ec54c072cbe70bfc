# What was decided is written, pinned, fed back and kept: all pins together give the same IR, one that differs changes what it
# names and nothing else, and nothing is pinned in silence.
. "$TEST_ROOT/tests/shell.sh"
status() { # WANTED COMMAND..
  wanted=$1
  shift
  "$@" >out 2>err
  got=$?
  [ "$got" = "$wanted" ] || complain "$*: status $got, wanted $wanted"
}
says() { grep -qF -- "$1" err || complain "wanted '$1' in"; }
# shellcheck disable=SC2317  # called by status
compile() { pto-opt --pipeline=default.yaml "$@"; }

for e in softmax rms_norm gemm ffn; do
  m=$TEST_ROOT/examples/$e/$e.ptir
  status 0 compile "$m" --emit-schedule=s.yaml -o plain.ptir
  grep -q '^    decide: tile$' s.yaml && grep -q '^    decide: cores$' s.yaml && grep -q '^    decide: stages$' s.yaml ||
    complain "$e: decisions are missing: $(cat s.yaml)"
  # Everything pinned as it was decided anyway.
  sed 's/^    origin:/    pinned: true\n&/' s.yaml >pinned.yaml
  status 0 compile "$m" --schedule=pinned.yaml --emit-schedule=again.yaml -o kept.ptir
  [ -s err ] && complain "$e"
  cmp -s plain.ptir kept.ptir || complain "$e: pins of what is decided anyway give another module"
  grep -q 'origin: pto' again.yaml && complain "$e: a pinned decision has another origin than the user"
  for s in s.yaml again.yaml; do
    grep -v -e '^    pinned' -e '^    origin' -e '^    cost' -e '^    limit' "$s" >"$s.values"
  done
  sort s.yaml.values >a
  sort again.yaml.values >b
  cmp -s a b || complain "$e: pinned values were not kept: $(diff a b)"
  # What is written is pinned again when it is fed back.
  status 0 compile "$m" --schedule=again.yaml -o again.ptir
  cmp -s plain.ptir again.ptir || complain "$e: the schedule of a pinned compilation gives another module"
done

softmax=$TEST_ROOT/examples/softmax/softmax.ptir
pin() { # AT DECIDE VALUE
  printf 'pto-schedule: 1\ndecisions:\n  - at: "%s"\n    decide: %s\n    value: %s\n    pinned: true\n' "$@" >p.yaml
}
pin @softmax/softmax_0 tile '{ rows: 24, columns: 256 }'
status 0 compile "$softmax" --schedule=p.yaml --until tile
grep -q 'tile<24 x 256 x f32, ?>' out || complain "a pinned tile was not taken"
pin @softmax/softmax_0 cores 7
status 0 compile "$softmax" --schedule=p.yaml --until distribute
grep -q 'step 7' out || complain "a pinned number of cores was not taken"
pin @softmax/tx stages 3
status 0 compile "$softmax" --schedule=p.yaml --until pipeline
grep -q 'tile.load.*stages = 3' out || complain "pinned stages were not taken"
grep -q 'tile.store.*stages = 2' out || complain "the stages of the store are free"
pin @softmax/tx stages 1
status 0 compile "$softmax" --schedule=p.yaml --until pipeline
grep -q 'tile.load.*stages' out && complain "a load pinned at one buffer rotates"
gemm=$TEST_ROOT/examples/gemm/gemm.ptir
pin @gemm/gemm_0 walk columns
status 0 compile "$gemm" --schedule=p.yaml -o columns.ptir
status 0 compile "$gemm" --set distribute.with.walk=columns -o option.ptir
cmp -s columns.ptir option.ptir || complain "a pinned walk differs from the option"

# What is fused: an op that is pinned apart begins a group of its own, which its readers may join.
pin @softmax/e fuse apart
status 0 compile "$softmax" --schedule=p.yaml --emit-schedule=f.yaml --until fuse -o out
[ "$(grep -c tensor.group out)" = 2 ] && grep -A4 'tensor.group "softmax_1"' out | grep -q 'tensor.exp' || complain "fuse"
grep -A3 'at: "@softmax/e"' f.yaml | grep -q 'value: apart' || complain "fuse: $(cat f.yaml)"
grep -A3 'at: "@softmax/y"' f.yaml | grep -q 'value: joined' || complain "what is joined has no entry: $(cat f.yaml)"
pin @softmax/e fuse joined
status 0 compile "$softmax" --schedule=p.yaml --until fuse -o joined.ptir
status 0 compile "$softmax" --until fuse -o free.ptir
cmp -s joined.ptir free.ptir || complain "an op that is joined anyway was pinned so, and something changed"
# The two of them fit into a group of two; what feeds them stays out.
status 0 compile "$softmax" --schedule=p.yaml --set fuse.with.max-ops=2 --until fuse
[ "$(grep -A3 'tensor.group' out | grep -B1 'tensor.exp' | grep -c tensor.sub)" = 1 ] || complain "fuse"
status 2 compile "$softmax" --schedule=p.yaml --set fuse.with.max-ops=1
says 'error: [pto.fuse/cannot-join] `tensor.exp` cannot be in one group with what feeds it: the group would have more ops than `max-ops`'
says 'p.yaml:3:5: note: the schedule pins it here'
status 0 compile "$softmax" --set fuse.with.max-ops=2 --explain=schedule
grep -q '^@softmax/e  *fuse  *apart  *pto.fuse  *the group would have more ops than `max-ops`$' out || complain "fuse"

# The table.
pin @gemm/gemm_0 walk columns
status 0 compile "$softmax" --schedule=p.yaml --explain=schedule --until fuse
says 'warning: [E1801] none of the steps that ran decides `walk` of @gemm/gemm_0'
pin @softmax/softmax_0 cores 7
status 0 compile "$softmax" --schedule=p.yaml --explain=schedule
grep -q '^@softmax/softmax_0  *cores  *7  *user  *ascend-910b has 48 vector cores$' out || complain "table"
grep -q '^@softmax/softmax_0  *tile  *{ rows: 16, columns: 256 }  *pto.tiling-heuristic  *[0-9.]*  *vec: [0-9]* of 188416 bytes$' out ||
  complain "table"
status 0 pto-run --pipeline=default.yaml "$softmax" --explain=schedule
grep -q '^@softmax/softmax_0  *tile' out || complain "table of pto-run"

# What could be decided: every offer, pinned, is taken.
status 0 compile "$softmax" --print-search-space
cp out space.yaml
grep -q '^      - value: { rows: 16, columns: 256 }$' space.yaml && grep -q '^    chosen: { rows: 16, columns: 256 }$' space.yaml &&
  grep -q '^        limit: "vec: 82048 of 188416 bytes"$' space.yaml && grep -q '^    most: 48$' space.yaml || complain "space: $(cat space.yaml)"
[ "$(grep -c '^      - value' space.yaml)" -gt 20 ] || complain "few offers: $(cat space.yaml)"
for offer in "$(grep '^      - value' space.yaml | sed -n 's/.*value: //;2p')" "$(grep '^      - value' space.yaml | sed -n 's/.*value: //;$p')"; do
  pin @softmax/softmax_0 tile "$offer"
  status 0 compile "$softmax" --schedule=p.yaml --explain=schedule
  grep -qF "$offer  user" out || complain "offer $offer"
done
status 0 compile "$gemm" --print-search-space
grep -q '^    words: \[linear, columns\]$' out || complain "words"

# Which decisions are refused, and how.
pin @softmax/softmax_0 tile '{ rows: 256, columns: 512 }'
status 2 compile "$softmax" --schedule=p.yaml
says 'p.yaml:3:5: error: [E1804] the pinned tile rows = 256, columns = 512 needs 2622464 bytes of `vec`, which has 188416'
says 'p.yaml:3:5: note: the largest legal size, the others left alone, is 18 for rows, or 40 for columns'
pin @softmax/softmax_0 tile '{ rows: 18, columns: 512 }'
status 0 compile "$softmax" --schedule=p.yaml
pin @softmax/softmax_0 tile '{ rows: 65536, columns: 65536 }'
status 2 compile "$softmax" --schedule=p.yaml
says 'note: no smaller size of one dim alone fits; make several smaller'
pin @softmax/softmax_0 cores 49
status 2 compile "$softmax" --schedule=p.yaml
says 'p.yaml:5:12: error: [E1804] `cores` of @softmax/softmax_0 is 49; the largest legal value is 48'
pin @softmax/softmax_0 cores 0
status 2 compile "$softmax" --schedule=p.yaml
says 'error: [E1804] `cores` of @softmax/softmax_0 is 0; the least legal value is 1'
pin @gemm/gemm_0 tile '{ m: 100, n: 128, k: 64 }'
status 2 compile "$gemm" --schedule=p.yaml
says 'error: [E1804] the pinned tile has m = 100, which must be a multiple of 16, or cover the whole extent'
pin @softmax/softmax_0 tile '{ rows: 8 }'
status 2 compile "$softmax" --schedule=p.yaml
says 'p.yaml:5:12: error: [E1803] `tile` of @softmax/softmax_0 lacks `columns`: a pinned decision says all of its values'
grep -q 'takes [0-9]* bytes' err && complain "sizes of tiles that nobody asked for"
pin @softmax/tx stages 8
status 2 compile "$softmax" --schedule=p.yaml --set 'tile.with.strategy={ use: pto.tiling-manual, with: { rows: 32, columns: 256 } }'
says 'error: [pto.pipeline/does-not-fit] %tx rotates through 8 buffers, and then the nest needs '
says 'bytes of `vec`, which has 188416; pin fewer, or smaller tiles'
says 'p.yaml:3:5: note: the schedule pins it here'
says "in step 'pipeline'"

# The rest.
status 74 compile "$softmax" --emit-schedule=no-such-folder/s.yaml
status 2 compile "$softmax" --schedule=no-such-file.yaml
says 'error: [E1501] cannot open `no-such-file.yaml`: No such file or directory'
status 2 pto-opt "$softmax" --emit-schedule=s.yaml
says 'option `--emit-schedule` has no effect without --pipeline or --passes'
status 2 pto-opt "$softmax" --schedule=p.yaml
says 'option `--schedule` has no effect without --pipeline or --passes'
status 2 compile "$softmax" --explain=scedule
says 'option `--explain` wants pipeline or schedule, not `scedule`'
printf 'pto-schedule: 1\ndecisions: []\n' >p.yaml
status 0 compile "$softmax" --schedule=p.yaml
says 'p.yaml:2:12: warning: [E1801] none of the 0 decisions is `pinned: true`, so all are made anew'
