#!/bin/sh
# Every diagnostic code - the rows of the tables of ir/, core/ and tools/, and the "pto.x/y" codes of the plugins - must
# be expected, in brackets as a tool prints it, by some golden file or script under tests/. Names the codes that no test
# triggers, and rows that no file of the table's own folder reports.
set -u
cd "$(dirname "$0")/../.." || exit 2
missing=0
codes=$(
  sed -n 's/^DIAG(\(E[0-9]*\),.*/\1/p' ir/base/diag.def core/diag.def tools/base/diag.def
  grep -rhoE '"pto\.[a-z0-9-]+/[a-z0-9-]+"' plugins --include='*.c' --include='*.h' | tr -d '"' | sort -u
)
for code in $codes; do
  pattern=$(printf '%s' "$code" | sed 's/[.]/\\./g')
  if ! grep -rqE --include="*.ptir" --include="*.sh" --include="*.yaml" "(\\[|[^a-z0-9-])$pattern([^a-z0-9-]|$)" tests; then
    echo "$code: no test triggers it"
    missing=$((missing + 1))
  fi
done
for table in ir/base/diag.def core/diag.def tools/base/diag.def; do
  used=$(grep -rhoE --include='*.c' --include='*.h' '\bE[0-9]{4}\b' "${table%%/*}" | sort -u)
  for code in $(sed -n 's/^DIAG(\(E[0-9]*\),.*/\1/p' "$table"); do
    printf '%s\n' "$used" | grep -qx "$code" && continue
    echo "$table: nothing in ${table%%/*}/ reports $code"
    missing=$((missing + 1))
  done
done
total=$(printf '%s\n' "$codes" | wc -l)
echo "$((total - missing)) of $total diagnostic codes are tested"
[ "$missing" -eq 0 ]
