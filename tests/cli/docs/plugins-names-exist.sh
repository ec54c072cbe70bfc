# Names of the SDK that docs/plugins.md uses are names of its headers, and its example of a list expands to what it
# shows.
set -u
. "$TEST_ROOT/tests/shell.sh"
cat "$TEST_ROOT"/sdk/include/pto/*.h >headers
sed -n 's/^HOST[A-Z_]*([^,]*, \([a-z0-9_]*\), .*/pto_\1/p' "$TEST_ROOT/sdk/include/pto/host.def" >>headers
# Enumerators that rows make.
echo '#include <pto/plugin.h>' | "${CC:-cc}" -E -P -I "$TEST_ROOT/sdk/include" -I "$TEST_BUILD/include" - >>headers
grep -oE '\b(pto_[a-z0-9_]+|PTO_[A-Z0-9_]+)\b' "$TEST_ROOT/docs/plugins.md" | sort -u >names
[ "$(wc -l <names)" -ge 20 ] || fail "few names in docs/plugins.md"
while IFS= read -r name; do
  grep -qwF "$name" headers || fail "docs/plugins.md names $name, which no header has"
done <names

cat >list.c <<'END'
#include <pto/plugin.h>
#define STATS(X) \
    X(FOLDED, "folded") \
    X(KEPT, "kept")
PTO_STATS(STATS);
END
"${CC:-cc}" -E -P -I "$TEST_ROOT/sdk/include" -I "$TEST_BUILD/include" list.c | tr -d ' \n' |
  sed 's/.*\(enum{STAT_FOLDED\)/\1/; s/((void\*)0)/NULL/' >made
awk '/^enum { STAT_FOLDED/ { on = 1 } /^```/ { on = 0 } on' "$TEST_ROOT/docs/plugins.md" | tr -d ' \n' >shown
cmp made shown || { cat made shown; fail "the list of docs/plugins.md expands to something else"; }
