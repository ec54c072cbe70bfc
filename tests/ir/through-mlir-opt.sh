# The generic form of every module below tests/ir survives mlir-opt and reads back to the same module up to names.
set -e
. "$TEST_ROOT/tests/shell.sh"
if ! command -v mlir-opt-19 >/dev/null; then
  echo "skipped: there is no mlir-opt-19 here (package mlir-19-tools)"
  exit 77
fi
count=0
for file in "$TEST_ROOT"/tests/ir/*/*.ptir; do
  grep -q 'RUN: not ' "$file" && continue
  pto-opt --print-generic "$file" >ours.mlir
  mlir-opt-19 --allow-unregistered-dialect ours.mlir >theirs.mlir
  pto-opt theirs.mlir >back.ptir
  pto-opt --print-generic back.ptir | mlir-opt-19 --allow-unregistered-dialect >again.mlir
  diff theirs.mlir again.mlir || fail "$file: comes back changed"
  [ "$(wc -l <back.ptir)" -eq "$(pto-opt "$file" | wc -l)" ] || fail "$file: comes back with other lines"
  count=$((count + 1))
done
[ "$count" -ge 10 ]
