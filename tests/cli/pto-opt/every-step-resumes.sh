# For every example and every step N of the default pipeline: --until N to a file and --from N+1 in a new process make
# the final IR byte for byte; every dump parses back to itself, custom and generic; and every dump, run on reference,
# passes its case.
. "$TEST_ROOT/tests/shell.sh"
steps=$(steps_of default.yaml)
printf '%s\n' "$steps" | grep -qx tile || fail "other steps were found: $steps"
dumps=0
for case in $examples; do
  [ "$TEST_SHARE" -eq 1 ] || [ "$case" = ffn/case ] || continue
  example "$case"
  pto-opt "$module" --pipeline=default.yaml -o final.ptir || { complain "$case does not compile"; continue; }
  rm -rf data dumped.ptir
  ends 0 pto-run --case "$yaml" --pipeline=reference.yaml --data-dir data "$kept_data"
  previous=
  for step in $steps; do
    if [ -n "$previous" ]; then
      pto-opt "$module" --pipeline=default.yaml --until="$previous" -o part.ptir && pto-opt part.ptir --pipeline=default.yaml --from="$step" -o resumed.ptir
      cmp -s resumed.ptir final.ptir || complain "$case: resumed at $step, the final IR differs"
      # A step that changes nothing leaves a dump that was looked at.
      if [ -e dumped.ptir ] && cmp -s part.ptir dumped.ptir; then previous=$step; continue; fi
      cp part.ptir dumped.ptir
      dumps=$((dumps + 1))
      pto-opt part.ptir -o again.ptir && cmp -s part.ptir again.ptir || complain "$case: the dump after $previous does not print as it was read"
      pto-opt part.ptir --print-generic -o generic.mlir && pto-opt generic.mlir --print-generic -o generic2.mlir && cmp -s generic.mlir generic2.mlir ||
        complain "$case: the generic form after $previous does not read back"
      # --python=true: the data of the first run.
      pto-run --case "$yaml" part.ptir --backend=pto.reference --data-dir data --python=true >run.txt 2>&1 || { complain "$case: the dump after $previous is wrong on reference"; cat run.txt; }
    fi
    previous=$step
  done
done
[ "$dumps" -ge 10 ] || complain "only $dumps dumps were looked at"
