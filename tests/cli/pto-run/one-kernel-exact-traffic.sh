# softmax is one kernel, launched once, that reads |x| bytes of global memory and writes |y|; both rms_norms are one
# kernel.
. "$TEST_ROOT/tests/shell.sh"
counter() { # NAME
  sed -n "s/^$1: \([0-9]*\) .*/\1/p" out.txt
}
expect() { # WHAT VALUE EXPECTED
  [ "$2" = "$3" ] || complain "$case: $1: ${2:-none}, not $3"
}
for case in softmax/case:small softmax/case:paper rms_norm/case:small rms_norm/case:paper rms_norm/bf16:small rms_norm/bf16:paper; do
  example "${case%:*}"
  pto-opt "$module" --pipeline=default.yaml -o final.ptir || exit 1
  expect "block.kernel" "$(grep -c '^ *block\.kernel ' final.ptir)" 1
  expect "exec.launch" "$(grep -c 'exec\.launch ' final.ptir)" 1
  pto-run --case "$yaml" --size "${case#*:}" --pipeline=default.yaml --data-dir data "$kept_data" --counters >out.txt 2>&1 || fail
  expect "launches" "$(counter launches)" 1
  case $case in softmax/*)
    bytes() { /usr/bin/python3 -c 'import numpy, sys; print(numpy.load(sys.argv[1]).nbytes)' "$(find data -name "$1")"; }
    expect "bytes read" "$(counter 'gm bytes read')" "$(bytes x.npy)"
    # The reference is kept in f64, the kernel's result has as many elements in f32.
    expect "bytes written" "$(counter 'gm bytes written')" "$(bytes x.npy)"
    ;;
  esac
  rm -rf data
done
