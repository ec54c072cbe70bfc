# The generic form of every example after every step that changes it survives mlir-opt and reads back to the same module
# up to names.
. "$TEST_ROOT/tests/shell.sh"
if ! command -v mlir-opt-19 >/dev/null; then
  echo "skipped: there is no mlir-opt-19 here (package mlir-19-tools)"
  exit 77
fi
cat >compare.py <<'EOF'
"""compare.py OURS BACK: two modules are the same when values are renamed by the order in which they first occur."""
import re, sys


def renamed(path):
    names = {}
    out = []
    for line in open(path):
        if re.match(r" *(func|block\.kernel)\b", line):
            names = {}  # a value has its name in its function
        out.append(re.sub(r"%[A-Za-z0-9_.]+", lambda m: names.setdefault(m[0], f"%{len(names)}"), line))
    return out


ours, back = renamed(sys.argv[1]), renamed(sys.argv[2])
for i, (a, b) in enumerate(zip(ours, back)):
    if a != b:
        sys.exit(f"line {i + 1}:\n{a}{b}")
sys.exit(0 if len(ours) == len(back) else f"{len(ours)} lines, and back {len(back)}")
EOF
count=0
for case in $examples; do
  example "$case"
  rm -rf dumps back && mkdir back
  pto-opt "$module" --pipeline=default.yaml --dump-dir=dumps -o /dev/null || exit 1
  for dump in dumps/*.ptir; do
    pto-opt "$dump" --print-generic || exit 1
    echo '// -----'
  done >ours.mlir
  mlir-opt-19 --allow-unregistered-dialect --split-input-file ours.mlir >theirs.mlir || { complain "$case: refused"; continue; }
  awk '/^\/\/ -----$/ { n++; next } { print > sprintf("back/%02d.mlir", n) }' theirs.mlir
  n=0
  for dump in dumps/*.ptir; do
    back=back/$(printf %02d $n)
    if ! pto-opt "$back.mlir" -o "$back.ptir" || ! /usr/bin/python3 compare.py "$dump" "$back.ptir"; then
      complain "$case: $dump comes back changed"
    fi
    n=$((n + 1))
  done
  count=$((count + n))
done
[ "$count" -ge 20 ] || complain "only $count dumps"
