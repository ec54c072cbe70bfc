#!/bin/sh
# Every diagnostic code - the rows of ir/base/diag.def and core/diag.def, and the "pto.x/y" codes of the plugins - must be expected,
# in brackets as a tool prints it, by some golden file or script under tests/. Names the codes that no test triggers.
set -u
cd "$(dirname "$0")/../.." || exit 2
missing=0
codes=$(
  sed -n 's/^DIAG(\(E[0-9]*\),.*/\1/p' ir/base/diag.def core/diag.def
  grep -rhoE '"pto\.[a-z0-9-]+/[a-z0-9-]+"' plugins core tools --include='*.c' --include='*.h' | tr -d '"' | sort -u
)
for code in $codes; do
  pattern=$(printf '%s' "$code" | sed 's/[.]/\\./g')
  if ! grep -rqE --include="*.ptir" --include="*.sh" --include="*.yaml" "(\\[|[^a-z0-9-])$pattern([^a-z0-9-]|$)" tests; then
    echo "$code: no test triggers it"
    missing=$((missing + 1))
  fi
done
total=$(printf '%s\n' "$codes" | wc -l)
echo "$((total - missing)) of $total diagnostic codes are tested"
[ "$missing" -eq 0 ]
