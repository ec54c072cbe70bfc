# Of every case of examples/, the number of threads and where tensors begin in a line of memory change no bit.
. "$TEST_ROOT/tests/shell.sh"
! is_sanitized || exit 0 # Python does not have the library's sanitizer
runs=0
for case in "$TEST_ROOT"/examples/*/*.yaml; do
  runs=$((runs + 1))
  [ $((runs % TEST_SHARE)) -eq 0 ] || continue
  name=${case#"$TEST_ROOT/examples/"}
  example "${name%.yaml}"
  rm -rf small paper
  for size in small paper; do
    pto-run --case "$yaml" --size "$size" --pipeline=native.yaml --data-dir "$size" "$kept_data" >out 2>&1 || complain "$name $size"
  done
  inputs=$(sed -n 's/^inputs: {\(.*\)}$/\1/p' "$yaml" | sed 's/, */ /g; s/: */=/g')
  # shellcheck disable=SC2086
  /usr/bin/python3 -B "$TEST_ROOT/tests/backends/native/same_bits.py" "$TEST_BUILD/lib/libpto.so" "$module" $inputs small paper >out 2>&1 || complain "$name"
done
[ "$runs" -ge 40 ] || complain "only $runs cases were found"
