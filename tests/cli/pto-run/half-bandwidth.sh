# A machine file with half the bandwidth from global memory keeps the load pipes busy for 1.8 to 2.2 times as long, in examples that
# wait for loads: softmax and rms_norm over rows of unknown length.
set -u
halve='
import re, sys
text = open(sys.argv[1]).read()
for pattern in (r"(\n  gm-bytes-per-cycle: )([0-9.]+)", r"(from: gm, to: vec,.*bytes-per-cycle: )([0-9.]+)"):
    text, n = re.subn(pattern, lambda m: f"{m[1]}{float(m[2]) / 2:g}", text)
    if n != 1:
        sys.exit(f"{n} places match {pattern}")
open("half.yaml", "w").write(text)'
machine=$TEST_ROOT/pipelines/machines/ascend-910b.yaml
/usr/bin/python3 -c "$halve" "$machine" || exit 1
failed=0
busy() { # MACHINE MODULE SYMBOLS..: prints the busy cycles of the load pipes of all vector cores
  with=$1 module=$2
  shift 2
  pto-run "$TEST_ROOT/examples/$module" --pipeline=default.yaml --machine="$with" --set=backend.with.data=none --random-inputs=1 \
    --counters "$@" >out.txt 2>&1 || cat out.txt >&2
  sed -n 's/^vector \/ mte2 \/ busy: \([0-9]*\) .*/\1/p' out.txt
}
for run in 'softmax/rows.ptir --sym=R=4096 --sym=C=4096' 'rms_norm/rms_norm.ptir --sym=M=4096 --sym=N=4096'; do
  # shellcheck disable=SC2086
  full=$(busy "$machine" $run) half=$(busy half.yaml $run)
  awk -v a="$full" -v b="$half" -v run="$run" '
    BEGIN { if (a > 0) printf "%s: %d and %d cycles, %.2f times\n", run, a, b, b / a; exit !(a > 0 && b > 1.8 * a && b < 2.2 * a) }' || failed=1
done
exit $failed
