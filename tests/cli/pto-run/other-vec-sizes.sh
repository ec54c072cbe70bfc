# Machine files whose vec holds 192 and 48 KiB result in different tiles, which fit, and the same verdict.
. "$TEST_ROOT/tests/shell.sh"
for kib in 192 48; do
  sed "s/^  vec: { core: vector, bytes: [0-9]*,/  vec: { core: vector, bytes: $((kib * 1024)),/" "$TEST_ROOT/pipelines/machines/ascend-910b.yaml" >vec$kib.yaml
  grep -q "^  vec: .*bytes: $((kib * 1024))," vec$kib.yaml || fail "no vec of $kib KiB"
done
vec_tiles() { sed -n 's/.*: \(tile<[0-9]* x [0-9]* x [a-z0-9]*, vec, [a-z]*>\).*/\1/p' "$1"; }
for case in softmax/case softmax/rows rms_norm/case rms_norm/bf16 ffn/swiglu; do
  example "$case"
  for kib in 192 48; do
    pto-opt "$module" --pipeline=default.yaml --machine=vec$kib.yaml -o final$kib.ptir || complain "$case does not compile for vec of $kib KiB"
    vec_tiles final$kib.ptir >tiles$kib.txt
    pto-run --case "$yaml" --size paper --pipeline=default.yaml --machine=vec$kib.yaml "$kept_data" >out.txt 2>&1 || complain "$case with vec of $kib KiB"
    sed -n 's/^\([a-z]*: [a-z]*\),.*, \([0-9]* elements, rule .*\)/\1 \2/p' out.txt >verdict$kib.txt
    grep -q ': ok ' verdict$kib.txt || complain "$case with vec of $kib KiB: no verdict"
  done
  [ -s tiles192.txt ] && ! cmp -s tiles192.txt tiles48.txt || complain "$case: the same tiles in 192 and in 48 KiB"
  cmp verdict192.txt verdict48.txt || complain "$case: another verdict"
  last=$(sed -n 's/.*space = vec, bytes_per_stage = \([0-9]*\), \(stages = \([0-9]*\), \)\{0,1\}addr = \([0-9]*\).*/\4 \1 \3/p' final48.ptir |
    awk '{ end = $1 + $2 * ($3 ? $3 : 1); if (end > last) last = end } END { print last + 0 }')
  { [ "$last" -gt 0 ] && [ "$last" -le $((40 * 1024)) ]; } || complain "$case: buffers end at $last of 40960 usable bytes"
done
