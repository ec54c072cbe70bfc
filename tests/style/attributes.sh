#!/bin/sh
# Every attribute of the op tables is read by a pass, a backend, the SDK or the core, or its row calls it a hint, which
# the core answers for: an attribute that nothing reads is accepted in silence and does nothing. The verifier, which
# reads all of them, does not count.
set -u
[ -d ir/ops ] || cd "$(dirname "$0")/../.." || exit 2
unread=0
attributes=$(grep -hoE '\{"[a-z_0-9]+", SPEC_[^}]*\}' ir/ops/*.def | grep -v '\.hint = 1' | sed 's/^{"\([a-z_0-9]*\)".*/\1/' | sort -u)
for name in $attributes; do
  grep -rqF --include='*.c' --include='*.h' "\"$name\"" plugins core sdk/include && continue
  echo "no pass, backend or file of core/ or sdk/ reads the attribute '$name' of $(grep -lF "{\"$name\", SPEC_" ir/ops/*.def | tr '\n' ' ')"
  unread=$((unread + 1))
done
[ -n "$attributes" ] || { echo "ir/ops/*.def have no attributes"; exit 1; }
[ "$unread" -eq 0 ]
