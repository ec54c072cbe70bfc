# --print-pipeline shows every default and where each value comes from, and reads back: the same text except for the
# origins, and the same result.
set -u
cat >p.yaml <<'END'
pto-pipeline: 1
extends: default.yaml
params:
  rows: { type: bytes, default: 32KiB, min: 1KiB, doc: "it's: quoted # text" }
edit:
  - set: tile.with.strategy
    to: { use: pto.tiling-heuristic, with: { vec-bytes: $params.rows } }
  - { remove: order }
END
without_origins() { sed 's/  *# .*:[0-9]*$//; s/  *# default$//' "$1"; }
pto-opt --pipeline=p.yaml --set params.rows=16KiB --print-pipeline >one.yaml || exit 1
pto-opt --pipeline=one.yaml --print-pipeline >two.yaml || exit 1
without_origins one.yaml >one
without_origins two.yaml >two
cmp one two || exit 1
for line in '    default: 16KiB  # <command line>:1' '      reuse: when-needed  # default' '          vec-bytes: \$params.rows  # p.yaml:7' \
  '  - pass: pto.allocate  # .*/default.yaml:[0-9]*'; do
  grep -qx -- "$line" one.yaml || { echo "not printed: $line"; cat one.yaml; exit 1; }
done
! grep -q pto.order one.yaml || { echo 'a removed step is printed'; exit 1; }
pto-opt "$TEST_ROOT/examples/ffn/ffn.ptir" --pipeline=p.yaml --set params.rows=16KiB >a.ptir || exit 1
pto-opt "$TEST_ROOT/examples/ffn/ffn.ptir" --pipeline=one.yaml >b.ptir || exit 1
cmp a.ptir b.ptir
